#if os(Linux)
internal import CRunLoopDiagnostics
public import RunLoopKit

extension RunLoop {
    /// Lets the process be looked at while it runs, by the program `runloop-top` and others.
    ///
    ///     let publication = try RunLoop.Publication()
    ///     defer { publication.invalidate() }
    ///     RunLoop.current.startStatistics()
    ///     RunLoop.current.run()
    ///
    /// `runloop-top` then lists the process, and `runloop-top PID` shows its loops: the one of the thread that made the publication, and
    /// all that have statistics, a recording or a watchdog. It is a Unix socket, which sends a client that connects the loops'
    /// ``RunLoop/report(_:)`` as a JSON array. Only processes of the same user are answered, by a thread of its own, so loops that hang are
    /// shown, too.
    ///
    /// A process has one publication at a time. It lasts until `invalidate()`, and no longer than this object. A local constant may be
    /// released after its last use, which is why the example uses it once more. A forked child isn't published, and may publish itself.
    public final class Publication: Sendable {
        private let isPublished = Guarded(true)
        private let process = ForkGeneration()

        /// Publishes the reports and statistics of the process's loops at a socket, for runloop-top. Any thread. O(1).
        ///
        /// - Parameter path: where the socket is made, at most 107 bytes; `nil` is `runloop-PID.sock` in `$XDG_RUNTIME_DIR`, or else in
        ///   `/tmp/runloop-UID`, where `runloop-top` looks. A socket that a process left there when it ended is replaced.
        /// - Throws: `inUse`, because the process is published already; `addressInUse`, because there is a file, or another process's
        ///   socket; `invalid` for an empty path; `notPermitted`, because the folder in `/tmp` is another user's, or open to others;
        ///   `accessDenied` and others of bind(2); `tooManyDescriptors`, `tooManyThreads`, `outOfMemory`, `loopFinished`.
        public init(at path: String? = nil) throws {
            precondition(path?.utf8.contains(0) != true, "A path contains no NUL character.")
            let result = path.map { unsafe $0.withCString { unsafe runloop_publish($0) } } ?? runloop_publish(nil)
            if result < 0 { throw RunLoop.Error(result: result, of: .thread, subject: path) }
        }

        deinit {
            invalidate()
        }

        /// Does it still last? `false` after `invalidate()`, and in a forked child. O(1).
        public var isValid: Bool { !process.isOver && isPublished.withLock { $0 } }

        /// Ends it, for ever, and removes the socket: nobody can connect any more when this returns. A second call has no effect. Any
        /// thread. O(1).
        public func invalidate() {
            // A forked child's own publication is another one, and the lock may be held for ever there.
            if process.isOver { return }
            isPublished.withLock { isPublished in
                if isPublished { runloop_unpublish() }
                isPublished = false
            }
        }
    }
}
#endif
