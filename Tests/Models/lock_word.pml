// lock_word.pml — a loop's lock without bias: a word that is FREE, HELD or AWAITED, and a futex. Source: base/lock.h,
// base/lock.c.
//
// Three threads take the lock twice each, and count what they did while they had it.
//
// Claim: no two threads have the lock at once. Who takes it sees all that was written under it before. No sleeper is
// forgotten: all threads come to their end.
//
// Broken variants:
//   TAKES_BY_STORE     a thread that finds the word free stores that it is held
//   TAKES_AS_HELD      a thread that slept takes the word as HELD, though others may still sleep
//   GIVES_BY_STORE     the word is given up by a load and a store
//   SLEEPS_UNANNOUNCED a thread sleeps without having made the word AWAITED
//   SLEEPS_UNCHECKED   it sleeps without comparing the word again

#define THREADS 3
#define WORDS 2
#define WORD 0
#define COUNT 1 // written under the lock, by plain stores

#define FREE 0
#define HELD 1
#define AWAITED 2

#include "parts/machine.pml"

byte inside;

/// A compare-exchange. What it found is in `found`.
inline compare_exchange(expected, value) {
#ifdef TAKES_BY_STORE
    found = LOAD(WORD);
    if
    :: found == expected -> store(WORD, value)
    :: else
    fi
#else
    atomic {
        LOCKED -> found = memory[WORD];
        if
        :: found == expected -> memory[WORD] = value
        :: else
        fi
    }
#endif
}

inline sleep() {
#if defined SLEEPS_UNCHECKED
    asleep_on[me] = WORD + 1;
    asleep_on[me] == 0
#elif defined SLEEPS_UNANNOUNCED
    futex_wait(WORD, HELD)
#else
    futex_wait(WORD, AWAITED)
#endif
}

/// One attempt of a thread that waits.
inline take_awaited() {
#if defined SLEEPS_UNANNOUNCED
    compare_exchange(FREE, HELD)
#elif defined TAKES_AS_HELD
    compare_exchange(FREE, HELD);
    if
    :: found == HELD -> compare_exchange(HELD, AWAITED)
    :: else
    fi
#else
    exchange(WORD, AWAITED, found)
#endif
}

/// runloop__lock_wait_for_word
inline wait_for_word() {
    do
    :: take_awaited();
       if
       :: found == FREE -> break
       :: else -> sleep()
       fi
    od
}

inline take() {
    compare_exchange(FREE, HELD);
    if
    :: found == FREE
    :: else -> wait_for_word()
    fi
}

inline give() {
#ifdef GIVES_BY_STORE
    found = LOAD(WORD);
    store(WORD, FREE);
#else
    exchange(WORD, FREE, found);
#endif
    if
    :: found == AWAITED -> futex_wake_one(WORD)
    :: else
    fi;
    found = 0
}

proctype Thread(byte me) {
    byte found, turn;
    for (turn : 1 .. 2) {
        take();
        inside++;
        assert(inside == 1);
        found = LOAD(COUNT);
        store(COUNT, found + 1);
        inside--;
        give()
    }
}

init {
    atomic {
        run Processor(0); run Processor(1); run Processor(2);
        run Thread(0); run Thread(1); run Thread(2)
    };
    // When all have ended but the processors.
    _nr_pr == THREADS + 1;
    assert(memory[COUNT] == 2 * THREADS)
}
