#if os(Linux)
public import RunLoopKit
public import RunLoopKitHosts

extension RunLoop {
    /// A hosted run of the calling thread's loop under GLib's main loop: GTK's, GStreamer's, GIO's.
    ///
    ///     try RunLoop.GLibHost()
    ///     g_application_run(application, 0, nil)   // or g_main_loop_run
    ///
    /// From then on, whenever the thread iterates the context, timers, sources and closures of our loop are served between GLib's own
    /// callbacks, for at most about a millisecond at a time and at a priority that leaves GTK its drawing. On the initial thread, so are
    /// `@MainActor` and `DispatchQueue.main`. GLib waits for one descriptor; nothing is polled. If a closure of our loop iterates the context,
    /// as a modal dialog does, the mode is served there as well.
    ///
    /// Foundation's timers, and what is performed on Foundation's loop, need that loop to run, which nobody does in a GTK program. A
    /// `FoundationHost` of the product RunLoopKitFoundation on the same thread, begun before or after this one, has it served under GLib, too.
    ///
    /// The context keeps the host: it serves the loop until ``end()``, until the run ends by itself, or until the context is freed. On the
    /// thread of the loop only, as with ``RunLoopKit/RunLoop/HostedRun``: anything else is a precondition failure, and so is a host in a
    /// process that has not loaded GLib. The product itself needs neither GLib nor its headers.
    @safe public final class GLibHost: LoopHost, CompanionsHost {
        package var share: HostShare
        private let glib: GLib
        /// Keeps this object until the host ends, and is not used afterwards.
        @safe private let context: GLib.Context
        private let priority: CInt
        /// With one reference, until the host ends.
        @safe private var source: GLib.Source?
        private var companion: GLibCompanion?

        /// The priority of GTK's redrawing, `GDK_PRIORITY_REDRAW`.
        public static let defaultPriority: CInt = 120

        /// Begins a hosted run of the calling thread's loop in `mode`. A run of an empty mode is over at once, with `finished`; the main
        /// loop's default mode is never empty. O(1).
        ///
        /// - Parameters:
        ///   - mode: The mode to serve.
        ///   - context: A `GMainContext`, which this thread iterates; `nil` is the thread's default one.
        ///   - priority: The priority of our work among GLib's sources. GLib calls no source while one of higher priority, which is a smaller
        ///     number, is ready. At the default, a loop that always has work and a window that always has to be drawn take turns; at 200,
        ///     `G_PRIORITY_DEFAULT_IDLE`, every frame is drawn first, even if drawing leaves no time for anything else; at less than 120, GTK
        ///     draws only when our loop has nothing to do.
        ///   - onEnd: Called once if the run ends by itself later, since it was stopped or its mode has become empty.
        /// - Throws: What ``RunLoopKit/RunLoop/HostedRun`` throws.
        @available(*, noasync, message: "A task may continue on another thread, whose loop is another one.")
        @discardableResult
        public init(
            mode: Mode = .default, context: OpaquePointer? = nil, priority: CInt = defaultPriority,
            onEnd: ((RunResult) -> Void)? = nil
        ) throws {
            guard let glib = GLib() else {
                preconditionFailure("GLib is not in this process, so it cannot be the host.")
            }
            self.glib = glib
            self.context = unsafe context ?? glib.mainContextGetThreadDefault() ?? glib.mainContextDefault()
            self.priority = priority
            share = try HostShare(inMode: mode, onEnd: onEnd)
            if result != nil { return }
            let source = unsafe glib.unixFDSourceNew(share.run.fileDescriptor, GLib.isReadable)
            let serve: GLib.FDSourceFunction = { _, _, host in
                unsafe Unmanaged<GLibHost>.fromOpaque(host!).takeUnretainedValue().serve()
            }
            unsafe glib.sourceSetCallback(
                source, unsafeBitCast(serve, to: GLib.SourceFunction.self), Unmanaged.passRetained(self).toOpaque(),
                { unsafe Unmanaged<GLibHost>.fromOpaque($0!).release() })
            unsafe glib.sourceSetName(source, "run loop")
            unsafe glib.sourceSetPriority(source, priority)
            // A dialog in a closure of ours iterates the context.
            unsafe glib.sourceSetCanRecurse(source, 1)
            _ = unsafe glib.sourceAttach(source, self.context)
            self.source = unsafe source
            share.run.add(self)
            Companionship.current.add(self)
        }

        /// Why the run is over, or `nil` while it goes on.
        public var result: RunResult? { share.result }

        /// Ends the run, and GLib serves the loop no more; `onEnd` is not called. If another host of the thread shares the run, it goes on for
        /// that one. Does nothing if the run is over. In a closure of the loop it is a precondition failure to end the run: use
        /// ``RunLoopKit/RunLoop/stop(inMode:remembered:)`` there. O(1).
        public func end() { leave() }

        package func companionHasChanged() {
            companion?.detach()
            companion = nil
            guard unsafe source != nil, let loop = Companionship.current.loop else { return }
            companion = unsafe GLibCompanion(loop, glib, context, priority)
        }

        // The context is being freed.
        deinit {
            guard let source else { return }
            share.run.remove(self)
            companion?.destroySource()
            unsafe glib.sourceUnref(source)
        }

        /// Whether GLib is to call again.
        private func serve() -> GLib.Boolean {
            // After so much GLib's other sources of this priority, and of higher ones, have their turn.
            share.run.serve()
            return result == nil ? 1 : 0
        }

        /// Gives back the reference to the source, and makes GLib give back that to this object.
        package func detach() {
            guard let source else { return }
            self.source = nil
            companion?.detach()
            companion = nil
            unsafe glib.sourceDestroy(source)
            unsafe glib.sourceUnref(source)
        }
    }
}
#endif
