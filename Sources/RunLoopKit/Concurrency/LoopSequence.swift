/// A sequence whose every iteration has an item in a loop. The item is invalidated when the stream is terminated, at the latest when
/// its iterator is released.
struct LoopSequence<Element: Sendable>: AsyncSequence, Sendable {
    typealias Failure = Never
    private let addItem: @Sendable (AsyncStream<Element>.Continuation) -> Void

    init(_ addItem: @escaping @Sendable (AsyncStream<Element>.Continuation) -> Void) {
        self.addItem = addItem
    }

    func makeAsyncIterator() -> AsyncStream<Element>.Iterator {
        AsyncStream(bufferingPolicy: .bufferingNewest(1), addItem).makeAsyncIterator()
    }
}

/// Retained by the closure of such an item, and by nothing else. It is freed when the loop releases the item because its thread has
/// ended, or when the loop has refused the item. Then the sequence ends.
final class EndOfSequence<Element: Sendable>: Sendable {
    let continuation: AsyncStream<Element>.Continuation

    init(_ continuation: AsyncStream<Element>.Continuation) {
        self.continuation = continuation
    }

    deinit {
        continuation.finish()
    }
}
