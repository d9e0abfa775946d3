#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Android)
    internal import Android
#else
    #error("RunLoopKit needs a C library for Linux.")
#endif

// Only the files of this folder need the C library.

/// The error numbers that the core returns.
enum ErrorNumber {
    static let permissionDenied = EPERM
    static let badDescriptor = EBADF
    static let inheritedAcrossFork = ECHILD
    static let outOfMemory = ENOMEM
    static let inAnotherLoop = EBUSY
    static let alreadyThere = EEXIST
    static let invalid = EINVAL
    static let tooManyDescriptors = EMFILE
    static let tooManyWatches = ENOSPC
    static let loopFinished = ESHUTDOWN
    static let tooManyThreads = EAGAIN
    static let tryAgain = EAGAIN
    static let lineTooLong = EMSGSIZE
}

/// Makes a string from a text that was allocated with `malloc`, and frees the text.
func takeString(_ text: UnsafeMutablePointer<CChar>?) -> String? {
    guard let text else { return nil }
    defer { free(text) }
    return String(cString: text)
}

/// Ends the program when memory runs out where Swift cannot report it.
func outOfMemory() -> Never {
    fatalError("Memory ran out while a run loop was changed.")
}

/// A value behind a lock. It is a lock of the C library, because the thread sanitizer knows those.
package final class Guarded<Value>: @unchecked Sendable {
    private var value: Value
    private let lock: UnsafeMutablePointer<pthread_mutex_t>

    package init(_ value: sending Value) {
        self.value = value
        lock = .allocate(capacity: 1)
        lock.initialize(to: pthread_mutex_t())
        pthread_mutex_init(lock, nil)
    }

    deinit {
        pthread_mutex_destroy(lock)
        lock.deallocate()
    }

    /// An object that `body` removes should be returned by it, to be freed after the unlock: that may run user code, and the lock is
    /// not recursive.
    package func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return body(&value)
    }

    /// Takes the lock until `unlockAfterFork` is called, in the parent and in the child.
    package func lockForFork() { pthread_mutex_lock(lock) }
    package func unlockAfterFork() { pthread_mutex_unlock(lock) }
}

/// A value that one thread sets once, for others. `wait()` blocks the calling thread until it is set.
final class Handover<Value: Sendable>: @unchecked Sendable {
    private var value: Value?
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private let arrival: UnsafeMutablePointer<pthread_cond_t>

    init() {
        lock = .allocate(capacity: 1)
        lock.initialize(to: pthread_mutex_t())
        pthread_mutex_init(lock, nil)
        arrival = .allocate(capacity: 1)
        arrival.initialize(to: pthread_cond_t())
        pthread_cond_init(arrival, nil)
    }

    deinit {
        pthread_cond_destroy(arrival)
        arrival.deallocate()
        pthread_mutex_destroy(lock)
        lock.deallocate()
    }

    func put(_ value: Value) {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        self.value = value
        pthread_cond_broadcast(arrival)
    }

    func wait() -> Value {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        while true {
            if let value { return value }
            pthread_cond_wait(arrival, lock)
        }
    }
}
