#if os(Linux)
internal import CRunLoopCore
internal import CRunLoopLinux
public import RunLoopKit

extension RunLoop {
    /// The end of the program by a signal, with work to do before.
    ///
    ///     let shutdown = try RunLoop.Shutdown(signals: [SIGINT, SIGTERM], within: .seconds(10))
    ///     shutdown.addWork { close() }
    ///     shutdown.addWork(order: 1) { complain() }
    ///
    /// The first signal begins the shutdown: the work is performed on the loop's thread, in order, and then the process ends by
    /// that signal, so that its parent sees the right status. Work that would rather have the program end with a status calls
    /// `exit`. A second signal ends the process at once, even if the loop's thread hangs; so does the limit. What arrives within a
    /// quarter of a second after the first signal belongs to it, since some senders signal a process and then its group.
    ///
    /// The loop keeps the shutdown; the program may release its object.
    public final class Shutdown: Sendable {
        private let source: Source

        /// Catches the signals, from now on. Those that are ignored are left so. Any thread.
        ///
        /// - Parameters:
        ///   - signals: at least one.
        ///   - limit: how long the work may take, greater than zero; `nil` is as long as it takes.
        ///   - loop: on whose thread the work is performed.
        ///   - mode: in which the shutdown begins.
        /// - Throws: `invalid` for a signal that cannot be caught, for no signals, and for a limit that is not greater than zero;
        ///   `tooManyDescriptors`; `loopFinished`, `inheritedAcrossFork`.
        public init(
            signals: [CInt], within limit: Duration? = nil, on loop: RunLoop = .main, inMode mode: Mode = .common
        ) throws {
            var core: OpaquePointer?
            let result = unsafe signals.withUnsafeBufferPointer { numbers in
                var config = unsafe runloop_shutdown_config()
                unsafe config.numbers = numbers.baseAddress
                unsafe config.count = numbers.count
                unsafe config.limit_ns = limit.map(Nanoseconds.of) ?? Nanoseconds.never
                return unsafe runloop_shutdown_create(&config, &core)
            }
            guard result == 0, let core = unsafe core else { throw RunLoop.Error(result: result) }
            source = unsafe Source(core: core)
            try loop.add(source, forMode: mode)
        }

        /// Adds work. It is called once, on the loop's thread, when the shutdown has begun. It may run the loop in a mode of its own
        /// until its output has been taken, and it may add work. Any thread. O(work that was added).
        ///
        /// - Parameter order: lower is performed first, equal in the order of addition. Clamped to 32 bits.
        public func addWork(order: Int = 0, _ work: @escaping @Sendable () -> Void) {
            let info = unsafe retainedInfo(ClosureBox<Void>(work))
            let result = unsafe runloop_shutdown_add_work(
                source.core, Int32(clamping: order),
                { info in
                    guard let info = unsafe info else { return }
                    unsafe Unmanaged<ClosureBox<Void>>.fromOpaque(info).takeRetainedValue().call(())
                }, unsafe info, unsafe releaseInfo)
            if result < 0 { outOfMemory() }
        }

        /// The signal that began the shutdown; `nil` before. O(1).
        public var signal: CInt? {
            let number = unsafe runloop_shutdown_get_signal(source.core)
            return number == 0 ? nil : number
        }

        /// Gives the signals back; a shutdown that has begun goes on. A second call has no effect. Any thread. O(modes it is in).
        public func invalidate() { source.invalidate() }
    }
}
#endif
