#if os(Linux)
public import RunLoopKit

extension RunLoop {
    /// The input of a descriptor, byte by byte. See `bytes(of:bufferSize:inMode:)`, which makes it.
    ///
    ///     for try await byte in loop.bytes(of: 0) {
    ///         if byte == UInt8(ascii: "q") { break }
    ///     }
    ///
    /// A named type, so that a byte which is in the buffer already is read without a call.
    public struct ByteSequence: AsyncSequence, Sendable {
        /// A byte.
        public typealias Element = UInt8
        /// The errors of the input.
        public typealias Failure = any Swift.Error

        let input: InputOfDescriptor

        /// Begins an iteration, which reads nothing before the first call of `next()`.
        public func makeAsyncIterator() -> Iterator { Iterator(reader: Reader(input)) }

        /// An iteration, for one task at a time.
        @safe public struct Iterator: AsyncIteratorProtocol {
            // Within the reader's buffer, which stays as it is until that is asked for more.
            @usableFromInline var position: UnsafeRawPointer?
            @usableFromInline var end: UnsafeRawPointer?
            /// `nil` at the end.
            private var reader: Reader?

            init(reader: Reader) {
                self.reader = reader
            }

            /// The next byte, which it waits for if needed; `nil` at the end.
            @inlinable
            public nonisolated(nonsending) mutating func next() async throws -> UInt8? {
                if unsafe position == end, try await !refill() { return nil }
                defer { unsafe position = position?.successor() }
                return unsafe position?.load(as: UInt8.self)
            }

            /// The same: it is called where its caller is, whose actor need not be named.
            @inlinable
            public nonisolated(nonsending) mutating func next(
                isolation _: (any Actor)?
            ) async throws -> UInt8? {
                // An `isolated` parameter would switch to the actor for each byte, if only to find that the task is there already.
                try await next()
            }

            @usableFromInline
            nonisolated(nonsending) mutating func refill() async throws(RunLoop.Error) -> Bool {
                // The end and an error are the last.
                guard let reader = reader.take(), let bytes = unsafe try await reader.buffer() else { return false }
                self.reader = reader
                unsafe position = bytes.baseAddress
                unsafe end = position.map { unsafe $0 + bytes.count }
                return true
            }
        }
    }
}

/// An iterator points into the buffer of its iteration, which one task at a time uses.
@available(*, unavailable)
extension RunLoop.ByteSequence.Iterator: Sendable {}
#endif
