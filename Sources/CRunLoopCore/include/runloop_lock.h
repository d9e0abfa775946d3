// runloop_lock.h — what the C libraries share, and nobody else: annotations by which clang checks who holds a lock (make lint), asserts for
// debug builds, a thread of a library's own, sleeping on a word, and the one kind of lock that there is. It is not installed, and uses what
// is public of the core.
//
// A fork may leave a lock held by a thread that the child does not have. So the word says in which generation it is held, and a word of
// another generation is no obstacle. Taking it pairs (acquire) with giving it (release). Never taken by a signal handler, and never held
// while user code runs.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_LOCK_SHARED_H
#define RUNLOOP_LOCK_SHARED_H
#ifdef __linux__

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runloop.h"
#include "runloop_bionic.h"

//===-- marks --------------------------------------------------------------------------------------------------------===//

#if defined(__clang__)
#define CAPABILITY __attribute__((capability("lock")))
#define TAKES(lock) __attribute__((acquire_capability(lock)))
#define TAKES_IF(result, lock) __attribute__((try_acquire_capability(result, lock)))
#define GIVES(lock) __attribute__((release_capability(lock)))
/// Called with the lock, and returns with it.
#define HOLDS(lock) __attribute__((requires_capability(lock)))
/// Calls user code, or takes the lock.
#define WITHOUT(lock) __attribute__((locks_excluded(lock)))
/// A field or a variable that only holders of the lock read and write. In C a field can't name a lock in its own structure, so one `extern
/// struct process_lock`, never defined, stands for the locks of all objects of a kind.
#define GUARDED_BY(lock) __attribute__((guarded_by(lock)))
/// The analysis can't follow the function, or nobody else knows its object yet, or any more.
#define UNCHECKED __attribute__((no_thread_safety_analysis))
#else
#define CAPABILITY
#define TAKES(lock)
#define TAKES_IF(result, lock)
#define GIVES(lock)
#define HOLDS(lock)
#define WITHOUT(lock)
#define GUARDED_BY(lock)
#define UNCHECKED
#endif

//===-- asserts ------------------------------------------------------------------------------------------------------===//

// Checked in debug builds, which the C tests and the sanitizer runs use. `sentence` says what was done wrong.
#ifdef RUNLOOP_DEBUG
#define ASSERT(condition, sentence) ((condition) ? (void)0 : (fputs("runloop: " sentence "\n", stderr), abort()))
#else
#define ASSERT(condition, sentence) ((void)sizeof(condition))
#endif

//===-- threads ------------------------------------------------------------------------------------------------------===//

/// Nobody joins it, and it has all signals blocked: handlers are for the program's own threads. 0, or a negative errno value.
static inline int start_thread(void *(*body)(void *), void *info) {
    sigset_t all, before;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, NULL, body, info);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!error)
        pthread_detach(thread);
    return -error;
}

//===-- sleeping on a word until another thread of the process changes it --------------------------------------------===//

#ifndef SYS_futex
#define SYS_futex SYS_futex_time64
#endif

// The kernel's numbers; not every libc comes with the header that names them. A wait for any of the bits is the plain one: whoever replaces
// syscall(2), as a simulation does, sees by it that this is a library's own wait, which ends soon whatever the program does.
enum { FUTEX_WAKE_PRIVATELY = 129, FUTEX_WAIT_BITSET_PRIVATELY = 137 };

/// errno stays as it is: the interrupted code's, in a signal handler.
static inline void futex(_Atomic uint32_t *word, int operation, uint32_t value) {
    int saved = errno;
    syscall(SYS_futex, (uint32_t *)word, operation, value, (void *)0, (void *)0, UINT32_MAX);
    errno = saved;
}

/// Returns when the word is not `value`, when somebody wakes, or for no reason.
static inline void futex_wait(_Atomic uint32_t *word, uint32_t value) {
    futex(word, FUTEX_WAIT_BITSET_PRIVATELY, value);
}

