internal import CRunLoopCore

extension RunLoop {
    /// A clock whose sleeps are timers of a loop, and whose time is the loop's: CLOCK_MONOTONIC, which stops while the machine is
    /// suspended (`ContinuousClock` uses CLOCK_BOOTTIME, which does not), or a test's virtual time.
    ///
    ///     try await loop.clock.sleep(for: .seconds(1), tolerance: .milliseconds(50))
    ///     try await Task.sleep(until: .now + .seconds(1), clock: loop.clock)
    ///
    /// A sleep ends when the loop runs in the clock's mode at or after its deadline, and its tolerance lets it share wake-ups
    /// with timers. A task that is on the loop's thread, in an actor on its executor for instance, sleeps and continues there
    /// with the methods of this type; no other thread is involved. `Task.sleep` goes through the threads of the task pool before
    /// it calls the clock, unless the task prefers the loop (`loop.taskExecutor`).
    public struct Clock: _Concurrency.Clock, Hashable {
        /// An instant, the same type as everywhere here.
        public typealias Instant = RunLoop.Instant
        /// The time between two instants.
        public typealias Duration = Swift.Duration

        /// The loop that has the timers of the sleeps.
        package let loop: RunLoop
        /// The mode of the loop in which a sleep can end; `.common` stands for any common mode.
        package let mode: Mode

        /// The loop's current instant. Any thread. O(1).
        public var now: Instant { unsafe Instant(nanoseconds: runloop_get_now_ns(loop.core)) }

        /// A nanosecond, the unit of the deadlines of timers.
        public var minimumResolution: Duration { .nanoseconds(1) }

        /// Waits until `deadline`, and not less. If the deadline has passed, it returns at once, even if the loop's thread has
        /// ended. A deadline that is too far for the clock, 292 years after its epoch, is never reached.
        ///
        /// Any task; it keeps the caller's isolation. O(log timers) per mode, one allocation for the timer and some for the call.
        ///
        /// - Parameters:
        ///   - deadline: an instant, `.now + .seconds(1)`.
        ///   - tolerance: how much later it may end, to share a wake-up; `nil` is zero.
        /// - Throws: `CancellationError` at once if the task is cancelled, before or during the wait; the timer has been freed
        ///   then. `RunLoop.Error.loopFinished` if the loop's thread ends before the deadline, or has ended.
        public nonisolated(nonsending) func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
            try Task.checkCancellation()
            if deadline <= now { return }
            let sleeper = Sleeper()
            let outcome = await withTaskCancellationHandler {
                unsafe await withUnsafeContinuation { waiter in
                    unsafe sleeper.begin(waiter, until: deadline, tolerance: tolerance ?? .zero, on: loop, mode)
                }
            } onCancel: {
                sleeper.cancel()
            }
            try outcome.get()
        }

        /// Waits for a duration, and not less. As `sleep(until:tolerance:)`.
        public nonisolated(nonsending) func sleep(for duration: Duration, tolerance: Duration? = nil) async throws {
            try await sleep(until: now + duration, tolerance: tolerance)
        }
    }

    /// The loop's clock, whose sleeps end in any common mode. Any thread. O(1).
    public var clock: Clock { clock(inMode: .common) }

    /// A clock whose sleeps end only when the loop runs in `mode`. Clocks of the same loop and mode are equal. Any thread. O(1).
    public func clock(inMode mode: Mode) -> Clock { Clock(loop: self, mode: mode) }
}

/// A sleep: a timer, and the task that waits for it.
private final class Sleeper: Sendable {
    typealias Outcome = Result<Void, any Error>

    /// Safe because `settle` takes the waiter out under the lock, so it is resumed once.
    @safe private struct State {
        @safe var waiter: UnsafeContinuation<Outcome, Never>?
        /// The loop retains it, and with it the object that detects the end of the loop's thread.
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
            if state.outcome == nil { state.waiter = unsafe waiter }
            return state.outcome
        }
        if let outcome { return unsafe waiter.resume(returning: outcome) }
        loop.addUnlessOver(timer, forMode: mode)
    }

    /// The timer is invalidated before the task is resumed.
    func cancel() {
        let outcome = Outcome.failure(CancellationError())
        let waiter = unsafe settle(outcome)
        state.withLock { $0.timer }?.invalidate()
        unsafe waiter?.resume(returning: outcome)
    }

    func finish(_ outcome: Outcome) {
        unsafe settle(outcome)?.resume(returning: outcome)
    }

    /// The first outcome counts.
    ///
    /// - Returns: the waiter, which the caller resumes with the outcome.
    private func settle(_ outcome: Outcome) -> UnsafeContinuation<Outcome, Never>? {
        unsafe state.withLock { state in
            if state.outcome == nil { state.outcome = outcome }
            defer { state.waiter = nil }
            return state.waiter
        }
    }
}

/// Retained by a sleep's timer and by nothing else: if it is freed before the timer fires, the loop's thread has ended.
private final class EndOfSleep: Sendable {
    let sleeper: Sleeper

    init(_ sleeper: Sleeper) {
        self.sleeper = sleeper
    }

    deinit {
        sleeper.finish(.failure(RunLoop.Error.loopFinished))
    }
}
