#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The server's messages to its operator: whole lines, unbuffered, even into a pipe.
enum Log {
    static func print(_ line: String) { put(line, to: STDOUT_FILENO) }
    static func complain(_ line: String) { put(line, to: STDERR_FILENO) }

    private static func put(_ line: String, to descriptor: CInt) {
        let bytes = Array("\(line)\n".utf8)
        // The reader of the log may be gone. That is no reason for the server to end.
        _ = write(descriptor, bytes, bytes.count)
    }
}
