/// Tells those who wait for the end of a loop.
package final class EndOfLoop: Sendable {
    private struct State {
        var isReached = false
        var actions: [UInt: @Sendable () -> Void] = [:]
        var numbersSoFar: UInt = 0
    }

    private let state = Guarded(State())
    /// A forked child never takes the lock, which a thread that it does not have may hold.
    private let generation = ForkGeneration()

    /// Called once, by the ending thread, when everything that was in the loop has been freed.
    func reach() {
        let actions = state.withLock { state in
            state.isReached = true
            defer { state.actions = [:] }
            return state.actions.values
        }
        for action in actions { action() }
    }

    /// Calls `action` at the end, on the ending thread; at once if that is over.
    ///
    /// - Returns: the number by which it can be forgotten before.
    package func notify(_ action: @escaping @Sendable () -> Void) -> UInt {
        if generation.isOver { return 0 }
        let (number, isReached) = state.withLock { state in
            state.numbersSoFar += 1
            if !state.isReached { state.actions[state.numbersSoFar] = action }
            return (state.numbersSoFar, state.isReached)
        }
        if isReached { action() }
        return number
    }

    package func forget(_ number: UInt) {
        if !generation.isOver { _ = state.withLock { $0.actions.removeValue(forKey: number) } }
    }

    func wait(isolation actor: isolated (any Actor)?) async {
        unsafe await withUnsafeContinuation(isolation: actor) { waiter in _ = notify { unsafe waiter.resume() } }
    }
}
