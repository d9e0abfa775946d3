#if os(Linux)
extension RunLoop {
    /// Keeps a mode from being empty (R23), so that a run in it sleeps while there is nothing to do, instead of finishing.
    ///
    ///     let keepAlive = try RunLoop.KeepAlive(on: loop, inMode: .paused)
    ///     defer { keepAlive.invalidate() }
    ///     loop.run(mode: .paused, until: { isResumed })
    ///
    /// It lasts until `invalidate()`, and no longer than this object. A local constant may be released after its last use, which
    /// is why the example uses it once more. Several for one mode are independent of each other. It does not keep the loop's
    /// thread from ending.
    public final class KeepAlive: Sendable {
        /// In the mode, and never signalled.
        private let source = Source {}

        /// Keeps a mode of the loop from being empty, so that runs in it don't finish. Any thread. Makes the mode if needed. O(1), O(modes)
        /// for all common ones.
        ///
        /// - Parameters:
        ///   - loop: the loop of the mode.
        ///   - mode: a mode, or all common ones, present and future.
        /// - Throws: `loopFinished`, `inheritedAcrossFork`, `outOfMemory`.
        public init(on loop: RunLoop, inMode mode: Mode = .default) throws {
            try loop.add(source, forMode: mode)
        }

        deinit {
            source.invalidate()
        }

        /// Does it still last? `false` after `invalidate()`. O(1).
        public var isValid: Bool { source.isValid }

        /// Ends it for ever, so that the mode may be empty. If the mode is empty then, a sleep in it ends, and the run finishes. A second call has
        /// no effect. Any thread. O(modes).
        public func invalidate() { source.invalidate() }
    }
}
#endif
