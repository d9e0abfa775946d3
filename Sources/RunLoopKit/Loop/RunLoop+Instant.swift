#if os(Linux)
internal import CRunLoopCore

extension RunLoop {
    /// An instant of a loop's time, to the nanosecond.
    ///
    ///     let end = RunLoop.Instant.now + .milliseconds(100)
    ///     while !isDone && .now < end {
    ///         loop.run(
    ///             mode: .default, until: end, returnAfterSourceHandled: true)
    ///     }
    ///
    /// Loops live by CLOCK_MONOTONIC, which stands still while the machine is suspended, as Swift's `SuspendingClock` does; either kind of
    /// instant can be made from the other. In a test a loop may have a virtual time, whose instants are those that the test makes pass.
    ///
    /// An instant is never further from the clock's epoch than 292 years. What is further is the instant that never comes.
    public struct Instant: InstantProtocol {
        /// The time between two instants.
        public typealias Duration = Swift.Duration

        /// Since the epoch of CLOCK_MONOTONIC.
        @usableFromInline
        package let nanoseconds: Int64

        // Not inlinable: that would have to presuppose the fields, which library evolution leaves open.
        @usableFromInline
        package init(nanoseconds: Int64) {
            self.nanoseconds = nanoseconds
        }

        /// `nil` for the instant that never comes.
        package init?(nanosecondCount: Int64) {
            if nanosecondCount == Nanoseconds.never { return nil }
            nanoseconds = nanosecondCount
        }

        /// The same instant on Swift's clock.
        public init(_ instant: SuspendingClock.Instant) {
            nanoseconds = Nanoseconds.of(SuspendingClock().systemEpoch.duration(to: instant))
        }

        /// The current instant for the calling thread: of its loop, if that has a time of its own, else of CLOCK_MONOTONIC. O(1).
        public static var now: Instant { Instant(nanoseconds: Nanoseconds.now) }

        /// The instant so much later, or earlier if `duration` is negative. O(1).
        @inlinable
        public func advanced(by duration: Duration) -> Instant {
            if nanoseconds == Nanoseconds.never { return self }
            return Instant(nanoseconds: Nanoseconds.sum(nanoseconds, Nanoseconds.of(duration)))
        }

        /// The time from this instant to another one. O(1).
        @inlinable
        public func duration(to other: Instant) -> Duration {
            .nanoseconds(other.nanoseconds) - .nanoseconds(nanoseconds)
        }

        /// Returns the instant that is so much later; the same as `advanced(by:)`.
        @inlinable
        public static func + (instant: Instant, duration: Duration) -> Instant { instant.advanced(by: duration) }

        /// As `advanced(by:)`, backwards.
        @inlinable
        public static func - (instant: Instant, duration: Duration) -> Instant {
            instant.advanced(by: .zero - duration)
        }

        /// Moves the instant by a duration; the same as `advanced(by:)`.
        @inlinable
        public static func += (instant: inout Instant, duration: Duration) { instant = instant + duration }

        /// As `advanced(by:)`, backwards.
        @inlinable
        public static func -= (instant: inout Instant, duration: Duration) { instant = instant - duration }

        /// The time from the second instant to the first.
        @inlinable
        public static func - (later: Instant, earlier: Instant) -> Duration { earlier.duration(to: later) }

        /// Whether the first instant is before the second.
        @inlinable
        public static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }
    }
}

extension SuspendingClock.Instant {
    /// The same instant on Swift's clock, if the loop's time is CLOCK_MONOTONIC.
    public init(_ instant: RunLoop.Instant) {
        self = SuspendingClock().systemEpoch.advanced(by: .nanoseconds(instant.nanoseconds))
    }
}
#endif
