#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Android)
    internal import Android
#else
    #error("RunLoopKit needs a C library for Linux.")
#endif

// Besides CaughtSignal.swift, DescriptorInput.swift and PosixThread.swift the only file that needs the C library.

/// The numbers of the errors that the core answers with.
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
    static let lineTooLong = EMSGSIZE
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

    /// What `body` returns is best freed outside: that may run code of the user, and the lock is not recursive.
    package func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return body(&value)
    }

    /// Waits until nobody is inside, and lets nobody in before `unlockAfterFork`, in the parent and in the child.
    package func lockForFork() { pthread_mutex_lock(lock) }
    package func unlockAfterFork() { pthread_mutex_unlock(lock) }
}

/// A value that one thread leaves for others, once. Who asks earlier waits, and blocks its thread.
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
