#if os(Linux)
internal import RunLoopKit

// What one call after another takes from a reader, as a sequence. What an iteration has not taken stays there for the next one; an iteration that
// has come to its end, or to an error, has nothing more. Each is a type of its own, and not one with the call as a parameter, which would cost
// as much as reading a line does.

/// The lines of a reader from here on.
struct LinesOfReader: AsyncSequence {
    let reader: RunLoop.Reader
    let limit: Int

    func makeAsyncIterator() -> LineSequence.Iterator { LineSequence.Iterator(limit: limit, reader: reader) }
}

/// The chunks of a reader from here on.
struct ChunksOfReader: AsyncSequence {
    let reader: RunLoop.Reader

    func makeAsyncIterator() -> ChunkSequence.Iterator { ChunkSequence.Iterator(reader: reader) }
}

/// The bytes of a reader from here on.
struct BytesOfReader: AsyncSequence {
    let reader: RunLoop.Reader

    func makeAsyncIterator() -> Iterator { Iterator(reader: reader) }

    struct Iterator: AsyncIteratorProtocol {
        /// `nil` at the end, and after an error.
        var reader: RunLoop.Reader?

        mutating func next() async throws -> UInt8? { try await next(isolation: nil) }

        mutating func next(isolation actor: isolated (any Actor)?) async throws -> UInt8? {
            // Most are in the buffer already, and this is no asynchronous call.
            if let byte = reader?.knownByte() { return byte }
            guard let reader = reader.take() else { return nil }
            let byte = try await reader.byte(isolation: actor)
            if byte != nil { self.reader = reader }
            return byte
        }
    }
}
#endif
