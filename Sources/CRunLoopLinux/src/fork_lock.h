// fork_lock.h — a lock of the process. A fork may leave it held by a thread that the child does not have, so the word says in which
// generation it is held, and a word of another generation is no obstacle. Never taken by a signal handler.
#ifndef RUNLOOP_FORK_LOCK_H
#define RUNLOOP_FORK_LOCK_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runloop.h"

#ifndef SYS_futex
#define SYS_futex SYS_futex_time64
#endif

// The kernel's numbers; not every libc comes with the header that names them.
enum { FORK_LOCK_WAIT = 128, FORK_LOCK_WAKE = 129 };

enum { FORK_LOCK_HELD = 1, FORK_LOCK_AWAITED = 2 };

/// 0, or the generation that holds it above the two bits. Acquire pairs with the release of fork_unlock.
typedef struct {
    _Atomic uint32_t word;
} fork_lock;

static inline void fork_lock_take(fork_lock *lock) {
    uint32_t generation = runloop_fork_generation() << 2, held = generation | FORK_LOCK_HELD, seen = 0;
    while (
        !atomic_compare_exchange_weak_explicit(&lock->word, &seen, held, memory_order_acquire, memory_order_relaxed)) {
        // Free, or left behind by the parent: the next exchange replaces what was seen.
        if (seen == 0 || (seen & ~3U) != generation)
            continue;
        // A thread that has slept does not know whether it was the only one.
        held |= FORK_LOCK_AWAITED;
        if ((seen & FORK_LOCK_AWAITED) || atomic_compare_exchange_strong(&lock->word, &seen, seen | FORK_LOCK_AWAITED))
            syscall(SYS_futex, &lock->word, FORK_LOCK_WAIT, seen | FORK_LOCK_AWAITED, NULL, NULL, 0);
        seen = 0;
    }
}

static inline void fork_lock_give(fork_lock *lock) {
    if (atomic_exchange_explicit(&lock->word, 0, memory_order_release) & FORK_LOCK_AWAITED)
        syscall(SYS_futex, &lock->word, FORK_LOCK_WAKE, 1, NULL, NULL, 0);
}

#endif // RUNLOOP_FORK_LOCK_H
