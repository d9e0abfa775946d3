#if os(Linux)
/// Notifies the objects that wait for the end of a loop.
package final class EndOfLoop: Sendable {
    private struct State {
        var isReached = false
        var actions = Line<@Sendable () -> Void>()
        /// Of the tasks that wait for the end, after all actions.
        var waiters: [Answer<Void, Never>] = []
    }

    private let state = Guarded(State())
    /// A forked child never takes the lock, which a thread that it does not have may hold.
    private let generation = ForkGeneration()

    /// Called once, by the ending thread, when everything that was in the loop has been freed.
    func reach() {
        while let action = takeNext() {
            action()
            // It may have forked, and the child returns from it. The rest is the parent's.
            if generation.isOver { return }
        }
        for waiter in state.withLock({ $0.waiters }) { waiter.settle(.success(())) }
    }

    private func takeNext() -> (@Sendable () -> Void)? {
        state.withLock { state in
            let action = state.actions.removeFirst()
            state.isReached = action == nil
            return action
        }
    }

    /// Calls `action` at the end, on the ending thread, after those that came before.
    ///
    /// - Returns: the number by which it can be forgotten before. `nil` if the end is over, or is the parent's of a forked child: then it is
    ///   not called.
    package func notify(_ action: @escaping @Sendable () -> Void) -> UInt? {
        if generation.isOver { return nil }
        return state.withLock { $0.isReached ? nil : $0.actions.append(action) }
    }

    package func forget(_ number: UInt) {
        if !generation.isOver { _ = state.withLock { $0.actions.remove(number) } }
    }

    func wait(isolation actor: isolated (any Actor)?) async {
        let answer = Answer<Void, Never>()
        state.withLock { state in
            if state.isReached { answer.settle(.success(())) } else { state.waiters.append(answer) }
        }
        await answer.wait(isolation: actor, onCancel: {})
    }
}
#endif
