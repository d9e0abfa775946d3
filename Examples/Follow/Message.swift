#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Messages about the files, on the error output, apart from the files' contents.
enum Message {
    static func print(_ text: String) {
        let bytes = Array("follow: \(text)\n".utf8)
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }
}
