extension RunLoop {
    /// Calls `body` once on the loop's thread, when the loop runs in one of `modes`, and returns or throws what it returned
    /// or threw. The task waits, no thread does.
    ///
    ///     let modes = try await loop.performAndWait { describeDevice() }
    ///
    /// On the loop's thread, in an actor on its executor for instance, `body` is called at once, whatever mode runs. From
    /// anywhere else it waits its turn like every performed closure. Any task. O(modes), one system call if the loop sleeps.
    ///
    /// - Parameter modes: without modes it waits until the task is cancelled or the loop's thread ends.
    /// - Throws: what `body` throws; `CancellationError` if the task is cancelled before `body` has begun, which then never
    ///   does; `loopFinished` if the loop's thread ends before, or has ended; `inheritedAcrossFork`. In all these cases `body`
    ///   has been freed.
    @discardableResult
    public func performAndWait<Value>(
        inModes modes: Set<Mode> = [.default], isolation actor: isolated (any Actor)? = #isolation,
        _ body: sending @escaping () throws -> sending Value
    ) async throws -> sending Value {
        try Task.checkCancellation()
        if isCurrent { return try body() }
        let call = AwaitedCall<Value, any Swift.Error>(body)
        await withTaskCancellationHandler(
            operation: {
                await withUnsafeContinuation(isolation: actor) { waiter in
                    if !call.begin(waiter) { return }
                    let end = EndOfCall(call)
                    // Not before the reason is told, if it is refused.
                    withExtendedLifetime(end) {
                        let result = core.post(modes) { withExtendedLifetime(end) { call.run() } }
                        if case .outOfMemory = Error(result: result) { outOfMemory() }
                        if result < 0 { call.giveUp(Error(result: result)) }
                    }
                }
            },
            onCancel: { call.giveUp(CancellationError()) },
            isolation: actor)
        return try call.takeResult()
    }
}

extension RunLoop.Thread {
    /// Calls `body` once on the thread, and returns or throws what it returned or threw. The task waits, no thread does.
    ///
    /// As the blocking method of this name: on the thread itself, in an actor on the loop's executor for instance, `body` is
    /// called at once. What was accepted is called in any case: while the thread ends, if it ends first, and if the task is
    /// cancelled. If the thread has ended, or this is a forked child, there is nobody to call it: that is a precondition
    /// failure. Who keeps a reference to the object and does not stop it is safe from that; who cannot be sure uses
    /// `loop.performAndWait`, which throws. Any task. O(modes), one system call if the loop sleeps.
    ///
    /// - Parameter modes: in which modes of the loop.
    @discardableResult
    public func performAndWait<Value, Failure: Error>(
        inModes modes: Set<RunLoop.Mode> = [.common], isolation actor: isolated (any Actor)? = #isolation,
        _ body: sending @escaping () throws(Failure) -> sending Value
    ) async throws(Failure) -> sending Value {
        if loop.isCurrent { return try body() }
        let call = AwaitedCall<Value, Failure>(body)
        await withUnsafeContinuation(isolation: actor) { waiter in
            if !call.begin(waiter) { return }
            let result = loop.core.post(modes, atEnd: .perform) { call.run() }
            if case .outOfMemory = RunLoop.Error(result: result) { outOfMemory() }
            precondition(result == 0, RunLoop.Error(result: result).description)
        }
        return try call.takeResult()
    }
}

/// A call that a task waits for. The closure is let go of before the task is told.
private final class AwaitedCall<Value, Failure: Error>: @unchecked Sendable {
    private struct State {
        var body: (() throws(Failure) -> Value)?
        var waiter: UnsafeContinuation<Void, Never>?
        var result: Result<Value, Failure>?
    }

    private let state: Guarded<State>

    init(_ body: sending @escaping () throws(Failure) -> Value) {
        state = Guarded(State(body: body))
    }

    /// Does the call have to be made? If not, it was given up.
    func begin(_ waiter: UnsafeContinuation<Void, Never>) -> Bool {
        let isOver = state.withLock { state in
            if state.result == nil { state.waiter = waiter }
            return state.result != nil
        }
        if isOver { waiter.resume() }
        return !isOver
    }

    /// On the loop's thread.
    func run() {
        if let result = callBody() { finish(result) }
    }

    /// Not if it has begun.
    func giveUp(_ error: Failure) {
        if takeBody() != nil { finish(.failure(error)) }
    }

    private func callBody() -> Result<Value, Failure>? {
        takeBody().map { Result(catching: $0) }
    }

    private func takeBody() -> (() throws(Failure) -> Value)? {
        state.withLock { state in
            defer { state.body = nil }
            return state.body
        }
    }

    private func finish(_ result: Result<Value, Failure>) {
        let waiter = state.withLock { state in
            state.result = result
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    func takeResult() throws(Failure) -> Value {
        let result = state.withLock { state in
            defer { state.result = nil }
            return state.result
        }
        guard let result else { preconditionFailure("A call was reported as done before it was.") }
        return try result.get()
    }
}

/// Held by what was posted for a call and by nothing else: when that is freed unused, the loop's thread has ended.
private final class EndOfCall<Value>: Sendable {
    private let call: AwaitedCall<Value, any Error>

    init(_ call: AwaitedCall<Value, any Error>) {
        self.call = call
    }

    deinit {
        call.giveUp(RunLoop.Error.loopFinished)
    }
}
