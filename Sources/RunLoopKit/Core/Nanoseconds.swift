internal import CRunLoopCore

/// Times as the core counts them: `Int64` nanoseconds, instants since the epoch of CLOCK_MONOTONIC. What does not fit
/// becomes the greatest or the least value, and the greatest means "never"; what does not divide is rounded up, because
/// nothing may happen early.
enum Nanoseconds {
    static let never = Int64.max

    static var now: Int64 { runloop_now_ns() }

    static func of(_ duration: Duration) -> Int64 {
        // Many are less than eighteen seconds, which a machine divides by itself.
        if UInt64(truncatingIfNeeded: duration.attoseconds >> 64) == 0 {
            let attoseconds = UInt64(truncatingIfNeeded: duration.attoseconds)
            let (nanoseconds, rest) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
            return Int64(truncatingIfNeeded: rest > 0 ? nanoseconds + 1 : nanoseconds)
        }
        let (nanoseconds, rest) = duration.attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return Int64(clamping: rest > 0 ? nanoseconds + 1 : nanoseconds)
    }

    static func of(_ instant: RunLoop.Instant) -> Int64 {
        of(epoch.duration(to: instant))
    }

    static let epoch = SuspendingClock().systemEpoch

    static func fromNow(_ duration: Duration) -> Int64 {
        // Now is after the epoch, so no sum is too little.
        let (sum, overflow) = now.addingReportingOverflow(of(duration))
        return overflow ? never : sum
    }

    static func until(_ instant: RunLoop.Instant) -> Int64 {
        let deadline = of(instant)
        if deadline == never { return never }
        let (limit, overflow) = deadline.subtractingReportingOverflow(now)
        return overflow ? .min : limit
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
        self = Nanoseconds.epoch.advanced(by: .nanoseconds(nanosecondCount))
    }
}
