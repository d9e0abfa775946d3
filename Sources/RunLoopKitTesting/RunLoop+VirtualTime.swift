#if os(Linux)
internal import CRunLoopCore
internal import CRunLoopSimulation
public import RunLoopKit
internal import Synchronization

extension RunLoop {
    /// The time of a loop, in a test's hands. An hour of timers passes at once.
    ///
    ///     try await withVirtualTime { loop, time in
    ///         let timer = RunLoop.Timer(after: .seconds(3600)) { _ in
    ///             print("an hour has passed")
    ///         }
    ///         try loop.add(timer, forMode: .default)
    ///         time.advance(by: .seconds(3599))
    ///         precondition(timer.isValid)
    ///         time.advance(by: .seconds(1))
    ///         precondition(!timer.isValid)
    ///     }
    ///
    /// Timers, timeouts, delayed performs, limits of runs and `loop.clock` follow it, and so does every clock on the loop's thread:
    /// `ContinuousClock`,
    /// `SuspendingClock`, `Date`, what C reads, alarms, limits of connections. It stands still while anything is ready, and jumps to the
    /// next instant that the loop waits for when nothing is: each due instant is visited, in order, and nothing is ever late or early.
    /// Descriptors, signals and other threads stay real, those of the task pool too, so a task that is to follow the time prefers the loop
    /// (`loop.taskExecutor`); or the whole body is simulated (`withSimulation`).
    ///
    /// The time does not jump while a task of the loop awaits `runBlocking`, `performAndWait` of another loop, or the end of a child. While
    /// the program waits for something else that is real, a `RealWork` keeps it from jumping.
    ///
    /// `withVirtualTime` makes one for a new thread. A program makes its own for a loop that it has already, before that has timers.
    @safe public final class VirtualTime: Sendable {
        /// The loop whose time is virtual.
        public let loop: RunLoop
        /// The same, for the core: `loop` retains it.
        @safe private nonisolated(unsafe) let core: OpaquePointer
        private let nanoseconds: Atomic<Int64>
        /// The same for the clocks of the thread, which alone uses it.
        @safe private nonisolated(unsafe) let world: UnsafeMutablePointer<runloop_simulated_world>
        private let realWork = Atomic(0)
        /// Some has ended since the loop was last asked what it has to do: what was performed before that end may not be seen yet.
        private let realWorkHasEnded = Atomic(false)
        /// Somebody runs the loop until a condition holds, of which there may be no notification. On the thread.
        private nonisolated(unsafe) var polls = Polls()

        /// Gives the calling thread's loop a virtual time, which begins now, until `end()` or the end of the thread.
        ///
        /// It is a precondition failure if the loop has one already, or timers or a run with a limit, whose dates would change their
        /// meaning. A signal, a shutdown, and a child with pipes have a timer of their own for a while, in a loop that has the machine's
        /// time.
        public init() {
            precondition(VirtualTimeOfLoop.known?.time == nil, "A loop has one virtual time at a time.")
            Self.followOutsideWork
            loop = .current
            core = unsafe runloop_current()
            world = .allocate(capacity: 1)
            unsafe world.initialize(to: runloop_simulated_world())
            unsafe runloop_simulation_set_clocks(world)
            nanoseconds = unsafe Atomic(world.pointee.now_ns)
            var clock = unsafe runloop_clock(
                context: Unmanaged.passUnretained(self).toOpaque(),
                now: { unsafe VirtualTime.at($0).nanoseconds.load(ordering: .acquiring) },
                wait: { unsafe VirtualTime.at($0).wait($1) })
            unsafe precondition(
                runloop_set_clock(&clock) == 0, "A loop gets a virtual time before it has timers and limits.")
            unsafe runloop_simulation_join(world, nil, 0)
            // The loop has the clock until its thread ends, at the latest.
            VirtualTimeOfLoop.current.time = self
        }

        deinit {
            unsafe runloop_simulation_free_timers(world)
            unsafe world.deallocate()
        }

        /// Calls that are made elsewhere keep the time of the loop on whose thread they begin.
        private static let followOutsideWork: Void = OutsideWork.follow { _ in
            guard let time = VirtualTimeOfLoop.known?.time else { return .outside(end: nil) }
            let work = time.beginRealWork()
            return .outside(end: { work.end() })
        }

        private static func at(_ context: UnsafeMutableRawPointer?) -> VirtualTime {
            guard let context = unsafe context else { preconditionFailure("A loop has lost its virtual time.") }
            return unsafe Unmanaged<VirtualTime>.fromOpaque(context).takeUnretainedValue()
        }

        /// Gives the loop the machine's time back, on its own thread, once. It is a precondition failure if a run with a limit goes on.
        ///
        /// Timers that are still in the loop are invalidated, and deadlines of its sources are taken back: their dates are of the virtual
        /// time. For a test that is a failure, so that none is forgotten; a test that expects some takes them out of the loop itself.
        /// Tasks that sleep on the main loop go on.
        ///
        /// - Throws: `TimersLeftBehind`, after the loop has the machine's time.
        public func end() throws {
            checkIsInForce()
            let description = loop.description
            let count = loop.removeDates()
            precondition(runloop_set_clock(nil) == 0, "A loop gets the machine's time back when it has no limits.")
            leave()
            VirtualTimeOfLoop.current.time = nil
            if count > 0 { throw TimersLeftBehind(count: count, loopDescription: description) }
        }

