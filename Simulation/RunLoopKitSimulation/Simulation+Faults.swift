#if os(Linux)
internal import CRunLoopSimulation
public import RunLoopKit

extension RunLoop.Simulation {
    /// How much later than asked a sleep, and a timer with it, may end. Zero unless it is set.
    public var greatestDelay: Duration {
        get { .nanoseconds(schedule.greatestDelay) }
        set { schedule.greatestDelay = Nanoseconds.of(newValue) }
    }

    /// May a loop wake up without a reason? A run then makes an iteration in which nothing is served, as it does in the world after a
    /// `wakeUp()` that somebody else asked for. `false` unless it is set.
    public var wakesSpuriously: Bool {
        get { schedule.wakesSpuriously }
        set { schedule.wakesSpuriously = newValue }
    }

    /// What the kernel may do to the simulation, as the seed decides. It happens to whatever is created and called on the simulation's threads, by
    /// this library, by others, and by C: listeners, connections, streams, ports, channels, `socket(2)` of the program. None unless it is
    /// set.
    ///
    ///     try await simulate(seeds: 100) { simulation in
    ///         simulation.faults = [.shortTransfers, .resets]
    ///         let (near, far) = try simulation.makeConnections()
    ///         near.abort()
    ///         far.abort()
    ///     }
    public struct Faults: OptionSet, Sendable {
        /// The bits.
        public let rawValue: UInt32

        /// From bits.
        public init(rawValue: UInt32) { self.rawValue = rawValue }

        /// No descriptors are left (EMFILE): whatever makes one may fail, `makeLoop` and the links included. A message arrives without the
        /// descriptors that were sent with it (MSG_CTRUNC).
        public static let descriptorsRunOut = Faults(RUNLOOP_SIMULATION_NO_DESCRIPTORS)
        /// No memory is left in the kernel (ENOMEM), for descriptors and for messages.
        public static let memoryRunsOut = Faults(RUNLOOP_SIMULATION_NO_MEMORY)
        /// Nobody listens where the program connects to (ECONNREFUSED).
        public static let refusedConnections = Faults(RUNLOOP_SIMULATION_REFUSED)
        /// A read or a write of a stream does a part of what it was asked for.
        public static let shortTransfers = Faults(RUNLOOP_SIMULATION_SHORT)
        /// The peer of a stream or of a channel is gone in the middle (ECONNRESET), and stays so.
        public static let resets = Faults(RUNLOOP_SIMULATION_RESET)
        /// The disk of a file is full (ENOSPC): a write to it may fail.
        public static let fullDisks = Faults(RUNLOOP_SIMULATION_NO_SPACE)
        /// Somebody else has waited for a child that has ended (ECHILD of waitid). How it ended is known only if the kernel says so.
        public static let lostChildren = Faults(RUNLOOP_SIMULATION_NO_CHILD)
        /// A Unix stream may have the smallest buffer that there is, so that a writer soon waits for a peer that does not read.
        public static let smallBuffers = Faults(RUNLOOP_SIMULATION_SMALL)

        private init(_ fault: runloop_simulation_fault) { rawValue = fault.rawValue }
    }

    /// What may happen from now on.
    public var faults: Faults {
        get { unsafe Faults(rawValue: schedule.world.pointee.faults) }
        set { unsafe schedule.world.pointee.faults = newValue.rawValue }
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
        schedule.step(Nanoseconds.of(step))
    }

    /// One of `count` ways, decided by the seed: for whatever else the test wants decided.
    public func choose(_ count: Int) -> Int { schedule.choices.choose(count) }

    func mayFailToOpen() throws(RunLoop.Error) {
        if faults.contains(.descriptorsRunOut) && schedule.choices.happens(percentage: 15) { throw .tooManyDescriptors }
    }
}
#endif
