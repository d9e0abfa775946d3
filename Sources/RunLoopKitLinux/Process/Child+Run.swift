#if os(Linux)
internal import CRunLoopCore
internal import CRunLoopLinux
public import RunLoopKit

extension RunLoop.Child {
    /// Runs a program to its end and returns what it wrote: feeds it, reads both outputs, and awaits it.
    ///
    ///     let log = try await RunLoop.Child.run(["git", "log", "--oneline"], on: loop)
    ///     print(log.exit.isSuccess ? log.output.text : log.error.text)
    ///
    /// Both outputs are read at once, and what is beyond the limit is dropped, so the program never waits for a reader;
    /// ``Outcome/Output/end`` says whether an output is all that was written. If the task is cancelled, the program is ended, by SIGTERM
    /// and after five seconds by SIGKILL, and its group is if it leads one (``Options/group``). This returns or throws when the process has
    /// ended, and not before.
    ///
    /// - Parameters:
    ///   - arguments: the program and its arguments: at least one.
    ///   - input: what it reads, `"text".utf8` for instance; `nil`: /dev/null.
    ///   - limit: how many bytes of each output are kept, not negative (anything else is a precondition failure).
    ///   - excess: what becomes of output beyond that.
    ///   - output, error: `.pipe` is collected; what else can be said of a stream goes there, and the outcome has nothing of it.
    ///   - environment, workingDirectory, options: as when a child is started. Further descriptors can't be pipes or terminals.
    ///   - timeLimit: how long it may run before it is ended as above. `nil`: as long as it takes.
    ///   - loop, mode: by which it is read and awaited.
    /// - Throws: what starting a child can; `CancellationError`; `loopFinished` if the loop's thread ends before, and then the program has
    /// been
    ///   killed.
    public static func run(
        _ arguments: [String], input: (any Collection<UInt8>)? = nil, upTo limit: Int = 1_048_576,
        beyond excess: Excess = .drop, output: Stream = .pipe, error: Stream = .pipe,
        environment: [String: String]? = nil, workingDirectory: String? = nil, options: Options = Options(),
        timeLimit: Duration? = nil, on loop: RunLoop, inMode mode: RunLoop.Mode = .common,
        isolation actor: isolated (any Actor)? = #isolation
    ) async throws -> Outcome {
        try Task.checkCancellation()
        let run = try ChildRun(
            arguments, input, limit, excess, output, error, environment, workingDirectory, options, timeLimit)
        let outcome = try await run.wait(in: loop, mode, isolation: actor)
        try Task.checkCancellation()
        return outcome
    }

    /// Runs a program to its end, and blocks the calling thread until then, which needs no loop: no closure of the thread's loop is called
    /// meanwhile. Otherwise as above.
    ///
    ///     let name = try RunLoop.Child.run(["hostname"]).output.text
    @available(*, noasync, message: "Pass the loop that reads its output, `on: loop`, and await it.")
    public static func run(
        _ arguments: [String], input: (any Collection<UInt8>)? = nil, upTo limit: Int = 1_048_576,
        beyond excess: Excess = .drop, output: Stream = .pipe, error: Stream = .pipe,
        environment: [String: String]? = nil, workingDirectory: String? = nil, options: Options = Options(),
        timeLimit: Duration? = nil
    ) throws -> Outcome {
        try ChildRun(arguments, input, limit, excess, output, error, environment, workingDirectory, options, timeLimit)
            .run()
    }

    /// What has become of a program that was run to its end.
    ///
    ///     let outcome = try await RunLoop.Child.run(
    ///         ["git", "status", "--short"], timeLimit: .seconds(10), on: loop)
    ///     if outcome.hasTimedOut { print("it was ended after ten seconds") }
    ///     if outcome.exit.isSuccess { print(outcome.output.text) }
    public struct Outcome: Hashable, Sendable {
        /// What a program has written to one of its outputs.
        ///
        ///     let list = try await RunLoop.Child.run(["ls"], upTo: 4096, on: loop)
        ///     print(list.output.text)
        ///     if !list.output.isComplete { print("and more:", list.output.droppedCount) }
        public struct Output: Hashable, Sendable {
            /// Is an output all that was written?
            ///
            ///     let list = try await RunLoop.Child.run(["ls"], upTo: 4096, on: loop)
            ///     if list.output.end == .overLimit { print("there was more than 4,096 bytes") }
            public enum End: Hashable, Sendable {
                /// It is.
                case complete
                /// There was more than the limit.
                case overLimit
                /// Another process, which the program has left in the background, still had the pipe when ``Options/outputLimit`` had
                /// passed, and may write more.
                case cutOff
            }

            /// The first bytes, up to the limit.
            public let bytes: [UInt8]
            /// How many more were read and dropped.
            public let droppedCount: Int
            /// Whether the bytes are all that the child has written, or why they are not.
            public let end: End
            /// Is it all that was written?
            public var isComplete: Bool { end == .complete }
            /// The bytes as text in UTF-8, in which invalid ones are replaced by U+FFFD. O(bytes).
            public var text: String { String(decoding: bytes, as: UTF8.self) }

            init(_ output: runloop_command_output) {
                bytes = unsafe Array(UnsafeRawBufferPointer(start: output.bytes, count: output.count))
                droppedCount = unsafe Int(clamping: output.dropped)
                end =
                    switch unsafe output.end {
                    case .RUNLOOP_COMMAND_COMPLETE: .complete
                    case .RUNLOOP_COMMAND_OVER_LIMIT: .overLimit
                    case .RUNLOOP_COMMAND_CUT_OFF: .cutOff
                    }
            }
        }

        /// The end of the process: its status or signal, and what it has used.
        public let exit: Exit
        /// What it has written to its standard output.
        public let output: Output
        /// What it has written to its standard error.
        public let error: Output
        /// How much of its input it has not taken. What the pipe had at its end counts as taken.
        public let unreadInputCount: Int
        /// Was it ended because of its time limit?
        public let hasTimedOut: Bool

        init(_ result: runloop_command_result) {
            exit = unsafe Exit(result.pid, result.exit)
            output = unsafe Output(result.output)
            error = unsafe Output(result.error)
            unreadInputCount = unsafe result.input_left
            hasTimedOut = unsafe result.timed_out
        }
    }
}
#endif
