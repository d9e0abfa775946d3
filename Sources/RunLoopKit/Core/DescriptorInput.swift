#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Android)
    internal import Android
#endif

/// A descriptor from which something is read when a loop has reported it as readable.
struct DescriptorInput: Sendable {
    /// What one read came to.
    enum Result {
        /// That many bytes, at least one.
        case bytes(Int)
        /// There is nothing to read now: somebody else was faster, or a signal came.
        case nothing
        /// There will never be anything to read again.
        case end
        case failure(RunLoop.Error)
    }

    private let number: CInt
    /// A read of it may wait, if it comes to the worst on the loop's thread.
    private let mayBlock: Bool

    /// Throws `badDescriptor` for what is not open for reading.
    init(_ number: CInt) throws(RunLoop.Error) {
        let flags = fcntl(number, F_GETFL)
        if flags < 0 { throw RunLoop.Error(errorNumber: errno) }
        if flags & O_ACCMODE == O_WRONLY { throw .badDescriptor }
        self.number = number
        mayBlock = flags & O_NONBLOCK == 0
    }

    /// Reads once, and does not wait, unless another reader gets in between on a descriptor that may block.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Result {
        if mayBlock && !isReadable { return .nothing }
        // The plain name is this method's.
        #if canImport(Glibc)
            let count = Glibc.read(number, buffer.baseAddress, buffer.count)
        #elseif canImport(Musl)
            let count = Musl.read(number, buffer.baseAddress, buffer.count)
        #else
            let count = Android.read(number, buffer.baseAddress, buffer.count)
        #endif
        if count > 0 { return .bytes(count) }
        if count == 0 { return .end }
        switch errno {
        case EAGAIN, EINTR: return .nothing
        case let number: return .failure(RunLoop.Error(errorNumber: number))
        }
    }

    /// Is there something to read still, an end and an error included? The loop's report may be used up by another source.
    private var isReadable: Bool {
        var query = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
        return poll(&query, 1, 0) > 0
    }
}

/// The offset of the first such byte.
func firstOffset(of byte: UInt8, in bytes: UnsafeRawBufferPointer) -> Int? {
    guard let start = bytes.baseAddress, let found = memchr(start, CInt(byte), bytes.count) else { return nil }
    return UnsafeRawPointer(found) - start
}
