#if os(Linux)
public import RunLoopKit

extension RunLoop.Child {
    /// The writer of the child's standard input, which must be a pipe or a terminal (anything else is a precondition failure, here and below).
    public var input: RunLoop.Writer { input(to: 0) }
    /// What the child writes to its standard output, a pipe or a terminal.
    public var output: Output { output(from: 1) }
    /// What the child writes to its standard error, a pipe or a terminal.
    public var error: Output { output(from: 2) }

    /// The writer of a pipe or a terminal from which the child reads.
    public func input(to number: CInt) -> RunLoop.Writer {
        guard let input = pipes?.input(number) else {
            preconditionFailure("The child was not started with an input pipe as its descriptor \(number).")
        }
        return input
    }

    /// What the child writes to a pipe or a terminal.
    public func output(from number: CInt) -> Output {
        guard let output = pipes?.output(number) else {
            preconditionFailure("The child was not started with an output pipe as its descriptor \(number).")
        }
        return output
    }
}

/// The parent's ends of a child's pipes, and its side of the child's terminal: the child has them, and the limit only if somebody else still has
/// them.
final class ChildPipes: Sendable {
    enum Kind { case input, output, terminal }
    typealias End = (number: CInt, descriptor: CInt, kind: Kind)

    private struct State {
        var inputs: [CInt: RunLoop.Writer] = [:]
        var outputs: [CInt: RunLoop.Child.Output] = [:]
        var weakPipes: [Weak] = []
        weak var terminal: ChildPipe?
        var hasTerminal = false
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
    var hasTerminal: Bool { state.withLock { $0.hasTerminal } }
    var terminal: ChildPipe? { state.withLock { $0.terminal } }
    /// Those that somebody has still.
    var outputPipes: [ChildPipe] { state.withLock { $0.weakPipes }.compactMap(\.pipe) }

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
        if end.kind != .input {
            let pipe = ChildPipe(end.descriptor, of: self, loop, mode)
            let input = InputOfDescriptor(loop, end.descriptor, mode, bufferSize: 65_536, pipe: pipe)
            state.withLock { state in
                state.outputs[end.number] = RunLoop.Child.Output(input: input)
                state.weakPipes.append(Weak(pipe: pipe))
                if end.kind == .terminal { (state.terminal, state.hasTerminal) = (pipe, true) }
            }
        }
        if end.kind == .output { return }
        // A terminal's writer and reader end independently of one another.
        let number = end.kind == .terminal ? try duplicate(end.descriptor) : end.descriptor
        let writer = try RunLoop.Writer(adopting: number, on: loop, inMode: mode)
        state.withLock { $0.inputs[end.number] = writer }
    }

    /// What is the same as a terminal has the terminal's reader and writer.
    func share(_ number: CInt, with other: CInt) {
        state.withLock { state in
            state.inputs[number] = state.inputs[other]
            state.outputs[number] = state.outputs[other]
        }
    }

    /// The child has ended.
    func beginLimit() {
        for pipe in outputPipes { pipe.beginLimit(limit) }
    }

    /// The child's object is gone.
    func release() {
        let released = state.withLock { state in
            defer { (state.inputs, state.outputs) = ([:], [:]) }
            return (state.inputs, state.outputs)
        }
        withExtendedLifetime(released) {}
    }
}
#endif
