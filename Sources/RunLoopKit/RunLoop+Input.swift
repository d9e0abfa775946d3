extension RunLoop {
    /// The input of a descriptor, byte by byte, until its end: `for try await byte in loop.bytes(of: descriptor) { … }`.
    ///
    /// The loop's thread reads when the loop, in `mode`, reports the descriptor as readable: once per report, and only while
    /// the next byte is waited for and not in the buffer. So at most one buffer of input is in memory, and who is slow makes
    /// the writer wait. From the first question to the end of the iteration the mode is not empty (R23).
    ///
    /// The iteration ends with the input; when the task is cancelled while it waits, which is no error; and when the iterator
    /// is let go of. Then the loop has nothing of it any more, no thread reads from the descriptor, and it may be closed, which
    /// the loop never does. What is in the buffer by then is lost. Two iterations over one descriptor share its input by
    /// chance. Any thread, any task. A byte costs a nanosecond or two, on an actor some thirty: who reads much reads
    /// `chunks(of:)`. A buffer costs one read, and two system calls more if the reader is slower than the writer.
    ///
    /// - Parameters:
    ///   - descriptor: open for reading: a pipe, a socket, a terminal. Need not be non-blocking, unless somebody else reads
    ///     from it, too. Stays the caller's.
    ///   - bufferSize: how much is read at a time at most, in bytes, greater than zero (anything else is a precondition
    ///     failure). Each iteration has a buffer of its own.
    ///   - mode: in which mode, or in all common ones.
    /// - Returns: a sequence that throws, once, and then is over: `permissionDenied` for a file on a disk, `badDescriptor`,
    ///   `loopFinished` if the loop's thread ends before the input does, what else adding a source can, and what reading
    ///   from the descriptor can.
    public func bytes(
        of descriptor: CInt, bufferSize: Int = 65_536, inMode mode: Mode = .common
    ) -> ByteSequence {
        ByteSequence(input: InputOfDescriptor(self, descriptor, mode, bufferSize: bufferSize))
    }

    /// The input of a descriptor, in the portions in which it arrives, none of them empty. As `bytes(of:)`, but for this: each
    /// portion is read when it is asked for and handed over whole, so nothing is lost with the iteration.
    ///
    /// - Parameters:
    ///   - descriptor: as for `bytes(of:)`.
    ///   - bufferSize: how large a portion is at most, in bytes, greater than zero.
    ///   - mode: in which mode, or in all common ones.
    /// - Returns: a sequence that throws as `bytes(of:)` does.
    public func chunks(
        of descriptor: CInt, bufferSize: Int = 65_536, inMode mode: Mode = .common
    ) -> some AsyncSequence<[UInt8], RunLoop.Error> & Sendable {
        ChunkSequence(input: InputOfDescriptor(self, descriptor, mode, bufferSize: bufferSize))
    }

    /// The lines of a descriptor's input: `for try await line in loop.lines(of: 0) { … }`.
    ///
    /// A line ends with a line feed, or a carriage return and a line feed, which are not part of it; a carriage return alone
    /// ends no line. What follows the last line feed is a line as well, unless it is empty or the iteration ends before the
    /// input does. Text is UTF-8, and what is not is replaced by U+FFFD. Everything else as for `bytes(of:)`. A line costs
    /// O(bytes), and is in memory once besides the buffer.
    ///
    /// - Parameters:
    ///   - descriptor: as for `bytes(of:)`.
    ///   - limit: how long a line may be, without its end, in bytes; not negative (that is a precondition failure).
    ///   - bufferSize: as for `bytes(of:)`.
    ///   - mode: in which mode, or in all common ones.
    /// - Returns: a sequence that throws as `bytes(of:)` does, and `lineTooLong` as soon as a line is: what comes after
    ///   that line cannot be had from this iteration. `lines(of:skippingLongerThan:)` goes on.
    public func lines(
        of descriptor: CInt, limit: Int = 1_048_576, bufferSize: Int = 65_536, inMode mode: Mode = .common
    ) -> some AsyncSequence<String, RunLoop.Error> & Sendable {
        precondition(limit >= 0, "A line is not shorter than empty.")
        return LineSequence(input: InputOfDescriptor(self, descriptor, mode, bufferSize: bufferSize), limit: limit)
    }
    /// The lines of a descriptor's input, of which those that are too long are left out, and their places told.
    ///
    ///     for try await line in loop.lines(of: descriptor, skippingLongerThan: 200) {
    ///         switch line {
    ///         case .text(let text): take(text)
    ///         case .tooLong: complain()
    ///         }
    ///     }
    ///
    /// For input from somebody who may be wrong, or may mean ill: whatever is sent, memory is bounded, and the next line is
    /// had. ``Line/tooLong`` comes as soon as a line is longer than the limit, in its place among the others and once for
    /// each; the rest of it is read and dropped. Everything else as for `lines(of:limit:)`.
    ///
    /// - Parameters:
    ///   - descriptor: as for `bytes(of:)`.
    ///   - limit: how long a line may be, without its end, in bytes; not negative (that is a precondition failure).
    ///   - bufferSize: as for `bytes(of:)`.
    ///   - mode: in which mode, or in all common ones.
    /// - Returns: a sequence that throws as `bytes(of:)` does.
    public func lines(
        of descriptor: CInt, skippingLongerThan limit: Int, bufferSize: Int = 65_536, inMode mode: Mode = .common
    ) -> some AsyncSequence<Line, RunLoop.Error> & Sendable {
        precondition(limit >= 0, "A line is not shorter than empty.")
        return SkippingLineSequence(
            input: InputOfDescriptor(self, descriptor, mode, bufferSize: bufferSize), limit: limit)
    }
}
