#if os(Linux)
internal import CRunLoopCore
internal import CRunLoopLinux
public import RunLoopKit

extension RunLoop {
    /// A number that anybody adds to, and that a loop takes: an eventfd.
    ///
    ///     let counter = try RunLoop.Counter(on: loop) { sum in
    ///         print("\(sum) since the last call")
    ///     }
    ///     try counter.add(3)
    ///
    /// For signal handlers in C, for other processes, and for libraries and kernel interfaces that take an eventfd; within a
    /// process a `Source` that is signalled costs less. The loop keeps the counter until it is invalidated or freed.
    public final class Counter: Sendable {
        private let source: Source

        /// Makes a counter, which is 0. Any thread.
        ///
        /// - Parameters:
        ///   - loop: which takes the sum.
        ///   - mode: in which mode, or in all common ones.
        ///   - counted: called on the loop's thread, once for all that was added since the last call, with the sum.
        /// - Throws: `tooManyDescriptors`, `outOfMemory`, `loopFinished`, `inheritedAcrossFork`.
        public init(
            on loop: RunLoop, inMode mode: Mode = .common, _ counted: @escaping @Sendable (UInt64) -> Void
        ) throws {
            source = try unsafe Source(receiver: ClosureBox(counted)) { context, counter in
                var config = unsafe runloop_counter_config()
                unsafe config.context = context
                unsafe config.counted = { _, sum, info in
                    unsafe withInfo(info, as: ClosureBox<UInt64>.self) { $0.call(sum) }
                }
                return unsafe runloop_counter_create(&config, &counter)
            }
            try loop.add(source, forMode: mode)
        }

        deinit {
            source.invalidate()
        }

        /// Adds to the counter, and wakes the loop if it sleeps in the counter's mode. Any thread; in a forked child, that wakes the
        /// parent. No effect after `invalidate()`. O(1), one system call.
        ///
        /// - Throws: `invalid` for 0, for `UInt64.max`, and if the sum would be as large as that; then nothing was added.
        public func add(_ value: UInt64 = 1) throws {
            if unsafe runloop_counter_add(source.core, value) < 0 { throw RunLoop.Error.invalid }
        }

        /// The counter's descriptor, a non-blocking eventfd: valid as long as the counter, not to be closed. Writing eight bytes adds.
        /// O(1).
        public var fileDescriptor: CInt { unsafe runloop_source_get_descriptor(source.core) }

        /// Ends the counter, and drops what was added since the last call. Any thread; a second call has no effect.
        public func invalidate() { source.invalidate() }
    }
}
#endif
