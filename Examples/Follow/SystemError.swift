#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A failed system call, and its error.
struct SystemError: Error, CustomStringConvertible {
    let call: String
    let number: CInt

    /// The error of the call that has just failed; no other call may come in between.
    init(_ call: String) {
        self.call = call
        number = errno
    }

    var description: String { "\(call): \(String(cString: strerror(number)))" }
}
