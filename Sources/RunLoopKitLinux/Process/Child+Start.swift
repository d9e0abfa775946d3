#if os(Linux)
internal import CRunLoopLinux
public import RunLoopKit

extension RunLoop.Child {
    /// What a child has as one of its descriptors: its parent's, a pipe, a file, a terminal, or nothing.
    ///
    ///     let child = try RunLoop.Child.start(
    ///         ["make"], input: .null, output: .file("make.log"), error: .same(as: 1),
    ///         on: loop)
    public struct Stream: Hashable, Sendable {
        enum Kind: Hashable, Sendable {
            case inherited, null, pipe, inputPipe
            case terminal(rows: UInt16, columns: UInt16)
            case file(String, appending: Bool)
            case descriptor(CInt)
            case same(CInt)
        }
        let kind: Kind

        /// Does the parent have another end of it?
        var isForParent: Bool {
            switch kind {
            case .pipe, .inputPipe, .terminal: true
            default: false
            }
        }

        /// The parent's descriptor of the same number, shared with the child.
        public static let inherited = Stream(kind: .inherited)
        /// Nothing: the child reads an end at once, and what it writes is discarded (/dev/null).
        public static let null = Stream(kind: .null)
        /// A pipe between the child and this program: the child reads its descriptor 0 from a ``RunLoop/Writer``, and writes all others to
        /// an ``Output``.
        public static let pipe = Stream(kind: .pipe)
        /// A pipe from which the child reads, for a further descriptor.
        public static let inputPipe = Stream(kind: .inputPipe)
        /// A new terminal (a pty), of which the child is the only process at first, in a session of its own. Once; for further descriptors
        /// there is
        /// `.same(as:)`, and ``RunLoop/Child/resizeTerminal(rows:columns:)`` changes its size.
        ///
        ///     let python = try RunLoop.Child.start(
        ///         ["python3"], input: .terminal(rows: 24, columns: 80),
        ///         output: .same(as: 0), error: .same(as: 0), on: loop)
        ///     try await python.input.write("1 + 1\n")
        ///     for try await line in python.output.lines() { print(line) }
        ///
        /// It echoes what is written, and ends lines by "\r\n", until the child sets another mode. Its input has no end: a program reads
        /// one where the character U+0004 is written at the beginning of a line. The output ends when nobody has the terminal any more.
        public static func terminal(rows: UInt16, columns: UInt16) -> Stream {
            Stream(kind: .terminal(rows: rows, columns: columns))
        }
        /// A file, opened for the child: descriptor 0 for reading; others for writing, made if it isn't there, and emptied unless the child
        /// appends to it.
        public static func file(_ path: String, appending: Bool = false) -> Stream {
            Stream(kind: .file(path, appending: appending))
        }
        /// A descriptor of the caller's, which remains that.
        public static func borrowing(_ number: CInt) -> Stream { Stream(kind: .descriptor(number)) }
        /// The same as another descriptor of the child's, which is not one of this kind itself: `error: .same(as: 1)` is a shell's `2>&1`.
        public static func same(as number: CInt) -> Stream { Stream(kind: .same(number)) }
    }

    /// How a child is started, beyond its arguments and standard descriptors: its group, terminal, limits and signals.
    ///
    ///     var options = RunLoop.Child.Options()
    ///     options.group = .new
    ///     options.limits[CInt(RLIMIT_CORE.rawValue)] = (0, 0)
    ///     let child = try RunLoop.Child.start(["make"], options: options, on: loop)
    public struct Options: Sendable {
        /// The process group in which a child starts.
        ///
        ///     var options = RunLoop.Child.Options()
        ///     options.group = .new
        ///     let child = try RunLoop.Child.start(
        ///         ["sh", "-c", "sleep 60 | cat"], options: options, on: loop)
        ///     // With all that it has started.
        ///     try await child.end(ofGroup: true)
        public enum Group: Hashable, Sendable {
            /// The process group of the parent.
            case parents
            /// A new one, whose number is the child's.
            case new
            /// A new one in a session of its own.
            case newSession
            /// One of the parent's session, by its number.
            case existing(Int32)
        }

        /// The file to execute, if it is not what the first argument names; `nil`: the first argument. It is searched for in the parent's
        /// PATH, as secure_getenv(3) reads it, if it has no slash.
        public var program: String?
        /// The process group; see `end(by:ofGroup:)`.
        public var group = Group.parents
        /// A descriptor of a terminal. With ``Group/newSession`` it has no session yet, and becomes the child's. With another group of the
        /// child's own it is the terminal of this process's session: the child's group has its foreground until the child has ended, so
        /// that it can read from it and is sent its ^C, and then its former group has it again.
        public var terminal: CInt?
        /// Descriptors of the child beyond the standard ones, by their numbers. All that are not named are closed.
        public var descriptors: [CInt: Stream] = [:]
        /// Limits of resources, RLIMIT_CORE and others; `UInt64.max`: none.
        public var limits: [CInt: (soft: UInt64, hard: UInt64)] = [:]
        /// Sent to the child when this process ends, by whatever, so also by SIGKILL. It costs a thread that sleeps as long as the child
        /// lives, because the kernel sends the signal when the thread ends that has started the child.
        public var parentDeathSignal: CInt?
        /// The signals that the child ignores. It ignores no others, even if the parent does, and blocks none.
        public var ignoredSignals: Set<CInt> = []
        /// How long after the child's end somebody else may go on to write to its pipes: a process that it has left in the background. Then
        /// what is in them is read still, and they are cut off, which is the error `outputCutOff`; a process that writes on is signalled
        /// (SIGPIPE) when the last reader is gone. A duration of years waits for ever.
        public var outputLimit = Duration.seconds(2)
        /// Options with which a child has its parent's process group, program from the first argument, and no further descriptors.
        public init() {}
    }

