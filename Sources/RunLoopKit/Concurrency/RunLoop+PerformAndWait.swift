extension RunLoop {
    /// Calls `body` once on the loop's thread, when the loop runs in one of `modes`, and returns or throws what it returned
    /// or threw. The task waits, and blocks no thread.
    ///
    ///     let modes = try await loop.performAndWait { describeDevice() }
    ///
    /// On the loop's thread, in an actor on its executor for instance, `body` is called at once, in whatever mode the loop runs.
    /// From anywhere else it is called in the order of performed closures. Any task. O(modes), one system call if the loop sleeps.
    ///
    /// - Parameter modes: `nil` is `.common` alone: any common mode. With no modes the call lasts until the task is cancelled or the loop's
    ///   thread ends.
    /// - Throws: the reason why there is no value. In every case `body` has been freed.
    @discardableResult
    public func performAndWait<Value, Failure: Swift.Error>(
        inModes modes: Set<Mode>? = nil, isolation actor: isolated (any Actor)? = #isolation,
        _ body: sending @escaping () throws(Failure) -> sending Value
    ) async throws(CallError<Failure>) -> sending Value {
        if Task.isCancelled { throw .cancelled }
        if isCurrent {
            do throws(Failure) { return try body() } catch { throw .thrown(error) }
        }
        let call = AwaitedCall(atEnd: .free, body)
        await withTaskCancellationHandler(
            operation: {
                unsafe await withUnsafeContinuation(isolation: actor) { waiter in
                    if unsafe !call.begin(waiter) { return }
                    call.beginOutsideWork()
                    let result = post(modes ?? Self.commonModes, call)
                    if result == -ErrorNumber.outOfMemory { outOfMemory() }
                    if result < 0 { call.fail(.closed) }
                }
            },
            onCancel: { call.fail(.cancelled) },
            isolation: actor)
        return try call.takeResult()
    }

    /// Why `performAndWait` has no value to return. `Failure` is what the closure throws, `Never` if it throws nothing.
    ///
    ///     do {
    ///         try await loop.performAndWait { describeDevice() }
    ///     } catch {
    ///         switch error {
    ///         case .cancelled: break
    ///         case .closed: print("The loop has ended.")
    ///         }
    ///     }
    public enum CallError<Failure: Swift.Error>: Swift.Error {
        /// The closure was called, and threw this.
        case thrown(Failure)
        /// The task was cancelled before the call began. The closure is not called.
        case cancelled
        /// The loop calls nothing more: its thread ends before the call begins, or has ended, or this is a forked child. The closure is not
        /// called.
        case closed
    }
}

extension RunLoop.CallError: Equatable where Failure: Equatable {}

extension RunLoop.Thread {
    /// Calls `body` once on the thread, and returns or throws what it returned or threw. The task waits, and blocks no thread.
    ///
    /// As the blocking method of this name: on the thread itself, in an actor on the loop's executor for instance, `body` is
    /// called at once. An accepted closure is always called: while the thread ends, if it ends first, and also if the task is
    /// cancelled. If the thread has ended, or this is a forked child, there is no thread to call it, and that is a precondition
    /// failure. It cannot happen to a caller that holds a reference to an object which nobody stops. Otherwise use
    /// `loop.performAndWait`, which throws. Any task. O(modes), one system call if the loop sleeps.
    ///
    /// - Parameter modes: in which modes of the loop; `nil`: in the common ones.
    @discardableResult
    public func performAndWait<Value, Failure: Error>(
        inModes modes: Set<RunLoop.Mode>? = nil, isolation actor: isolated (any Actor)? = #isolation,
        _ body: sending @escaping () throws(Failure) -> sending Value
    ) async throws(Failure) -> sending Value {
        if loop.isCurrent { return try body() }
        let call = AwaitedCall(atEnd: .perform, body)
        unsafe await withUnsafeContinuation(isolation: actor) { waiter in
            if unsafe !call.begin(waiter) { return }
            call.beginOutsideWork()
            let result = loop.post(modes ?? RunLoop.commonModes, call)
            if result == -ErrorNumber.outOfMemory { outOfMemory() }
            precondition(result == 0, RunLoop.Error(result: result).description)
        }
        return try call.takeResultOfBody()
    }
}

/// A call that a task waits for. The closure is released before the task is resumed. Sendable because whoever takes closure or result from
/// behind the lock has it alone.
final class AwaitedCall<Value, Failure: Error>: PostedCall, @unchecked Sendable {
    private typealias Outcome = Result<Value, RunLoop.CallError<Failure>>

    /// Safe because the waiter is taken out under the lock, so it is resumed once.
    @safe private struct State {
        var body: (() throws(Failure) -> Value)?
        @safe var waiter: UnsafeContinuation<Void, Never>?
        var result: Outcome?
        var endOfOutsideWork: (@Sendable () -> Void)?
    }

    private let state: Guarded<State>
    private let atEnd: DiscardOfPost

    /// - Parameter atEnd: what becomes of the closure when the loop's thread ends before the call.
    init(atEnd: DiscardOfPost, _ body: sending @escaping () throws(Failure) -> Value) {
        state = unsafe Guarded(State(body: body))
        self.atEnd = atEnd
    }

    /// - Returns: does the call have to be made? If not, it has failed already.
    func begin(_ waiter: UnsafeContinuation<Void, Never>) -> Bool {
        let isOver = state.withLock { state in
            if state.result == nil { state.waiter = unsafe waiter }
            return state.result != nil
        }
        if isOver { unsafe waiter.resume() }
        return !isOver
    }

    /// The call will be made by another loop.
    func beginOutsideWork() {
        guard case .outside(let end?) = OutsideWork.begin() else { return }
        let isOver = state.withLock { state in
            if state.result == nil { state.endOfOutsideWork = end }
            return state.result != nil
        }
        if isOver { end() }
    }

    override func run() {
        if let result = callBody() { finish(result) }
    }

    override func discard() {
        switch atEnd {
        case .free: fail(.closed)
        case .perform: run()
        }
    }

    /// No effect if the call has begun.
    func fail(_ error: RunLoop.CallError<Failure>) {
        if takeBody() != nil { finish(.failure(error)) }
    }

    private func callBody() -> Outcome? {
        guard let body = takeBody() else { return nil }
        do throws(Failure) { return .success(try body()) } catch { return .failure(.thrown(error)) }
    }

    private func takeBody() -> (() throws(Failure) -> Value)? {
        state.withLock { state in
            defer { state.body = nil }
            return state.body
        }
    }

    private func finish(_ result: Outcome) {
        let (waiter, end) = unsafe state.withLock { state in
            state.result = result
            defer { (state.waiter, state.endOfOutsideWork) = (nil, nil) }
            return (state.waiter, state.endOfOutsideWork)
        }
        unsafe waiter?.resume()
        end?()
    }

    func takeResult() throws(RunLoop.CallError<Failure>) -> Value {
        let result = state.withLock { state in
            defer { state.result = nil }
            return state.result
        }
        guard let result else { preconditionFailure("A call was reported as done before it had returned.") }
        return try result.get()
    }

    /// Of a call that is always made.
    func takeResultOfBody() throws(Failure) -> Value {
        do throws(RunLoop.CallError<Failure>) {
            return try takeResult()
        } catch {
            guard case .thrown(let error) = error else {
                preconditionFailure("A call that was to be made in any case was not made.")
            }
            throw error
        }
    }
}
