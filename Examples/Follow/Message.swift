#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// What there is to say about the files, on the error output: not among what they contain.
enum Message {
    static func print(_ text: String) {
        let bytes = Array("follow: \(text)\n".utf8)
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }
}
