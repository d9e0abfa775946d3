#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Android)
    internal import Android
#else
    #error("RunLoopKit needs a C library for Linux.")
#endif

// The only file that needs the C library.

/// The numbers of the errors that the core answers with.
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

/// A value behind a lock. A lock of the C library, because the thread sanitizer knows what it does.
final class Guarded<Value>: @unchecked Sendable {
    private var value: Value
    private let lock: UnsafeMutablePointer<pthread_mutex_t>

    init(_ value: sending Value) {
        self.value = value
        lock = .allocate(capacity: 1)
        lock.initialize(to: pthread_mutex_t())
        pthread_mutex_init(lock, nil)
    }

    deinit {
        pthread_mutex_destroy(lock)
        lock.deallocate()
    }

    /// What `body` returns is best freed outside: that may run code of the user, and the lock is not recursive.
    func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return body(&value)
    }
}
