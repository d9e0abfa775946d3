// lock.h — the lock of a loop: one word, taken and given up without a call when nobody else wants it. It is held for a few
// instructions and never while user code runs, so who finds it taken sleeps at once; there is nothing to be fair about.
//
// The word is FREE, HELD, or WANTED: held, and somebody may sleep on it. Who takes it after having slept leaves it WANTED, since
// others may sleep too: one system call too many at worst, and no sleeper is ever forgotten.
#ifndef RUNLOOP_LOCK_H
#define RUNLOOP_LOCK_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LOCK_FREE, LOCK_HELD, LOCK_WANTED };

struct lock {
    _Atomic uint32_t word;
};

#ifndef SYS_futex
#define SYS_futex SYS_futex_time64
#endif

// The kernel's numbers for a futex that processes don't share; not every libc comes with the header that names them.
enum { LOCK_FUTEX_WAIT = 128, LOCK_FUTEX_WAKE = 129 };

static inline void lock_futex(struct lock *lock, int operation, uint32_t value) {
    syscall(SYS_futex, (uint32_t *)&lock->word, operation, value, (void *)0, (void *)0, 0);
}

static __attribute__((noinline, cold, unused)) void lock_take_later(struct lock *lock) {
    while (atomic_exchange_explicit(&lock->word, LOCK_WANTED, memory_order_acquire) != LOCK_FREE)
        lock_futex(lock, LOCK_FUTEX_WAIT, LOCK_WANTED);
}

static __attribute__((noinline, cold, unused)) void lock_wake_one(struct lock *lock) {
    lock_futex(lock, LOCK_FUTEX_WAKE, 1);
}

static inline void lock_take(struct lock *lock) {
    uint32_t expected = LOCK_FREE;
    if (!atomic_compare_exchange_strong_explicit(&lock->word, &expected, LOCK_HELD, memory_order_acquire,
                                                 memory_order_relaxed))
        lock_take_later(lock);
}

static inline void lock_give(struct lock *lock) {
    if (atomic_exchange_explicit(&lock->word, LOCK_FREE, memory_order_release) == LOCK_WANTED)
        lock_wake_one(lock);
}

#endif // RUNLOOP_LOCK_H
