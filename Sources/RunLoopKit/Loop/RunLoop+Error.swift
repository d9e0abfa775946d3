extension RunLoop {
    /// Why the system, or a loop, refused something. Compare it with the constants below; the number is Linux's `errno` value.
    public struct Error: Swift.Error, Hashable, Sendable {
        /// The `errno` value, positive.
        public let errorNumber: Int32

        /// The error of an `errno` value, positive.
        public init(errorNumber: Int32) {
            self.errorNumber = errorNumber
        }

        /// The error of a negative result of the core.
        package init(result: Int32) {
            errorNumber = 0 &- result
        }

        /// The descriptor is a regular file, a directory or a device like /dev/null, which cannot be waited for (EPERM).
        public static let permissionDenied = Error(errorNumber: ErrorNumber.permissionDenied)
        /// The descriptor is not open, or not open for reading (EBADF).
        public static let badDescriptor = Error(errorNumber: ErrorNumber.badDescriptor)
        /// Memory ran out (ENOMEM).
        public static let outOfMemory = Error(errorNumber: ErrorNumber.outOfMemory)
        /// The process has no descriptors left, or the user no inotify instances: fs.inotify.max_user_instances (EMFILE).
        public static let tooManyDescriptors = Error(errorNumber: ErrorNumber.tooManyDescriptors)
        /// The user's limit of watched files or descriptors is reached: fs.inotify.max_user_watches, fs.epoll.max_user_watches (ENOSPC).
        public static let tooManyWatches = Error(errorNumber: ErrorNumber.tooManyWatches)
        /// There is no permission to read a file or a directory (EACCES).
        public static let accessDenied = Error(errorNumber: ErrorNumber.accessDenied)
        /// The item is in another loop (EBUSY).
        public static let inAnotherLoop = Error(errorNumber: ErrorNumber.inAnotherLoop)
        /// Somebody else uses what can have one user (EBUSY, as `inAnotherLoop`).
        public static let inUse = Error(errorNumber: ErrorNumber.inAnotherLoop)
        /// The item is invalid, there are no conditions or unknown ones, or the descriptor is not a counter (EINVAL).
        public static let invalid = Error(errorNumber: ErrorNumber.invalid)
        /// The loop's thread has ended (ESHUTDOWN).
        public static let loopFinished = Error(errorNumber: ErrorNumber.loopFinished)
        /// The system or the user has no threads left (EAGAIN).
        public static let tooManyThreads = Error(errorNumber: ErrorNumber.tooManyThreads)
        /// The loop was made before a fork, and this is the child (ECHILD).
        public static let inheritedAcrossFork = Error(errorNumber: ErrorNumber.inheritedAcrossFork)
        /// The process has ended and was reaped, or never existed (ESRCH).
        public static let noSuchProcess = Error(errorNumber: ErrorNumber.noSuchProcess)
        /// The process is not a child of this one, or was reaped (ECHILD, as `inheritedAcrossFork`).
        public static let notAChild = Error(errorNumber: ErrorNumber.inheritedAcrossFork)
        /// The kernel is too old, or a sandbox refuses the call (ENOSYS).
        public static let unsupported = Error(errorNumber: ErrorNumber.unsupported)
        /// A line of input is longer than it may be (EMSGSIZE).
        public static let lineTooLong = Error(errorNumber: ErrorNumber.lineTooLong)
        /// Output that is to wait as a whole is larger than the buffer may be (EMSGSIZE, as `lineTooLong`).
        public static let outputTooLarge = Error(errorNumber: ErrorNumber.lineTooLong)
        /// Nobody reads the output any more, or it was finished before (EPIPE).
        public static let brokenPipe = Error(errorNumber: ErrorNumber.brokenPipe)
        /// The peer has reset the connection (ECONNRESET).
        public static let connectionReset = Error(errorNumber: ErrorNumber.connectionReset)
        /// The connection was idle for too long, or the peer does not answer (ETIMEDOUT).
        public static let timedOut = Error(errorNumber: ErrorNumber.timedOut)
        /// Somebody else listens on the address, or its path is no socket (EADDRINUSE).
        public static let addressInUse = Error(errorNumber: ErrorNumber.addressInUse)
        /// No interface of this machine has the address (EADDRNOTAVAIL).
        public static let addressNotAvailable = Error(errorNumber: ErrorNumber.addressNotAvailable)
    }
}

extension RunLoop.Error: CustomStringConvertible {
    /// The reason, as a sentence.
    public var description: String {
        switch self {
        case .permissionDenied:
            "The descriptor is a regular file, a directory or a device for which a run loop cannot wait."
        case .badDescriptor: "The descriptor is not open, or not for what was asked of it."
        case .outOfMemory: "Memory ran out."
        case .tooManyDescriptors:
            "The process has no file descriptors left, or the user no inotify instances (fs.inotify.max_user_instances)."
        case .tooManyWatches:
            "A limit per user is reached: of watched files (fs.inotify.max_user_watches) or descriptors (fs.epoll.max_user_watches)."
        case .accessDenied: "There is no permission to read the file or directory."
        case .inAnotherLoop:
            "The item is in another run loop; remove it from there first. Or what was asked for is in use."
        case .invalid: "The item was invalidated, or its descriptor and conditions do not make sense."
        case .loopFinished: "The thread of the run loop has ended, so nothing will ever run there."
        case .tooManyThreads: "The system or the user has no threads left."
        case .inheritedAcrossFork:
            "The run loop was made before a fork and belongs to the parent process, or the process is not a child of this one."
        case .noSuchProcess: "There is no such process any more."
        case .unsupported: "The kernel is too old for this, or a sandbox refuses it."
        case .lineTooLong: "A line of input, or a piece of output, is longer than the limit that was set for it."
        case .brokenPipe: "Nobody reads the output any more, or it was finished before."
        case .connectionReset: "The peer has reset the connection."
        case .timedOut: "The connection was idle for too long, or the peer does not answer."
        case .addressInUse: "Somebody else listens on the address, or its path is not a socket."
        case .addressNotAvailable: "No interface of this machine has the address."
        default: "The system refused with error number \(errorNumber)."
        }
    }
}
