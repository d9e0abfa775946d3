#if os(Linux)
/// The memory into which a loop's thread reads, for all that it reads. Used on that thread only, hence Sendable.
@safe package final class InputBuffer: @unchecked Sendable {
    /// What is longer takes the memory along, instead of being copied.
    private static let mostCopied = 8192

    private var memory = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)

    deinit {
        unsafe memory.deallocate()
    }

    /// Space for so many bytes, until the next call.
    package func space(of size: Int) -> UnsafeMutableRawBufferPointer {
        if unsafe memory.count < size {
            unsafe memory.deallocate()
            unsafe memory = .allocate(byteCount: size, alignment: 1)
        }
        return unsafe UnsafeMutableRawBufferPointer(rebasing: memory[..<size])
    }

    /// What is at the beginning of that space now, for the caller to keep and to deallocate.
    package func take(_ count: Int) -> UnsafeMutableRawBufferPointer {
        if count > Self.mostCopied {
            defer { unsafe memory = UnsafeMutableRawBufferPointer(start: nil, count: 0) }
            return unsafe memory
        }
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
        unsafe copy.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[..<count]))
        return unsafe copy
    }
}
#endif
