/// The input of a descriptor, as it is asked for: what the sequences of chunks, bytes and lines have in common.
struct InputOfDescriptor: Sendable {
    let loop: RunLoop
    let descriptor: CInt
    let mode: RunLoop.Mode
    let bufferSize: Int

    init(_ loop: RunLoop, _ descriptor: CInt, _ mode: RunLoop.Mode, bufferSize: Int) {
        precondition(bufferSize > 0, "A descriptor is read into a buffer of at least one byte.")
        self.loop = loop
        self.descriptor = descriptor
        self.mode = mode
        self.bufferSize = bufferSize
    }
}

/// One iteration over the input of a descriptor, portion by portion.
struct InputIterator {
    enum Portion {
        /// At least one byte, good until the next portion is asked for.
        case bytes(UnsafeRawBufferPointer)
        /// Somebody else gave the wait up, so there may be more input.
        case cancelled
        case end
    }

    private let input: InputOfDescriptor
    private var reader: DescriptorReader?
    private var isOver = false

    init(_ input: InputOfDescriptor) {
        self.input = input
    }

    /// After an end or an error there is nothing but the end.
    mutating func next(isolation actor: isolated (any Actor)?) async throws(RunLoop.Error) -> Portion {
        if isOver { return .end }
        // Whatever leaves early is the end.
        isOver = true
        let reader = try begun()
        switch await reader.wait(isolation: actor) {
        case .bytes(let count):
            isOver = false
            return .bytes(reader.bytes(count))
        case .end:
            self.reader = nil
            return .end
        case .cancelled:
            self.reader = nil
            return .cancelled
        case .failure(let error):
            self.reader = nil
            throw error
        }
    }

    /// Ends the iteration early: the next portion is the end.
    mutating func stop() {
        reader = nil
        isOver = true
    }

    private mutating func begun() throws(RunLoop.Error) -> DescriptorReader {
        if let reader { return reader }
        let reader = try DescriptorReader(
            input.descriptor, on: input.loop, mode: input.mode, capacity: input.bufferSize)
        self.reader = reader
        return reader
    }
}

/// The input of a descriptor in the portions in which it arrives.
struct ChunkSequence: AsyncSequence, Sendable {
    typealias Element = [UInt8]
    typealias Failure = RunLoop.Error
    let input: InputOfDescriptor

    func makeAsyncIterator() -> Iterator { Iterator(input: InputIterator(input)) }

    struct Iterator: AsyncIteratorProtocol {
        var input: InputIterator

        mutating func next() async throws(RunLoop.Error) -> [UInt8]? {
            try await next(isolation: nil)
        }

        mutating func next(isolation actor: isolated (any Actor)?) async throws(RunLoop.Error) -> [UInt8]? {
            guard case .bytes(let bytes) = try await input.next(isolation: actor) else { return nil }
            return Array(bytes)
        }
    }
}

/// The lines of a descriptor's input.
struct LineSequence: AsyncSequence, Sendable {
    typealias Element = String
    typealias Failure = RunLoop.Error
    let input: InputOfDescriptor
    let limit: Int

    func makeAsyncIterator() -> Iterator { Iterator(input: InputIterator(input), lines: LineBuffer(limit: limit)) }

    struct Iterator: AsyncIteratorProtocol {
        var input: InputIterator
        var lines: LineBuffer

        mutating func next() async throws(RunLoop.Error) -> String? {
            try await next(isolation: nil)
        }

        mutating func next(isolation actor: isolated (any Actor)?) async throws(RunLoop.Error) -> String? {
            do throws(RunLoop.Error) {
                while true {
                    if let line = try lines.next() { return line }
                    switch try await input.next(isolation: actor) {
                    case .bytes(let bytes): lines.feed(bytes)
                    case .end: return try lines.last()
                    // Half a line is no line.
                    case .cancelled:
                        lines.clear()
                        return nil
                    }
                }
            } catch {
                lines.clear()
                input.stop()
                throw error
            }
        }
    }
}
