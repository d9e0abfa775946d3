internal import CRunLoopGLib
public import RunLoopKit

extension RunLoop {
    /// A hosted run of the calling thread's loop under GLib's main loop: GTK's, GStreamer's, GIO's.
    ///
    ///     try RunLoop.GLibHost()
    ///     g_application_run(application, 0, nil)   // or g_main_loop_run
    ///
    /// From then on, whenever the thread iterates the context, timers, sources and closures of our loop are served between GLib's own
    /// callbacks, for at most about a millisecond at a time. On the initial thread, so are `@MainActor` and `DispatchQueue.main`. GLib
    /// waits for one descriptor; nothing is polled. If a closure of our loop iterates the context, as a modal dialog does, the mode is
    /// served there as well.
    ///
    /// The context keeps the host: it serves the loop until ``end()``, until the run ends by itself, or until the context is freed. On the
    /// thread of the loop only, as with ``RunLoopKit/RunLoop/HostedRun``: anything else is a precondition failure.
    public final class GLibHost {
        private let run: HostedRun
        private var source: UnsafeMutablePointer<GSource>?
        private var onEnd: ((RunResult) -> Void)?

        /// Begins a hosted run of the calling thread's loop in `mode`. A run of an empty mode is over at once, with `finished`; the main
        /// loop's default mode is never empty. O(1).
        ///
        /// - Parameters:
        ///   - mode: The mode to serve.
        ///   - context: A `GMainContext`, which this thread iterates; `nil` is the thread's default one.
        ///   - onEnd: Called once if the run ends by itself later, since it was stopped or its mode has become empty.
        /// - Throws: What ``RunLoopKit/RunLoop/HostedRun`` throws.
        @available(*, noasync, message: "A task may continue on another thread, whose loop is another one.")
        @discardableResult
        public init(
            mode: Mode = .default, context: OpaquePointer? = nil, onEnd: ((RunResult) -> Void)? = nil
        ) throws(Error) {
            run = try HostedRun(mode: mode)
            if result != nil { return }
            self.onEnd = onEnd
            let source = g_unix_fd_source_new(run.fileDescriptor, G_IO_IN)
            let serve: GUnixFDSourceFunc = { _, _, host in
                Unmanaged<GLibHost>.fromOpaque(host!).takeUnretainedValue().serve()
            }
            g_source_set_callback(
                source, unsafeBitCast(serve, to: GSourceFunc.self), Unmanaged.passRetained(self).toOpaque(),
                { Unmanaged<GLibHost>.fromOpaque($0!).release() })
            g_source_set_name(source, "run loop")
            // A dialog in a closure of ours iterates the context.
            g_source_set_can_recurse(source, 1)
            g_source_attach(source, context ?? g_main_context_get_thread_default())
            self.source = source
        }

        /// Why the run is over, or `nil` while it goes on.
        public var result: RunResult? {
            if case .ended(let result) = run.status { result } else { nil }
        }

        /// Ends the run, and GLib serves the loop no more; `onEnd` is not called. Does nothing if the run is over. In a closure of the loop
        /// it is a precondition failure: use ``RunLoopKit/RunLoop/stop()`` there. O(1).
        public func end() {
            run.end()
            detach()
        }

        deinit { detach() }

        /// Whether GLib is to call again.
        private func serve() -> gboolean {
            // After so much GLib's other sources have their turn.
            run.iterate(for: .milliseconds(1))
            guard let result else { return 1 }
            let onEnd = onEnd
            detach()
            onEnd?(result)
            return 0
        }

        /// Gives back the reference to the source, and makes GLib give back that to this object.
        private func detach() {
            guard let source else { return }
            self.source = nil
            onEnd = nil
            g_source_destroy(source)
            g_source_unref(source)
        }
    }
}
