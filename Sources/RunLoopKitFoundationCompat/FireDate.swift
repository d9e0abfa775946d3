import FoundationEssentials
import RunLoopKit

// The edge between the two clocks. A date is a reading of the wall clock; the loop waits on a clock that no one sets. A date
// becomes an instant once, when it is handed in, and what the wall clock does later does not move it (R78, R122).

typealias Instant = RunLoopKit.RunLoop.Instant

extension Duration {
    /// Seconds as nanoseconds, rounded up because nothing may happen early. What does not fit becomes the greatest or the least
    /// value. Not a number is the greatest: something that never comes.
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

/// A date together with the instant that it has become.
struct FireDate: Sendable {
    /// As it was handed in, whatever that is.
    let given: Date
    /// `nil` for what never comes: the distant future, and no date at all.
    let instant: Instant?
    /// What the wall clock says at `instant`: differs from `given` if that had passed already.
    private let reading: Date

    init(_ date: Date) {
        given = date
        // The wall clock first: what happens between the two readings makes the instant late, not early.
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

    /// The date of an instant, counted from this one: the same instant is always the same date, and instants an interval apart
    /// are dates an interval apart.
    func date(of other: Instant?) -> Date {
        if other == instant { return given }
        guard let other else { return .distantFuture }
        guard let instant else { return wallDate(of: other) }
        return reading + (other - instant).seconds
    }
}

/// The date of an instant by what the two clocks say now.
func wallDate(of instant: Instant) -> Date {
    Date() + (instant - Instant.now).seconds
}
