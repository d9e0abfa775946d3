#if os(Linux)
public import RunLoopKit

extension RunLoop.Child {
    /// What a child writes to a pipe. One iteration or one reader at a time.
    ///
    /// It ends when all have closed the pipe, or some time after the child's end (``Options/outputLimit``): what the child has written is
    /// read in any case, however slow the reader is.
    public struct Output: Sendable {
        let input: InputOfDescriptor

        /// A reader, for lines, chunks and bytes by turns. What another one has read already is its own.
        public func reader() -> sending RunLoop.Reader { RunLoop.Reader(input) }

        /// The lines, as `RunLoop.lines(of:limit:)` returns them.
        public func lines(limit: Int = 1_048_576) -> some AsyncSequence<String, any Swift.Error> & Sendable {
            precondition(limit >= 0, "The limit of a line is not negative.")
            return LineSequence(input: input, limit: limit)
        }

        /// The chunks, as `RunLoop.chunks(of:)` returns them.
        public var chunks: some AsyncSequence<[UInt8], any Swift.Error> & Sendable { ChunkSequence(input: input) }

        /// Reads to the end, or until there is more than a limit. Of the rest, what was read already, up to 64 KiB, is dropped; what was not
        /// remains in the pipe, and the child waits.
        ///
        /// - Parameter limit: in bytes, not negative (anything else is a precondition failure).
        /// - Returns: the bytes, and whether they are all.
        /// - Throws: `CancellationError`, and what reading can.
        public func collect(
            upTo limit: Int, isolation actor: isolated (any Actor)? = #isolation
        ) async throws -> (bytes: [UInt8], isComplete: Bool) {
            precondition(limit >= 0, "The limit of what is collected is not negative.")
            let reader = reader()
            var bytes: [UInt8] = []
            while let chunk = try await reader.chunk(upTo: max(1, limit - bytes.count), isolation: actor) {
                bytes += chunk
                if bytes.count > limit { return (Array(bytes.prefix(limit)), false) }
            }
            try Task.checkCancellation()
            return (bytes, true)
        }
    }

    /// The writer of the child's standard input, which must be a pipe (anything else is a precondition failure, here and below).
    public var input: RunLoop.Writer { input(to: 0) }
    /// What the child writes to its standard output, a pipe.
    public var output: Output { output(from: 1) }
    /// What the child writes to its standard error, a pipe.
    public var error: Output { output(from: 2) }

    /// The writer of a pipe from which the child reads.
    public func input(to number: CInt) -> RunLoop.Writer {
        guard let input = pipes?.input(number) else {
            preconditionFailure("The child was not started with an input pipe as its descriptor \(number).")
        }
        return input
    }

    /// What the child writes to a pipe.
    public func output(from number: CInt) -> Output {
        guard let output = pipes?.output(number) else {
            preconditionFailure("The child was not started with an output pipe as its descriptor \(number).")
        }
        return output
    }
}

/// The parent's ends of a child's pipes: the child's value has them, and the limit only if somebody else still has them.
final class ChildPipes: Sendable {
    typealias End = (number: CInt, descriptor: CInt, isInput: Bool)

    private struct State {
        var inputs: [CInt: RunLoop.Writer] = [:]
        var outputs: [CInt: RunLoop.Child.Output] = [:]
        var limited: [Weak] = []
    }

    private struct Weak {
        weak var pipe: ChildPipe?
    }

    private let loop: RunLoop
    private let mode: RunLoop.Mode
    private let limit: Duration
    private let state = Guarded(State())

    init(_ loop: RunLoop, _ mode: RunLoop.Mode, _ limit: Duration) {
        (self.loop, self.mode, self.limit) = (loop, mode, limit)
    }

    func input(_ number: CInt) -> RunLoop.Writer? { state.withLock { $0.inputs[number] } }
    func output(_ number: CInt) -> RunLoop.Child.Output? { state.withLock { $0.outputs[number] } }

    /// Takes the descriptors, also if it throws.
    func open(_ ends: [End]) throws {
        for (index, end) in ends.enumerated() {
            do {
                try open(end)
            } catch {
                for left in ends[index...].dropFirst() { closeDescriptor(left.descriptor) }
                throw error
            }
        }
    }

    private func open(_ end: End) throws {
        guard end.isInput else {
            let pipe = ChildPipe(end.descriptor)
            let input = InputOfDescriptor(loop, end.descriptor, mode, bufferSize: 65_536, pipe: pipe)
            return state.withLock { state in
                state.outputs[end.number] = RunLoop.Child.Output(input: input)
                state.limited.append(Weak(pipe: pipe))
            }
        }
        let writer = try RunLoop.Writer(adopting: end.descriptor, on: loop, inMode: mode)
        state.withLock { $0.inputs[end.number] = writer }
    }

    /// The child has ended.
    func beginLimit() {
        for limited in state.withLock({ $0.limited }) { limited.pipe?.beginLimit(limit, loop, mode) }
    }

    /// The child's value is gone.
    func release() {
        let released = state.withLock { state in
            defer { (state.inputs, state.outputs) = ([:], [:]) }
            return (state.inputs, state.outputs)
        }
        withExtendedLifetime(released) {}
    }
}
#endif
