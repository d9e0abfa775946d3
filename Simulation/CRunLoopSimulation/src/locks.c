// locks.c — a thread of a simulation that has to wait for a lock, a semaphore or a condition lets others go on, instead of sleeping and
// keeping the turn.
//
// Nobody has to say that a lock was given back: whenever somebody is to be chosen, each thing that is waited for is looked at, so a thread goes on
// as soon as it could, and stands still only if none of these can come. Whose a lock is, the lock says: a mutex of libc and one that the kernel hands
// on (FUTEX_LOCK_PI) have the number of their thread. If that is a thread outside, it is soon free, and is awaited as ever.

#ifdef __linux__
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "joined.h"

/// The thread sanitizer's, which is to see each lock, or else libc's own.
#define SANITIZED(function) extern __typeof__(function) __interceptor_##function __attribute__((weak))
#define REAL_LOCK(function) (&__interceptor_##function ? &__interceptor_##function : REAL(function))

SANITIZED(pthread_mutex_lock);
SANITIZED(pthread_mutex_trylock);
SANITIZED(pthread_mutex_unlock);
SANITIZED(pthread_mutex_timedlock);
#if defined(__GLIBC__)
SANITIZED(pthread_mutex_clocklock);
#endif
SANITIZED(pthread_rwlock_rdlock);
SANITIZED(pthread_rwlock_wrlock);
SANITIZED(pthread_cond_wait);
SANITIZED(pthread_cond_timedwait);
SANITIZED(pthread_cond_signal);
SANITIZED(pthread_cond_broadcast);
SANITIZED(sem_wait);
SANITIZED(sem_timedwait);
SANITIZED(sem_post);

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

void runloop_simulation__wait(struct runloop_simulated_wait wait) {
    struct joined *joined = &runloop_simulation__joined;
    joined->world->wait(joined->simulation, &wait);
}

bool runloop_simulation__let_go_on(int32_t thread, struct runloop_simulated_wait wait) {
    const struct timespec moment = {.tv_nsec = 20000};
    const struct runloop_simulated_thread *own = runloop_simulation__joined.place;
    // It is this thread: libc and the kernel say so.
    if (own && own->number == thread)
        return false;
    switch (kind_of(thread)) {
    case OUTSIDE: return false;
    // It has given its turn away, and is on its way to wait.
    case RUNNING: return real_system_call()(SYS_nanosleep, &moment, NULL), true;
    case WAITING: runloop_simulation__wait(wait); return true;
    }
    return false;
}

int64_t runloop_simulation__instant_ns(clockid_t clock, const struct timespec *date) {
    const struct runloop_simulated_world *world = runloop_simulation__joined.world;
    int64_t ns;
    if (__builtin_mul_overflow((int64_t)date->tv_sec, (int64_t)1000000000, &ns) ||
        __builtin_add_overflow(ns, (int64_t)date->tv_nsec, &ns))
        return INT64_MAX;
    switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_TAI: return ns - world->wall_offset_ns;
    case CLOCK_BOOTTIME: return ns - world->boot_offset_ns;
    default: return ns;
    }
}

static bool is_valid(const struct timespec *date) {
    return date->tv_nsec >= 0 && date->tv_nsec < 1000000000;
}

//===-- mutexes of libc ----------------------------------------------------------------------------------------------===//

#if defined(__GLIBC__)

/// Of a robust one and of one that the kernel hands on, the word has the thread, and marks.
static bool is_mutex_free(const void *object) {
    const pthread_mutex_t *mutex = object;
    return (__atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED) & (int)FUTEX_TID_MASK) == 0;
}

/// Others go on while one of them has it.
static int lock(pthread_mutex_t *mutex) {
    int error;
    const struct runloop_simulated_wait wait = {
        .is_ready = is_mutex_free, .object = mutex, .until_ns = INT64_MAX, .what = "a lock"};
    while ((error = REAL_LOCK(pthread_mutex_trylock)(mutex)) == EBUSY &&
           runloop_simulation__let_go_on(mutex->__data.__owner, wait))
        continue;
    return error == EBUSY ? REAL_LOCK(pthread_mutex_lock)(mutex) : error;
}

