/// A sequence whose every iteration has a registration with a loop. The registration goes when the stream is terminated, which
/// it is at the latest when its iterator is let go of.
struct LoopSequence<Element: Sendable>: AsyncSequence, Sendable {
    typealias Failure = Never
    private let register: @Sendable (AsyncStream<Element>.Continuation) -> Void

    init(_ register: @escaping @Sendable (AsyncStream<Element>.Continuation) -> Void) {
        self.register = register
    }

    func makeAsyncIterator() -> AsyncStream<Element>.Iterator {
        AsyncStream(bufferingPolicy: .bufferingNewest(1), register).makeAsyncIterator()
    }
}

/// Held by the closure of a registration and by nothing else: when the loop lets go of that, because its thread has ended or
/// because it never took it, the sequence ends.
final class EndOfSequence<Element: Sendable>: Sendable {
    let continuation: AsyncStream<Element>.Continuation

    init(_ continuation: AsyncStream<Element>.Continuation) {
        self.continuation = continuation
    }

    deinit {
        continuation.finish()
    }
}

/// The states of a descriptor.
struct ReadinessSequence: AsyncSequence, Sendable {
    typealias Element = RunLoop.Source.Readiness
    typealias Failure = RunLoop.Error

    let loop: RunLoop
    let descriptor: CInt
    let events: RunLoop.Source.Readiness
    let mode: RunLoop.Mode

    func makeAsyncIterator() -> Iterator { Iterator(sequence: self) }

    struct Iterator: AsyncIteratorProtocol {
        private let sequence: ReadinessSequence
        private var watch: ReadinessWatch?
        private var states: AsyncStream<Element>.Iterator?
        private var isOver = false

        init(sequence: ReadinessSequence) {
            self.sequence = sequence
        }

        mutating func next() async throws(RunLoop.Error) -> Element? {
            try await next(isolation: nil)
        }

        mutating func next(isolation actor: isolated (any Actor)?) async throws(RunLoop.Error) -> Element? {
            if isOver { return nil }
            // Whatever leaves early is the end.
            isOver = true
            if watch == nil { try begin() }
            try watch?.arm()
            guard let state = await states?.next(isolation: actor) else {
                watch = nil
                return nil
            }
            isOver = false
            return state
        }

        private mutating func begin() throws(RunLoop.Error) {
            let (stream, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: .bufferingNewest(1))
            watch = try ReadinessWatch(sequence, continuation)
            states = stream.makeAsyncIterator()
        }
    }
}

/// One iteration's source, which the loop has only while it is armed.
private final class ReadinessWatch: Sendable {
    private let loop: RunLoop
    private let mode: RunLoop.Mode
    private let source = Guarded<RunLoop.Source?>(nil)
    /// Keeps the mode from being empty while the source is out, and tells of the end of the loop's thread.
    private let presence: RunLoop.Source

    init(
        _ sequence: ReadinessSequence, _ continuation: AsyncStream<RunLoop.Source.Readiness>.Continuation
    ) throws(RunLoop.Error) {
        loop = sequence.loop
        mode = sequence.mode
        presence = RunLoop.Source(onCancel: { _, _ in continuation.finish() }, perform: {})
        let source = try RunLoop.Source(fileDescriptor: sequence.descriptor, events: sequence.events) {
            [weak self] state in
            self?.disarm()
            continuation.yield(state)
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
        try loop.add(source, forMode: mode)
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
