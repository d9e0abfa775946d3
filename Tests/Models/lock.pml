// lock.pml — the lock of a loop, and of whatever else: a word that is FREE, HELD or AWAITED, and a futex. Source:
// include/runloop_lock.h. Which generation holds it is left out: a word of another one is free.
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
//   ANNOUNCES_BLINDLY  it stores AWAITED, whatever the word is by then

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

/// lock_await: the word was found held. Before it sleeps, a thread makes it AWAITED, if nobody else has.
inline sleep_once() {
#if defined SLEEPS_UNANNOUNCED
    sleep()
#elif defined ANNOUNCES_BLINDLY
    store_locked(WORD, AWAITED);
    sleep()
#else
    if
    :: found == AWAITED -> sleep()
    :: else ->
        compare_exchange(HELD, AWAITED);
        if
        :: found == HELD -> sleep()
        :: else
        fi
    fi
#endif
}

inline take() {
    compare_exchange(FREE, HELD);
    do
    :: found == FREE -> break
    :: else ->
        sleep_once();
#ifdef TAKES_AS_HELD
        compare_exchange(FREE, HELD)
#else
        compare_exchange(FREE, AWAITED)
#endif
    od
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