/// With a limit, by the clock of the simulation.
static int lock_until(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *date) {
    int error;
    const struct runloop_simulated_wait wait = {.is_ready = is_mutex_free,
                                                .object = mutex,
                                                .until_ns = runloop_simulation__instant_ns(clock, date),
                                                .what = "a lock"};
    while ((error = REAL_LOCK(pthread_mutex_trylock)(mutex)) == EBUSY) {
        if (!is_valid(date))
            return EINVAL;
        if (is_over(wait.until_ns))
            return ETIMEDOUT;
        if (!runloop_simulation__let_go_on(mutex->__data.__owner, wait))
            return REAL_LOCK(pthread_mutex_lock)(mutex);
    }
    return error;
}

/// Before the calling thread, which takes part, tries to take it.
static void pass(const pthread_mutex_t *mutex, const void *caller) {
    if (runloop_simulation__is_place(mutex, caller))
        runloop_simulation__pass_place();
}

UNINSTRUMENTED int pthread_mutex_lock(pthread_mutex_t *mutex) {
    if (!is_simulated())
        return REAL_LOCK(pthread_mutex_lock)(mutex);
    pass(mutex, __builtin_return_address(0));
    return lock(mutex);
}

/// A thread that tries again and again lets others go on, as if it yielded.
UNINSTRUMENTED int pthread_mutex_trylock(pthread_mutex_t *mutex) {
    if (!is_simulated())
        return REAL_LOCK(pthread_mutex_trylock)(mutex);
    pass(mutex, __builtin_return_address(0));
    int error = REAL_LOCK(pthread_mutex_trylock)(mutex);
    if (error == EBUSY)
        sched_yield();
    return error;
}

UNINSTRUMENTED int pthread_mutex_timedlock(pthread_mutex_t *restrict mutex, const struct timespec *restrict date) {
    if (!is_simulated())
        return REAL_LOCK(pthread_mutex_timedlock)(mutex, date);
    pass(mutex, __builtin_return_address(0));
    return lock_until(mutex, CLOCK_REALTIME, date);
}

UNINSTRUMENTED int pthread_mutex_clocklock(pthread_mutex_t *restrict mutex, clockid_t clock,
                                           const struct timespec *restrict date) {
    if (!is_simulated())
        return REAL_LOCK(pthread_mutex_clocklock)(mutex, clock, date);
    pass(mutex, __builtin_return_address(0));
    return lock_until(mutex, clock, date);
}

/// Afterwards another thread may have freed it.
UNINSTRUMENTED int pthread_mutex_unlock(pthread_mutex_t *mutex) {
    if (!is_simulated())
        return REAL_LOCK(pthread_mutex_unlock)(mutex);
    bool is_place = runloop_simulation__is_place(mutex, __builtin_return_address(0));
    int error = REAL_LOCK(pthread_mutex_unlock)(mutex);
    if (is_place)
        runloop_simulation__pass_place();
    return error;
}

//===-- locks of readers and writers -----------------------------------------------------------------------------------===//

static bool may_read(const void *object) {
    pthread_rwlock_t *lock = (pthread_rwlock_t *)object;
    return pthread_rwlock_tryrdlock(lock) != 0 ? false : (pthread_rwlock_unlock(lock), true);
}

static bool may_write(const void *object) {
    pthread_rwlock_t *lock = (pthread_rwlock_t *)object;
    return pthread_rwlock_trywrlock(lock) != 0 ? false : (pthread_rwlock_unlock(lock), true);
}

