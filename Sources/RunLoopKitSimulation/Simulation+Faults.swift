public import RunLoopKit

extension RunLoop.Simulation {
    /// How much later than asked a sleep, and a timer with it, may end. Zero unless it is set.
    public var greatestDelay: Duration {
        get { .nanoseconds(schedule.greatestDelay) }
        set { schedule.greatestDelay = Int64(clamping: newValue.attoseconds / 1_000_000_000) }
    }

    /// May a loop wake up without a reason? A run then makes an iteration in which nothing is served, as it does in the world after a
    /// `wakeUp()` that somebody else asked for. `false` unless it is set.
    public var wakesSpuriously: Bool {
        get { schedule.wakesSpuriously }
        set { schedule.wakesSpuriously = newValue }
    }

    /// May the process have no descriptors left (EMFILE)? `makeLoop` and the links then throw `tooManyDescriptors`, as the seed decides. A test
    /// has its own stand-ins fail with ``mayThrow(_:)``. `false` unless it is set.
    public var runsOutOfDescriptors: Bool {
        get { failsToOpen.withLock { $0 } }
        set { failsToOpen.withLock { $0 = newValue } }
    }

    /// After so many steps, of tasks and of time, a body that has not ended is a ``Livelock``. A million unless it is set.
    public var mostSteps: Int {
        get { schedule.mostSteps }
        set { schedule.mostSteps = newValue }
    }

    /// Lets the clock step forward, as it does for a program that was stopped, or starved of the processor: what became due on the way is
    /// late, and all of it due at once. From a task or a call-out of the simulation. A negative step is a precondition failure: clocks that
    /// timers follow do not go back.
    public func stepClock(by step: Duration) {
        precondition(step >= .zero, "The clock of a loop does not go back.")
        schedule.step(Int64(clamping: step.attoseconds / 1_000_000_000))
    }

    /// One of `count` ways, decided by the seed: for whatever else the test wants decided.
    public func choose(_ count: Int) -> Int { schedule.choices.choose(count) }

    /// Throws the error, once in four times, as the seed decides. For the test's own stand-ins of what the system does.
    public func mayThrow<Failure: Error>(_ error: Failure) throws(Failure) {
        if choose(4) == 1 { throw error }
    }

    func mayFailToOpen() throws(RunLoop.Error) {
        if runsOutOfDescriptors { try mayThrow(RunLoop.Error.tooManyDescriptors) }
    }
}
