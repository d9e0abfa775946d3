extension RunLoop {
    /// Calls `body` once on the loop's thread, when the loop runs in one of `modes`, and wakes the loop for it.
    ///
    /// Closures run in the order in which they were given (R102), one that is given by another in the next round.
    /// `.common` means any common mode (R101). Without modes it never runs. Any thread. The closure is freed right after
    /// it ran (R105), or unused when the loop's thread ends (R8).
    ///
    /// - Returns: `false` if the loop's thread has ended already, or the loop was made before a fork and this is the child:
    ///   `body` is freed and never called.
    @discardableResult
    public func perform(inModes modes: Set<Mode> = [.default], _ body: sending @escaping () -> Void) -> Bool {
        Self.wasAccepted(core.post(modes, consume body))
    }

    /// Calls `body` once on the loop's thread, when the loop runs in the default mode, and wakes the loop for it.
    ///
    /// What `perform(inModes:)` does with the default mode alone, without a set of modes to be made for each closure.
    ///
    /// - Returns: as above.
    @discardableResult
    public func perform(_ body: sending @escaping () -> Void) -> Bool {
        Self.wasAccepted(core.post(.default, consume body))
    }

    static func wasAccepted(_ result: Int32) -> Bool {
        if result == 0 { return true }
        if case .outOfMemory = Error(result: result) { outOfMemory() }
        return false
    }
}
