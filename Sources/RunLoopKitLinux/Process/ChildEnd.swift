internal import RunLoopKit

/// The end of a child, for tasks that wait for it.
final class ChildEnd: Sendable {
    typealias Outcome = Result<RunLoop.Child.Exit, any Error>

    private struct State {
        var outcome: Outcome?
        var waiters = WaitingTasks<Outcome>()
    }

    private let state = Guarded(State())
    /// A forked child never takes the lock, which a thread that it does not have may hold.
    private let process = ForkGeneration()
    private let onExit: (@Sendable (RunLoop.Child.Exit) -> Void)?

    init(_ onExit: (@Sendable (RunLoop.Child.Exit) -> Void)?) {
        self.onExit = onExit
    }

    var outcome: Outcome? { process.isOver ? nil : state.withLock { $0.outcome } }

    /// The first outcome counts.
    func settle(_ outcome: Outcome) {
        if process.isOver { return }
        let settled: State? = state.withLock { state in
            if state.outcome != nil { return nil }
            defer {
                state.outcome = outcome
                state.waiters = WaitingTasks()
            }
            return state
        }
        guard var settled else { return }
        if case .success(let exit) = outcome { onExit?(exit) }
        let waiters = unsafe settled.waiters.removeAll()
        for index in unsafe waiters.indices { unsafe waiters[index].resume(returning: outcome) }
    }

    func wait(isolation actor: isolated (any Actor)?) async throws -> RunLoop.Child.Exit {
        if process.isOver { throw RunLoop.Error.inheritedAcrossFork }
        let number = state.withLock { $0.waiters.makeNumber() }
        let work = OutsideWork.begin()
        defer { if case .outside(let end?) = work { end() } }
        let outcome = unsafe await WaitingTasks.wait(
            isolation: actor,
            begin: { waiter in
                let known: Outcome? = state.withLock { state in
                    if let outcome = state.outcome { return outcome }
                    if Task.isCancelled { return .failure(CancellationError()) }
                    unsafe state.waiters.append(waiter, number)
                    return nil
                }
                if let known { unsafe waiter.resume(returning: known) }
            },
            cancel: {
                let waiter = unsafe state.withLock { unsafe $0.waiters.remove(number) }
                unsafe waiter?.resume(returning: .failure(CancellationError()))
            })
        return try outcome.get()
    }
}
