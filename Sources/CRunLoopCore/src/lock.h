// lock.h — the lock of a loop, held for a few instructions and never while user code runs.
//
// Mostly it is the loop's own thread that takes it. While nobody else does, the lock is biased to that thread, which then takes it
// by a plain store and gives it back by another, without a locked instruction. The first other thread that comes revokes the bias,
// and until the own thread has been alone with the lock for a while they share a word: FREE, HELD, or WANTED when somebody may sleep
// on it. lock.c has the rest, and argues why nobody is ever inside together with another.
#ifndef RUNLOOP_LOCK_H
#define RUNLOOP_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { LOCK_FREE, LOCK_HELD, LOCK_WANTED };
enum { LOCK_SHARED, LOCK_BIASED, LOCK_REVOKING };

struct lock {
    _Atomic uint32_t word;
    _Atomic uint32_t bias; ///< written with the word held
    _Atomic uint32_t
        inside;         ///< written by the own thread: it has the lock by its bias, or is about to see that it hasn't
    uint32_t own_takes; ///< held: how often running the own thread has taken the word
};

/// A new lock is biased, if the kernel gives what that needs. `lock.c`
void runloop__lock_init(struct lock *lock);
void runloop__lock_take_later(struct lock *lock);
void runloop__lock_wake_one(struct lock *lock);
void runloop__lock_revoke(struct lock *lock);
void runloop__lock_take_without_bias(struct lock *lock);
void runloop__lock_wake_revoker(struct lock *lock);

static inline void lock_take_word(struct lock *lock) {
    uint32_t expected = LOCK_FREE;
    if (!atomic_compare_exchange_strong_explicit(&lock->word, &expected, LOCK_HELD, memory_order_acquire,
                                                 memory_order_relaxed))
        runloop__lock_take_later(lock);
}

static inline void lock_give_word(struct lock *lock) {
    if (atomic_exchange_explicit(&lock->word, LOCK_FREE, memory_order_release) == LOCK_WANTED)
        runloop__lock_wake_one(lock);
}

//===-- the own thread -----------------------------------------------------------------------------------------------===//

// Two things have to be in this order for other threads: that this one is inside, or no longer, and its look at the bias. A fence for
// the compiler is all that is here; the one for the processor is made by who revokes the bias, for this thread, too (lock.c).

static inline void lock_take_own(struct lock *lock) {
    atomic_store_explicit(&lock->inside, true, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&lock->bias, memory_order_relaxed) != LOCK_BIASED)
        runloop__lock_take_without_bias(lock);
}

static inline void lock_leave(struct lock *lock) {
    atomic_store_explicit(&lock->inside, false, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&lock->bias, memory_order_relaxed) == LOCK_REVOKING)
        runloop__lock_wake_revoker(lock);
}

static inline void lock_give_own(struct lock *lock) {
    if (atomic_load_explicit(&lock->inside, memory_order_relaxed))
        lock_leave(lock);
    else
        lock_give_word(lock);
}

//===-- any other thread ---------------------------------------------------------------------------------------------===//

static inline void lock_take_foreign(struct lock *lock) {
    lock_take_word(lock);
    lock->own_takes = 0;
    if (atomic_load_explicit(&lock->bias, memory_order_relaxed) == LOCK_BIASED)
        runloop__lock_revoke(lock);
}

static inline void lock_give_foreign(struct lock *lock) {
    lock_give_word(lock);
}

#endif // RUNLOOP_LOCK_H
