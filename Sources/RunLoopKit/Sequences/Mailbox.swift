#if os(Linux)
/// What a sequence has for its consumer: values that nobody has taken yet, or the task that waits for one.
package final class Mailbox<Element: Sendable>: Sendable {
    /// What becomes of a value that nobody has taken when the next one comes.
    package enum Keeping {
        case all
        case newest
    }

    /// Safe because the thread that takes the waiter out resumes it, so that happens once.
    @safe private struct State {
        var elements = Queue<Element>()
        @safe var waiter: UnsafeContinuation<Element?, Never>?
        var isFinished = false
    }

    private let keeping: Keeping
    private let state = Guarded(State())

    package init(keeping: Keeping) {
        self.keeping = keeping
    }

    /// Any thread. No effect after the end.
    package func put(_ element: Element) {
        let waiter: UnsafeContinuation<Element?, Never>? = unsafe state.withLock { state in
            if state.isFinished { return nil }
            if let waiter = unsafe state.waiter.take() { return unsafe waiter }
            if keeping == .newest { _ = state.elements.removeFirst() }
            state.elements.append(element)
            return nil
        }
        unsafe waiter?.resume(returning: element)
    }

    /// There is nothing after what was put. Any thread; a second call has no effect.
    package func finish() {
        let waiter = unsafe state.withLock { state in
            state.isFinished = true
            return unsafe state.waiter.take()
        }
        unsafe waiter?.resume(returning: nil)
    }

    /// The next value, for one task at a time; `nil` at the end, which a task that is cancelled while it waits brings about.
    package func next(isolation actor: isolated (any Actor)?) async -> Element? {
        await withTaskCancellationHandler(
            operation: {
                unsafe await withUnsafeContinuation(isolation: actor) {
                    (waiter: UnsafeContinuation<Element?, Never>) in
                    unsafe waiter.resumes(on: actor)
                    unsafe begin(waiter)
                }
            }, onCancel: { finish() }, isolation: actor)
    }

    private func begin(_ waiter: UnsafeContinuation<Element?, Never>) {
        let known: Element?? = state.withLock { state in
            if let element = state.elements.removeFirst() { return element }
            if state.isFinished { return .some(nil) }
            unsafe precondition(
                state.waiter == nil, "Only one task at a time may wait for an iteration over a sequence.")
            state.waiter = unsafe waiter
            return nil
        }
        if let known { unsafe waiter.resume(returning: known) }
    }
}

/// Retained by the closure of an item that fills a mailbox, and by nothing else. It is freed when the loop releases the item because its thread
/// has ended, or when the loop has refused the item. Then the sequence ends.
package final class EndOfSequence<Element: Sendable>: Sendable {
    package let mailbox: Mailbox<Element>

    package init(_ mailbox: Mailbox<Element>) {
        self.mailbox = mailbox
    }

    deinit {
        mailbox.finish()
    }
}
#endif
