#if os(Linux)
public import RunLoopKit
public import RunLoopKitGLib

extension RunLoopKit.RunLoop {
    /// Everything that Swift code may expect of the main thread, under a toolkit's main loop: GTK's, or Qt's, which is GLib's on Linux.
    ///
    ///     try RunLoop.ToolkitHost()
    ///     g_application_run(application, 0, nil)   // or QApplication::exec()
    ///
    /// From then on the main actor, `DispatchQueue.main`, timers, sources and closures of our loop, and Foundation's timers and what
    /// is performed on Foundation's loop are served between the toolkit's own callbacks, also while the toolkit runs its loop inside one of
    /// them, as for a modal dialog. While there is nothing to do, the thread sleeps, and nobody wakes it.
    ///
    /// It is a `GLibHost` and a ``FoundationHost`` of the default mode. A toolkit that can do without
    /// Foundation needs the former alone. A loop that runs inside a task serves the main actor if the program is linked with
    /// RunLoopKitMainActor; without it, the main queue is in the middle of that task.
    ///
    /// The toolkit's loop keeps the host: it serves until ``end()``, or until somebody stops our loop. On the thread of the loop only, and in
    /// a process that has loaded GLib; anything else is a precondition failure, and so is a second host of Foundation's loop.
    public final class ToolkitHost {
        private let glib: GLibHost
        private let foundation: FoundationHost

        /// Begins to serve the calling thread's loop, which is to be the main thread's if the main actor is to be served. O(1).
        ///
        /// - Parameter priority: The priority of our work and of Foundation's among GLib's sources, as that of a `GLibHost`.
        /// - Throws: What ``RunLoopKit/RunLoop/HostedRun`` throws.
        @available(*, noasync, message: "A task may continue on another thread, whose loop is another one.")
        @discardableResult
        public init(priority: CInt = GLibHost.defaultPriority) throws {
            // Its context is not ours, but the thread's default one.
            glib = try unsafe GLibHost(priority: priority)
            do {
                foundation = try FoundationHost()
            } catch {
                glib.end()
                throw error
            }
        }

        /// Why our run is over, or `nil` while it goes on.
        public var result: RunResult? { glib.result }

        /// Ends it, and the toolkit's loop serves the others no more. Does nothing if it is over. In a closure of our loop it is a
        /// precondition failure: use ``RunLoopKit/RunLoop/stop(inMode:remembered:)`` there. O(1).
        public func end() {
            foundation.end()
            glib.end()
        }
    }
}
#endif
