// lock.h — the lock of a loop, held for a few instructions and never while user code runs.
//
// Mostly the loop's own thread takes it. A lock that its thread takes often, with nobody else coming, becomes biased to that thread,
// which then takes and gives it by plain stores. The first other thread that comes revokes the bias, and both share a word: FREE,
// HELD, or AWAITED when somebody may sleep on it. lock.c has the rest, and argues why two threads are never inside together.
#ifndef RUNLOOP_LOCK_H
#define RUNLOOP_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "runloop_lock.h"

enum { LOCK_FREE, LOCK_HELD, LOCK_AWAITED };
enum { LOCK_SHARED, LOCK_BIASED, LOCK_REVOKING };

struct lock {
    _Atomic uint32_t word;
    _Atomic uint32_t bias; ///< written with the word held
    _Atomic uint32_t
        inside; ///< written by the loop's thread: it is inside thanks to its bias, or is about to find that it has none
    _Atomic uint32_t acknowledgments; ///< how often the loop's thread saw no bias, since it last had one
    uint32_t takes;                   ///< word: by the loop's thread, since another one took it
    uint32_t takes_before_bias;       ///< word: doubles when a bias was revoked soon
    uint32_t generation;              ///< constant: of the process whose threads take it
    int64_t biased_ns;                ///< word: since when it is, or was last, biased
};

void runloop__lock_init(struct lock *lock);
void runloop__lock_wait_for_word(struct lock *lock);
void runloop__lock_take_unbiased(struct lock *lock);
bool runloop__lock_revoke(struct lock *lock);
void runloop__lock_await_acknowledgment(struct lock *lock);

static inline void lock_take_word(struct lock *lock) {
    uint32_t expected = LOCK_FREE;
    if (!atomic_compare_exchange_strong_explicit(&lock->word, &expected, LOCK_HELD, memory_order_acquire,
                                                 memory_order_relaxed))
        runloop__lock_wait_for_word(lock);
}

static inline void lock_give_word(struct lock *lock) {
    if (atomic_exchange_explicit(&lock->word, LOCK_FREE, memory_order_release) == LOCK_AWAITED)
        futex_wake(&lock->word, 1);
}

//===-- the loop's thread --------------------------------------------------------------------------------------------===//

// For other threads the store of `inside` must come before the look at the bias. A fence for the compiler is all that is here; whoever
// revokes the bias makes the fence for the processor, on behalf of this thread, too (lock.c).

static inline void lock_take(struct lock *lock) {
    atomic_store_explicit(&lock->inside, true, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&lock->bias, memory_order_relaxed) != LOCK_BIASED)
        runloop__lock_take_unbiased(lock);
}

static inline void lock_leave(struct lock *lock) {
    atomic_store_explicit(&lock->inside, false, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&lock->bias, memory_order_relaxed) == LOCK_REVOKING)
        futex_wake(&lock->inside, 1);
}

static inline void lock_give(struct lock *lock) {
    if (atomic_load_explicit(&lock->inside, memory_order_relaxed))
        lock_leave(lock);
    else
        lock_give_word(lock);
}

/// Outside. Who revokes the bias without a barrier waits until this thread takes the lock, which it may not do before it sleeps again.
static inline void lock_answer_revocation(struct lock *lock) {
    if (atomic_load_explicit(&lock->bias, memory_order_relaxed) == LOCK_REVOKING) {
        lock_take(lock);
        lock_give(lock);
    }
}

/// The loop's thread has seen that there is no bias, which ends the wait of whoever revoked it.
static inline void lock_acknowledge(struct lock *lock) {
    atomic_fetch_add_explicit(&lock->acknowledgments, 1, memory_order_release);
    if (atomic_load_explicit(&lock->bias, memory_order_relaxed) == LOCK_REVOKING)
        futex_wake(&lock->acknowledgments, 1);
}

/// For good: the thread is ending, and acknowledges for the last time.
static inline void lock_end_bias(struct lock *lock) {
    lock_acknowledge(lock);
    lock_take_word(lock);
    atomic_store_explicit(&lock->bias, LOCK_SHARED, memory_order_relaxed);
    lock->takes_before_bias = UINT32_MAX;
    lock->takes = 0;
    lock_give_word(lock);
}

//===-- other threads ------------------------------------------------------------------------------------------------===//

/// False: the kernel refuses barriers by now. The caller makes the loop's thread take the lock, then waits for its acknowledgment.
static inline bool lock_take_from_other_thread(struct lock *lock) {
    lock_take_word(lock);
    lock->takes = 0;
    return atomic_load_explicit(&lock->bias, memory_order_relaxed) != LOCK_BIASED || runloop__lock_revoke(lock);
}

//===-- who holds a loop's lock, as clang -Wthread-safety checks it (make lint) --------------------------------------===//

// One capability stands for the locks of all loops, and for the guards of items in no loop, since a thread never holds two of them.
extern struct process_lock runloop__the_lock; // never defined
#define TAKES_LOCK TAKES(runloop__the_lock)
#define TAKES_LOCK_IF(result) TAKES_IF(result, runloop__the_lock)
#define GIVES_LOCK GIVES(runloop__the_lock)
/// Called with the lock, and returns with it.
#define HOLDS_LOCK HOLDS(runloop__the_lock)
/// Calls user code, or takes the lock.
#define WITHOUT_LOCK WITHOUT(runloop__the_lock)
/// A field that only holders of the lock read and write.
#define GUARDED GUARDED_BY(runloop__the_lock)

#endif // RUNLOOP_LOCK_H
