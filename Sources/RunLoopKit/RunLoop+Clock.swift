extension RunLoop {
    /// A clock whose sleeps are timers of a loop. Its instants are those of `SuspendingClock` and of everything else here:
    /// nanoseconds of CLOCK_MONOTONIC, which stands still while the machine is suspended. (`ContinuousClock` counts
    /// CLOCK_BOOTTIME, which does not.)
    ///
    ///     try await loop.clock.sleep(for: .seconds(1), tolerance: .milliseconds(50))
    ///     try await Task.sleep(until: .now + .seconds(1), clock: loop.clock)
    ///
    /// A sleep ends when the loop runs in the clock's mode at or after its deadline, and shares wake-ups with timers by its
    /// tolerance. A task that is on the loop's thread, in an actor on its executor for instance, sleeps and goes on there
    /// with the methods of this type: no other thread takes part. `Task.sleep` goes through the tasks' own threads before it
    /// asks the clock, unless the task prefers the loop (`loop.taskExecutor`).
    public struct Clock: _Concurrency.Clock, Hashable {
        /// An instant, as everywhere here.
        public typealias Instant = SuspendingClock.Instant
        /// A time between two instants.
        public typealias Duration = Swift.Duration

        /// The loop whose timers the sleeps are.
        public let loop: RunLoop
        /// In which mode of the loop a sleep can end; `.common`: in any common mode.
        public let mode: Mode

        /// The current instant. The same for the clocks of all loops. Any thread. O(1).
        public var now: Instant { .now }

        /// A nanosecond: what the deadlines of timers are counted in.
        public var minimumResolution: Duration { .nanoseconds(1) }

        /// Waits until `deadline`, and not less. One that has passed is no wait, also when the loop's thread has ended. One
        /// that is too far for the clock, 292 years after its epoch, never comes.
        ///
        /// Any task; the caller's isolation stays. O(log timers) per mode, one allocation for the timer and some for the call.
        ///
        /// - Parameters:
        ///   - deadline: an instant, `.now + .seconds(1)`.
        ///   - tolerance: how much later it may end, to share a wake-up; `nil` is zero.
        /// - Throws: `CancellationError` at once if the task is cancelled, before or meanwhile: the timer is gone then.
        ///   `RunLoop.Error.loopFinished` if the loop's thread ends before, or has ended.
        public nonisolated(nonsending) func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
            try Task.checkCancellation()
            if deadline <= now { return }
            let sleeper = Sleeper()
            let outcome = await withTaskCancellationHandler {
                await withUnsafeContinuation { waiter in
                    sleeper.begin(waiter, until: deadline, tolerance: tolerance ?? .zero, on: loop, mode)
                }
            } onCancel: {
                sleeper.cancel()
            }
            try outcome.get()
        }

        /// Waits for a time, and not less. As `sleep(until:tolerance:)`.
        public nonisolated(nonsending) func sleep(for duration: Duration, tolerance: Duration? = nil) async throws {
            try await sleep(until: .now + duration, tolerance: tolerance)
        }
    }

    /// The loop's clock, whose sleeps end in any common mode. Any thread. O(1).
    public var clock: Clock { clock(inMode: .common) }

    /// A clock whose sleeps end only when the loop runs in `mode`. Equal to others of the same loop and mode. Any thread. O(1).
    public func clock(inMode mode: Mode) -> Clock { Clock(loop: self, mode: mode) }
}

/// One sleep: a timer, and the task that waits for it.
private final class Sleeper: Sendable {
    typealias Outcome = Result<Void, any Error>

    private struct State {
        var waiter: UnsafeContinuation<Outcome, Never>?
        /// The loop keeps it, and with it what notices the end of the loop's thread.
        weak var timer: RunLoop.Timer?
        var outcome: Outcome?
    }

    private let state = Guarded(State())

    func begin(
        _ waiter: UnsafeContinuation<Outcome, Never>, until deadline: RunLoop.Instant, tolerance: Duration,
        on loop: RunLoop, _ mode: RunLoop.Mode
    ) {
        let end = EndOfSleep(self)
        let timer = RunLoop.Timer(at: deadline, tolerance: tolerance) { _ in end.sleeper.finish(.success(())) }
        let outcome = state.withLock { state in
            state.timer = timer
            if state.outcome == nil { state.waiter = waiter }
            return state.outcome
        }
        if let outcome { return waiter.resume(returning: outcome) }
        loop.add(timer, forMode: mode)
    }

    /// The timer is gone before the task is told.
    func cancel() {
        let outcome = Outcome.failure(CancellationError())
        let waiter = settle(outcome)
        state.withLock { $0.timer }?.invalidate()
        waiter?.resume(returning: outcome)
    }

    func finish(_ outcome: Outcome) {
        settle(outcome)?.resume(returning: outcome)
    }

    /// The first outcome counts, and is what the waiter is to be told.
    private func settle(_ outcome: Outcome) -> UnsafeContinuation<Outcome, Never>? {
        state.withLock { state in
            if state.outcome == nil { state.outcome = outcome }
            defer { state.waiter = nil }
            return state.waiter
        }
    }
}

/// Held by a sleep's timer and by nothing else: if that is freed before it fires, the loop's thread has ended.
private final class EndOfSleep: Sendable {
    let sleeper: Sleeper

    init(_ sleeper: Sleeper) {
        self.sleeper = sleeper
    }

    deinit {
        sleeper.finish(.failure(RunLoop.Error.loopFinished))
    }
}
