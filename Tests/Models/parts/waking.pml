// waking.pml — the wake word and the eventfd, for the models that wake a loop. Source: kernel/kernel.h, kernel/wake.c.
// wake.pml verifies them.
//
// The model defines WAKE_WORD, a word of its memory. Its threads have a variable `found`, what an operation found there;
// the loop's has another one, `ignores_wakeups`: its wait is over.

#define RUNNING 1
#define STOPPED 2
#define WOKEN 4
#define ASLEEP 8
#define KICKED 16
#define UNTOLD 32

/// The eventfd is watched for edges: a wait consumes them, however many there were. Each is one for an edge-triggered host, too.
bool edge, host_edge;

inline poller_wake() {
    atomic { edge = true; host_edge = true }
}

//===-- any thread ---------------------------------------------------------------------------------------------------===//

/// runloop__wake_set. That a compare-exchange fails and is tried again adds nothing to what others can see. One that
/// leaves the word as it is lets earlier stores arrive.
inline wake_set(required, asked) {
    atomic { LOCKED ->
        found = memory[WAKE_WORD];
        if
        :: found & (required) -> memory[WAKE_WORD] = (found | (asked)) & ~UNTOLD
        :: else -> found = 0
        fi
    };
    if
#ifndef WRITES_IF_ASLEEP
    :: found & UNTOLD -> poller_wake()
    :: !(found & UNTOLD) && (found & (ASLEEP | WOKEN | STOPPED | KICKED)) == ASLEEP -> poller_wake()
#else
    :: (found & (ASLEEP | WOKEN | STOPPED | KICKED)) == ASLEEP -> poller_wake()
#endif
    :: else
    fi;
    found = 0
}

/// wake_up, after a read-modify-write of what the loop looks at: mostly a load.
inline wake_up_after_change() {
    if
    :: (LOAD(WAKE_WORD) & (RUNNING | WOKEN)) == RUNNING || (LOAD(WAKE_WORD) & UNTOLD) -> wake_set(RUNNING, WOKEN)
    :: else
    fi
}

/// runloop_wake_up
inline wake_up() {
#ifdef WAKES_WITHOUT_FENCE
    wake_up_after_change()
#else
    wake_set(RUNNING, WOKEN)
#endif
}

//===-- the loop's thread --------------------------------------------------------------------------------------------===//

/// What the outer run was told is in `outer`; 0 if there is none.
inline wake_enter(outer) {
#ifdef ENTERS_BY_STORE
    outer = LOAD(WAKE_WORD);
    store(WAKE_WORD, RUNNING)
#else
    exchange(WAKE_WORD, RUNNING, outer)
#endif
}

inline wake_leave(outer) {
#ifdef LEAVES_BY_STORE
    store(WAKE_WORD, outer)
#else
    if
    :: outer -> store_locked(WAKE_WORD, outer)
    :: else -> store(WAKE_WORD, 0)
    fi
#endif
}

/// An iteration begins.
inline wake_ignore() {
    if
    :: ignores_wakeups && (LOAD(WAKE_WORD) & WOKEN) ->
#ifdef IGNORES_BY_STORE
       found = LOAD(WAKE_WORD);
       store(WAKE_WORD, found & ~WOKEN);
       found = 0
#else
       atomic { LOCKED -> memory[WAKE_WORD] = memory[WAKE_WORD] & ~WOKEN }
#endif
    :: else
    fi;
    ignores_wakeups = false
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
    ignores_wakeups = true;
    if
    :: LOAD(WAKE_WORD) & (WOKEN | ASLEEP | KICKED) ->
       atomic { LOCKED -> memory[WAKE_WORD] = memory[WAKE_WORD] & ~(WOKEN | ASLEEP | KICKED) }
    :: else
    fi;
    found = 0
}
