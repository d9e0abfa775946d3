#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// What the server tells its operator: whole lines, at once, also into a pipe.
enum Log {
    static func print(_ line: String) { put(line, to: STDOUT_FILENO) }
    static func complain(_ line: String) { put(line, to: STDERR_FILENO) }

    private static func put(_ line: String, to descriptor: CInt) {
        let bytes = Array("\(line)\n".utf8)
        // Who reads the log may have gone. The server has better things to do than to end for it.
        _ = write(descriptor, bytes, bytes.count)
    }
}
