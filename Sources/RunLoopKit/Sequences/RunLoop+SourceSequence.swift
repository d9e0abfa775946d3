#if os(Linux)
extension RunLoop {
    /// What a source is called with, as a sequence.
    ///
    /// There is no element before the next call of `next()`, so nothing is called while the consumer is busy. Each iteration over the
    /// sequence has a source of its own, which asks for nothing unless `next()` waits, and is invalidated when the iteration ends.
    package struct SourceSequence<Element: Sendable>: AsyncSequence, Sendable {
        /// The errors of making a source and adding it.
        package typealias Failure = any Swift.Error
        /// Makes a source that calls the closure.
        package typealias MakeSource =
            @Sendable (@escaping @Sendable (Element) -> Void) throws -> RunLoop.Source

        let loop: RunLoop
        let mode: RunLoop.Mode
        let makeSource: MakeSource

        package init(loop: RunLoop, mode: RunLoop.Mode, makeSource: @escaping MakeSource) {
            (self.loop, self.mode, self.makeSource) = (loop, mode, makeSource)
        }

        /// Begins an iteration, which does nothing before the first call of `next()`.
        package func makeAsyncIterator() -> Iterator { Iterator(sequence: self) }

        /// An iteration, for one task at a time.
        package struct Iterator: AsyncIteratorProtocol {
            private let sequence: SourceSequence
            private var watch: SourceWatch<Element>?
            private var isOver = false

            init(sequence: SourceSequence) {
                self.sequence = sequence
            }

            /// The next one, which it waits for if needed; `nil` at the end.
            package mutating func next() async throws -> Element? {
                try await next(isolation: nil)
            }

            /// The next one, which it waits for if needed; `nil` at the end.
            package mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
                if isOver { return nil }
                // A throw ends the iteration.
                isOver = true
                let watch = try watch.take() ?? SourceWatch(sequence)
                try watch.arm()
                guard let element = await watch.elements.next(isolation: actor) else { return nil }
                self.watch = watch
                isOver = false
                return element
            }
        }
    }
}

/// The source of an iteration, which is in the loop from its beginning, so the mode is not empty, and paused unless it is armed.
private final class SourceWatch<Element: Sendable>: Sendable {
    private struct State {
        let source: RunLoop.Source
        /// What it asks for when it is armed.
        let events: RunLoop.Source.Readiness
        /// By which the end of the loop is forgotten.
        var endNumber: UInt?
    }

    let elements: Mailbox<Element>
    private let loop: RunLoop
    /// `nil` before the beginning and after the end.
    private let state = Guarded<State?>(nil)

    init(_ sequence: RunLoop.SourceSequence<Element>) throws {
        loop = sequence.loop
        let elements = Mailbox<Element>(keeping: .all)
        self.elements = elements
        let source = try sequence.makeSource { [weak self] element in
            self?.state.withLock { $0?.source }?.pause()
            elements.put(element)
        }
        let events = source.events
        source.pause()
        state.withLock { $0 = State(source: source, events: events) }
        do {
            try loop.add(source, forMode: sequence.mode)
            let number = loop.end.notify { elements.finish() }
            if number == nil { elements.finish() }
            state.withLock { $0?.endNumber = number }
        } catch RunLoop.Error.loopFinished {
            elements.finish()
        }
    }

    deinit {
        end()
    }

    func arm() throws {
        guard let watched = state.withLock({ $0 }) else { return }
        do {
            try watched.source.request(watched.events)
        } catch {
            // The end may have come meanwhile, and says what there is to say.
            if state.withLock({ $0 != nil }) { throw error }
        }
    }

    private func end() {
        guard let watched = state.withLock({ $0.take() }) else { return }
        watched.endNumber.map(loop.end.forget)
        watched.source.invalidate()
    }
}
#endif
