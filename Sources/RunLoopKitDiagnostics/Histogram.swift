internal import CRunLoopDiagnostics
public import RunLoopKit

extension RunLoop {
    /// How often which durations were measured, with an error of at most an eighth.
    public struct Histogram: Sendable {
        /// How many durations were measured.
        public let count: Int
        /// All of them together.
        public let sum: Duration
        /// The longest, exactly.
        public let max: Duration
        private let buckets: [UInt64]
        private let longest: Int64

        init(_ histogram: borrowing runloop_histogram) {
            count = Int(clamping: histogram.count)
            sum = .nanoseconds(histogram.sum_ns)
            max = .nanoseconds(histogram.max_ns)
            longest = histogram.max_ns
            buckets = unsafe withUnsafeBytes(of: histogram.buckets) { unsafe Array($0.bindMemory(to: UInt64.self)) }
        }

        /// The duration that this share of the measured ones did not exceed; 0.5 is the median. Zero if nothing was measured.
        /// O(buckets).
        public func quantile(_ share: Double) -> Duration {
            var histogram = runloop_histogram()
            histogram.max_ns = longest
            unsafe withUnsafeMutableBytes(of: &histogram.buckets) { target in
                unsafe buckets.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
            }
            return unsafe .nanoseconds(runloop_histogram_quantile_ns(&histogram, share))
        }
    }
}
