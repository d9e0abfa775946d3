// lock_bias.pml — the bias of a loop's lock to its thread. Source: base/lock.h, base/lock.c; lock_word.pml has the word
// by itself.
//
// The loop's thread takes the lock four times, and is given the bias at its first take without one; then it ends its
// bias for good. Two other threads take the lock once each, and revoke the bias they find. The barrier (membarrier)
// lets the stores of the loop's thread arrive; the kernel may refuse it. Then the other thread wakes the loop, and
// waits until that acknowledges. All count what they did.
//
// Claim: no two threads have the lock at once. Who takes it sees all that was written under it before. Nobody waits for
// ever.
//
// Broken variants:
//   REVOKES_WITHOUT_BARRIER  the revoker looks whether the loop's thread is inside without a barrier before
//   DOES_NOT_AWAIT_LEAVING   it does not wait until the loop's thread is outside
//   LEAVES_SILENTLY          the loop's thread does not wake a revoker when it leaves
//   LOOKS_BEFORE_INSIDE      it looks at the bias, then says that it is inside
//   GOES_ON_WHEN_REFUSED     a revoker whose barrier was refused does not await the acknowledgment
//   KEEPS_ACKNOWLEDGMENTS    acknowledgments are not counted from 0 when the bias is given
//   ENDS_SILENTLY            a thread that ends its bias does not acknowledge a revocation, and never will

#define THREADS 3
#define WORDS 5
#define WORD 0
#define BIAS 1
#define INSIDE 2
#define ACKNOWLEDGMENTS 3
#define COUNT 4 // written under the lock, by plain stores

#define FREE 0
#define HELD 1
#define AWAITED 2

#define SHARED 0
#define BIASED 1
#define REVOKING 2

#define TAKES 4

#include "parts/machine.pml"

byte holders;
bool barriers_are_refused;

//===-- the word -----------------------------------------------------------------------------------------------------===//

inline take_word() {
    atomic {
        LOCKED -> found = memory[WORD];
        if
        :: found == FREE -> memory[WORD] = HELD
        :: else
        fi
    };
    do
    :: found == FREE -> break
    :: else ->
       exchange(WORD, AWAITED, found);
       if
       :: found != FREE -> futex_wait(WORD, AWAITED)
       :: else
       fi
    od
}

inline give_word() {
    exchange(WORD, FREE, found);
    if
    :: found == AWAITED -> futex_wake_one(WORD)
    :: else
    fi;
    found = 0
}

inline work() {
    holders++;
    assert(holders == 1);
    found = LOAD(COUNT);
    store(COUNT, found + 1);
    holders--;
    found = 0
}

//===-- the loop's thread --------------------------------------------------------------------------------------------===//

inline leave() {
    store(INSIDE, false);
#ifndef LEAVES_SILENTLY
    if
    :: LOAD(BIAS) == REVOKING -> futex_wake_one(INSIDE)
    :: else
    fi
#endif
}

inline acknowledge() {
    atomic {
        LOCKED;
        if // counts up to 2, which is enough
        :: memory[ACKNOWLEDGMENTS] < 2 -> memory[ACKNOWLEDGMENTS] = memory[ACKNOWLEDGMENTS] + 1
        :: else
        fi
    };
    if
    :: LOAD(BIAS) == REVOKING -> futex_wake_one(ACKNOWLEDGMENTS)
    :: else
    fi
}

/// runloop__lock_take_unbiased. The bias is given again as soon as it may be, if the barrier was not refused by then.
inline take_unbiased() {
    leave();
    acknowledge();
    take_word();
    if
    :: !barriers_are_refused ->
#ifndef KEEPS_ACKNOWLEDGMENTS
       store(ACKNOWLEDGMENTS, 0);
#endif
       store(INSIDE, true);
       store(BIAS, BIASED);
       give_word()
    :: else
    fi
}

inline take() {
#ifdef LOOKS_BEFORE_INSIDE
    if
    :: LOAD(BIAS) == BIASED -> store(INSIDE, true)
    :: else -> take_unbiased()
    fi
#else
    store(INSIDE, true);
    if
    :: LOAD(BIAS) == BIASED
    :: else -> take_unbiased()
    fi
#endif
}

inline give() {
    if
    :: LOAD(INSIDE) -> leave()
    :: else -> give_word()
    fi
}

/// lock_end_bias, which acknowledges for the last time.
inline end_own_bias() {
#ifndef ENDS_SILENTLY
    acknowledge();
#endif
    take_word();
    store(BIAS, SHARED);
    give_word()
}

proctype Loop(byte me) {
    byte found, turn;
    for (turn : 1 .. TAKES) {
        take();
        work();
        give()
    };
    end_own_bias()
}

//===-- other threads ------------------------------------------------------------------------------------------------===//

/// The stores of the loop's thread arrive. The kernel refuses all barriers from some moment on.
inline barrier() {
#ifdef REVOKES_WITHOUT_BARRIER
    skip
#else
    atomic {
        if
        :: !barriers_are_refused && LOCKED && waiting[0].count == 0
        :: barriers_are_refused = true
        fi
    }
#endif
}

inline await_leaving() {
#ifndef DOES_NOT_AWAIT_LEAVING
    do
    :: LOAD(INSIDE) -> futex_wait(INSIDE, true)
    :: else -> break
    od;
#endif
    store(BIAS, SHARED)
}

inline await_acknowledgment() {
#ifndef GOES_ON_WHEN_REFUSED
    do
    :: LOAD(ACKNOWLEDGMENTS) == 0 -> futex_wait(ACKNOWLEDGMENTS, 0)
    :: else -> break
    od
#else
    skip
#endif
}

/// runloop__lock_revoke, and what its caller does after a refusal.
inline revoke() {
    store_locked(BIAS, REVOKING);
    barrier();
    if
    :: barriers_are_refused -> await_acknowledgment()
    :: else
    fi;
    await_leaving()
}

proctype Other(byte me) {
    byte found;
    take_word();
    if
    :: LOAD(BIAS) == BIASED -> revoke()
    :: else
    fi;
    work();
    give_word()
}

init {
    atomic {
        run Processor(0); run Processor(1); run Processor(2);
        run Loop(0); run Other(1); run Other(2)
    };
    // When all have ended but the processors.
    _nr_pr == THREADS + 1;
    assert(memory[COUNT] == TAKES + THREADS - 1)
}
