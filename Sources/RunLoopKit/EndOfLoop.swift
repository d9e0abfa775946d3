/// The end of a loop, for tasks that wait for it.
final class EndOfLoop: Sendable {
    private enum State {
        case ahead([UnsafeContinuation<Void, Never>])
        case reached
    }

    private let state = Guarded(State.ahead([]))

    /// On the ending thread, when nothing is left of what the loop had. Once.
    func reach() {
        let waiters: [UnsafeContinuation<Void, Never>] = state.withLock { state in
            guard case .ahead(let waiters) = state else { return [] }
            state = .reached
            return waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    func wait(isolation actor: isolated (any Actor)?) async {
        await withUnsafeContinuation(isolation: actor) { waiter in
            let isReached = state.withLock { state in
                guard case .ahead(var waiters) = state else { return true }
                waiters.append(waiter)
                state = .ahead(waiters)
                return false
            }
            if isReached { waiter.resume() }
        }
    }
}
