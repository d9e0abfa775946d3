#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A FIFO into which others write readings, a number on each line.
struct Fifo: Sendable {
    let descriptor: CInt

    init(path: String) throws(SystemError) {
        // For writing too, although nobody here writes: with a writer of our own the input has no end when all others have
        // gone, and more may come.
        descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        if descriptor < 0 { throw SystemError("open \(path)") }
    }

    func close() { closeDescriptor(descriptor) }
}

/// Here, because the method has the name of the function.
private func closeDescriptor(_ descriptor: CInt) { _ = close(descriptor) }
