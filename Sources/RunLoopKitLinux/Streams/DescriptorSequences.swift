#if os(Linux)
internal import RunLoopKit

/// The parameters of an input: what readers and the sequences of chunks, bytes and lines have in common.
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

// Each iteration over the whole input has a reader of its own. Three types that are alike, and not one with the part as a parameter, which
// would cost as much as reading a line does.

/// The input of a descriptor in the chunks in which it arrives.
struct ChunkSequence: AsyncSequence, Sendable {
    let input: InputOfDescriptor

    func makeAsyncIterator() -> Iterator { Iterator(reader: RunLoop.Reader(input)) }

    struct Iterator: AsyncIteratorProtocol {
        /// `nil` at the end, and after an error.
        var reader: RunLoop.Reader?

        mutating func next() async throws -> [UInt8]? { try await next(isolation: nil) }

        mutating func next(isolation actor: isolated (any Actor)?) async throws -> [UInt8]? {
            guard let reader = reader.take() else { return nil }
            let chunk = try await reader.chunk(isolation: actor)
            if chunk != nil { self.reader = reader }
            return chunk
        }
    }
}

/// The lines of a descriptor's input, up to the first that is too long.
struct LineSequence: AsyncSequence, Sendable {
    let input: InputOfDescriptor
    let limit: Int

    func makeAsyncIterator() -> Iterator { Iterator(limit: limit, reader: RunLoop.Reader(input)) }

    struct Iterator: AsyncIteratorProtocol {
        let limit: Int
        /// `nil` at the end, and after an error.
        var reader: RunLoop.Reader?

        mutating func next() async throws -> String? { try await next(isolation: nil) }

        mutating func next(isolation actor: isolated (any Actor)?) async throws -> String? {
            guard let reader = reader.take() else { return nil }
            // Most are in the buffer already, and this is no asynchronous call.
            var line = try reader.knownLine(limit: limit)
            if line == nil { line = try await reader.line(limit: limit, isolation: actor) }
            if line != nil { self.reader = reader }
            return line
        }
    }
}

/// The lines of a descriptor's input, and marks for those that are too long.
struct MarkedLineSequence: AsyncSequence, Sendable {
    let input: InputOfDescriptor
    let limit: Int

    func makeAsyncIterator() -> Iterator { Iterator(limit: limit, reader: RunLoop.Reader(input)) }

    struct Iterator: AsyncIteratorProtocol {
        let limit: Int
        /// `nil` at the end, and after an error.
        var reader: RunLoop.Reader?

        mutating func next() async throws -> RunLoop.Line? { try await next(isolation: nil) }

        mutating func next(isolation actor: isolated (any Actor)?) async throws -> RunLoop.Line? {
            guard let reader = reader.take() else { return nil }
            // Most are in the buffer already, and this is no asynchronous call.
            var line = reader.knownText(limit: limit)
            if line == nil { line = try await reader.lineOrMark(limit: limit, isolation: actor) }
            if line != nil { self.reader = reader }
            return line
        }
    }
}
#endif
