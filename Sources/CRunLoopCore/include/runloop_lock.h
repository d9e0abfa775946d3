// runloop_lock.h — what the C libraries on top of the core share, and nobody else: a lock that a forked child finds free, marks by which
// clang checks who holds it (make lint), and asserts for debug builds. It is not installed, and uses what is public of the core.
//
// A fork may leave a lock held by a thread that the child does not have. So the word says in which generation it is held, and a word of
// another generation is no obstacle. Taking it pairs (acquire) with giving it (release). Never taken by a signal handler, and never held
// while user code runs.
#ifndef RUNLOOP_LOCK_SHARED_H
#define RUNLOOP_LOCK_SHARED_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runloop.h"

//===-- marks --------------------------------------------------------------------------------------------------------===//

#if defined(__clang__)
#define CAPABILITY __attribute__((capability("lock")))
#define TAKES_LOCK(lock) __attribute__((acquire_capability(lock)))
#define GIVES_LOCK(lock) __attribute__((release_capability(lock)))
/// Called with the lock, and returns with it.
#define HOLDS_LOCK(lock) __attribute__((requires_capability(lock)))
/// Calls user code, or takes the lock.
#define WITHOUT_LOCK(lock) __attribute__((locks_excluded(lock)))
/// A field or a variable that only holders of the lock read and write. In C a field can't name a lock in its own structure, so one `extern
/// struct lock`, never defined, stands for the locks of all objects of a kind.
#define GUARDED(lock) __attribute__((guarded_by(lock)))
/// The analysis can't follow the function, or nobody else knows its object yet, or any more.
#define UNCHECKED __attribute__((no_thread_safety_analysis))
#else
#define CAPABILITY
#define TAKES_LOCK(lock)
#define GIVES_LOCK(lock)
#define HOLDS_LOCK(lock)
#define WITHOUT_LOCK(lock)
#define GUARDED(lock)
#define UNCHECKED
#endif

//===-- asserts ------------------------------------------------------------------------------------------------------===//

// Checked in debug builds, which the C tests and the sanitizer runs use. `sentence` says what was done wrong.
#ifdef RUNLOOP_DEBUG
#define ASSERT(condition, sentence) ((condition) ? (void)0 : (fputs("runloop: " sentence "\n", stderr), abort()))
#else
#define ASSERT(condition, sentence) ((void)sizeof(condition))
#endif

//===-- the lock -----------------------------------------------------------------------------------------------------===//

#ifndef SYS_futex
#define SYS_futex SYS_futex_time64
#endif

// The kernel's numbers; not every libc comes with the header that names them.
enum { LOCK_WAIT = 128, LOCK_WAKE = 129 };
enum { LOCK_IS_HELD = 1, LOCK_IS_AWAITED = 2 };

/// All zeros is free, and nothing has to be done at its end.
struct CAPABILITY lock {
    _Atomic uint32_t word; ///< 0, or the generation that holds it above the two bits
#ifdef RUNLOOP_DEBUG
    _Atomic uintptr_t holder; ///< the thread; 0: none
#endif
};

#ifdef RUNLOOP_DEBUG
static inline uintptr_t lock_this_thread(void) {
    return (uintptr_t)pthread_self();
}
/// One of the parent's generation has a holder that is not here.
#define LOCK_IS_MINE(lock)                                                                                             \
    (atomic_load_explicit(&(lock)->holder, memory_order_relaxed) == lock_this_thread() &&                              \
     atomic_load_explicit(&(lock)->word, memory_order_relaxed) >> 2 == (runloop_fork_generation() & UINT32_MAX >> 2))
#define LOCK_NOTE(lock, thread) atomic_store_explicit(&(lock)->holder, thread, memory_order_relaxed)
#define ASSERT_LOCKED(lock) ASSERT(LOCK_IS_MINE(lock), "A lock is not held where it must be.")
#define ASSERT_NOT_LOCKED(lock) ASSERT(!LOCK_IS_MINE(lock), "A lock is held where it must not be.")
#else
#define LOCK_NOTE(lock, thread) ((void)0)
#define ASSERT_LOCKED(lock) ((void)0)
#define ASSERT_NOT_LOCKED(lock) ((void)0)
#endif

UNCHECKED static inline void lock_take(struct lock *lock) TAKES_LOCK(*lock) {
    ASSERT_NOT_LOCKED(lock);
    uint32_t generation = runloop_fork_generation() << 2, held = generation | LOCK_IS_HELD, seen = 0;
    while (
        !atomic_compare_exchange_weak_explicit(&lock->word, &seen, held, memory_order_acquire, memory_order_relaxed)) {
        // Free, or left behind by the parent: the next exchange replaces what was seen.
        if (seen == 0 || (seen & ~3U) != generation)
            continue;
        // A thread that has slept does not know whether it was the only one.
        held |= LOCK_IS_AWAITED;
        if ((seen & LOCK_IS_AWAITED) || atomic_compare_exchange_strong(&lock->word, &seen, seen | LOCK_IS_AWAITED))
            syscall(SYS_futex, &lock->word, LOCK_WAIT, seen | LOCK_IS_AWAITED, NULL, NULL, 0);
        seen = 0;
    }
    LOCK_NOTE(lock, lock_this_thread());
}

UNCHECKED static inline void lock_give(struct lock *lock) GIVES_LOCK(*lock) {
    ASSERT_LOCKED(lock);
    LOCK_NOTE(lock, 0);
    if (atomic_exchange_explicit(&lock->word, 0, memory_order_release) & LOCK_IS_AWAITED)
        syscall(SYS_futex, &lock->word, LOCK_WAKE, 1, NULL, NULL, 0);
}

#endif // RUNLOOP_LOCK_SHARED_H
