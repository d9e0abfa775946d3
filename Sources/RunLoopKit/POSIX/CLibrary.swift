#if os(Linux)
package import RunLoopKitCLibrary

// Only the files of this folder need the C library.

/// The error numbers that the core returns.
package enum ErrorNumber {
    package static let permissionDenied = EPERM
    package static let badDescriptor = EBADF
    package static let inheritedAcrossFork = ECHILD
    package static let outOfMemory = ENOMEM
    package static let inAnotherLoop = EBUSY
    package static let alreadyThere = EEXIST
    package static let invalid = EINVAL
    package static let tooManyDescriptors = EMFILE
    package static let tooManyWatches = ENOSPC
    package static let accessDenied = EACCES
    package static let loopFinished = ESHUTDOWN
    package static let tryAgain = EAGAIN
    package static let lineTooLong = EMSGSIZE
    package static let noSuchProcess = ESRCH
    package static let unsupported = ENOSYS
    package static let brokenPipe = EPIPE
    package static let connectionReset = ECONNRESET
    package static let timedOut = ETIMEDOUT
    package static let tooManyFiles = ENFILE
    package static let outOfBuffers = ENOBUFS
    package static let tooMany = E2BIG
    package static let addressInUse = EADDRINUSE
    package static let addressNotAvailable = EADDRNOTAVAIL
    package static let noMessage = ENOMSG
    package static let noSuchFile = ENOENT
    package static let connectionRefused = ECONNREFUSED
    package static let protocolViolated = EPROTO
}

/// Makes a string from a text that was allocated with `malloc`, and frees the text.
package func takeString(_ text: UnsafeMutablePointer<CChar>?) -> String? {
    guard let text = unsafe text else { return nil }
    defer { unsafe free(text) }
    return unsafe String(cString: text)
}

/// What the C library says of an error number: "No such file or directory".
package func systemText(of errorNumber: CInt) -> String {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
        unsafe buffer.initialize(repeating: 0)
        guard let start = buffer.baseAddress else { return "" }
        return unsafe text(strerror_r(errorNumber, start, buffer.count), in: start)
    }
}

// There are two functions of the name strerror_r: POSIX's fills the buffer, and GNU's returns the text, there or elsewhere.
private func text(_ result: CInt, in buffer: UnsafeMutablePointer<CChar>) -> String { unsafe String(cString: buffer) }
private func text(_ result: UnsafeMutablePointer<CChar>?, in buffer: UnsafeMutablePointer<CChar>) -> String {
    unsafe String(cString: result ?? buffer)
}

/// Ends the program when memory runs out where Swift cannot report it.
package func outOfMemory() -> Never {
    fatalError("Memory ran out while a run loop was changed.")
}

/// A value behind a lock, hence Sendable. It is a lock of the C library, because the thread sanitizer knows those.
///
/// Value and lock are one block of memory, at one address. Copies share it.
@safe package struct Guarded<Value>: @unchecked Sendable {
    @safe @usableFromInline final class Storage: ManagedBuffer<Value, pthread_mutex_t> {
        deinit {
            _ = unsafe withUnsafeMutablePointerToElements { unsafe pthread_mutex_destroy($0) }
        }
    }

    @safe @usableFromInline let storage: ManagedBuffer<Value, pthread_mutex_t>

    // Inlined, so that the other modules know the types, and need not ask for their metadata each time.
    @inlinable
    package init(_ value: sending Value) {
        storage = unsafe Storage.create(minimumCapacity: 1) { _ in value }
        unsafe storage.withUnsafeMutablePointerToElements { lock in
            unsafe lock.initialize(to: pthread_mutex_t())
            unsafe pthread_mutex_init(lock, nil)
            // A mark for simulations, in a field that such a mutex does not use: what the library locks is no place where the turn changes.
            #if canImport(Glibc) && (arch(x86_64) || arch(arm64))
            unsafe lock.pointee.__data.__spins = 0x524c
            #endif
        }
    }

    /// An object that `body` removes should be returned by it, to be freed after the unlock: that may run user code, and the lock is
    /// not recursive.
    @inlinable
    package func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        unsafe storage.withUnsafeMutablePointers { value, lock in
            unsafe pthread_mutex_lock(lock)
            defer { unsafe pthread_mutex_unlock(lock) }
            return unsafe body(&value.pointee)
        }
    }

    /// A reference for the core to keep, until `init(taking:)` takes it back or `releaseInfo` releases it.
    package func retained() -> UnsafeMutableRawPointer { unsafe Unmanaged.passRetained(storage).toOpaque() }

    package init(taking reference: UnsafeMutableRawPointer) {
        storage = unsafe Unmanaged.fromOpaque(reference).takeRetainedValue()
    }

    /// Takes the lock until `unlockAfterFork` is called, in the parent and in the child.
    package func lockForFork() {
        _ = unsafe storage.withUnsafeMutablePointerToElements { unsafe pthread_mutex_lock($0) }
    }
    package func unlockAfterFork() {
        _ = unsafe storage.withUnsafeMutablePointerToElements { unsafe pthread_mutex_unlock($0) }
    }
}

/// A value that one thread sets once, for others, under a lock, hence Sendable.
@safe package final class Handover<Value: Sendable>: @unchecked Sendable {
    private var value: Value?
    // The object's own, at one address from `init` to `deinit`.
    @safe private let lock: UnsafeMutablePointer<pthread_mutex_t>
    @safe private let change: UnsafeMutablePointer<pthread_cond_t>

    package init() {
        lock = .allocate(capacity: 1)
        unsafe lock.initialize(to: pthread_mutex_t())
        unsafe pthread_mutex_init(lock, nil)
        change = .allocate(capacity: 1)
        unsafe change.initialize(to: pthread_cond_t())
        unsafe pthread_cond_init(change, nil)
    }

    deinit {
        unsafe pthread_cond_destroy(change)
        unsafe change.deallocate()
        unsafe pthread_mutex_destroy(lock)
        unsafe lock.deallocate()
    }

    package func put(_ value: Value) {
        unsafe pthread_mutex_lock(lock)
        self.value = value
        unsafe pthread_cond_broadcast(change)
        unsafe pthread_mutex_unlock(lock)
    }

    /// Blocks the calling thread until it is set.
    package func wait() -> Value {
        unsafe pthread_mutex_lock(lock)
        defer { unsafe pthread_mutex_unlock(lock) }
        while true {
            if let value { return value }
            unsafe pthread_cond_wait(change, lock)
        }
    }
}
#endif
