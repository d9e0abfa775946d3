extension RunLoop {
    /// What a source is called with, as a sequence: see `readiness(of:for:inMode:)` and `signals(_:inMode:)`, which make it.
    ///
    /// There is no element before the next call of `next()`, so nothing is called while the consumer is busy. Each iteration over the
    /// sequence has a source of its own, which is in the loop only while `next()` waits, and is invalidated when the iteration ends.
    public struct SourceSequence<Element: Sendable>: AsyncSequence, Sendable {
        /// The errors of making a source and adding it.
        public typealias Failure = RunLoop.Error
        /// Makes a source that calls the closure.
        typealias MakeSource = @Sendable (@escaping @Sendable (Element) -> Void) throws(RunLoop.Error) -> RunLoop.Source

        let loop: RunLoop
        let mode: RunLoop.Mode
        let makeSource: MakeSource

        /// Begins an iteration, which does nothing before the first call of `next()`.
        public func makeAsyncIterator() -> Iterator { Iterator(sequence: self) }

        /// An iteration, for one task at a time.
        public struct Iterator: AsyncIteratorProtocol {
            private let sequence: SourceSequence
            private var watch: SourceWatch<Element>?
            private var elements: AsyncStream<Element>.Iterator?
            private var isOver = false

            init(sequence: SourceSequence) {
                self.sequence = sequence
            }

            /// The next one, which it waits for if needed; `nil` at the end.
            public mutating func next() async throws(RunLoop.Error) -> Element? {
                try await next(isolation: nil)
            }

            /// The next one, which it waits for if needed; `nil` at the end.
            public mutating func next(isolation actor: isolated (any Actor)?) async throws(RunLoop.Error) -> Element? {
                if isOver { return nil }
                // A throw ends the iteration.
                isOver = true
                if watch == nil { try begin() }
                try watch?.arm()
                guard let element = await elements?.next(isolation: actor) else {
                    watch = nil
                    return nil
                }
                isOver = false
                return element
            }

            private mutating func begin() throws(RunLoop.Error) {
                let (stream, continuation) = AsyncStream.makeStream(
                    of: Element.self, bufferingPolicy: .bufferingNewest(1))
                watch = try SourceWatch(sequence, continuation)
                elements = stream.makeAsyncIterator()
            }
        }
    }
}

/// The source of an iteration, which is in the loop only while it is armed.
private final class SourceWatch<Element: Sendable>: Sendable {
    private let loop: RunLoop
    private let mode: RunLoop.Mode
    private let source = Guarded<RunLoop.Source?>(nil)
    /// Keeps the mode from being empty while the source is not in it, and detects the end of the loop's thread.
    private let presence: RunLoop.Source

    init(_ sequence: RunLoop.SourceSequence<Element>, _ continuation: AsyncStream<Element>.Continuation) throws(RunLoop
        .Error)
    {
        loop = sequence.loop
        mode = sequence.mode
        presence = RunLoop.Source(onCancel: { _, _ in continuation.finish() }, perform: {})
        let source = try sequence.makeSource { [weak self] element in
            self?.disarm()
            continuation.yield(element)
        }
        self.source.withLock { $0 = source }
        continuation.onTermination = { [weak self] _ in self?.end() }
        do throws(RunLoop.Error) {
            try loop.add(presence, forMode: mode)
        } catch {
            if error != .loopFinished { throw error }
            continuation.finish()
        }
    }

    deinit {
        end()
    }

    func arm() throws(RunLoop.Error) {
        guard let source = source.withLock({ $0 }) else { return }
        do throws(RunLoop.Error) {
            try loop.add(source, forMode: mode)
        } catch {
            // The loop's thread is ending, and will cancel the presence, which ends the iteration.
            if error != .loopFinished { throw error }
        }
    }

    private func disarm() {
        guard let source = source.withLock({ $0 }) else { return }
        loop.remove(source, forMode: mode)
    }

    private func end() {
        let source = source.withLock { source in
            defer { source = nil }
            return source
        }
        source?.invalidate()
        presence.invalidate()
    }
}