static inline void futex_wake(_Atomic uint32_t *word, int threads) {
    futex(word, FUTEX_WAKE_PRIVATELY, (uint32_t)threads);
}

//===-- the lock -----------------------------------------------------------------------------------------------------===//

enum { LOCK_IS_HELD = 1, LOCK_IS_AWAITED = 2 };

/// All zeros is free, and nothing has to be done at its end.
struct CAPABILITY process_lock {
    _Atomic uint32_t word; ///< 0, or the generation that holds it above the two bits
#ifdef RUNLOOP_DEBUG
    _Atomic uintptr_t holder; ///< the thread; 0: none
#endif
};

// The core has its own.
#ifndef LOCK_GENERATION
#define LOCK_GENERATION() runloop_fork_generation()
#endif

static inline uint32_t lock_held_word(void) {
    return LOCK_GENERATION() << 2 | LOCK_IS_HELD;
}

#ifdef RUNLOOP_DEBUG
static inline void lock_note_holder(struct process_lock *lock, bool is_held) {
    atomic_store_explicit(&lock->holder, is_held ? (uintptr_t)pthread_self() : 0, memory_order_relaxed);
}
/// One of the parent's generation has a holder that is not here.
static inline bool lock_is_mine(const struct process_lock *lock) {
    return atomic_load_explicit(&lock->holder, memory_order_relaxed) == (uintptr_t)pthread_self() &&
           (atomic_load_explicit(&lock->word, memory_order_relaxed) | LOCK_IS_AWAITED) ==
               (lock_held_word() | LOCK_IS_AWAITED);
}
#define ASSERT_HOLDS(lock) ASSERT(lock_is_mine(lock), "A lock is not held where it must be.")
#define ASSERT_WITHOUT(lock) ASSERT(!lock_is_mine(lock), "A lock is held where it must not be.")
#else
static inline void lock_note_holder(struct process_lock *lock, bool is_held) {
    (void)lock, (void)is_held;
}
#define ASSERT_HOLDS(lock) ((void)0)
#define ASSERT_WITHOUT(lock) ((void)0)
#endif

/// It is not free. False if that was a thread of the parent process.
static __attribute__((noinline, cold, unused)) bool lock_await(struct process_lock *lock, uint32_t held,
                                                               uint32_t seen) {
    do {
        if (seen != 0 && seen >> 2 == held >> 2) {
            // A thread that has slept does not know whether it was the only one.
            held |= LOCK_IS_AWAITED;
            if ((seen & LOCK_IS_AWAITED) || atomic_compare_exchange_strong(&lock->word, &seen, seen | LOCK_IS_AWAITED))
                futex_wait(&lock->word, seen | LOCK_IS_AWAITED);
            seen = 0;
        }
        // Free, or left behind by the parent: the exchange replaces what was seen.
    } while (
        !atomic_compare_exchange_weak_explicit(&lock->word, &seen, held, memory_order_acquire, memory_order_relaxed));
    return seen == 0;
}

/// Returns false if a thread of the parent process held it at the fork, and may have left what it guards half changed.
UNCHECKED static inline bool process_lock(struct process_lock *lock) TAKES(*lock) {
    ASSERT_WITHOUT(lock);
    uint32_t held = lock_held_word(), seen = 0;
    bool is_whole =
        atomic_compare_exchange_strong_explicit(&lock->word, &seen, held, memory_order_acquire, memory_order_relaxed) ||
        lock_await(lock, held, seen);
    lock_note_holder(lock, true);
    return is_whole;
}

UNCHECKED static inline void process_unlock(struct process_lock *lock) GIVES(*lock) {
    ASSERT_HOLDS(lock);
    lock_note_holder(lock, false);
    if (atomic_exchange_explicit(&lock->word, 0, memory_order_release) & LOCK_IS_AWAITED)
        futex_wake(&lock->word, 1);
}

#endif // __linux__
#endif // RUNLOOP_LOCK_SHARED_H
