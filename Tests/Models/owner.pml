// owner.pml — the word that names the loop of an item, and the end of that loop. Source: model/owner.c,
// model/attached.c, run/teardown.c.
//
// A loop's thread puts an item into its loop, which may fail, since the item is in none while others change it. Then it
// ends: it takes the item out, passes through the readers' lock, and gives up its reference. Three other threads change
// the item, wherever it is. The locks themselves are taken for granted; a loop's is given up by a plain store, as the
// biased one is.
//
// Claim: no two threads change the item at once, and each sees what the one before has written. No thread touches a
// loop that was freed. No sleeper is forgotten, and the loop is freed.
//
// Broken variants:
//   ENDS_WITHOUT_READERS  the loop's thread does not pass through the readers' lock
//   READS_UNLOCKED        another thread reads the word and takes a reference without that lock
//   DOES_NOT_LOOK_AGAIN   having locked the loop, it does not look whether the item is still there
//   TAKES_BY_STORE        a thread that finds no owner stores that the word is held
//   GIVES_BY_STORE        a held word is given up by a load and a store
//   SLEEPS_UNMARKED       a thread sleeps without having marked the word as awaited
//   WAKES_ONE             only one of those that sleep is woken

#define THREADS 4
#define WORDS 5
#define OWNER 0
#define LOCK 1       // of the loop
#define READERS 2    // the lock of those that read a word
#define REFERENCES 3 // of the loop; 0: freed
#define COUNT 4      // of changes to the item, by plain stores

#define NONE 0
#define HELD 1
#define AWAITED 2 // added to HELD
#define LOOP 4

#include "parts/machine.pml"

byte changing;

#define IS_FREED (memory[REFERENCES] == 0)

inline take_lock(lock) {
    atomic { LOCKED && memory[lock] == 0 -> memory[lock] = 1 }
}

inline change() {
    changing++;
    assert(changing == 1);
    word = LOAD(COUNT);
    store(COUNT, word + 1);
    changing--
}

inline release_loop() {
    atomic {
        LOCKED;
        assert(!IS_FREED);
        memory[REFERENCES] = memory[REFERENCES] - 1
    }
}

//===-- a word that is held ------------------------------------------------------------------------------------------===//

/// A compare-exchange. What it found is in `word`.
inline compare_exchange(expected, replacement) {
    atomic {
        LOCKED -> word = memory[OWNER];
        if
        :: word == expected -> memory[OWNER] = replacement
        :: else
        fi
    }
}

/// await_word: `word` is held.
inline await_word() {
#ifdef SLEEPS_UNMARKED
    futex_wait(OWNER, word)
#else
    if
    :: word == HELD -> compare_exchange(HELD, HELD + AWAITED)
    :: else
    fi;
    if
    :: word & HELD -> futex_wait(OWNER, HELD + AWAITED)
    :: else
    fi
#endif
}

inline hold() {
#ifdef TAKES_BY_STORE
    word = LOAD(OWNER);
    if
    :: word == NONE -> store(OWNER, HELD)
    :: else
    fi
#else
    compare_exchange(NONE, HELD)
#endif
}

inline give_held() {
#ifdef GIVES_BY_STORE
    word = LOAD(OWNER);
    store(OWNER, NONE);
#else
    exchange(OWNER, NONE, word);
#endif
    if
#ifdef WAKES_ONE
    :: word & AWAITED -> futex_wake_one(OWNER)
#else
    :: word & AWAITED -> futex_wake_all(OWNER)
#endif
    :: else
    fi
}

//===-- other threads ------------------------------------------------------------------------------------------------===//

/// runloop__reference_owner. The reference is in `word`, or NONE.
inline reference_owner() {
#ifndef READS_UNLOCKED
    take_lock(READERS);
#endif
    word = LOAD(OWNER);
    if
    :: word == LOOP ->
       atomic {
           LOCKED;
           assert(!IS_FREED);
           memory[REFERENCES] = memory[REFERENCES] + 1
       }
    :: else -> word = NONE
    fi;
#ifndef READS_UNLOCKED
    store_locked(READERS, 0)
#endif
}

inline change_in_loop() {
    reference_owner();
    if
    :: word == LOOP ->
       take_lock(LOCK);
       if
#ifdef DOES_NOT_LOOK_AGAIN
       :: true ->
#else
       :: LOAD(OWNER) == LOOP ->
#endif
          change();
          has_changed = true
       :: LOAD(OWNER) != LOOP
       fi;
       store(LOCK, 0);
       release_loop()
    :: else
    fi
}

/// runloop__lock_other_owner, a change, and runloop__unlock_other_owner
proctype Other(byte me) {
    byte word;
    bool has_changed;
    do
    :: has_changed -> break
    :: else ->
       word = LOAD(OWNER);
       if
       :: word == NONE ->
          hold();
          if
          :: word == NONE -> change(); give_held(); has_changed = true
          :: else
          fi
       :: word & HELD -> await_word()
       :: word == LOOP -> change_in_loop()
       fi
    od
}

//===-- the loop's thread --------------------------------------------------------------------------------------------===//

/// take_ownership, with the lock: waits while the word is held.
inline take_ownership() {
    do
    :: compare_exchange(NONE, LOOP);
       if
       :: word == NONE -> break
       :: else -> await_word()
       fi
    od
}

proctype Loop(byte me) {
    byte word;
    take_lock(LOCK);
    take_ownership();
    change();
    store(LOCK, 0);
    // Teardown.
    take_lock(LOCK);
    change();
    store(OWNER, NONE);
    store(LOCK, 0);
#ifndef ENDS_WITHOUT_READERS
    take_lock(READERS);
    store_locked(READERS, 0);
#endif
    release_loop()
}

init {
    memory[REFERENCES] = 1;
    atomic {
        run Processor(0); run Processor(1); run Processor(2); run Processor(3);
        run Loop(0); run Other(1); run Other(2); run Other(3)
    };
    // When all have ended but the processors.
    _nr_pr == THREADS + 1;
    assert(IS_FREED && memory[COUNT] == THREADS + 1)
}
