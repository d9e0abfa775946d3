// lock.c — the lock of a loop, where it is more than a few instructions: when it is contended, and when its bias changes.
//
// The word. Who finds it taken sleeps at once; there is nothing to be fair about. Who takes it after having slept leaves it WANTED,
// since others may sleep too: one system call too many at worst, and no sleeper is ever forgotten.
//
// The bias changes with the word held only, so every change sees the one before. Who may be inside:
//   SHARED    who holds the word.
//   BIASED    the own thread while `inside` says so. Others take the word, and revoke the bias before they are inside.
//   REVOKING  for a moment, by who holds the word: the own thread if it was inside, until it leaves; then who revokes.
//
// Why who revokes is never inside together with the own thread, although that one only stores `inside` and then loads `bias`,
// with nothing to keep the processor from turning the two round. Who revokes stores REVOKING, then has the kernel run a barrier on
// every thread of the process (membarrier), then loads `inside`. Take the place of that barrier among the own thread's instructions:
//   its store of `inside` comes before it: then who revokes sees it, and waits until the own thread has left;
//   its store of `inside` comes after it:  then so does its load of the bias, which finds REVOKING, and it goes for the word.
// Leaving is the same pair, a store of `inside` and a load of the bias. If the load comes before the barrier, who revokes sees that
// the thread has left; if after it, the thread sees REVOKING and wakes who may sleep on `inside`. So that wake-up is never lost.
//
// What was written inside is seen by who comes next: `inside` is cleared with release and read with acquire, the word likewise, and
// the own thread's first take by bias follows its own take of the word, with which it set the bias.
//
// The own thread sets the bias again when it has taken the word often enough in a row. Each revocation costs the other thread half a
// microsecond and each take by bias saves some 5 ns, so that many takes later it has paid for itself several times over (0047).

#include "lock.h"

#include <errno.h>
#include <limits.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef LOCK_TAKES_BEFORE_BIAS
#define LOCK_TAKES_BEFORE_BIAS 1000
#endif

//===-- the kernel ---------------------------------------------------------------------------------------------------===//

#ifndef SYS_futex
#define SYS_futex SYS_futex_time64
#endif

// The kernel's numbers, for futexes that processes don't share and for barriers; not every libc comes with the headers that name them.
enum { FUTEX_WAIT_PRIVATELY = 128, FUTEX_WAKE_PRIVATELY = 129 };
enum { BARRIER_ON_THREADS = 1 << 3, BARRIER_REGISTER = 1 << 4 };

static void futex(_Atomic uint32_t *word, int operation, uint32_t value) {
    syscall(SYS_futex, (uint32_t *)word, operation, value, (void *)0, (void *)0, 0);
}

static bool membarrier(int command) {
    return syscall(SYS_membarrier, command, 0, 0) == 0;
}

static bool may_be_biased;

// When the library is loaded, since a process mostly has one thread then. Later, with several, this would take milliseconds.
static __attribute__((constructor)) void ask_for_barriers(void) {
    may_be_biased = membarrier(BARRIER_REGISTER);
}

static void run_barrier_on_all_threads(void) {
    if (membarrier(BARRIER_ON_THREADS) || (membarrier(BARRIER_REGISTER) && membarrier(BARRIER_ON_THREADS)))
        return;
    // The kernel gave this before, and does no more: the process has locked itself in. A store is on its way for less than a microsecond
    // on any machine there is; this is long enough for every processor to have been interrupted as well. A signal cuts nothing off.
    struct timespec left = {.tv_nsec = 20 * 1000 * 1000};
    while (nanosleep(&left, &left) && errno == EINTR)
        continue;
}

//===-- the word -----------------------------------------------------------------------------------------------------===//

void runloop__lock_take_later(struct lock *lock) {
    while (atomic_exchange_explicit(&lock->word, LOCK_WANTED, memory_order_acquire) != LOCK_FREE)
        futex(&lock->word, FUTEX_WAIT_PRIVATELY, LOCK_WANTED);
}

void runloop__lock_wake_one(struct lock *lock) {
    futex(&lock->word, FUTEX_WAKE_PRIVATELY, 1);
}

//===-- the bias -----------------------------------------------------------------------------------------------------===//

void runloop__lock_init(struct lock *lock) {
    atomic_init(&lock->word, LOCK_FREE);
    atomic_init(&lock->bias, may_be_biased ? LOCK_BIASED : LOCK_SHARED);
    atomic_init(&lock->inside, false);
    lock->own_takes = 0;
}

/// HOLDS: the word.
void runloop__lock_revoke(struct lock *lock) {
    atomic_store_explicit(&lock->bias, LOCK_REVOKING, memory_order_seq_cst);
    run_barrier_on_all_threads();
    while (atomic_load_explicit(&lock->inside, memory_order_acquire))
        futex(&lock->inside, FUTEX_WAIT_PRIVATELY, true);
    atomic_store_explicit(&lock->bias, LOCK_SHARED, memory_order_relaxed);
}

void runloop__lock_wake_revoker(struct lock *lock) {
    futex(&lock->inside, FUTEX_WAKE_PRIVATELY, INT_MAX);
}

/// The own thread, which has said that it is inside, and has seen that it isn't.
void runloop__lock_take_without_bias(struct lock *lock) {
    lock_leave(lock);
    lock_take_word(lock);
    if (!may_be_biased || ++lock->own_takes < LOCK_TAKES_BEFORE_BIAS)
        return;
    lock->own_takes = 0;
    atomic_store_explicit(&lock->inside, true, memory_order_relaxed);
    atomic_store_explicit(&lock->bias, LOCK_BIASED, memory_order_relaxed);
    lock_give_word(lock);
}
