extension RunLoop {
    /// Keeps a mode from being empty (R23), so that a run in it sleeps while there is nothing to do, instead of being finished.
    ///
    ///     let keepAlive = try RunLoop.KeepAlive(on: loop, inMode: .paused)
    ///     defer { keepAlive.invalidate() }
    ///     loop.run(mode: .paused, until: nil) { isResumed }
    ///
    /// It lasts until `invalidate()`, and no longer than this object: when the last reference is gone, so is its effect. A local
    /// constant may be let go of after its last use, which is why the example uses it once more. Several for a mode are
    /// independent of each other. Does not keep the loop's thread.
    public final class KeepAlive: Sendable {
        /// Never signalled: a member of the mode, and no more.
        private let source = Source {}

        /// Begins. Any thread. Makes the mode if needed. O(1), O(modes) for all common ones.
        ///
        /// - Parameters:
        ///   - loop: whose mode it is.
        ///   - mode: which one, or all common ones, now and later.
        /// - Throws: `loopFinished`, `inheritedAcrossFork`, `outOfMemory`.
        public init(on loop: RunLoop, inMode mode: Mode = .default) throws(RunLoop.Error) {
            try loop.add(source, forMode: mode)
        }

        deinit {
            source.invalidate()
        }

        /// Does it still last? `false` after `invalidate()`. O(1).
        public var isValid: Bool { source.isValid }

        /// Ends it, for ever. Ends the sleep in a mode that is empty then: the run there is finished. Twice is once. Any thread.
        /// O(modes).
        public func invalidate() { source.invalidate() }
    }
}
