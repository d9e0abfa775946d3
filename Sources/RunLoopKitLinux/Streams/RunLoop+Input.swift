#if os(Linux)
public import RunLoopKit

extension RunLoop {
    /// The input of a descriptor, byte by byte, until its end: `for try await byte in loop.bytes(of: descriptor) { … }`.
    ///
    /// The loop's thread reads when the loop, in `mode`, reports the descriptor as readable: once per report, and only while
    /// `next()` waits for a byte that is not in the buffer. So at most one buffer of input is in memory, and a slow consumer
    /// makes the writer wait. From the first call of `next()` to the end of the iteration the mode is not empty (R23).
    ///
    /// The iteration ends with the input, when the task is cancelled while it waits, which is no error, and when the iterator is
    /// released. Then the loop has no source of it, no thread reads from the descriptor, and the caller may close it, which the
    /// loop never does. Bytes in the buffer are lost then. Two iterations over one descriptor share its input by
    /// chance. Any thread, any task. A byte costs a nanosecond, and in a `for await` of the main actor some six, because the compiler
    /// takes hold of that actor for each element: to read much, use `chunks(of:)`. A buffer costs one read, and two system calls
    /// more if the reader is slower than the writer.
    ///
    /// A regular file and a device like /dev/null, for which the kernel reports nothing, count as readable until their end: the
    /// loop reads one buffer per iteration, so everything else in the loop has its turn in between. That read waits for the
    /// disk if it must.
    ///
    /// - Parameters:
    ///   - descriptor: open for reading: a pipe, a socket, a terminal, a file. Need not be non-blocking, unless somebody else
    ///     reads from it, too. Stays the caller's.
    ///   - bufferSize: how much is read at a time at most, in bytes, greater than zero (anything else is a precondition
    ///     failure). Each iteration has a buffer of its own.
    ///   - mode: in which mode, or in all common ones.
    /// - Returns: a sequence that throws, once, and then is over: `badDescriptor`, `loopFinished` if the loop's thread ends before the
    ///   input does, what else adding a source can except `permissionDenied`, and what reading from the descriptor can: EISDIR
    ///   for a directory.
    public func bytes(
        of descriptor: CInt, bufferSize: Int = 65_536, inMode mode: Mode = .common
    ) -> ByteSequence {
        ByteSequence(input: InputOfDescriptor(self, descriptor, mode, bufferSize: bufferSize))
    }

    /// The input of a descriptor, in the chunks in which it arrives, none of them empty. As `bytes(of:)`, except that each chunk
    /// is read when `next()` is called and returned as a whole, so nothing is lost with the iteration. `bufferSize` is the maximum size of a
    /// chunk.
    public func chunks(
        of descriptor: CInt, bufferSize: Int = 65_536, inMode mode: Mode = .common
    ) -> some AsyncSequence<[UInt8], any Swift.Error> & Sendable {
        ChunkSequence(input: InputOfDescriptor(self, descriptor, mode, bufferSize: bufferSize))
    }

    /// The lines of a descriptor's input: `for try await line in loop.lines(of: 0) { … }`.
    ///
    /// A line ends with a line feed, or a carriage return and a line feed, which are not part of it; a carriage return alone
    /// does not end a line. The text after the last line feed is a line as well, unless it is empty or the iteration ends before
    /// the input does. Text is UTF-8, and invalid bytes are replaced by U+FFFD. Otherwise the same as `bytes(of:)`. A line costs
    /// O(bytes), and is in memory once besides the buffer.
    ///
    /// - Parameter limit: the maximum length of a line, without its end, in bytes; a negative one is a precondition failure.
    /// - Returns: a sequence that throws as `bytes(of:)` does, and `lineTooLong` as soon as a line is too long. The iteration
    ///   does not return what follows that line; `lines(of:skippingLongerThan:)` does.
    public func lines(
        of descriptor: CInt, limit: Int = 1_048_576, bufferSize: Int = 65_536, inMode mode: Mode = .common
    ) -> some AsyncSequence<String, any Swift.Error> & Sendable {
        precondition(limit >= 0, "The limit of a line is not negative.")
        return LineSequence(input: InputOfDescriptor(self, descriptor, mode, bufferSize: bufferSize), limit: limit)
    }

    /// The lines of a descriptor's input, without those that are too long, and with a mark in their place.
    ///
    ///     for try await line in loop.lines(of: descriptor, skippingLongerThan: 200) {
    ///         switch line {
    ///         case .text(let text): take(text)
    ///         case .tooLong: complain()
    ///         }
    ///     }
    ///
    /// For input that may be faulty or hostile: whatever is sent, memory is bounded, and the next line is returned.
    /// ``Line/tooLong`` is returned as soon as a line is longer than the limit, in its place among the others and once for each;
    /// the rest of the line is read and dropped. Otherwise the same as `lines(of:limit:)`, except that it throws as `bytes(of:)` does.
    public func lines(
        of descriptor: CInt, skippingLongerThan limit: Int, bufferSize: Int = 65_536, inMode mode: Mode = .common
    ) -> some AsyncSequence<Line, any Swift.Error> & Sendable {
        precondition(limit >= 0, "The limit of a line is not negative.")
        return MarkedLineSequence(
            input: InputOfDescriptor(self, descriptor, mode, bufferSize: bufferSize), limit: limit)
    }
}
#endif
