#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Android)
    internal import Android
#else
    #error("RunLoopKit needs a C library for Linux.")
#endif

/// The numbers of the errors that the core answers with. The only file that needs the C library.
enum ErrorNumber {
    static let permissionDenied = EPERM
    static let badDescriptor = EBADF
    static let inheritedAcrossFork = ECHILD
    static let outOfMemory = ENOMEM
    static let inAnotherLoop = EBUSY
    static let invalid = EINVAL
    static let tooManyDescriptors = EMFILE
    static let tooManyWatches = ENOSPC
    static let loopFinished = ESHUTDOWN
}

/// Makes a string of a malloc'ed text and frees the text.
func takeString(_ text: UnsafeMutablePointer<CChar>?) -> String? {
    guard let text else { return nil }
    defer { free(text) }
    return String(cString: text)
}

/// Memory ran out where Swift has no way to say so.
func outOfMemory() -> Never {
    fatalError("Memory ran out while a run loop was changed.")
}