    /// Starts a program as a child process, with the descriptors that are named and no others.
    ///
    ///     let child = try RunLoop.Child.start(
    ///         ["git", "log", "--oneline"], output: .pipe, on: loop)
    ///     for try await line in child.output.lines() { print(line) }
    ///     let exit = try await child.exit()
    ///
    /// For a program that runs to its end
    /// ``run(_:input:upTo:beyond:output:error:environment:workingDirectory:options:timeLimit:on:inMode:isolation:)`` is one call. A pipe
    /// that is full makes the child wait until it is read, so all of them are read, at the same time or by
    /// ``Output/collect(upTo:beyond:isolation:)``, which reads the others meanwhile.
    ///
    /// The child is adopted, with a pidfd from its first moment. It inherits only the descriptors that are named. When the object is freed,
    /// its pipes are closed, except those of which somebody has the writer or an output; the child goes on, and the loop reaps it. The
    /// calling thread sleeps until the program has been read from its file system. If the loop's thread ends meanwhile, the child is
    /// killed.
    ///
    /// - Parameters:
    ///   - arguments: the program and its arguments: at least one.
    ///   - input, output, error: the standard descriptors.
    ///   - environment: the whole of it; `nil`: the parent's.
    ///   - workingDirectory: for a relative path of the program, too. `nil`: the parent's.
    ///   - loop, mode, onExit: as when a child is adopted.
    /// - Throws: with the path, the descriptor, the argument or the signal as its subject: `notPermitted`, `accessDenied`, `badDescriptor`,
    /// and
    ///   whatever else execve says (ENOENT, ENOEXEC); `invalid`: no arguments, a text with a NUL, a stream that makes no sense; `tooManyDescriptors`, `outOfMemory`;
    ///   `unsupported`; `loopFinished`, `inheritedAcrossFork`. Then no child is left.
    public static func start(
        _ arguments: [String], input: Stream = .null, output: Stream = .inherited, error: Stream = .inherited,
        environment: [String: String]? = nil, workingDirectory: String? = nil, options: Options = Options(),
        on loop: RunLoop, inMode mode: RunLoop.Mode = .common, onExit: (@Sendable (Exit) -> Void)? = nil
    ) throws -> RunLoop.Child {
        let start = try ChildStart(arguments, [0: input, 1: output, 2: error], environment, workingDirectory, options)
        // A loop that has ended would notice no end.
        let probe = RunLoop.Source {}
        try loop.add(probe, forMode: mode)
        defer { probe.invalidate() }
        let pipes = ChildPipes(loop, mode, options.outputLimit)
        let ended: @Sendable (Exit) -> Void = { exit in
            pipes.beginLimit()
            onExit?(exit)
        }
        let end = ChildEnd(ended)
        let source = try unsafe RunLoop.Source(end) { child throws(RunLoop.Error) in
            let core = try unsafe start.run { config, core in
                unsafe config.child = child
                return unsafe runloop_child_start(&config, &core)
            }
            guard let core = unsafe core else { throw .invalid }
            return unsafe core
        }
        do {
            try pipes.open(start.ends)
            for (number, other) in start.shares { pipes.share(number, with: other) }
        } catch {
            source.killChild()
            throw error
        }
        return try RunLoop.Child(source, end, pipes, isAdopted: true, loop, mode)
    }

    /// Changes the size of the child's terminal, which must be one that was made for it (anything else is a precondition failure). The
    /// programs in its foreground are sent SIGWINCH. Any thread. O(1).
    ///
    /// - Throws: `badDescriptor` if neither its output nor a reader of it is left.
    public func resizeTerminal(rows: UInt16, columns: UInt16) throws {
        guard let pipes, pipes.hasTerminal else {
            preconditionFailure("The child was not started in a terminal of its own.")
        }
        guard let terminal = pipes.terminal else { throw RunLoop.Error.badDescriptor.about("the child's terminal") }
        let result = runloop_terminal_set_size(terminal.number, rows, columns)
        if result < 0 { throw RunLoop.Error(result: result, of: .system, subject: "the child's terminal") }
    }

    /// The child's process number (pid); 0 if it was made from a pidfd. Of an adopted child that has not been reaped the number is nobody
    /// else's. O(1).
    public var process: Int32 { unsafe runloop_child_get_pid(source.core) }
}
#endif
