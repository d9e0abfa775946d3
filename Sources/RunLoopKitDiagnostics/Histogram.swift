#if os(Linux)
internal import CRunLoopDiagnostics
public import RunLoopKit

extension RunLoop {
    /// How often which durations were measured, with an error of at most an eighth.
    ///
    ///     if let lateness = loop.statistics?.timerLateness, lateness.count > 0 {
    ///         print("half of the timers were late by", lateness.quantile(0.5))
    ///         print("the latest by", lateness.max)
    ///     }
    public struct Histogram: Sendable {
        /// How many durations were measured.
        public let count: Int
        /// The sum of all durations.
        public let sum: Duration
        /// The longest duration, exactly.
        public let max: Duration
        private let core: runloop_histogram

        init(_ histogram: runloop_histogram) {
            count = Int(clamping: histogram.count)
            sum = .nanoseconds(histogram.sum_ns)
            max = .nanoseconds(histogram.max_ns)
            core = histogram
        }

        /// The duration that this share of the measured ones did not exceed; 0.5 is the median. Zero if nothing was measured.
        /// O(buckets).
        public func quantile(_ share: Double) -> Duration {
            unsafe withUnsafePointer(to: core) { unsafe .nanoseconds(runloop_histogram_quantile_ns($0, share)) }
        }
    }
}
#endif
