#if os(Linux)
internal import RunLoopKit

/// The connections of a listener that nobody has taken yet, or the tasks that wait for one, or the handler of all.
///
/// The listener is in the loop from the first wait on, and asks for connections while somebody waits, so they are accepted only then; one
/// call of the loop may accept more than are waited for, and these are kept.
final class ConnectionQueue: Sendable {
    private typealias Outcome = Result<RunLoop.Connection?, RunLoop.Error>
    private typealias Waiters = WaitingTasks<Outcome>

    private struct State {
        var handler: (@Sendable (RunLoop.Connection) -> Void)?
        var connections = Queue<RunLoop.Connection>()
        var waiters = Waiters()
        /// The loop has it. It refers to this queue, until the end.
        var listener: RunLoop.Source?
        var isArmed = false
        /// What every further wait comes to.
        var end: Outcome?
    }

    private let loop: RunLoop
    private let mode: RunLoop.Mode
    private let options: RunLoop.Connection.Options
    private let state = Guarded(State())
    /// A forked child never takes the lock, which a thread that it does not have may hold.
    private let process = ForkGeneration()

    init(_ loop: RunLoop, _ mode: RunLoop.Mode, _ options: RunLoop.Connection.Options) {
        self.loop = loop
        self.mode = mode
        self.options = options
    }

    var isOver: Bool { process.isOver || state.withLock { $0.end != nil } }

    func begin(
        _ handler: @escaping @Sendable (RunLoop.Connection) -> Void, _ listener: RunLoop.Source
    ) throws(RunLoop.Error) {
        if process.isOver { throw .inheritedAcrossFork }
        let error: RunLoop.Error? = state.withLock { state in
            precondition(
                state.handler == nil && state.listener == nil, "A listener's connections go to one handler or to tasks."
            )
            if state.end != nil { return .invalid }
            state.handler = handler
            do throws(RunLoop.Error) {
                try loop.admit(listener, to: mode)
                return nil
            } catch {
                state.handler = nil
                return error
            }
        }
        if let error { throw error }
    }

    /// On the loop's thread. Without memory for it the connection is closed.
    func accepted(_ descriptor: CInt) throws(RunLoop.Error) {
        let connection = try RunLoop.Connection(descriptor, loop, options)
        let (handler, waiter): ((@Sendable (RunLoop.Connection) -> Void)?, Waiters.Waiter?) = unsafe state.withLock {
            state in
            if state.end != nil { return (nil, nil) }
            if let handler = state.handler { return (handler, nil) }
            defer { disarmIfUnneeded(&state) }
            if let waiter = unsafe state.waiters.removeFirst() { return unsafe (nil, waiter) }
            state.connections.append(connection)
            return (nil, nil)
        }
        handler?(connection)
        unsafe waiter?.resume(returning: .success(connection))
    }

    /// `nil` at the end, and if the task is cancelled.
    func next(
        _ listener: RunLoop.Source, isolation actor: isolated (any Actor)?
    ) async throws(RunLoop.Error) -> RunLoop.Connection? {
        if process.isOver { throw .inheritedAcrossFork }
        let number = state.withLock { state in
            precondition(state.handler == nil, "A listener's connections go to one handler or to tasks.")
            return state.waiters.makeNumber()
        }
        let outcome = unsafe await Waiters.wait(
            isolation: actor, begin: { unsafe begin($0, number, listener) }, cancel: { cancel(number) })
        return try outcome.get()
    }

    private func begin(_ waiter: Waiters.Waiter, _ number: UInt, _ listener: RunLoop.Source) {
        let known: Outcome? = state.withLock { state in
            if let end = state.end { return end }
            if Task.isCancelled { return .success(nil) }
            if let connection = state.connections.removeFirst() { return .success(connection) }
            do throws(RunLoop.Error) {
                try arm(&state, listener)
            } catch {
                return error == .loopFinished ? .success(nil) : .failure(error)
            }
            unsafe state.waiters.append(waiter, number)
            return nil
        }
        if let known { unsafe waiter.resume(returning: known) }
    }

    private func arm(_ state: inout State, _ listener: RunLoop.Source) throws(RunLoop.Error) {
        if state.isArmed { return }
        if state.listener == nil { try loop.admit(listener, to: mode) } else { try listener.request(.read) }
        (state.listener, state.isArmed) = (listener, true)
    }

    private func disarmIfUnneeded(_ state: inout State) {
        if !state.waiters.isEmpty { return }
        state.listener?.pause()
        state.isArmed = false
    }

    private func cancel(_ number: UInt) {
        let waiter = unsafe state.withLock { state in
            let waiter = unsafe state.waiters.remove(number)
            if unsafe waiter != nil { disarmIfUnneeded(&state) }
            return unsafe waiter
        }
        unsafe waiter?.resume(returning: .success(nil))
    }

    /// Ends every wait, and frees the connections that nobody has taken. Called at the end of the loop, too.
    func finish(_ failure: RunLoop.Error?) {
        if process.isOver { return }
        let end: Outcome = failure.map { .failure($0) } ?? .success(nil)
        let ended: State? = state.withLock { state in
            if state.end != nil { return nil }
            defer {
                state = State()
                state.end = end
            }
            return state
        }
        guard var ended else { return }
        let waiters = unsafe ended.waiters.removeAll()
        for index in unsafe waiters.indices { unsafe waiters[index].resume(returning: end) }
    }
}
#endif
