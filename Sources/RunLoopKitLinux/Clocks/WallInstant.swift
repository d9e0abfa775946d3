#if os(Linux)
internal import CRunLoopLinux
public import RunLoopKit

extension RunLoop {
    /// An instant of the wall clock, CLOCK_REALTIME, to the nanosecond: for what happens at a time of day, and goes by what
    /// people set.
    ///
    ///     let today = RunLoop.WallInstant.now.secondsSince1970 / 86_400
    ///     let midnight = RunLoop.WallInstant(secondsSince1970: (today + 1) * 86_400)
    ///     try await loop.wallClock.sleep(until: midnight)
    ///     print("a new day in UTC")
    ///
    /// It counts from the beginning of 1970 in UTC, without leap seconds, as `timespec` and `time_t` do. Between two readings the
    /// clock may have been set, back too, so a difference of such instants is not how long something took: that is for
    /// ``Instant``.
    ///
    /// Local time, with daylight saving and calendars, is not known here; a calendar turns it into such an instant. An instant is
    /// never further from 1970 than 292 years. What is later is the instant that never comes.
    public struct WallInstant: InstantProtocol {
        /// The time between two instants.
        public typealias Duration = Swift.Duration

        /// Since 1970.
        let nanoseconds: Int64

        init(nanoseconds: Int64) {
            self.nanoseconds = nanoseconds
        }

        /// The instant so many seconds and nanoseconds after the beginning of 1970 in UTC, the two fields of a `timespec`; before
        /// it, if they are negative. O(1).
        public init(secondsSince1970 seconds: Int64, nanoseconds: Int64 = 0) {
            self.nanoseconds = Nanoseconds.of(.seconds(seconds) + .nanoseconds(nanoseconds))
        }

        /// What the wall clock shows. O(1).
        public static var now: WallInstant { WallInstant(nanoseconds: runloop_clock_get_now_ns(.RUNLOOP_CLOCK_WALL)) }

        /// The whole seconds since 1970, rounded down: `tv_sec` of a `timespec`. O(1).
        public var secondsSince1970: Int64 {
            let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
            return rest < 0 ? seconds - 1 : seconds
        }

        /// The nanoseconds since the last whole second, from 0 to 999,999,999: `tv_nsec` of a `timespec`. O(1).
        public var nanosecondsOfSecond: Int64 {
            let rest = nanoseconds % 1_000_000_000
            return rest < 0 ? rest + 1_000_000_000 : rest
        }

        /// The instant so much later, or earlier if `duration` is negative. O(1).
        public func advanced(by duration: Duration) -> WallInstant {
            if nanoseconds == Nanoseconds.never { return self }
            return WallInstant(nanoseconds: Nanoseconds.sum(nanoseconds, Nanoseconds.of(duration)))
        }

        /// The time from this instant to another one, by what the clock shows at both. O(1).
        public func duration(to other: WallInstant) -> Duration {
            .nanoseconds(other.nanoseconds) - .nanoseconds(nanoseconds)
        }

        /// Returns the instant that is so much later; the same as `advanced(by:)`.
        public static func + (instant: WallInstant, duration: Duration) -> WallInstant {
            instant.advanced(by: duration)
        }

        /// As `advanced(by:)`, backwards.
        public static func - (instant: WallInstant, duration: Duration) -> WallInstant {
            instant.advanced(by: .zero - duration)
        }

        /// Moves the instant by a duration; the same as `advanced(by:)`.
        public static func += (instant: inout WallInstant, duration: Duration) { instant = instant + duration }

        /// As `advanced(by:)`, backwards.
        public static func -= (instant: inout WallInstant, duration: Duration) { instant = instant - duration }

        /// The time from the second instant to the first, as `duration(to:)`.
        public static func - (later: WallInstant, earlier: WallInstant) -> Duration { earlier.duration(to: later) }

        /// Whether the first instant is before the second.
        public static func < (left: WallInstant, right: WallInstant) -> Bool { left.nanoseconds < right.nanoseconds }
    }
}
#endif
