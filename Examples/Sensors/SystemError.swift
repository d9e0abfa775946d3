#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A system call that has failed, and why.
struct SystemError: Error, CustomStringConvertible {
    let call: String
    let number: CInt

    /// Of the call that has just failed: nothing must come between.
    init(_ call: String) {
        self.call = call
        number = errno
    }

    var description: String { "\(call): \(String(cString: strerror(number)))" }
}
