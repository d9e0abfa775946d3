#if os(Linux)
/// What an item of a loop reports, as a sequence: the instants of a timer, the activities of a loop.
///
/// Every iteration has an item of its own, which is invalidated when the iteration ends, at the latest when its iterator is released. Only the
/// newest element is kept for a consumer that is slow.
struct NewestSequence<Element: Sendable>: AsyncSequence, Sendable {
    typealias Failure = Never
    /// Makes an item, and adds it. Its closure keeps the end of the sequence.
    let addItem: @Sendable (EndOfSequence<Element>) -> RunLoop.Item

    func makeAsyncIterator() -> Iterator { Iterator(iteration: Iteration(addItem)) }

    struct Iterator: AsyncIteratorProtocol {
        /// `nil` at the end.
        fileprivate var iteration: Iteration?

        mutating func next() async -> Element? { await next(isolation: nil) }

        mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            guard let element = await iteration?.mailbox.next(isolation: actor) else {
                iteration = nil
                return nil
            }
            return element
        }
    }

    fileprivate final class Iteration: Sendable {
        let mailbox = Mailbox<Element>(keeping: .newest)
        /// The loop alone retains it, so that it is freed at the end of that.
        private let item: @Sendable () -> RunLoop.Item?

        init(_ addItem: (EndOfSequence<Element>) -> RunLoop.Item) {
            weak let item = addItem(EndOfSequence(mailbox))
            self.item = { item }
        }

        deinit {
            item()?.invalidate()
        }
    }
}
#endif
