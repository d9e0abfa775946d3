extension RunLoop {
    /// The state of a descriptor, as a sequence. There is an element when one of the conditions holds, and no other one before
    /// the next call of `next()`. So a consumer that reads a little at a time gets another element, and none arrives while it
    /// reads.
    ///
    /// Each iteration over the sequence has a source of its own, which is in the loop only while `next()` waits. It is invalidated
    /// when the iteration ends, as for `ticks`; the descriptor may be closed then. From the first call of `next()` to the end of
    /// the iteration the mode is not empty (R23). The sequence ends when the loop's thread ends.
    /// Any thread, any task. O(1) per mode and element, and two system calls.
    ///
    /// - Parameters:
    ///   - descriptor: non-blocking; it remains the caller's.
    ///   - events: at least one condition. Errors and hang-ups are reported in any case.
    /// - Returns: a sequence that throws `invalid`, `badDescriptor`, `permissionDenied` and the other errors of adding a source.
    public func readiness(
        of descriptor: CInt, for events: Source.Readiness = .read, inMode mode: Mode = .common
    ) -> some AsyncSequence<Source.Readiness, RunLoop.Error> & Sendable {
        ReadinessSequence(loop: self, descriptor: descriptor, events: events, mode: mode)
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
            // A throw ends the iteration.
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

/// The source of an iteration, which is in the loop only while it is armed.
private final class ReadinessWatch: Sendable {
    private let loop: RunLoop
    private let mode: RunLoop.Mode
    private let source = Guarded<RunLoop.Source?>(nil)
    /// Keeps the mode from being empty while the source is not in it, and detects the end of the loop's thread.
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
