#if os(Linux)
/// What a task waits for: settled once, by the first to settle it. Copies are the same answer. Sendable because the value is sent in, and
/// taken by one task.
package struct Answer<Value, Failure: Error>: @unchecked Sendable {
    /// Safe because the thread that settles it takes the waiter out under the lock, so it is resumed once.
    @safe private enum State {
        case open(UnsafeContinuation<Void, Never>?)
        case settled(Result<Value, Failure>)
        case taken
    }

    private let state: Guarded<State>

    package init() {
        state = unsafe Guarded(State.open(nil))
    }

    /// A reference for the core to keep, until `init(taking:)` takes it back or `releaseInfo` releases it.
    package func retained() -> UnsafeMutableRawPointer { unsafe state.retained() }

    package init(taking reference: UnsafeMutableRawPointer) {
        state = unsafe Guarded(taking: reference)
    }

    package var isOpen: Bool {
        state.withLock { state in
            if case .open = state { return true }
            return false
        }
    }

    /// - Returns: was this the first? Otherwise `result` is destroyed.
    @discardableResult
    package func settle(_ result: sending Result<Value, Failure>) -> Bool {
        let (isFirst, waiter): (Bool, UnsafeContinuation<Void, Never>?) = unsafe state.withLock { state in
            guard case .open(let waiter) = state else { return (false, nil) }
            state = .settled(result)
            return unsafe (true, waiter)
        }
        unsafe waiter?.resume()
        return isFirst
    }

    /// The one task that waits. `onCancel` is called when that is cancelled; somebody settles this then, too.
    package func wait(
        isolation actor: isolated (any Actor)?, onCancel: @Sendable () -> Void
    ) async throws(Failure) -> sending Value {
        await withTaskCancellationHandler(
            operation: { await suspend(isolation: actor) }, onCancel: onCancel, isolation: actor)
        return try take()
    }

    func suspend(isolation actor: isolated (any Actor)?) async {
        unsafe await withUnsafeContinuation(isolation: actor) { (waiter: UnsafeContinuation<Void, Never>) in
            unsafe waiter.resumes(on: actor)
            let isSettled = state.withLock { state in
                guard case .open = state else { return true }
                state = unsafe .open(waiter)
                return false
            }
            if isSettled { unsafe waiter.resume() }
        }
    }

    func take() throws(Failure) -> sending Value {
        let taken = state.withLock { state in
            defer { state = .taken }
            return state
        }
        guard case .settled(let result) = taken else {
            preconditionFailure("A task that waits for an answer was resumed without one.")
        }
        return try result.get()
    }
}
#endif
