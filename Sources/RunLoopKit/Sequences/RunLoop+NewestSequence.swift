#if os(Linux)
/// What an item of a loop tells, as a sequence: the instants of a timer, the activities of a loop.
///
/// Every iteration has an item of its own, which is invalidated when the iteration ends, at the latest when its iterator is released. Only the
/// newest element is kept for a consumer that is slow.
struct NewestSequence<Element: Sendable>: AsyncSequence, Sendable {
    typealias Failure = Never
    /// Makes an item, and adds it.
    let addItem: @Sendable (AsyncStream<Element>.Continuation) -> Void

    func makeAsyncIterator() -> AsyncStream<Element>.Iterator {
        AsyncStream(bufferingPolicy: .bufferingNewest(1), addItem).makeAsyncIterator()
    }
}

/// Retained by the closure of such an item, and by nothing else. It is freed when the loop releases the item because its thread has
/// ended, or when the loop has refused the item. Then the sequence ends.
package final class EndOfSequence<Element: Sendable>: Sendable {
    package let continuation: AsyncStream<Element>.Continuation

    package init(_ continuation: AsyncStream<Element>.Continuation) {
        self.continuation = continuation
    }

    deinit {
        continuation.finish()
    }
}
#endif
