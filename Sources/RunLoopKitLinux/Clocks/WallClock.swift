#if os(Linux)
public import RunLoopKit

extension RunLoop {
    /// The wall clock, with sleeps that end on a loop's thread when the clock shows an instant, whether it got there by passing,
    /// by being set, or by a suspension of the machine.
    ///
    ///     try await loop.wallClock.sleep(
    ///         until: RunLoop.WallInstant(secondsSince1970: 1_893_456_000))
    ///
    /// If the clock is set back during a sleep, the sleep takes longer. For durations use ``RunLoop/clock``.
    public struct WallClock: _Concurrency.Clock, Hashable {
        /// An instant of the wall clock.
        public typealias Instant = WallInstant
        /// The time between two instants.
        public typealias Duration = Swift.Duration

        /// The loop on which sleeps end.
        let loop: RunLoop
        /// The mode of the loop in which a sleep can end; `.common` stands for any common mode.
        let mode: Mode

        /// What the system's wall clock shows now. Any thread. O(1).
        public var now: WallInstant { .now }

        /// The smallest step between two instants: a nanosecond.
        public var minimumResolution: Duration { .nanoseconds(1) }

        /// Waits until the clock shows `deadline`. If it does already, it returns at once. Any task; it keeps the caller's
        /// isolation. O(1), and a descriptor for as long as it waits.
        ///
        /// - Parameters:
        ///   - deadline: an instant of the wall clock.
        ///   - tolerance: has no effect, since no wake-up is shared with other clocks.
        /// - Throws: `CancellationError` if the task is cancelled, before or during the wait; `RunLoop.Error.loopFinished` if the
        ///   loop's thread ends before, or has ended; `tooManyDescriptors`.
        public nonisolated(nonsending) func sleep(until deadline: WallInstant, tolerance: Duration? = nil) async throws
        {
            try Task.checkCancellation()
            if deadline <= now { return }
            var ends = loop.ticks(.wall, at: deadline.nanoseconds, every: 0, mode).makeAsyncIterator()
            if try await ends.next(isolation: #isolation) != nil { return }
            try Task.checkCancellation()
            throw RunLoop.Error.loopFinished
        }
    }

    /// The wall clock, whose sleeps end in any common mode of this loop. Any thread. O(1).
    public var wallClock: WallClock { wallClock(inMode: .common) }

    /// The wall clock, whose sleeps end only when the loop runs in `mode`. Any thread. O(1).
    public func wallClock(inMode mode: Mode) -> WallClock { WallClock(loop: self, mode: mode) }
}
#endif
