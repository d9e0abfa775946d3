// owner.pml — the word that names the loop of an item, and the end of that loop. Source: model/owner.c,
// model/attached.c, run/teardown.c.
//
// A loop's thread puts an item into its loop, while others change the item, which is in none. Then it ends: it takes the
// item out, passes through the item's guard, and gives up its reference. Three other threads change the item, wherever it
// is. The locks themselves are taken for granted; they are given up by a plain store.
//
// Claim: no two threads change the item at once, and each sees what the one before has written. No thread touches a
// loop that was freed, and the loop is freed.
//
// Broken variants:
//   ENDS_WITHOUT_READERS  the loop's thread does not pass through the guard
//   READS_UNLOCKED        another thread reads the word and takes a reference without the guard
//   DOES_NOT_LOOK_AGAIN   having locked the loop, it does not look whether the item is still there
//   TAKES_UNGUARDED       the loop's thread becomes the owner by a compare-exchange, without the guard

#define THREADS 4
#define WORDS 5
#define OWNER 0
#define LOCK 1       // of the loop
#define GUARD 2      // of the item in no loop
#define REFERENCES 3 // of the loop; 0: freed
#define COUNT 4      // of changes to the item, by plain stores

#define NONE 0
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

//===-- other threads ------------------------------------------------------------------------------------------------===//

inline change_in_loop() {
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
}

/// runloop__lock_other_owner, a change, and runloop__unlock_other_owner
proctype Other(byte me) {
    byte word;
    bool has_changed;
    do
    :: has_changed -> break
    :: else ->
#ifdef READS_UNLOCKED
       word = LOAD(OWNER);
       if
       :: word == NONE -> take_lock(GUARD); word = LOAD(OWNER)
       :: else
       fi;
#else
       take_lock(GUARD);
       word = LOAD(OWNER);
#endif
       if
       :: word == NONE -> change(); has_changed = true; store_locked(GUARD, 0)
       :: word == LOOP ->
          atomic {
              LOCKED;
              assert(!IS_FREED);
              memory[REFERENCES] = memory[REFERENCES] + 1
          }
#ifndef READS_UNLOCKED
          store_locked(GUARD, 0);
#endif
          change_in_loop()
       fi
    od
}

//===-- the loop's thread --------------------------------------------------------------------------------------------===//

/// With the lock.
inline take_ownership() {
#ifdef TAKES_UNGUARDED
    store_locked(OWNER, LOOP)
#else
    take_lock(GUARD);
    store(OWNER, LOOP);
    store_locked(GUARD, 0)
#endif
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
    take_lock(GUARD);
    store_locked(GUARD, 0);
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
