#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Where the server's messages to its operator go.
struct Log: Sendable {
    let print: @Sendable (String) -> Void
    let complain: @Sendable (String) -> Void

    /// Whole lines, unbuffered, even into a pipe.
    static let standard = Log(
        print: { put($0, to: STDOUT_FILENO) }, complain: { put($0, to: STDERR_FILENO) })

    private static func put(_ line: String, to descriptor: CInt) {
        let bytes = Array("\(line)\n".utf8)
        // The reader of the log may be gone. That is no reason for the server to end.
        _ = write(descriptor, bytes, bytes.count)
    }
}
