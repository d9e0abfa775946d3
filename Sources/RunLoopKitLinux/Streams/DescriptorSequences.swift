internal import RunLoopKit

/// The parameters of an input: what the sequences of chunks, bytes and lines have in common.
struct InputOfDescriptor: Sendable {
    let loop: RunLoop
    let descriptor: CInt
    let mode: RunLoop.Mode
    let bufferSize: Int
    /// The descriptor's owner, if it is a connection's.
    let socket: ConnectedSocket?
    /// The same, if it is a child's.
    let pipe: ChildPipe?

    init(
        _ loop: RunLoop, _ descriptor: CInt, _ mode: RunLoop.Mode, bufferSize: Int, socket: ConnectedSocket? = nil,
        pipe: ChildPipe? = nil
    ) {
        precondition(bufferSize > 0, "A descriptor is read into a buffer of at least one byte.")
        self.loop = loop
        self.descriptor = descriptor
        self.mode = mode
        self.bufferSize = bufferSize
        self.socket = socket
        self.pipe = pipe
    }
}

/// An iteration over the input of a descriptor, chunk by chunk.
struct InputIterator {
    @safe enum Chunk {
        /// At least one byte, valid until the next chunk is requested.
        case bytes(UnsafeRawBufferPointer)
        /// The wait was cancelled, so there may be more input.
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
    mutating func next(isolation actor: isolated (any Actor)?) async throws(RunLoop.Error) -> Chunk {
        if isOver { return .end }
        // A throw ends the iteration.
        isOver = true
        let reader = try begun()
        switch await reader.wait(isolation: actor) {
        case .bytes(let count):
            isOver = false
            return unsafe .bytes(reader.bytes(count))
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

    /// Ends the iteration early: the next chunk is the end.
    mutating func stop() {
        reader = nil
        isOver = true
    }

    private mutating func begun() throws(RunLoop.Error) -> DescriptorReader {
        if let reader { return reader }
        let reader = try DescriptorReader(input)
        self.reader = reader
        return reader
    }
}

/// The input of a descriptor in the chunks in which it arrives.
struct ChunkSequence: AsyncSequence, Sendable {
    let input: InputOfDescriptor

    func makeAsyncIterator() -> Iterator { Iterator(input: InputIterator(input)) }

    struct Iterator: AsyncIteratorProtocol {
        var input: InputIterator

        mutating func next() async throws(RunLoop.Error) -> [UInt8]? { try await next(isolation: nil) }

        mutating func next(isolation actor: isolated (any Actor)?) async throws(RunLoop.Error) -> [UInt8]? {
            guard case .bytes(let bytes) = try await input.next(isolation: actor) else { return nil }
            return unsafe Array(bytes)
        }
    }
}

/// An iteration over the lines of a descriptor's input.
struct LineIterator {
    private var input: InputIterator
    private var lines: LineBuffer

    init(_ input: InputOfDescriptor, limit: Int) {
        self.input = InputIterator(input)
        lines = LineBuffer(limit: limit)
    }

    /// A line that is in the buffer already. Most are, and this is no asynchronous call.
    mutating func buffered() -> RunLoop.Line? { lines.next() }

    /// The next line, when none is in the buffer.
    mutating func next(isolation actor: isolated (any Actor)?) async throws(RunLoop.Error) -> RunLoop.Line? {
        do throws(RunLoop.Error) {
            while true {
                switch try await input.next(isolation: actor) {
                case .bytes(let bytes): unsafe lines.feed(bytes)
                case .end: return lines.last()
                // An incomplete line is dropped.
                case .cancelled:
                    lines.clear()
                    return nil
                }
                if let line = lines.next() { return line }
            }
        } catch {
            lines.clear()
            throw error
        }
    }

    /// Ends the iteration early: there are no more lines.
    mutating func stop() {
        lines.clear()
        input.stop()
    }
}

/// The lines of a descriptor's input, up to the first that is too long.
struct LineSequence: AsyncSequence, Sendable {
    let input: InputOfDescriptor
    let limit: Int

    func makeAsyncIterator() -> Iterator { Iterator(lines: LineIterator(input, limit: limit)) }

    struct Iterator: AsyncIteratorProtocol {
        var lines: LineIterator

        mutating func next() async throws(RunLoop.Error) -> String? { try await next(isolation: nil) }

        mutating func next(isolation actor: isolated (any Actor)?) async throws(RunLoop.Error) -> String? {
            if let line = lines.buffered() { return try text(of: line) }
            return try await lines.next(isolation: actor).map { line throws(RunLoop.Error) in try text(of: line) }
        }

        private mutating func text(of line: RunLoop.Line) throws(RunLoop.Error) -> String {
            switch line {
            case .text(let text): return text
            case .tooLong:
                lines.stop()
                throw .lineTooLong
            }
        }
    }
}

/// The lines of a descriptor's input, and marks for those that are too long.
struct SkippingLineSequence: AsyncSequence, Sendable {
    let input: InputOfDescriptor
    let limit: Int

    func makeAsyncIterator() -> Iterator { Iterator(lines: LineIterator(input, limit: limit)) }

    struct Iterator: AsyncIteratorProtocol {
        var lines: LineIterator

        mutating func next() async throws(RunLoop.Error) -> RunLoop.Line? { try await next(isolation: nil) }

        mutating func next(isolation actor: isolated (any Actor)?) async throws(RunLoop.Error) -> RunLoop.Line? {
            if let line = lines.buffered() { return line }
            return try await lines.next(isolation: actor)
        }
    }
}
