#if os(Linux)
import FoundationEssentials
import RunLoopKit

// The conversion between the two clocks. A date is a reading of the wall clock; the loop waits on a clock that nobody can set.
// A date becomes an instant once, when it is passed in, and setting the wall clock later does not move it (R78, R122).

typealias Instant = RunLoopKit.RunLoop.Instant

extension Duration {
    /// Seconds as nanoseconds, rounded up because nothing may happen early. A value that does not fit becomes the greatest or
    /// the least one. A value that is not a number becomes the greatest, which means never.
    init(clamping seconds: TimeInterval) {
        let nanoseconds = (seconds * 1e9).rounded(.up)
        if nanoseconds.isNaN || nanoseconds >= 0x1p63 {
            self = .nanoseconds(Int64.max)
        } else {
            self = .nanoseconds(nanoseconds <= -0x1p63 ? Int64.min : Int64(nanoseconds))
        }
    }

    var seconds: TimeInterval {
        let (seconds, attoseconds) = components
        return TimeInterval(seconds) + TimeInterval(attoseconds) * 1e-18
    }
}

/// A date and the instant that it was converted to.
struct FireDate: Sendable {
    /// The date as it was passed in.
    let given: Date
    /// `nil` for never: the distant future, or no date.
    let instant: Instant?
    /// The reading of the wall clock at `instant`. It differs from `given` if that had passed already.
    private let reading: Date

    init(_ date: Date) {
        given = date
        // The wall clock is read first, so that a delay between the two readings makes the instant late, not early.
        let wall = Date()
        let now = Instant.now
        let wait = Duration(clamping: date.timeIntervalSince(wall))
        if wait <= .zero {
            instant = now
            reading = wall
        } else {
            instant = wait == .nanoseconds(Int64.max) ? nil : now + wait
            reading = date
        }
    }

    /// The date of an instant, relative to this one: the same instant always has the same date, and instants an interval apart
    /// have dates an interval apart.
    func date(of other: Instant?) -> Date {
        if other == instant { return given }
        guard let other else { return .distantFuture }
        guard let instant else { return wallDate(of: other) }
        return reading + (other - instant).seconds
    }
}

/// The date of an instant, by the current readings of the two clocks.
func wallDate(of instant: Instant) -> Date {
    Date() + (instant - Instant.now).seconds
}
#endif
