#if os(Linux)
extension RunLoop {
    /// Why the system, or a loop, refused something. Compare it with the constants below, which differ from one another: where one
    /// value of `errno` has several meanings, the call that failed decides which of them it is.
    ///
    ///     do {
    ///         let connection = try RunLoop.Connection(adopting: descriptor, on: loop)
    ///         try await Task.sleep(for: .seconds(1))
    ///         try await connection.writer.write(text)
    ///     } catch RunLoop.Error.timedOut {
    ///         complain()
    ///     } catch {
    ///         print(error)
    ///     }
    ///
    /// What has no other type in its comment throws this one. No function declares it, because Swift 6.3 crashes on many a `catch` around a
    /// type that is declared; so a clause without a pattern has `any Error`, and `catch let error as RunLoop.Error` has what is below.
    public struct Error: Swift.Error, Sendable {
        /// Linux's `errno` value, positive.
        public let errorNumber: Int32

        /// What was refused, if that is known: a path, an address, "descriptor 5". It is a part of the description, and does not matter
        /// for comparisons.
        public let subject: String?

        /// What the number means, where it alone does not say it.
        private let meaning: Meaning

        /// What has failed, for the sentence alone.
        private let call: Call

        private enum Meaning: Hashable, Sendable {
            case ofNumber, inUse, notAChild, outputTooLarge, tooManyThreads, invalidAddress, notPermitted, nameNotFound,
                noSpaceLeft, outputCutOff
        }

        /// The error of an `errno` value, positive. If several constants have the number, it is the one whose meaning is that of an
        /// addition to a loop: `permissionDenied`, `inAnotherLoop`, `inheritedAcrossFork`, `tooManyWatches`; or `lineTooLong`, or
        /// `invalid`. With EAGAIN it equals none of the constants.
        public init(errorNumber: Int32) {
            self.init(errorNumber, .ofNumber)
        }

        private init(
            _ errorNumber: Int32, _ meaning: Meaning, of call: Call = .change, subject: String? = nil
        ) {
            (self.errorNumber, self.meaning, self.call, self.subject) = (errorNumber, meaning, call, subject)
        }

        /// What was called, which decides what an error number means.
        package enum Call: Sendable {
            /// A change of a loop, or anything else whose numbers mean what the first of the constants says.
            case change
            /// A call of the system that has nothing to do with a loop's items.
            case system
            /// A timer of the kernel's: of an alarm, of the jumps of a clock, of a hosted run.
            case clock
            /// The watching of files.
            case files
            /// A channel to another process.
            case channel
            /// The start of a child.
            case start
            /// The adoption of a child.
            case child
            /// The start of a thread, or of what has one and is there once in a process.
            case thread
            /// Output.
            case output
            /// Listening on an address, or connecting to one.
            case address
            /// The look-up of a name.
            case name
        }

        /// The error of a negative result of the core.
        package init(result: Int32, of call: Call = .change, subject: String? = nil) {
            let number = 0 &- result
            let meaning: Meaning =
                switch (number, call) {
                case (_, .change): .ofNumber
                case (ErrorNumber.inAnotherLoop, _): .inUse
                case (ErrorNumber.permissionDenied, .system), (ErrorNumber.permissionDenied, .thread),
                    (ErrorNumber.permissionDenied, .address), (ErrorNumber.permissionDenied, .clock),
                    (ErrorNumber.permissionDenied, .files), (ErrorNumber.permissionDenied, .channel),
                    (ErrorNumber.permissionDenied, .start), (ErrorNumber.permissionDenied, .child):
                    .notPermitted
                case (ErrorNumber.tryAgain, .thread): .tooManyThreads
                case (ErrorNumber.inheritedAcrossFork, .child): .notAChild
                case (ErrorNumber.lineTooLong, .output): .outputTooLarge
                case (ErrorNumber.tooManyWatches, .output): .noSpaceLeft
                case (ErrorNumber.invalid, .address): .invalidAddress
                case (ErrorNumber.noSuchFile, .name): .nameNotFound
                default: .ofNumber
                }
            self.init(number, meaning, of: call, subject: subject)
        }

        /// The same error, of this.
        package func about(_ subject: String) -> Error {
            Error(errorNumber, meaning, of: call, subject: subject)
        }

