// waking.pml — the wake word and the eventfd, for the models that wake a loop. Source: kernel/kernel.h, kernel/wake.c.
// wake.pml verifies them.
//
// The model defines WAKE_WORD and ACCEPTS, two words of its memory. Its threads have a variable `found`, what an
// operation found there.

#define RUNNING 1
#define STOPPED 2
#define WOKEN 4
#define ASLEEP 8
#define KICKED 16

/// The eventfd is watched for edges: a wait consumes them, however many there were.
bool edge;

//===-- any thread ---------------------------------------------------------------------------------------------------===//

/// runloop__wake_set. That a compare-exchange fails and is tried again adds nothing to what others can see.
inline wake_set(required, asked) {
    if
    :: (LOAD(WAKE_WORD) & (required)) != (required)
    :: atomic { LOCKED && (memory[WAKE_WORD] & (required)) == (required) ->
           found = memory[WAKE_WORD];
           memory[WAKE_WORD] = found | (asked)
       };
       if
       :: (found & (ASLEEP | WOKEN | STOPPED | KICKED)) == ASLEEP -> edge = true
       :: else
       fi
    fi;
    found = 0
}

/// wake_up, after a read-modify-write of what the loop looks at: mostly loads.
inline wake_up_after_change() {
    if
    :: LOAD(ACCEPTS) ->
       if
       :: (LOAD(WAKE_WORD) & (RUNNING | WOKEN)) == RUNNING -> wake_set(RUNNING, WOKEN)
       :: else
       fi
    :: else
    fi
}

/// runloop__wake_up, which runloop_wake_up is. The fetch_or that leaves `accepts_wakeups` as it is lets earlier stores
/// arrive.
inline wake_up() {
#ifdef WAKES_WITHOUT_FENCE
    wake_up_after_change();
#else
    if
    :: LOCKED && memory[ACCEPTS] -> wake_set(RUNNING, WOKEN)
    :: LOCKED && !memory[ACCEPTS]
    fi
#endif
}

//===-- the loop's thread --------------------------------------------------------------------------------------------===//

inline wake_accept() {
    if
    :: !LOAD(ACCEPTS) ->
#ifdef ACCEPTS_BY_STORE
       store(ACCEPTS, true)
#else
       store_locked(ACCEPTS, true)
#endif
    :: else
    fi
}

inline wake_enter() {
    store(WAKE_WORD, RUNNING);
    wake_accept()
}

inline wake_leave() {
    store(WAKE_WORD, 0);
    store(ACCEPTS, false)
}

/// What it found is in `found`.
inline wake_announce_sleep() {
#ifdef ANNOUNCES_BY_STORE
    found = LOAD(WAKE_WORD);
    store(WAKE_WORD, found | ASLEEP)
#else
    atomic { LOCKED -> found = memory[WAKE_WORD]; memory[WAKE_WORD] = found | ASLEEP }
#endif
}

/// runloop__poller_wait. Without an edge it sleeps; a loop that sleeps for ever is found as an invalid end state.
inline poller_wait() {
    atomic { LOCKED && edge -> edge = false }
}

/// What came is in `found`.
inline wake_take_news() {
    found = LOAD(WAKE_WORD);
#ifndef KEEPS_KICKS
    if
    :: found & KICKED -> atomic { LOCKED -> found = memory[WAKE_WORD]; memory[WAKE_WORD] = found & ~KICKED }
    :: else
    fi
#endif
}

inline wake_finish_wait() {
    store(ACCEPTS, false);
    if
    :: LOAD(WAKE_WORD) & (WOKEN | ASLEEP | KICKED) ->
       atomic { LOCKED -> memory[WAKE_WORD] = memory[WAKE_WORD] & ~(WOKEN | ASLEEP | KICKED) }
    :: else
    fi;
    found = 0
}
