#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A FIFO into which other processes write readings, one number per line.
struct Fifo: Sendable {
    let descriptor: CInt

    init(path: String) throws(SystemError) {
        // Also open for writing, although this process does not write: with this writer the input does not end when all others
        // are gone, and new ones may come.
        descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        if descriptor < 0 { throw SystemError("open \(path)") }
    }

    func close() { closeDescriptor(descriptor) }
}

/// A global function, because the method of that name would hide the system call.
private func closeDescriptor(_ descriptor: CInt) { _ = close(descriptor) }