        private func checkIsInForce() {
            precondition(
                VirtualTimeOfLoop.known?.time === self,
                "Virtual time passes on its loop's thread, until its end; perform a closure there.")
        }

        /// The clocks of the thread show the machine's time.
        func leave() { runloop_simulation_join(nil, nil, 0) }

        /// The loop's current instant. Any thread. O(1).
        public var now: Instant { loop.clock.now }

        /// Runs the loop until `duration` has passed, and nothing is left to do then.
        ///
        /// On the loop's own thread, in its closures too, where the run is nested. In one mode: `.common` is a precondition failure. Stops
        /// of the loop do not end it, and an empty mode does not either. A closure that performs itself again has always something to do,
        /// and this does not return then.
        @available(*, noasync, message: "Running a loop blocks its thread: use withVirtualTime.")
        public func advance(by duration: Duration, mode: Mode = .default) {
            checkIsInForce()
            mode.checkIsOne()
            let end = now + duration
            // The loop sleeps in an empty mode as well, and so asks this for what it waits.
            let keepAlive = Source {}
            loop.addUnlessOver(keepAlive, forMode: mode)
            defer { keepAlive.invalidate() }
            while now < end { loop.run(mode: mode, until: end) }
            loop.iterate(times: .max, mode: mode)
        }

        @available(*, unavailable, message: "Call advance(by: instant - time.now).")
        public func advance(to end: Instant, mode: Mode = .default) {}

        private func pass(_ duration: Int64) {
            unsafe world.pointee.now_ns = nanoseconds.add(duration, ordering: .acquiringAndReleasing).newValue
            unsafe runloop_simulation_fire_timers(world)
        }

        /// The loop's thread has nothing to do for so long. For how many real nanoseconds it may sleep.
        private func wait(_ duration: Int64) -> Int64 {
            let timer = unsafe runloop_simulation_next_timer_ns(world)
            let distance = unsafe timer == .max ? duration : min(duration, max(0, timer - world.pointee.now_ns))
            if distance == .max || realWork.load(ordering: .sequentiallyConsistent) > 0 {
                return unsafe polls.count == 0 ? .max : pollSleep()
            }
            if realWorkHasEnded.exchange(false, ordering: .sequentiallyConsistent) { return 0 }
            pass(distance)
            return 0
        }

        /// A sleep between two looks at a condition.
        private func pollSleep() -> Int64 {
            unsafe polls.hasSlept.toggle()
            if unsafe polls.hasSlept { return 5_000_000 }
            loop.wakeUp()
            return 0
        }

        /// Calls `body`, while the loop looks every few real milliseconds whether anything has changed.
        func polling<Result>(_ body: () throws -> Result) rethrows -> Result {
            unsafe polls.count += 1
            defer { unsafe polls.count -= 1 }
            return try body()
        }

        private struct Polls {
            var count = 0
            var hasSlept = false
        }

        /// Keeps the time from jumping while the program waits for something real: another thread, a process, a socket of another machine.
        ///
        ///     try await withVirtualTime { loop, time in
        ///         let thread = try RunLoop.Thread()
        ///         let reading = time.beginRealWork()
        ///         thread.perform {
        ///             loop.perform { print("has been read, and no time has passed") }
        ///             reading.end()
        ///         }
        ///         time.advance(by: .seconds(1))
        ///     }
        ///
        /// Any thread. Several keep it until the last one has ended.
        public func beginRealWork() -> RealWork { RealWork(self) }

        /// The end of real work, which happens once: by `end()`, or with the last reference.
        ///
        ///     let reading = time.beginRealWork()
        ///     thread.perform {
        ///         // An hour of the test does not pass while the file is read.
        ///         take(text)
        ///         reading.end()
        ///     }
        public final class RealWork: Sendable {
            private let time: VirtualTime
            private let hasEnded = Atomic(false)

            fileprivate init(_ time: VirtualTime) {
                self.time = time
                time.realWork.add(1, ordering: .sequentiallyConsistent)
            }

            deinit {
                end()
            }

            /// The time may jump again, when the loop has nothing to do. Any thread; what it performed before comes first.
            public func end() {
                if hasEnded.exchange(true, ordering: .sequentiallyConsistent) { return }
                time.realWorkHasEnded.store(true, ordering: .sequentiallyConsistent)
                time.realWork.subtract(1, ordering: .sequentiallyConsistent)
                unsafe runloop_clock_moved(time.core)
            }
        }
    }
}

/// Calls `body` on a new thread with that thread's loop and its virtual time. Otherwise as `withRunLoop`.
///
/// Timers that the body leaves in the loop are freed with the thread, without firing.
///
/// - Throws: what `body` throws. It is a precondition failure if no thread can be started.
public func withVirtualTime<Value, Failure: Error>(
    name: String = "run loop test",
    _ body: sending @escaping (RunLoop, RunLoop.VirtualTime) throws(Failure) -> sending Value
) async throws(Failure) -> sending Value {
    try await withRunLoop(name: name) { loop throws(Failure) in
        try body(loop, RunLoop.VirtualTime())
    }
}
#endif
