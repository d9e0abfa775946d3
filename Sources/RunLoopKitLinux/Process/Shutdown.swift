#if os(Linux)
internal import CRunLoopCore
internal import CRunLoopLinux
public import RunLoopKit

extension RunLoop {
    /// The end of the program by a signal, with work to do before.
    ///
    ///     let shutdown = try RunLoop.Shutdown(
    ///         signals: [SIGINT, SIGTERM], within: .seconds(10))
    ///     shutdown.addWork { close() }
    ///     shutdown.addWork(order: 1) { complain() }
    ///
    ///     shutdown.addWork(order: 2) { await server.drain() }
    ///
    /// The first signal begins the shutdown: the work is performed in order, on the loop's thread or as a task; then what was printed
    /// is flushed, and the process ends by that signal, so that its parent sees the right status. As the first process of a container
    /// (PID 1), which the kernel spares such an end, it exits with 128 + the number of the signal. Work that would rather have the
    /// program end with a status calls `exit`.
    ///
    /// A second signal ends the process at once, even if the loop's thread hangs; so does the limit. Neither flushes anything. What
    /// arrives within a quarter of a second after the first signal belongs to it, since some senders signal a process and then its
    /// group.
    ///
    /// The loop keeps the shutdown; the program may release its object.
    public final class Shutdown: Sendable {
        private let source: Source

        /// Catches the signals, from now on. Any thread. Those that libdispatch catches as well are noticed by both. A diagnostic on
        /// standard error names each signal that is ignored, and later each that something else has taken, once.
        ///
        /// - Parameters:
        ///   - signals: at least one.
        ///   - evenIfIgnored: also catches signals that are ignored, as SIGINT is in what a script starts with `&`. Otherwise they are left so.
        ///   - limit: how long the work may take, greater than zero; `nil` is as long as it takes.
        ///   - loop: on whose thread the work is performed.
        ///   - mode: in which the shutdown begins.
        /// - Throws: `invalid` for a signal that cannot be caught, for no signals, and for a limit that is not greater than zero;
        ///   `tooManyDescriptors`; `loopFinished`, `inheritedAcrossFork`.
        public init(
            signals: [CInt], evenIfIgnored: Bool = false, within limit: Duration? = nil, on loop: RunLoop = .main,
            inMode mode: Mode = .common
        ) throws {
            var core: OpaquePointer?
            let result = unsafe signals.withUnsafeBufferPointer { numbers in
                var config = unsafe runloop_shutdown_config()
                unsafe config.numbers = numbers.baseAddress
                unsafe config.count = numbers.count
                unsafe config.limit_ns = limit.map(Nanoseconds.of) ?? Nanoseconds.never
                unsafe config.force = evenIfIgnored
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

        /// Adds work that is asynchronous. When the shutdown has come to it, it is begun as a task; the next work is performed, or the
        /// process ends, when it has returned. The loop goes on meanwhile, in the modes that the program runs, and with it the main actor
        /// and all that the work waits for. It is cut off by the limit and by a second signal, and not cancelled before: with a limit of
        /// its own it should finish earlier. After ten seconds a diagnostic on standard error says what the process waits for.
        /// A program that stops its loop before, and returns from `main`, ends there. Any thread. O(work that was added).
        ///
        /// - Parameters:
        ///   - order: as for other work, with which it takes its turn.
        ///   - work: its isolation is its own: a closure that calls the main actor awaits it.
        public func addWork(order: Int = 0, _ work: @escaping @Sendable () async -> Void) {
            // The closure is kept by the core's source, which would be kept by a reference of the closure's.
            let core = unsafe UnownedCore(core: source.core)
            addWork(order: order) { () -> Void in
                let hold = unsafe Hold(of: core.core)
                Task {
                    await work()
                    hold.end()
                }
            }
        }

        /// The signal that began the shutdown; `nil` before. O(1).
        public var signal: CInt? {
            let number = unsafe runloop_shutdown_get_signal(source.core)
            return number == 0 ? nil : number
        }

        /// Ends the shutdown without ending the process, and gives the signals back; a shutdown that has begun goes on. A second call has
        /// no effect. Any thread. O(modes it is in).
        public func invalidate() { source.invalidate() }
    }
}

/// A shutdown that calls its work, and so is there.
@unsafe private struct UnownedCore: @unchecked Sendable {
    let core: OpaquePointer
}

/// Asynchronous work that a shutdown waits for, and that keeps it.
private final class Hold: Sendable {
    private let core: RunLoop.Source

    /// - Parameter core: a shutdown that lasts as long as this call.
    @unsafe init(of core: OpaquePointer) {
        unsafe runloop_source_retain(core)
        self.core = unsafe RunLoop.Source(core: core)
        unsafe runloop_shutdown_hold(core)
    }

    func end() { unsafe runloop_shutdown_resume(core.core) }
}
#endif
