internal import RunLoopKit

/// What becomes of an attempt to connect, for the task that waits for it: a descriptor, or why there is none.
@safe final class ConnectOutcome: Sendable {
    typealias Outcome = Result<CInt, any Error>

    /// For errors.
    let target: String
    /// The waiter is taken out under the lock, so it is resumed once.
    @safe private let state = unsafe Guarded<(outcome: Outcome?, waiter: WaitingTasks<Outcome>.Waiter?)>((nil, nil))

    init(_ target: String) { self.target = target }

    /// The first outcome counts. A connection that comes later is closed.
    func settle(_ outcome: Outcome) {
        let (isFirst, waiter) = unsafe state.withLock { state in
            let isFirst = unsafe state.outcome == nil
            if isFirst { unsafe state.outcome = outcome }
            return unsafe (isFirst, state.waiter.take())
        }
        if !isFirst, case .success(let descriptor) = outcome { closeDescriptor(descriptor) }
        unsafe waiter?.resume(returning: outcome)
    }

    /// `begin` begins it, unless the task is cancelled already. `cancel` takes it back, before the task goes on.
    func wait(
        isolation actor: isolated (any Actor)?, begin: () throws(RunLoop.Error) -> Void, cancel: @Sendable () -> Void
    ) async throws -> CInt {
        let outcome = unsafe await WaitingTasks<Outcome>.wait(
            isolation: actor,
            begin: { waiter in
                let known = unsafe state.withLock { state in
                    if unsafe state.outcome == nil { unsafe state.waiter = waiter }
                    return unsafe state.outcome
                }
                if let known { return unsafe waiter.resume(returning: known) }
                do throws(RunLoop.Error) { try begin() } catch { settle(.failure(error)) }
            },
            cancel: {
                cancel()
                settle(.failure(CancellationError()))
            })
        return try outcome.get()
    }
}
