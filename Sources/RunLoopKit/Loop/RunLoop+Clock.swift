#if os(Linux)
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
            let answer = Answer<Void, any Swift.Error>()
            weak let timer = addTimer(at: deadline, tolerance: tolerance ?? .zero, answer)
            do {
                try await answer.wait(isolation: #isolation) { timer?.invalidate() }
            } catch {
                // The timer is gone because the task is cancelled, or the loop's thread has ended.
                try Task.checkCancellation()
                throw error
            }
        }

        /// The loop alone retains it, and with it the object that detects its end.
        private func addTimer(
            at deadline: Instant, tolerance: Duration, _ answer: Answer<Void, any Swift.Error>
        ) -> Timer {
            let end = EndOfSleep(answer)
            let timer = Timer(at: deadline, tolerance: tolerance) { _ in end.answer.settle(.success(())) }
            loop.addUnlessOver(timer, forMode: mode)
            return timer
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

/// Retained by a sleep's timer and by nothing else: it is freed when that has fired, or will not.
private final class EndOfSleep: Sendable {
    let answer: Answer<Void, any Error>

    init(_ answer: Answer<Void, any Error>) {
        self.answer = answer
    }

    deinit {
        answer.settle(.failure(RunLoop.Error.loopFinished))
    }
}
#endif
