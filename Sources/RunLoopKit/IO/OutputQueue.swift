/// The tasks that wait for an output: those that write, in a line, and those that wait for its end.
///
/// Only the first of the line writes, so the bytes of one write are never mixed with another's.
final class OutputQueue: Sendable {
    typealias Ticket = UInt

    /// What an attempt has come to.
    enum Attempt {
        case taken(Int)
        /// It is to be tried again when `changes` is another number.
        case mustWait(changes: UInt)
        case failure(RunLoop.Error)
    }

    /// When an attempt may be made.
    enum Turn {
        /// When the ticket is the first of the line.
        case first(Ticket)
        /// When nobody is in the line.
        case lineIsEmpty
        case any
    }

    enum Wait {
        case changed
        case cancelled
    }

    private struct State {
        /// Those who write, in the order of their arrival.
        var line: [Ticket] = []
        var ticketsSoFar: Ticket = 0
        var waiters: [Ticket: UnsafeContinuation<Wait, Never>] = [:]
        /// How often something has happened for which a task may wait.
        var changes: UInt = 0
        var drains: UInt = 0
        var failure: RunLoop.Error?
    }

    private let state = Guarded(State())

    /// A place at the end of the line.
    func join() -> Ticket {
        state.withLock { state in
            state.ticketsSoFar += 1
            state.line.append(state.ticketsSoFar)
            return state.ticketsSoFar
        }
    }

    /// A ticket outside the line, for who does not write.
    func makeTicket() -> Ticket {
        state.withLock { state in
            state.ticketsSoFar += 1
            return state.ticketsSoFar
        }
    }

    func leave(_ ticket: Ticket) {
        change { $0.line.removeAll { $0 == ticket } }
    }

    /// All output that has waited was sent, or can't be.
    func drained(_ error: RunLoop.Error?) {
        change { state in
            state.drains += 1
            if state.failure == nil { state.failure = error }
        }
    }

    /// Ends every wait and every further attempt. The first reason counts.
    func fail(_ error: RunLoop.Error) {
        change { if $0.failure == nil { $0.failure = error } }
    }

    /// How often all output was sent after it had waited.
    var drains: UInt { state.withLock { $0.drains } }

    /// Calls `body` if it is its turn.
    func attempt(_ turn: Turn, _ body: () -> OutputHandle.Result) -> Attempt {
        state.withLock { state in
            if let failure = state.failure { return .failure(failure) }
            let isTurn =
                switch turn {
                case .first(let ticket): state.line.first == ticket
                case .lineIsEmpty: state.line.isEmpty
                case .any: true
                }
            switch isTurn ? body() : .mustWait {
            case .taken(let count): return .taken(count)
            case .mustWait: return .mustWait(changes: state.changes)
            case .failure(let error): return .failure(error)
            }
        }
    }

    /// Waits for a change after the one with that number. Returns at once if there was one.
    func wait(_ ticket: Ticket, after changes: UInt, isolation actor: isolated (any Actor)?) async -> Wait {
        await withTaskCancellationHandler(
            operation: {
                await withUnsafeContinuation(isolation: actor) { waiter in
                    let known: Wait? = state.withLock { state in
                        if state.changes != changes { return .changed }
                        if Task.isCancelled { return .cancelled }
                        state.waiters[ticket] = waiter
                        return nil
                    }
                    if let known { waiter.resume(returning: known) }
                }
            },
            onCancel: { state.withLock { $0.waiters.removeValue(forKey: ticket) }?.resume(returning: .cancelled) },
            isolation: actor)
    }

    /// Changes the state, and lets all who wait look again.
    private func change(_ body: (inout State) -> Void) {
        let waiters = state.withLock { state in
            body(&state)
            state.changes += 1
            defer { state.waiters = [:] }
            return state.waiters.values
        }
        for waiter in waiters { waiter.resume(returning: .changed) }
    }
}
