internal import CRunLoopCore

/// Times as the core counts them: `Int64` nanoseconds, instants since the epoch of CLOCK_MONOTONIC. What does not fit
/// becomes the greatest or the least value, and the greatest means "never"; what does not divide is rounded up, because
/// nothing may happen early.
enum Nanoseconds {
    static let never = Int64.max

    static var now: Int64 { runloop_now_ns() }

    static func of(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        // The two parts have the same sign, so truncation rounds a negative duration up already.
        let rest = attoseconds / 1_000_000_000 + (attoseconds % 1_000_000_000 > 0 ? 1 : 0)
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds > 0 ? .max : .min }
        return saturatingSum(whole, rest)
    }

    static func of(_ instant: RunLoop.Instant) -> Int64 {
        of(RunLoop.Clock().systemEpoch.duration(to: instant))
    }

    static func fromNow(_ duration: Duration) -> Int64 {
        saturatingSum(now, of(duration))
    }

    static func until(_ instant: RunLoop.Instant) -> Int64 {
        let deadline = of(instant)
        if deadline == never { return never }
        let (limit, overflow) = deadline.subtractingReportingOverflow(now)
        return overflow ? .min : limit
    }

    static func saturatingSum(_ a: Int64, _ b: Int64) -> Int64 {
        let (sum, overflow) = a.addingReportingOverflow(b)
        if overflow { return b > 0 ? .max : .min }
        return sum
    }
}

extension Duration {
    init(nanosecondCount: Int64) {
        self = .nanoseconds(nanosecondCount)
    }
}

extension SuspendingClock.Instant {
    /// `nil` for the instant that never comes.
    init?(nanosecondCount: Int64) {
        if nanosecondCount == Nanoseconds.never { return nil }
        self = SuspendingClock().systemEpoch.advanced(by: .nanoseconds(nanosecondCount))
    }
}
