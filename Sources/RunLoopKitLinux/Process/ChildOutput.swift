#if os(Linux)
public import RunLoopKit

extension RunLoop.Child {
    /// What a child writes to a pipe, or to its terminal. One iteration or one reader at a time.
    ///
    ///     let child = try RunLoop.Child.start(["make"], output: .pipe, on: loop)
    ///     for try await line in child.output.lines() { print(line) }
    ///     let exit = try await child.exit()
    ///
    /// It ends when all have closed the pipe. Another process may keep it longer than the child lives, one that the child has left in the
    /// background; so some time after the child's end (``Options/outputLimit``) it is cut off: what is in the pipe by then is read, however
    /// slow the reader is, and after that `RunLoop.Error.outputCutOff` is thrown. Output that was cut off never looks like all of it.
    public struct Output: Sendable {
        let input: InputOfDescriptor

        /// A reader, for lines, chunks and bytes by turns. What another one has read already is its own.
        public func reader() -> sending RunLoop.Reader { RunLoop.Reader(input) }

        /// The lines, as `RunLoop.lines(of:limit:)` returns them; after the last one that was cut off, the error.
        public func lines(limit: Int = 1_048_576) -> some AsyncSequence<String, any Swift.Error> & Sendable {
            precondition(limit >= 0, "The limit of a line is not negative.")
            return LineSequence(input: input, limit: limit)
        }

        /// The chunks, as `RunLoop.chunks(of:)` returns them; after the last one that was cut off, the error.
        public var chunks: some AsyncSequence<[UInt8], any Swift.Error> & Sendable { ChunkSequence(input: input) }
    }

    /// What becomes of output beyond a limit.
    ///
    ///     // The first 4,096 bytes. The child is signalled if it writes more.
    ///     let (bytes, isComplete) = try await child.output.collect(
    ///         upTo: 4096, beyond: .close)
    public enum Excess: Hashable, Sendable {
        /// It is read and dropped, so that the child goes on to its end.
        case drop
        /// The pipe is closed at once: the child is signalled (SIGPIPE), or gets an error (EPIPE), when it writes more.
        case close
    }
}

extension RunLoop.Child.Output {
    /// Reads to the end, and keeps what there is up to a limit. The child never waits for a reader of what is beyond the limit.
    ///
    /// Meanwhile the child's other pipes that nobody has begun to read are read as well, up to the same limit each, and kept for their readers: so
    /// one output can be collected after the other.
    ///
    ///     let child = try RunLoop.Child.start(
    ///         ["make"], output: .pipe, error: .pipe, on: loop)
    ///     let output = try await child.output.collect(upTo: 1_048_576)
    ///     let error = try await child.error.collect(upTo: 4_096)
    ///     let exit = try await child.exit()
    ///
    /// - Parameters:
    ///   - limit: in bytes, not negative (anything else is a precondition failure).
    ///   - excess: what becomes of the rest. With ``RunLoop/Child/Excess/drop`` this returns at the end of the output, however long that takes.
    /// - Returns: the bytes, and whether they are all. They are not if there were more, and if another process had the pipe longer than
    ///   ``RunLoop/Child/Options/outputLimit`` says.
    /// - Throws: `CancellationError`, and what reading can.
    public func collect(
        upTo limit: Int, beyond excess: RunLoop.Child.Excess = .drop,
        isolation actor: isolated (any Actor)? = #isolation
    ) async throws -> (bytes: [UInt8], isComplete: Bool) {
        precondition(limit >= 0, "The limit of what is collected is not negative.")
        input.pipe?.beginKeepingOthers(upTo: limit)
        defer { input.pipe?.endKeepingOthers() }
        let (bytes, isComplete) = try await read(upTo: limit, excess, isolation: actor)
        // Not while there is a reader, which watches the pipe.
        if !isComplete && excess == .close { input.pipe?.cutOff() }
        try Task.checkCancellation()
        return (bytes, isComplete)
    }

    private func read(
        upTo limit: Int, _ excess: RunLoop.Child.Excess, isolation actor: isolated (any Actor)?
    ) async throws -> (bytes: [UInt8], isComplete: Bool) {
        let reader = reader()
        var (bytes, isComplete): ([UInt8], Bool) = ([], true)
        do {
            while isComplete || excess == .drop, let chunk = try await reader.chunk(isolation: actor) {
                let space = limit - bytes.count
                bytes += chunk.prefix(space)
                isComplete = isComplete && chunk.count <= space
            }
        } catch RunLoop.Error.outputCutOff {
            isComplete = false
        }
        return (bytes, isComplete)
    }
}
#endif
