/// Resumes tasks that wait for the end of a loop.
final class EndOfLoop: Sendable {
    private enum State {
        case notReached([UnsafeContinuation<Void, Never>])
        case reached
    }

    private let state = Guarded(State.notReached([]))

    /// Called once, by the ending thread, when everything that was in the loop has been freed.
    func reach() {
        let waiters: [UnsafeContinuation<Void, Never>] = state.withLock { state in
            guard case .notReached(let waiters) = state else { return [] }
            state = .reached
            return waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    func wait(isolation actor: isolated (any Actor)?) async {
        await withUnsafeContinuation(isolation: actor) { waiter in
            let isReached = state.withLock { state in
                guard case .notReached(var waiters) = state else { return true }
                waiters.append(waiter)
                state = .notReached(waiters)
                return false
            }
            if isReached { waiter.resume() }
        }
    }
}
