#if os(Linux)
internal import Synchronization

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
        let work = OutsideWork.begin()
        defer { work.end() }
        let result = post(modes ?? Self.commonModes, call)
        if result == -ErrorNumber.outOfMemory { outOfMemory() }
        if result < 0 { call.fail(.closed) }
        return try await call.answer.wait(isolation: actor) { call.fail(.cancelled) }
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
        let work = OutsideWork.begin()
        defer { work.end() }
        let result = loop.post(modes ?? RunLoop.commonModes, call)
        if result == -ErrorNumber.outOfMemory { outOfMemory() }
        precondition(result == 0, RunLoop.Error(result: result).description)
        return try await call.waitForBody(isolation: actor)
    }
}

/// A call that a task waits for. The closure is released before the task is resumed. Sendable because the thread that takes the closure has
/// it alone.
package final class AwaitedCall<Value, Failure: Error>: PostedCall, @unchecked Sendable {
    let answer = Answer<Value, RunLoop.CallError<Failure>>()
    private var body: (() throws(Failure) -> Value)?
    private let isTaken = Atomic(false)
    private let atEnd: DiscardOfPost

    /// - Parameter atEnd: what becomes of the closure when the loop's thread ends before the call.
    package init(atEnd: DiscardOfPost, _ body: sending @escaping () throws(Failure) -> Value) {
        self.body = body
        self.atEnd = atEnd
        // The thread that cancels the task sees the closure.
        isTaken.store(false, ordering: .releasing)
    }

    package override func run() {
        if let result = callBody() { answer.settle(result) }
    }

    package override func discard() {
        switch atEnd {
        case .free: fail(.closed)
        case .perform: run()
        }
    }

    /// No effect if the call has begun.
    func fail(_ error: RunLoop.CallError<Failure>) {
        if takeBody() != nil { answer.settle(.failure(error)) }
    }

    private func callBody() -> Result<Value, RunLoop.CallError<Failure>>? {
        guard let body = takeBody() else { return nil }
        do throws(Failure) { return .success(try body()) } catch { return .failure(.thrown(error)) }
    }

    private func takeBody() -> (() throws(Failure) -> Value)? {
        isTaken.exchange(true, ordering: .acquiringAndReleasing) ? nil : body.take()
    }

    /// Of a call that is always made.
    package func waitForBody(isolation actor: isolated (any Actor)?) async throws(Failure) -> sending Value {
        await answer.suspend(isolation: actor)
        return try takeResultOfBody()
    }

    /// The same, when it has been made.
    func takeResultOfBody() throws(Failure) -> sending Value {
        do throws(RunLoop.CallError<Failure>) {
            return try answer.take()
        } catch {
            guard case .thrown(let error) = error else {
                preconditionFailure("A call that was to be made in any case was not made.")
            }
            throw error
        }
    }
}
#endif
