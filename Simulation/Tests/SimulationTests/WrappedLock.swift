import Glibc

/// A lock as packages have their own, with several functions around the one of libc.
final class WrappedLock: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    init() { unsafe pthread_mutex_init(mutex, nil) }

    @inline(never)
    func withLock(_ body: () -> Void) {
        withMutex { mutex in
            take(mutex)
            body()
            unsafe pthread_mutex_unlock(mutex)
        }
    }

    @inline(never)
    private func withMutex(_ body: (UnsafeMutablePointer<pthread_mutex_t>) -> Void) {
        unsafe body(mutex)
    }

    @inline(never)
    private func take(_ mutex: UnsafeMutablePointer<pthread_mutex_t>) {
        lockOfLibc(mutex)
    }

    @inline(never)
    private func lockOfLibc(_ mutex: UnsafeMutablePointer<pthread_mutex_t>) {
        unsafe pthread_mutex_lock(mutex)
    }
}