        /// The sentence of an error that comes for several reasons, of which the call has one.
        fileprivate var reasonOfCall: String? {
            switch (self, call) {
            case (.tooManyDescriptors, .files):
                """
                The process has no file descriptors left (ulimit -n), or the user no inotify instances \
                (fs.inotify.max_user_instances).
                """
            case (.tooManyWatches, .files):
                "The user's limit of watched files is reached (fs.inotify.max_user_watches)."
            case (.notPermitted, .clock), (.notPermitted, .files):
                "The system refuses it, as the filter of a sandbox may."
            case (.notPermitted, .channel):
                "The other end belongs to another user, or a sandbox refuses the call."
            case (.notPermitted, .start):
                """
                The system does not permit it: a process group of another session, a terminal that has a session already, a limit \
                that may not be raised, or a call that a sandbox refuses.
                """
            case (.notPermitted, .child):
                "The process belongs to another user, or a sandbox refuses to watch processes."
            case (.notPermitted, .address): "The system does not permit it: a sandbox, or a firewall, refuses it."
            case (.accessDenied, .address), (.accessDenied, .channel):
                """
                There is no permission: for the path of the socket or its directory, or for a port below those that this user may use.
                """
            case (.accessDenied, .files), (.accessDenied, .start):
                "There is no permission for the file, or for a directory on the way to it."
            default: nil
            }
        }

        /// The descriptor is a regular file, a directory or a device like /dev/null, which cannot be waited for (EPERM).
        public static let permissionDenied = Error(errorNumber: ErrorNumber.permissionDenied)
        /// The descriptor is not open, or not open for reading (EBADF).
        public static let badDescriptor = Error(errorNumber: ErrorNumber.badDescriptor)
        /// There is no memory left for the request (ENOMEM).
        public static let outOfMemory = Error(errorNumber: ErrorNumber.outOfMemory)
        /// The process has no descriptors left, or the user no inotify instances: fs.inotify.max_user_instances (EMFILE).
        public static let tooManyDescriptors = Error(errorNumber: ErrorNumber.tooManyDescriptors)
        /// The user's limit of watched files or descriptors is reached: fs.inotify.max_user_watches, fs.epoll.max_user_watches (ENOSPC).
        public static let tooManyWatches = Error(errorNumber: ErrorNumber.tooManyWatches)
        /// There is no permission for a file, a directory, or a port (EACCES).
        public static let accessDenied = Error(errorNumber: ErrorNumber.accessDenied)
        /// The item is in another loop (EBUSY).
        public static let inAnotherLoop = Error(errorNumber: ErrorNumber.inAnotherLoop)
        /// Somebody else uses what can have one user (EBUSY).
        public static let inUse = Error(ErrorNumber.inAnotherLoop, .inUse)
        /// The item is invalid, there are no conditions or unknown ones, or the descriptor is not a counter (EINVAL).
        public static let invalid = Error(errorNumber: ErrorNumber.invalid)
        /// What a listener was to listen on is no address: a name, for instance, which is not looked up; or what a connection was to be
        /// made to, or from (EINVAL).
        public static let invalidAddress = Error(ErrorNumber.invalid, .invalidAddress)
        /// The process, or the directory, belongs to another user, or a sandbox refuses the call (EPERM).
        public static let notPermitted = Error(ErrorNumber.permissionDenied, .notPermitted)
        /// The loop's thread has ended (ESHUTDOWN).
        public static let loopFinished = Error(errorNumber: ErrorNumber.loopFinished)
        /// The system or the user has no threads left (EAGAIN).
        public static let tooManyThreads = Error(ErrorNumber.tryAgain, .tooManyThreads)
        /// The loop was made before a fork, and this is the child (ECHILD).
        public static let inheritedAcrossFork = Error(errorNumber: ErrorNumber.inheritedAcrossFork)
        /// The process has ended and was reaped, or never existed (ESRCH).
        public static let noSuchProcess = Error(errorNumber: ErrorNumber.noSuchProcess)
        /// The process is not a child of this one, or was reaped (ECHILD).
        public static let notAChild = Error(ErrorNumber.inheritedAcrossFork, .notAChild)
        /// The kernel is too old, or a sandbox refuses the call (ENOSYS).
        public static let unsupported = Error(errorNumber: ErrorNumber.unsupported)
        /// A line of input is longer than it may be (EMSGSIZE).
        public static let lineTooLong = Error(errorNumber: ErrorNumber.lineTooLong)
        /// Output that is to wait as a whole is larger than the buffer may be (EMSGSIZE).
        public static let outputTooLarge = Error(ErrorNumber.lineTooLong, .outputTooLarge)
        /// Output is to a file whose disk is full (ENOSPC).
        public static let noSpaceLeft = Error(ErrorNumber.tooManyWatches, .noSpaceLeft)
        /// Nobody reads the output any more, or it was finished before (EPIPE).
        public static let brokenPipe = Error(errorNumber: ErrorNumber.brokenPipe)
        /// The peer has reset the connection (ECONNRESET).
        public static let connectionReset = Error(errorNumber: ErrorNumber.connectionReset)
        /// The connection was idle for too long, or the peer does not answer (ETIMEDOUT).
        public static let timedOut = Error(errorNumber: ErrorNumber.timedOut)
        /// A child's output was cut off: another process had the pipe for longer than the child's `outputLimit` after its end, or the pipe
        /// was closed at a limit (ETIMEDOUT).
        public static let outputCutOff = Error(ErrorNumber.timedOut, .outputCutOff)
        /// Somebody else listens on the address, or its path is no socket (EADDRINUSE).
        public static let addressInUse = Error(errorNumber: ErrorNumber.addressInUse)
        /// No interface of this machine has the address (EADDRNOTAVAIL).
        public static let addressNotAvailable = Error(errorNumber: ErrorNumber.addressNotAvailable)
        /// Nobody listens there (ECONNREFUSED).
        public static let connectionRefused = Error(errorNumber: ErrorNumber.connectionRefused)
        /// There is no such name, or it has no address (ENOENT).
        public static let nameNotFound = Error(ErrorNumber.noSuchFile, .nameNotFound)
    }
}

