// Items whose closures are isolated to the main actor, so that they use its state as they are. `RunLoop.main` runs on the main
// actor's thread, and nothing else does; so only that loop may have them. The isolation is looked at in each call, which costs a
// tenth of a microsecond: an addition that is checked is not all that could go wrong.
//
// They take the actor as an argument, which is not used. Two initializers that differ by the isolation of their closures alone
// cannot be told apart by the compiler.

extension RunLoop.Timer {
    /// Makes a timer whose action is isolated to the main actor, in no loop yet.
    ///
    ///     let timer = RunLoop.Timer(isolation: .shared, every: .seconds(1)) { [weak self] _ in self?.count += 1 }
    ///     RunLoop.main.add(timer, forMode: .common)
    ///
    /// Only `RunLoop.main` may have it: adding it to another loop is a precondition failure. Everything else as without
    /// `isolation`.
    public convenience init(
        isolation: MainActor, at date: RunLoop.Instant, every interval: Duration? = nil, tolerance: Duration = .zero,
        order: Int = 0, _ action: @escaping @MainActor (RunLoop.Timer) -> Void
    ) {
        self.init(
            fireDate: Nanoseconds.of(date), interval: interval.map(Self.checked) ?? 0,
            tolerance: Nanoseconds.of(tolerance), order: order, isMainActors: true
        ) { timer in MainActor.assumeIsolated { action(timer) } }
    }

    /// Makes a timer that fires again and again, for the first time after one interval. As above.
    public convenience init(
        isolation: MainActor, every interval: Duration, tolerance: Duration = .zero, order: Int = 0,
        _ action: @escaping @MainActor (RunLoop.Timer) -> Void
    ) {
        self.init(isolation: isolation, after: interval, every: interval, tolerance: tolerance, order: order, action)
    }

    /// Makes a timer that fires once, not before `delay` has passed. As above.
    public convenience init(
        isolation: MainActor, after delay: Duration, tolerance: Duration = .zero, order: Int = 0,
        _ action: @escaping @MainActor (RunLoop.Timer) -> Void
    ) {
        self.init(
            fireDate: Nanoseconds.fromNow(Nanoseconds.of(delay)), interval: 0, tolerance: Nanoseconds.of(tolerance),
            order: order, isMainActors: true
        ) { timer in MainActor.assumeIsolated { action(timer) } }
    }

    /// Makes a timer that fires again and again, for the first time when `delay` has passed. As above.
    public convenience init(
        isolation: MainActor, after delay: Duration, every interval: Duration, tolerance: Duration = .zero,
        order: Int = 0, _ action: @escaping @MainActor (RunLoop.Timer) -> Void
    ) {
        self.init(
            fireDate: Nanoseconds.fromNow(Nanoseconds.of(delay)), interval: Self.checked(interval),
            tolerance: Nanoseconds.of(tolerance), order: order, isMainActors: true
        ) { timer in MainActor.assumeIsolated { action(timer) } }
    }
}

extension RunLoop.Timeout {
    /// Begins to wait on `RunLoop.main`, for a call of an action that is isolated to the main actor. Everything else as with a loop.
    ///
    ///     idle = RunLoop.Timeout(isolation: .shared, after: .seconds(30)) { [self] in close() }
    public init(
        isolation: MainActor, after delay: Duration, tolerance: Duration = .zero, inMode mode: RunLoop.Mode = .default,
        _ action: @escaping @MainActor () -> Void
    ) {
        self.init(on: .main, after: delay, tolerance: tolerance, inMode: mode) {
            MainActor.assumeIsolated { action() }
        }
    }
}

extension RunLoop.Source {
    /// Makes a source that is signalled by hand, whose closure is isolated to the main actor, in no loop yet. Only `RunLoop.main`
    /// may have it: adding it to another loop is a precondition failure. It is signalled from any thread, as ever.
    public convenience init(isolation: MainActor, order: Int = 0, perform: @escaping @MainActor () -> Void) {
        self.init(order: order) { MainActor.assumeIsolated { perform() } }
        isMainActors = true
    }

    /// Makes a source that is driven by a descriptor, whose closure is isolated to the main actor, in no loop yet. Only
    /// `RunLoop.main` may have it: adding it to another loop is a precondition failure. Everything else as without `isolation`.
    ///
    /// - Throws: `invalid` without or with unknown conditions, and for a descriptor below −1.
    public convenience init(
        isolation: MainActor, fileDescriptor: CInt, events: Readiness = .read, order: Int = 0,
        perform: @escaping @MainActor (Readiness) -> Void
    ) throws(RunLoop.Error) {
        try self.init(fileDescriptor: fileDescriptor, events: events, order: order) { events in
            MainActor.assumeIsolated { perform(events) }
        }
        isMainActors = true
    }

    /// Makes a source that catches a signal of the process, whose closure is isolated to the main actor, in no loop yet. Only
    /// `RunLoop.main` may have it: adding it to another loop is a precondition failure. Everything else as without `isolation`.
    ///
    /// - Throws: `invalid` for what cannot be caught; `tooManyDescriptors`.
    public convenience init(
        isolation: MainActor, signal: CInt, order: Int = 0, perform: @escaping @MainActor () -> Void
    ) throws(RunLoop.Error) {
        try self.init(signal: signal, order: order) { MainActor.assumeIsolated { perform() } }
        isMainActors = true
    }
}

extension RunLoop.Observer {
    /// Makes an observer whose action is isolated to the main actor, in no loop yet. Only `RunLoop.main` may have it: adding it to
    /// another loop is a precondition failure. Everything else as without `isolation`.
    public convenience init(
        isolation: MainActor, _ activities: Activities, repeats: Bool = true, order: Int = 0,
        _ action: @escaping @MainActor (RunLoop.Observer, Activities) -> Void
    ) {
        self.init(activities, repeats: repeats, order: order) { observer, activity in
            MainActor.assumeIsolated { action(observer, activity) }
        }
        isMainActors = true
    }
}

extension RunLoop.CoalescedWork {
    /// Makes work for `RunLoop.main` that is isolated to the main actor, not marked. Everything else as with a loop.
    public convenience init(
        isolation: MainActor, inMode mode: RunLoop.Mode = .common, order: Int = 0,
        _ body: @escaping @MainActor () -> Void
    ) {
        self.init(on: .main, inMode: mode, order: order) { MainActor.assumeIsolated { body() } }
    }
}

extension RunLoop {
    /// May this loop have an item with such a closure?
    func checkIsolation(_ isMainActors: Bool) {
        if !isMainActors { return }
        precondition(
            self == .main, "An item whose closure is isolated to the main actor is added to RunLoop.main only.")
    }
}
