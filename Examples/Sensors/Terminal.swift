#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Whole lines of text, unbuffered, even into a pipe. Any thread.
enum Terminal {
    static func print(_ line: String) { put(line, to: STDOUT_FILENO) }
    static func complain(_ line: String) { put(line, to: STDERR_FILENO) }

    private static func put(_ line: String, to descriptor: CInt) {
        let bytes = Array("\(line)\n".utf8)
        _ = write(descriptor, bytes, bytes.count)
    }
}
