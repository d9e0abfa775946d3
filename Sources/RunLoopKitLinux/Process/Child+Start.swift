#if os(Linux)
internal import CRunLoopLinux
public import RunLoopKit

extension RunLoop.Child {
    /// What a descriptor of a child is.
    public struct Stream: Hashable, Sendable {
        enum Kind: Hashable, Sendable {
            case inherited, null, pipe, inputPipe
            case file(String, appending: Bool)
            case descriptor(CInt)
            case same(CInt)
        }
        let kind: Kind

        /// The parent's descriptor of the same number.
        public static let inherited = Stream(kind: .inherited)
        /// /dev/null.
        public static let null = Stream(kind: .null)
        /// A pipe: the child reads its descriptor 0 from a ``RunLoop/Writer``, and writes all others to an ``Output``.
        public static let pipe = Stream(kind: .pipe)
        /// A pipe from which the child reads, for a further descriptor.
        public static let inputPipe = Stream(kind: .inputPipe)
        /// A file: descriptor 0 for reading; others for writing, made if it isn't there, and emptied unless the child appends to it.
        public static func file(_ path: String, appending: Bool = false) -> Stream {
            Stream(kind: .file(path, appending: appending))
        }
        /// A descriptor of the caller's, which remains that.
        public static func borrowing(_ number: CInt) -> Stream { Stream(kind: .descriptor(number)) }
        /// The same as another descriptor of the child's, which is not one of this kind itself: `error: .same(as: 1)` is a shell's `2>&1`.
        public static func same(as number: CInt) -> Stream { Stream(kind: .same(number)) }
    }

    /// What else can be said of a child that is started.
    public struct Options: Sendable {
        /// A process group.
        public enum Group: Hashable, Sendable {
            /// The parent's.
            case parents
            /// A new one, whose number is the child's.
            case new
            /// A new one in a session of its own.
            case newSession
            /// One of the parent's session, by its number.
            case existing(Int32)
        }

        /// The file to execute; `nil`: the first argument. It is searched for in the parent's PATH, as secure_getenv(3)
        /// reads it, if it has no slash.
        public var program: String?
        /// The process group; see `end(by:ofGroup:)`.
        public var group = Group.parents
        /// A descriptor of a terminal without a session, which becomes the child's, with ``Group/newSession``.
        public var terminal: CInt?
        /// Further descriptors. All that are not named are closed.
        public var descriptors: [CInt: Stream] = [:]
        /// Limits of resources, RLIMIT_CORE and others; `UInt64.max`: none.
        public var limits: [CInt: (soft: UInt64, hard: UInt64)] = [:]
        /// Sent to the child when this process ends, by whatever, so also by SIGKILL. It costs a thread that sleeps as long as the child lives,
        /// because the kernel sends the signal when the thread ends that has started the child.
        public var parentDeathSignal: CInt?
        /// The signals that the child ignores. It ignores no others, even if the parent does, and blocks none.
        public var ignoredSignals: Set<CInt> = []
        /// How long after the child's end somebody else may go on to write to its pipes: a grandchild that keeps them. Then what is in
        /// them is read still, and they are at their end.
        public var outputLimit = Duration.seconds(2)
        /// The defaults.
        public init() {}
    }

    /// Starts a program.
    ///
    ///     let child = try RunLoop.Child.start(["git", "log", "--oneline"], output: .pipe, on: loop)
    ///     for try await line in child.output.lines() { print(line) }
    ///     let exit = try await child.exit()
    ///
    /// The child is adopted, with a pidfd from its first moment. It inherits only the descriptors that are named. If the value is destroyed,
    /// its pipes are closed, except those of which somebody has the writer or an output; the child goes on, and the loop reaps it. The
    /// calling thread sleeps until the program has been read from its file system. If the loop's thread ends meanwhile, the child is killed.
    ///
    /// - Parameters:
    ///   - arguments: the program and its arguments: at least one.
    ///   - input, output, error: the standard descriptors.
    ///   - environment: the whole of it; `nil`: the parent's.
    ///   - workingDirectory: for a relative path of the program, too. `nil`: the parent's.
    ///   - loop, mode, onExit: as when a child is adopted.
    /// - Throws: with the path or the descriptor as its subject: `notPermitted`, `accessDenied`, `badDescriptor`, and whatever else execve says
    ///   (ENOENT, ENOEXEC); `invalid`: no arguments, a text with a NUL, a stream that makes no sense; `tooManyDescriptors`, `outOfMemory`;
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
        let source = try unsafe RunLoop.Source(end) { config throws(RunLoop.Error) in try unsafe start.run(config) }
        do {
            try pipes.open(start.ends)
        } catch {
            source.killChild()
            throw error
        }
        return try RunLoop.Child(source, end, pipes, isAdopted: true, loop, mode)
    }

    /// Its pid; 0 if it was made from a pidfd. Of an adopted child that has not been reaped the number is nobody else's. O(1).
    public var process: Int32 { unsafe runloop_child_get_pid(source.core) }
}
#endif
