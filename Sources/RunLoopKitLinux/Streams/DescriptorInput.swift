#if os(Linux)
internal import RunLoopKit
internal import RunLoopKitCLibrary

/// A descriptor that is read when a loop has reported it as readable.
struct DescriptorInput: Sendable {
    /// The result of a read.
    enum Result {
        /// The number of bytes, at least one.
        case bytes(Int)
        /// There is nothing to read now: another reader was faster, or a signal arrived.
        case nothing
        /// There will never be anything to read again.
        case end
        case failure(RunLoop.Error)
    }

    private let number: CInt
    /// A read of it may block the loop's thread.
    private let mayBlock: Bool

    /// Throws `badDescriptor` if it is not open for reading.
    init(_ number: CInt) throws(RunLoop.Error) {
        let flags = fcntl(number, F_GETFL)
        if flags < 0 { throw RunLoop.Error(errorNumber: errno).about("descriptor \(number)") }
        if flags & O_ACCMODE == O_WRONLY { throw RunLoop.Error.badDescriptor.about("descriptor \(number)") }
        self.number = number
        mayBlock = flags & O_NONBLOCK == 0
    }

    /// Reads once, and does not wait, unless another reader is faster on a descriptor that may block.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Result {
        if mayBlock && !isReadable { return .nothing }
        // Unqualified, the name would be this method.
        let count = unsafe RunLoopKitCLibrary.read(number, buffer.baseAddress, buffer.count)
        if count > 0 { return .bytes(count) }
        if count == 0 { return .end }
        switch errno {
        case EAGAIN, EINTR: return .nothing
        // Nobody has the other side any more.
        case EIO where isOwnSideOfTerminal: return .end
        case let error: return .failure(RunLoop.Error(errorNumber: error).about("descriptor \(number)"))
        }
    }

    /// Is it the side of a pty from which terminals are made: of the device /dev/ptmx, whose numbers are 5 and 2?
    private var isOwnSideOfTerminal: Bool {
        var status = stat()
        return unsafe fstat(number, &status) == 0 && status.st_mode & S_IFMT == S_IFCHR && status.st_rdev == 0x502
    }

    /// Is there still something to read, an end or an error included? Another source may have read it after the loop's report.
    private var isReadable: Bool {
        var query = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&query, 1, 0) > 0
    }
}

/// The offset of the first such byte.
func firstOffset(of byte: UInt8, in bytes: UnsafeRawBufferPointer) -> Int? {
    guard let start = bytes.baseAddress, let found = unsafe memchr(start, CInt(byte), bytes.count) else { return nil }
    return unsafe UnsafeRawPointer(found) - start
}
#endif