extension RunLoop.Error: Hashable {
    /// Have both the same reason? The subject does not matter.
    public static func == (first: RunLoop.Error, second: RunLoop.Error) -> Bool {
        first.errorNumber == second.errorNumber && first.meaning == second.meaning
    }

    /// Hashes the reason.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(errorNumber)
        hasher.combine(meaning)
    }

    /// Lets a clause name one of the constants where errors of other types are caught as well: `catch RunLoop.Error.timedOut`.
    public static func ~= (pattern: RunLoop.Error, error: any Swift.Error) -> Bool {
        (error as? RunLoop.Error) == pattern
    }
}

extension RunLoop.Error: CustomStringConvertible {
    /// The reason, as a sentence, after the subject if that is known.
    public var description: String { subject.map { "\($0): \(reason)" } ?? reason }

    private var reason: String { reasonOfCall ?? reasonOfAll }

    private var reasonOfAll: String {
        switch self {
        case .permissionDenied:
            "The descriptor is a regular file, a directory or a device for which a run loop cannot wait."
        case .badDescriptor: "The descriptor is not open, or not for what was asked of it."
        case .outOfMemory: "Memory ran out."
        case .tooManyDescriptors: "The process has no file descriptors left (ulimit -n)."
        case .tooManyWatches: "The user's limit of watched descriptors is reached (fs.epoll.max_user_watches)."
        case .accessDenied: "There is no permission for the file, the directory or the port."
        case .inAnotherLoop: "The item is in another run loop; remove it from there first."
        case .inUse: "It is in use already, and can have one user only."
        case .invalid where subject != nil: "This can't be, or makes no sense."
        case .invalid: "The item was invalidated, or its descriptor and conditions do not make sense."
        case .invalidAddress:
            """
            A TCP address is a number, such as 127.0.0.1 or ::1 (names are not looked up to listen), with an interface if it is local to \
            a link: fe80::1%eth0. A path and a name have at least one character, and no NUL. To connect takes a port.
            """
        case .notPermitted: "The system does not permit it: the process, or the directory, belongs to another user."
        case .loopFinished: "The thread of the run loop has ended, so nothing will ever run there."
        case .tooManyThreads: "The system or the user has no threads left."
        case .inheritedAcrossFork: "The run loop was made before a fork and belongs to the parent process."
        case .notAChild: "The process is not a child of this one, or was reaped already."
        case .noSuchProcess: "There is no such process any more."
        case .unsupported: "The kernel is too old for this, or a sandbox refuses it."
        case .lineTooLong: "A line of input is longer than the limit that was set for it."
        case .outputTooLarge: "Output that is to wait as a whole is larger than the limit of what may wait."
        case .noSpaceLeft: "The disk of the file is full."
        case .brokenPipe: "Nobody reads the output any more, or it was finished before."
        case .connectionReset: "The peer has reset the connection."
        case .timedOut: "The connection was idle for too long, or the peer does not answer."
        case .outputCutOff:
            """
            The output was cut off: another process still had the child's pipe some time after the child's end (outputLimit), or it was \
            closed at a limit.
            """
        case .addressInUse: "Somebody else listens on the address, or its path is not a socket."
        case .addressNotAvailable: "No interface of this machine has the address."
        case .connectionRefused: "Nobody listens there."
        case .nameNotFound: "There is no such name, or it has no address."
        default: "\(systemText(of: errorNumber)) (error \(errorNumber))."
        }
    }
}
#endif
