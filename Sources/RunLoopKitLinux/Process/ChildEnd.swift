#if os(Linux)
internal import RunLoopKit

/// The end of a child, for tasks that wait for it.
final class ChildEnd: Sendable {
    typealias Outcome = Result<RunLoop.Child.Exit, any Error>

    private struct State {
        var outcome: Outcome?
        var waiters = Line<Answer<RunLoop.Child.Exit, any Error>>()
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
        let isFirst = state.withLock { state in
            defer { state.outcome = state.outcome ?? outcome }
            return state.outcome == nil
        }
        if !isFirst { return }
        if case .success(let exit) = outcome { onExit?(exit) }
        for waiter in state.withLock({ $0.waiters.removeAll() }) { waiter.settle(outcome) }
    }

    func wait(isolation actor: isolated (any Actor)?) async throws -> RunLoop.Child.Exit {
        if process.isOver { throw RunLoop.Error.inheritedAcrossFork }
        let answer = Answer<RunLoop.Child.Exit, any Error>()
        let number = state.withLock { state in
            if let outcome = state.outcome { answer.settle(outcome) }
            // 0 is nobody's.
            return state.outcome == nil ? state.waiters.append(answer) : 0
        }
        let work = OutsideWork.begin()
        defer { work.end() }
        return try await answer.wait(isolation: actor) {
            _ = state.withLock { $0.waiters.remove(number) }
            answer.settle(.failure(CancellationError()))
        }
    }
}
#endif