UNINSTRUMENTED int pthread_rwlock_rdlock(pthread_rwlock_t *lock) {
    int error = EBUSY;
    while (is_simulated() && (error = pthread_rwlock_tryrdlock(lock)) == EBUSY)
        runloop_simulation__wait((struct runloop_simulated_wait){
            .is_ready = may_read, .object = lock, .until_ns = INT64_MAX, .what = "a lock"});
    return error == EBUSY ? REAL_LOCK(pthread_rwlock_rdlock)(lock) : error;
}

UNINSTRUMENTED int pthread_rwlock_wrlock(pthread_rwlock_t *lock) {
    int error = EBUSY;
    while (is_simulated() && (error = pthread_rwlock_trywrlock(lock)) == EBUSY)
        runloop_simulation__wait((struct runloop_simulated_wait){
            .is_ready = may_write, .object = lock, .until_ns = INT64_MAX, .what = "a lock"});
    return error == EBUSY ? REAL_LOCK(pthread_rwlock_wrlock)(lock) : error;
}

#endif

//===-- semaphores ---------------------------------------------------------------------------------------------------===//

static bool is_posted(const void *object) {
    int value = 0;
    return sem_getvalue((sem_t *)object, &value) == 0 && value > 0;
}

static int wait_for_post(sem_t *semaphore, clockid_t clock, const struct timespec *date) {
    struct runloop_simulated_wait wait = {
        .is_ready = is_posted, .object = semaphore, .until_ns = INT64_MAX, .what = "a semaphore"};
    if (date)
        wait.until_ns = runloop_simulation__instant_ns(clock, date);
    while (sem_trywait(semaphore) < 0) {
        int error = errno;
        if (error == EAGAIN && date && !is_valid(date))
            error = EINVAL;
        else if (error == EAGAIN && is_over(wait.until_ns))
            error = ETIMEDOUT;
        if (error != EAGAIN && error != EINTR) {
            errno = error;
            return -1;
        }
        runloop_simulation__wait(wait);
    }
    return 0;
}

int sem_wait(sem_t *semaphore) {
    return is_simulated() ? wait_for_post(semaphore, 0, NULL) : REAL_LOCK(sem_wait)(semaphore);
}

int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict date) {
    return is_simulated() ? wait_for_post(semaphore, CLOCK_REALTIME, date) : REAL_LOCK(sem_timedwait)(semaphore, date);
}

#if defined(__GLIBC__)
int sem_clockwait(sem_t *restrict semaphore, clockid_t clock, const struct timespec *restrict date) {
    return is_simulated() ? wait_for_post(semaphore, clock, date) : REAL(sem_clockwait)(semaphore, clock, date);
}
#endif

/// Others may act upon it before the calling thread goes on.
int sem_post(sem_t *semaphore) {
    int result = REAL_LOCK(sem_post)(semaphore);
    if (is_simulated())
        runloop_simulation__joined.world->sent(runloop_simulation__joined.simulation, "posts a semaphore");
    return result;
}

//===-- conditions ---------------------------------------------------------------------------------------------------===//

/// A thread of a simulation that waits for a condition. Those of all simulations are in a list, since any thread may signal.
struct waiter {
    struct waiter *next;
    const pthread_cond_t *condition;
    bool is_signalled;
};
/// Changed under the lock; whether it is empty is asked without.
static struct waiter *waiters;
static bool are_waiters_locked;

static void lock_waiters(void) {
    while (__atomic_test_and_set(&are_waiters_locked, __ATOMIC_ACQUIRE))
        real_system_call()(SYS_sched_yield);
}

static void unlock_waiters(void) {
    __atomic_clear(&are_waiters_locked, __ATOMIC_RELEASE);
}

static void add_waiter(struct waiter *waiter) {
    lock_waiters();
    struct waiter **end = &waiters;
    while (*end)
        end = &(*end)->next;
    __atomic_store_n(end, waiter, __ATOMIC_RELAXED);
    unlock_waiters();
}

