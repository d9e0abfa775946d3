// lock.h — the locks of the library's objects and tables, and which of their fields they guard, as clang checks it (make lint).
#ifndef RUNLOOP_LINUX_LOCK_H
#define RUNLOOP_LINUX_LOCK_H

#include "runloop_lock.h"

// One capability stands for all of them, since no thread holds two.
extern struct process_lock runloop__linux_lock; // never defined
#define TAKES_LOCK TAKES(runloop__linux_lock)
#define GIVES_LOCK GIVES(runloop__linux_lock)
/// Called with the lock, and returns with it.
#define HOLDS_LOCK HOLDS(runloop__linux_lock)
/// Calls user code, or takes the lock.
#define WITHOUT_LOCK WITHOUT(runloop__linux_lock)
/// A field or a variable that only holders of the lock read and write.
#define GUARDED GUARDED_BY(runloop__linux_lock)

UNCHECKED TAKES_LOCK static inline void lock_take(struct process_lock *lock) {
    process_lock(lock);
}
UNCHECKED GIVES_LOCK static inline void lock_give(struct process_lock *lock) {
    process_unlock(lock);
}

/// A lock under which system calls are made. Some of them are cancellation points, where a thread would end and not give the lock; so the
/// thread that holds it is not cancelled.
struct steady_lock {
    struct process_lock lock;
    int cancellation GUARDED; ///< the state of the thread that holds it, before that
};

TAKES_LOCK static inline void steady_take(struct steady_lock *lock) {
    int cancellation;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellation);
    lock_take(&lock->lock);
    lock->cancellation = cancellation;
}
GIVES_LOCK static inline void steady_give(struct steady_lock *lock) {
    int cancellation = lock->cancellation;
    lock_give(&lock->lock);
    pthread_setcancelstate(cancellation, NULL);
}

#endif // RUNLOOP_LINUX_LOCK_H
