#if os(Linux)
internal import CRunLoopCore
internal import CRunLoopLinux
internal import RunLoopKit

/// What a channel has received and nobody has taken yet, or the tasks that wait for it.
///
/// A request counts against the channel's limit until it is answered, any other message while it is here; so the other end waits when nobody
/// takes them.
final class ChannelInbox: Sendable {
    typealias Message = RunLoop.Channel.Message
    private typealias Waiters = WaitingTasks<Message?>

    private struct State {
        var messages = Queue<Message>()
        var waiters = Waiters()
        var isOver = false
        var failure: RunLoop.ChannelError?
    }

    private let state = Guarded(State())

    /// On the loop's thread.
    func append(_ message: Message, of channel: RunLoop.Source) {
        let waiter: Waiters.Waiter? = unsafe state.withLock { state in
            if state.isOver { return nil }
            if let waiter = unsafe state.waiters.removeFirst() { return unsafe waiter }
            if !message.isRequest { unsafe runloop_channel_hold_message(channel.core) }
            state.messages.append(message)
            return nil
        }
        unsafe waiter?.resume(returning: message)
    }

    /// `nil` at the end, and if the task is cancelled.
    func next(
        of channel: RunLoop.Source, isolation actor: isolated (any Actor)?
    ) async throws(RunLoop.ChannelError) -> Message? {
        let number = state.withLock { $0.waiters.makeNumber() }
        let message = unsafe await Waiters.wait(
            isolation: actor, begin: { unsafe begin($0, number, channel) }, cancel: { cancel(number) })
        if message == nil, let failure = state.withLock({ $0.failure }) { throw failure }
        return message
    }

    private func begin(_ waiter: Waiters.Waiter, _ number: UInt, _ channel: RunLoop.Source) {
        let known: Message?? = state.withLock { state in
            if Task.isCancelled { return .some(nil) }
            if let message = state.messages.removeFirst() { return message }
            if state.isOver { return .some(nil) }
            unsafe state.waiters.append(waiter, number)
            return nil
        }
        guard let known else { return }
        if let known, !known.isRequest { unsafe runloop_channel_release_message(channel.core) }
        unsafe waiter.resume(returning: known)
    }

    private func cancel(_ number: UInt) {
        unsafe state.withLock { unsafe $0.waiters.remove(number) }?.resume(returning: nil)
    }

    /// Ends every wait. What was received before can still be taken, unless the owner of the channel has ended it (`reason` is `nil`).
    func finish(_ reason: RunLoop.ChannelError?) {
        let (waiters, messages): ([Waiters.Waiter], [Message]) = unsafe state.withLock { state in
            state.isOver = true
            state.failure = state.failure ?? reason?.failure
            return unsafe (state.waiters.removeAll(), reason == nil ? state.messages.removeAll() : [])
        }
        for index in unsafe waiters.indices { unsafe waiters[index].resume(returning: nil) }
        // Requests among them are dropped.
        _ = consume messages
    }
}

extension RunLoop.ChannelError {
    /// What is no ordinary end of a sequence.
    fileprivate var failure: RunLoop.ChannelError? { self == .closed || self == .failed(.loopFinished) ? nil : self }
}
#endif