/// Whether it was signalled.
static bool remove_waiter(struct waiter *waiter) {
    lock_waiters();
    struct waiter **link = &waiters;
    while (*link != waiter)
        link = &(*link)->next;
    __atomic_store_n(link, waiter->next, __ATOMIC_RELAXED);
    bool is_signalled = waiter->is_signalled;
    unlock_waiters();
    return is_signalled;
}

/// The first that waits, or all. Whether there was one.
static bool signal_waiters(const pthread_cond_t *condition, bool all) {
    bool found = false;
    if (!__atomic_load_n(&waiters, __ATOMIC_RELAXED))
        return false;
    lock_waiters();
    for (struct waiter *waiter = waiters; waiter && (all || !found); waiter = waiter->next) {
        if (waiter->condition != condition || waiter->is_signalled)
            continue;
        __atomic_store_n(&waiter->is_signalled, true, __ATOMIC_RELEASE);
        found = true;
    }
    unlock_waiters();
    return found;
}

static bool is_signalled(const void *object) {
    return __atomic_load_n(&((const struct waiter *)object)->is_signalled, __ATOMIC_ACQUIRE);
}

/// After a wait for a condition.
static int relock(pthread_mutex_t *mutex) {
#if defined(__GLIBC__)
    return lock(mutex);
#else
    return pthread_mutex_lock(mutex);
#endif
}

static int wait_for_signal(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
                           const struct timespec *date) {
    struct waiter waiter = {.condition = condition};
    struct runloop_simulated_wait wait = {
        .is_ready = is_signalled, .object = &waiter, .until_ns = INT64_MAX, .what = "a condition"};
    if (date && !is_valid(date))
        return EINVAL;
    if (date)
        wait.until_ns = runloop_simulation__instant_ns(clock, date);
    add_waiter(&waiter);
    int error = REAL_LOCK(pthread_mutex_unlock)(mutex);
    while (error == 0 && !is_signalled(&waiter) && !(date && is_over(wait.until_ns)))
        runloop_simulation__wait(wait);
    bool was_signalled = remove_waiter(&waiter);
    if (error != 0)
        return error;
    error = relock(mutex);
    return error == 0 && !was_signalled ? ETIMEDOUT : error;
}

int pthread_cond_wait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex) {
    if (is_simulated())
        return wait_for_signal(condition, mutex, 0, NULL);
    return REAL_LOCK(pthread_cond_wait)(condition, mutex);
}

/// By which clock, the condition says.
static clockid_t clock_of(const pthread_cond_t *condition) {
#if defined(__GLIBC__)
    enum { IS_MONOTONIC = 2 };
    return condition->__data.__wrefs & IS_MONOTONIC ? CLOCK_MONOTONIC : CLOCK_REALTIME;
#else
    (void)condition;
    return CLOCK_REALTIME;
#endif
}

int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict date) {
    if (is_simulated())
        return wait_for_signal(condition, mutex, clock_of(condition), date);
    return REAL_LOCK(pthread_cond_timedwait)(condition, mutex, date);
}

#if defined(__GLIBC__)
int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
                           const struct timespec *date) {
    if (is_simulated())
        return wait_for_signal(condition, mutex, clock, date);
    return REAL(pthread_cond_clockwait)(condition, mutex, clock, date);
}
#endif

/// Others may act upon it before the calling thread goes on.
static void note_signal(void) {
    if (is_simulated())
        runloop_simulation__joined.world->sent(runloop_simulation__joined.simulation, "signals a condition");
}

int pthread_cond_signal(pthread_cond_t *condition) {
    // One that waits in the kernel is outside.
    int error = signal_waiters(condition, false) ? 0 : REAL_LOCK(pthread_cond_signal)(condition);
    note_signal();
    return error;
}

int pthread_cond_broadcast(pthread_cond_t *condition) {
    signal_waiters(condition, true);
    int error = REAL_LOCK(pthread_cond_broadcast)(condition);
    note_signal();
    return error;
}
#endif // __linux__
