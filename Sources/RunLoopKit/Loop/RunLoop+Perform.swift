#if os(Linux)
extension RunLoop {
    /// Calls `body` once on the loop's thread, when the loop runs in one of `modes`, and wakes the loop for it.
    ///
    /// Closures are called in the order in which they were performed (R102); a closure that is performed by another one is called
    /// later in the same iteration, or in the next. `.common` means any common mode (R101). With no modes it is never called. Any thread.
    /// The closure is freed right after its call (R105), or when the loop's thread ends without having called it (R8).
    ///
    /// - Returns: `false` if the loop's thread has ended already, or the loop was made before a fork and this is the child:
    ///   `body` is freed and never called.
    @discardableResult
    public func perform(inModes modes: Set<Mode>, _ body: sending @escaping () -> Void) -> Bool {
        Self.wasAccepted(post(modes, consume body))
    }

    /// Calls `body` once on the loop's thread, when the loop runs in a common mode, and wakes the loop for it.
    ///
    /// The same as `perform(inModes:)` with the common modes, without a set of modes.
    ///
    /// - Returns: as `perform(inModes:)`.
    @discardableResult
    public func perform(_ body: sending @escaping () -> Void) -> Bool {
        Self.wasAccepted(post(.common, consume body))
    }

    static func wasAccepted(_ result: Int32) -> Bool {
        if result == 0 { return true }
        if result == -ErrorNumber.outOfMemory { outOfMemory() }
        return false
    }
}
#endif
