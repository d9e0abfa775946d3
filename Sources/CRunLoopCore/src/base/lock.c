// lock.c — the lock of a loop, where it is more than a few instructions: contention, and changes of the bias.
//
// The word. A thread that finds it held sleeps at once; there is nothing to be fair about. A thread that takes it after a sleep leaves
// it AWAITED, since others may sleep too: one system call too many at worst, and no sleeper is ever forgotten.
//
// The bias changes only with the word held, so every change sees the one before. Who may be inside:
//   SHARED    the thread that holds the word.
//   BIASED    the loop's thread, while `inside` says so. Others take the word and revoke the bias before they are inside.
//   REVOKING  for a moment, by the holder of the word: the loop's thread if it was inside, until it leaves; then the holder.
//
// Why the revoker is never inside together with the loop's thread, although that thread only stores `inside` and then loads `bias`, and
// the processor may swap the two. The revoker stores REVOKING, has the kernel run a barrier on every thread of the process
// (membarrier), then loads `inside`. Consider where that barrier falls among the instructions of the loop's thread:
//   The store of `inside` comes before it: the revoker sees that store, and waits until the thread has left.
//   The store of `inside` comes after it:  so does the load of the bias, which finds REVOKING, and the thread takes the word instead.
// Leaving is the same pair, a store of `inside` and a load of the bias. If the load comes before the barrier, the revoker sees that the
// thread has left; if it comes after, the thread sees REVOKING and wakes whoever sleeps on `inside`. So that wake-up is never lost.
//
// What was written inside is seen by whoever comes next: `inside` is cleared with release and read with acquire, the word likewise, and
// the first take by bias follows the take of the word by which the same thread set the bias.
//
// If the kernel refuses the barrier (a sandbox that was closed after the bias was given), the revoker waits until the loop's thread
// acknowledges REVOKING the next time it takes the lock; from then on that thread takes the word. The caller wakes it for that, and a
// thread that is woken takes the lock (lock_answer_revocation): the write to the eventfd comes after REVOKING, so who has seen the one
// sees the other. The process never biases a lock again.
//
// The bias is worth it only where other threads seldom come. It is given after so many takes in a row, and that number doubles whenever
// a bias was revoked within a moment; after a quiet time it is small again. A process whose loops have little to do, or share their
// locks, never registers for barriers, which takes milliseconds where there are threads already.

#include "base/lock.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"

#ifndef LOCK_TAKES_BEFORE_BIAS
#define LOCK_TAKES_BEFORE_BIAS 1000
#endif
enum { LOCK_TAKES_AT_MOST = 1 << 24 };
/// A bias that lasted so long has paid for its revocation.
#define LOCK_QUIET_NS INT64_C(10000000)

//===-- the kernel ---------------------------------------------------------------------------------------------------===//

// The kernel's numbers; not every libc comes with the header that names them.
enum { BARRIER_ON_THREADS = 1 << 3, BARRIER_REGISTER = 1 << 4 };

static bool membarrier(int command) {
    int saved = errno;
    bool done = syscall(SYS_membarrier, command, 0, 0) == 0;
    errno = saved;
    return done;
}

static _Atomic bool barriers_are_refused;
/// The generation that registered: a registration does not outlive an exec or reach a child that has noticed its fork.
static _Atomic uint32_t registered_generation;

static bool barriers_are_registered(void) {
    uint32_t generation = runloop__generation();
    if (atomic_load(&barriers_are_refused))
        return false;
    if (atomic_load(&registered_generation) == generation)
        return true;
    if (!membarrier(BARRIER_REGISTER)) {
        atomic_store(&barriers_are_refused, true);
        return false;
    }
    atomic_store(&registered_generation, generation);
    return true;
}

//===-- the word -----------------------------------------------------------------------------------------------------===//

void runloop__lock_wait_for_word(struct lock *lock) {
    // A forked child that has not noticed yet: whoever holds the lock is not in this process.
    if (lock->generation != runloop__generation())
        return;
    while (atomic_exchange_explicit(&lock->word, LOCK_AWAITED, memory_order_acquire) != LOCK_FREE)
        futex_wait(&lock->word, LOCK_AWAITED);
}

//===-- the bias -----------------------------------------------------------------------------------------------------===//

void runloop__lock_init(struct lock *lock) {
    memset(lock, 0, sizeof *lock);
    lock->takes_before_bias = LOCK_TAKES_BEFORE_BIAS;
    lock->generation = runloop__generation();
}

/// The loop's thread, which has stored `inside` and seen that there is no bias.
void runloop__lock_take_unbiased(struct lock *lock) {
    lock_leave(lock);
    lock_acknowledge(lock);
    lock_take_word(lock);
    if (++lock->takes < lock->takes_before_bias || !barriers_are_registered())
        return;
    lock->takes = 0;
    lock->biased_ns = monotonic_ns();
    atomic_store_explicit(&lock->acknowledgments, 0, memory_order_relaxed);
    atomic_store_explicit(&lock->inside, true, memory_order_relaxed);
    atomic_store_explicit(&lock->bias, LOCK_BIASED, memory_order_relaxed);
    lock_give_word(lock);
}

/// HOLDS: the word, and the loop's thread is not inside and never will be without it.
static void end_bias(struct lock *lock) {
    atomic_store_explicit(&lock->bias, LOCK_SHARED, memory_order_relaxed);
    bool was_short = monotonic_ns() - lock->biased_ns < LOCK_QUIET_NS;
    if (!was_short)
        lock->takes_before_bias = LOCK_TAKES_BEFORE_BIAS;
    else if (lock->takes_before_bias < LOCK_TAKES_AT_MOST)
        lock->takes_before_bias *= 2;
}

static void await_leaving(struct lock *lock) {
    while (atomic_load_explicit(&lock->inside, memory_order_acquire))
        futex_wait(&lock->inside, true);
    end_bias(lock);
}

/// HOLDS: the word.
bool runloop__lock_revoke(struct lock *lock) {
    atomic_store_explicit(&lock->bias, LOCK_REVOKING, memory_order_seq_cst);
    if (!membarrier(BARRIER_ON_THREADS)) {
        atomic_store(&barriers_are_refused, true);
        return false;
    }
    await_leaving(lock);
    return true;
}

void runloop__lock_await_acknowledgment(struct lock *lock) {
    // Counted from 0 since the bias was given, so an acknowledgment can only mean that REVOKING was seen.
    while (atomic_load_explicit(&lock->acknowledgments, memory_order_acquire) == 0)
        futex_wait(&lock->acknowledgments, 0);
    await_leaving(lock);
}
