#if os(Linux)
internal import CRunLoopCore

/// Times as the core counts them: `Int64` nanoseconds; instants are counted from the epoch of CLOCK_MONOTONIC. A time that does not
/// fit becomes the greatest or the least value, and the greatest means "never". Fractions are rounded up, because nothing may
/// happen early.
///
/// Conversions are inlined into the client, where most durations are constants.
@usableFromInline
package enum Nanoseconds {
    @inlinable
    package static var never: Int64 { Int64.max }

    /// Of the calling thread.
    package static var now: Int64 { runloop_now_ns() }

    @inlinable
    @inline(__always)
    package static func of(_ duration: Duration) -> Int64 {
        // Nearly all durations are whole numbers of nanoseconds. A division without a remainder is a multiplication: 10⁹ is
        // 2⁹ · 5⁹, and this is the inverse of 5⁹ modulo 2⁶⁴. The product shows whether there was no remainder, and whether it fits.
        let attoseconds = duration.attoseconds
        let nanoseconds = Int64(truncatingIfNeeded: attoseconds >> 9) &* -8_194_354_213_138_031_507
        return Int128(nanoseconds) &* 1_000_000_000 == attoseconds ? nanoseconds : rounded(attoseconds)
    }

    @usableFromInline
    @inline(never)
    static func rounded(_ attoseconds: Int128) -> Int64 {
        let (nanoseconds, rest) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return Int64(clamping: rest > 0 ? nanoseconds + 1 : nanoseconds)
    }

    /// The greatest or the least value if it does not fit.
    @inlinable
    package static func sum(_ left: Int64, _ right: Int64) -> Int64 {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? (right > 0 ? .max : .min) : sum
    }

    @usableFromInline
    package static func fromNow(_ nanoseconds: Int64) -> Int64 { sum(now, nanoseconds) }

    /// By the time of a loop, which may be another thread's.
    package static func fromNow(of loop: OpaquePointer, _ nanoseconds: Int64) -> Int64 {
        unsafe sum(runloop_get_now_ns(loop), nanoseconds)
    }

    static func until(_ instant: RunLoop.Instant) -> Int64 {
        if instant.nanoseconds == never { return never }
        let (limit, overflow) = instant.nanoseconds.subtractingReportingOverflow(now)
        return overflow ? .min : limit
    }
}
#endif
