extension RunLoop {
    /// Something that a loop was asked to do, and that can still be called off.
    ///
    /// Dropping a registration does not cancel it. Any thread.
    public final class Registration: Sendable {
        private let action: @Sendable () -> Void

        init(cancel action: @escaping @Sendable () -> Void) {
            self.action = action
        }

        /// Calls it off: what has not begun yet will not begin, and its closure is freed. Does not wait for a closure that
        /// runs on another thread right now (R119); from inside that closure it only frees it afterwards. Twice is once,
        /// late is nothing.
        public func cancel() { action() }
    }
}
