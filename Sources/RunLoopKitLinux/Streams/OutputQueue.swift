#if os(Linux)
internal import RunLoopKit

/// The tasks that wait for an output: those that write, in a line, and those that wait for its end.
///
/// Only the first of the line writes, so the bytes of one write are never mixed with another's, and only the first is resumed when it can go
/// on: `n` tasks that wait make about `n` attempts in all.
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

    private typealias Waiter = UnsafeContinuation<Wait, Never>

    /// The thread that takes a waiter out resumes it, so that happens once.
    @safe private struct State {
        /// The writing tasks, in order of arrival.
        var line = Line<Void>()
        /// In the line, or not.
        @safe var waiters: [Ticket: Waiter] = unsafe [:]
        @safe var waitersOutside: [Ticket: Waiter] = unsafe [:]
        /// How often something has happened for which a task may wait.
        var changes: UInt = 0
        /// How many bytes.
        var accepted: Int64 = 0
        var failure: RunLoop.Error?
        /// The end was sent, after everything else.
        var isFinished = false
        var isEnded = false

        mutating func takeFirst() -> [Waiter] {
            unsafe line.first.flatMap { unsafe waiters.removeValue(forKey: $0) }.map { unsafe [$0] } ?? []
        }

        mutating func takeOutside() -> [Waiter] {
            defer { waitersOutside = unsafe [:] }
            return unsafe Array(waitersOutside.values)
        }

        /// A task that waits for the end of earlier output looks whether it was sent: if there is always more, none of it is the last.
        mutating func takeOutside(after attempt: Attempt) -> [Waiter] {
            guard case .taken(1...) = attempt, unsafe !waitersOutside.isEmpty else { return unsafe [] }
            changes += 1
            return unsafe takeOutside()
        }

        mutating func takeAll() -> [Waiter] {
            defer { waiters = unsafe [:] }
            return unsafe Array(waiters.values) + takeOutside()
        }
    }

    private let state = Guarded(State())
    private let process = ForkGeneration()

    /// `nil` in a forked child, which never takes the lock: a thread that it does not have may hold it.
    private func withState<Result>(_ body: (inout State) -> Result) -> Result? {
        process.isOver ? nil : state.withLock(body)
    }

    /// A place at the end of the line, for the task that ends the output.
    func join() -> Ticket { withState { $0.line.append(()) } ?? 0 }

    /// A ticket outside the line, for a task that does not write.
    func makeTicket() -> Ticket { withState { $0.line.makeNumber() } ?? 0 }

    func leave(_ ticket: Ticket) {
        unsafe change { state in
            let wasFirst = state.line.first == ticket
            state.line.remove(ticket)
            return unsafe wasFirst ? state.takeFirst() : []
        }
    }

    /// All output that has waited was sent, or can't be.
    func drained(_ error: RunLoop.Error?) {
        unsafe change { state in
            if state.failure == nil { state.failure = error }
            return unsafe state.failure == nil ? state.takeFirst() + state.takeOutside() : state.takeAll()
        }
    }

    /// Ends every wait and every further attempt. The first reason counts.
    ///
    /// - Parameter isEnd: the owner of the output has ended it.
    func fail(_ error: RunLoop.Error, isEnd: Bool = false) {
        unsafe change { state in
            if isEnd { state.isEnded = true }
            if state.failure == nil { state.failure = error }
            return unsafe state.takeAll()
        }
    }

    /// It is in a forked child.
    var isEnded: Bool { withState { $0.isEnded } ?? true }

    /// How many bytes were accepted so far.
    var accepted: Int64 { withState { $0.accepted } ?? 0 }

    /// Finishes the output if it is the ticket's turn, once: later calls get the same result, even if the owner has ended it since.
    func attemptFinish(_ ticket: Ticket, _ body: () -> OutputHandle.Result) -> Attempt {
        if withState({ $0.isFinished }) == true { return .taken(0) }
        let attempt = attempt(.first(ticket), body)
        if case .taken = attempt { _ = withState { $0.isFinished = true } }
        return attempt
    }

    /// Calls `body` if it is its turn.
    func attempt(_ turn: Turn, _ body: () -> OutputHandle.Result) -> Attempt {
        let result: (Attempt, [Waiter])? = unsafe withState { state in
            let attempt = Self.attempt(turn, body, &state)
            return unsafe (attempt, state.takeOutside(after: attempt))
        }
        guard let (attempt, waiters) = unsafe result else { return .failure(.inheritedAcrossFork) }
        unsafe resume(waiters)
        return attempt
    }

    /// The first attempt to write so many bytes. If they are not all taken, the rest has a place in the line from that moment on, so that nobody
    /// comes in between; usually there is no line, and none is made.
    func begin(_ count: Int, _ body: () -> OutputHandle.Result) -> (Attempt, Ticket?) {
        let result: (Attempt, Ticket?, [Waiter])? = unsafe withState { state in
            let attempt = Self.attempt(.lineIsEmpty, body, &state)
            let ticket: Ticket? =
                switch attempt {
                case .taken(count), .failure: nil
                case .taken, .mustWait: state.line.append(())
                }
            return unsafe (attempt, ticket, state.takeOutside(after: attempt))
        }
        guard let (attempt, ticket, waiters) = unsafe result else { return (.failure(.inheritedAcrossFork), nil) }
        unsafe resume(waiters)
        return (attempt, ticket)
    }

    private static func attempt(
        _ turn: Turn, _ body: () -> OutputHandle.Result, _ state: inout State
    ) -> Attempt {
        if let failure = state.failure { return .failure(failure) }
        let isTurn =
            switch turn {
            case .first(let ticket): state.line.first == ticket
            case .lineIsEmpty: state.line.isEmpty
            case .any: true
            }
        switch isTurn ? body() : .mustWait {
        case .taken(let count):
            state.accepted += Int64(count)
            return .taken(count)
        case .mustWait: return .mustWait(changes: state.changes)
        case .failure(let error): return .failure(error)
        }
    }

    /// Waits until it can go on, unless something has changed since that number. A ticket in the line can go on when it is the first, and
    /// after a drain; anybody else after a drain, and when more was taken; and all if the output has failed.
    func wait(
        _ ticket: Ticket, isInLine: Bool = true, after changes: UInt, isolation actor: isolated (any Actor)?
    ) async -> Wait {
        unsafe await WaitingTasks<Wait>.wait(
            isolation: actor,
            begin: { waiter in
                let known: Wait? = state.withLock { state in
                    if state.changes != changes { return .changed }
                    if Task.isCancelled { return .cancelled }
                    if isInLine {
                        unsafe state.waiters[ticket] = waiter
                    } else {
                        unsafe state.waitersOutside[ticket] = waiter
                    }
                    return nil
                }
                if let known { unsafe waiter.resume(returning: known) }
            },
            cancel: { cancel(ticket) })
    }

    private func cancel(_ ticket: Ticket) {
        let waiter = unsafe withState { state in
            unsafe state.waiters.removeValue(forKey: ticket) ?? state.waitersOutside.removeValue(forKey: ticket)
        }
        unsafe waiter??.resume(returning: .cancelled)
    }

    /// Changes the state, and resumes the tasks that can go on.
    private func change(_ body: (inout State) -> [Waiter]) {
        let waiters = unsafe withState { state in
            state.changes += 1
            return unsafe body(&state)
        }
        if let waiters = unsafe waiters { unsafe resume(waiters) }
    }

    private func resume(_ waiters: [Waiter]) {
        for index in unsafe waiters.indices { unsafe waiters[index].resume(returning: .changed) }
    }
}
#endif
