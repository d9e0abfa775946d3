// locks.c — a thread of a simulation that wants a lock which another one has, lets that go on, instead of sleeping with the turn in its hand.
//
// Whose a lock is, the lock says: a mutex of libc and one that the kernel hands on (FUTEX_LOCK_PI) have the number of their thread. If that
// is one of the simulation's, and waits for its turn, that is to go on. Locks that others have are soon free. A word that does not say whose it is
// is waited for a moment, in case it is theirs.

#ifdef __linux__
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>

#include "joined.h"

enum holder { OUTSIDE, RUNNING, WAITING };

static enum holder kind_of(int32_t thread) {
    struct runloop_simulated_world *world = runloop_simulation__joined.world;
    for (int i = 0; thread && i < RUNLOOP_SIMULATION_THREADS; i++) {
        struct runloop_simulated_thread *place = &world->threads[i];
        if (__atomic_load_n(&place->number, __ATOMIC_SEQ_CST) == thread)
            return __atomic_load_n(&place->is_waiting, __ATOMIC_SEQ_CST) ? WAITING : RUNNING;
    }
    // That of another run, which has ended there: nobody gives it any more.
    return runloop_simulation__is_parked(thread) ? WAITING : OUTSIDE;
}

/// Others go on first. False if none can.
static bool contend(bool is_ours) {
    return runloop_simulation__joined.world->contend(runloop_simulation__joined.simulation, is_ours);
}

/// A thread has the lock that this one wants. False if the lock is to be awaited as ever.
static bool let_go_on(int32_t thread) {
    const struct timespec moment = {.tv_nsec = 20000};
    const struct runloop_simulated_thread *own = runloop_simulation__joined.place;
    // It is this thread: libc and the kernel say so.
    if (own && own->number == thread)
        return false;
    switch (kind_of(thread)) {
    case OUTSIDE: return false;
    // It has given its turn away, and is on its way to wait.
    case RUNNING: return nanosleep(&moment, NULL), true;
    case WAITING: return contend(true);
    }
    return false;
}

//===-- libc's -------------------------------------------------------------------------------------------------------===//

#if defined(__GLIBC__)

typedef int mutex_function(pthread_mutex_t *mutex);

/// The thread sanitizer's, which is to see each lock.
extern mutex_function __interceptor_pthread_mutex_lock __attribute__((weak));

UNINSTRUMENTED static mutex_function *real_lock(void) {
    static _Atomic(void *) found;
    if (&__interceptor_pthread_mutex_lock)
        return __interceptor_pthread_mutex_lock;
    return (mutex_function *)runloop_simulation__find(&found, "pthread_mutex_lock");
}

UNINSTRUMENTED int pthread_mutex_lock(pthread_mutex_t *mutex) {
    if (is_simulated()) {
        int error;
        while ((error = pthread_mutex_trylock(mutex)) == EBUSY && let_go_on(mutex->__data.__owner))
            continue;
        if (error != EBUSY)
            return error;
    }
    return real_lock()(mutex);
}

#endif

//===-- those of Swift, and of everybody who sleeps on a word --------------------------------------------------------===//

static long call(const long arguments[6], long operation) {
    return real_system_call()(SYS_futex, arguments[0], operation, arguments[2], arguments[3], arguments[4],
                              arguments[5]);
}

/// The kernel would hand the lock on.
static long lock_handed_on(const long arguments[6], long flags) {
    const uint32_t *word = (const uint32_t *)arguments[0];
    while (let_go_on((int32_t)(__atomic_load_n(word, __ATOMIC_RELAXED) & FUTEX_TID_MASK))) {
        if (call(arguments, FUTEX_TRYLOCK_PI | flags) == 0)
            return 0;
    }
    return call(arguments, FUTEX_LOCK_PI | flags);
}

/// Without a limit. Whoever waits looks again afterwards, as the kernel may wake it for no reason, too.
static long wait_for_word(const long arguments[6], long operation) {
    const struct timespec moment = {.tv_nsec = 100000000};
    long result =
        real_system_call()(SYS_futex, arguments[0], operation, arguments[2], &moment, arguments[4], arguments[5]);
    if (result == 0 || errno != ETIMEDOUT)
        return result;
    return contend(false) ? 0 : call(arguments, operation);
}

long runloop_simulation__futex(const long arguments[6]) {
    long flags = arguments[1] & ~(long)FUTEX_CMD_MASK;
    switch (arguments[1] & FUTEX_CMD_MASK) {
    case FUTEX_LOCK_PI: return arguments[3] ? call(arguments, arguments[1]) : lock_handed_on(arguments, flags);
    case FUTEX_WAIT: return arguments[3] ? call(arguments, arguments[1]) : wait_for_word(arguments, arguments[1]);
    default: return call(arguments, arguments[1]);
    }
}
#endif // __linux__
