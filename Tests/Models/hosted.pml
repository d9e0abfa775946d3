// hosted.pml — hosted runs: who tells the host. Source: kernel/kernel.h, kernel/wake.c, run/hosted.c, run/run.c, run/wait.c.
//
// The loop's thread is its host's, which waits for the loop's set, by its edges or by its level, and calls the loop when it is told. In
// one of the loop's call-outs, the first or a later one, the host runs its own loop. One thread posts at any time, or
// after the first call-out; another one posts while the host's loop runs in the call-out.
//
// Claim: no host sleeps for ever. What is posted while the call-out runs is performed inside it; and what was posted before, unless an
// edge-triggered host does not ask there once.
//
// Broken variants:
//   TELLS_ONCE            a call of the host's does not set UNTOLD
//   TRUSTS_LEVEL          the set is taken to be readable although it was asked
//   WRITES_IF_ASLEEP      a post writes only if it ends a sleep
//   ASKS_NOT              an edge-triggered host that wants what was posted before does not ask

#define THREADS 3
#define WORDS 3
#define WAKE_WORD 0
#define POSTED 1 // two words

#include "parts/machine.pml"
#include "parts/waking.pml"

bool sees_edges, may_post_first, may_post_second;
/// What was performed, and whether it all was.
bool did_first, did_second;
#define DID_ALL (did_first && did_second)
/// The loop's thread: the set is readable until it is asked.
bool is_readable;

/// The push is a read-modify-write.
proctype Poster(byte me) {
    byte found;
    if
    :: me == 1 -> may_post_first
    :: else -> may_post_second
    fi;
    store_locked(POSTED + me - 1, true);
    wake_up_after_change()
}

//===-- the host -----------------------------------------------------------------------------------------------------===//

/// An edge that finds the set asked meanwhile is none.
inline host_wait() {
    if
    :: sees_edges -> atomic { LOCKED && host_edge && edge -> host_edge = false }
    :: else -> LOCKED && edge
    fi
}

inline tell_host() {
    atomic { LOCKED -> memory[WAKE_WORD] = memory[WAKE_WORD] & ~UNTOLD };
    poller_wake();
    is_readable = true
}

inline keep_host_awake() {
    if
    :: is_readable
    :: else -> tell_host()
    fi
}

//===-- the loop -----------------------------------------------------------------------------------------------------===//

inline ask() {
    atomic { LOCKED -> edge = false };
#ifndef TRUSTS_LEVEL
    is_readable = false;
#endif
    wake_take_news()
}

inline perform() {
    did_first = did_first || LOAD(POSTED);
    did_second = did_second || LOAD(POSTED + 1)
}

#define MORE_TO_DO ((LOAD(POSTED) && !did_first) || (LOAD(POSTED + 1) && !did_second))

/// Announces the sleep, looks and asks. Whether the host is to sleep is in `is_asleep`.
inline go_to_sleep(is_asleep) {
    wake_announce_sleep();
    if
    :: (found & WOKEN) || MORE_TO_DO
    :: else ->
       ask();
       is_asleep = !(found & WOKEN)
    fi
}

inline host_called() {
#ifndef TELLS_ONCE
    atomic { LOCKED -> memory[WAKE_WORD] = memory[WAKE_WORD] | UNTOLD }
#else
    skip
#endif
}

inline resume_wait(is_asleep) {
    if
    :: !is_asleep
    :: is_asleep ->
       if
       :: LOAD(WAKE_WORD) & WOKEN -> is_readable = true; is_asleep = false
       :: else -> ask(); is_asleep = !(found & WOKEN)
       fi;
       finish_wait(is_asleep)
    fi
}

inline finish_wait(is_asleep) {
    if
    :: is_asleep
    :: else -> wake_finish_wait()
    fi
}

/// One call of the host's: iterations until it is to sleep. A macro, since an inline can't be expanded inside itself.
#define ITERATE(is_asleep, call_out)                                                                                   \
    host_called();                                                                                                     \
    resume_wait(is_asleep);                                                                                            \
    do                                                                                                                 \
    :: is_asleep -> break                                                                                              \
    :: else -> wake_ignore(); keep_host_awake(); call_out(); go_to_sleep(is_asleep); finish_wait(is_asleep)            \
    od;                                                                                                                \
    found = 0

/// The host's loop in a call-out. Its first call begins a nested run, which ends with the call-out.
inline run_host_in_call_out() {
    if
    :: sees_edges -> may_post_second = true // and it wants that alone
    :: wants_first = true
    fi;
#ifndef ASKS_NOT
    if
    :: sees_edges && wants_first -> wake_enter_hosted(); ITERATE(is_asleep_inside, perform)
    :: else
    fi;
#endif
    do
    :: did_first && !may_post_second -> may_post_second = true
    :: did_second && (did_first || !wants_first) -> break
    :: else ->
       host_wait();
       if
       :: outer_word == 0 -> wake_enter_hosted()
       :: else
       fi;
       ITERATE(is_asleep_inside, perform)
    od;
    if
    :: outer_word -> store_locked(WAKE_WORD, outer_word); outer_word = 0; keep_host_awake()
    :: else
    fi
}

inline wake_enter_hosted() {
    exchange(WAKE_WORD, RUNNING | UNTOLD, outer_word)
}

/// In the first, or the one after, which may come with the first post.
inline call_out() {
    if
    :: !was_modal && !is_later -> was_modal = true; may_post_first = true; run_host_in_call_out()
    :: is_later -> is_later = false; may_post_first = true
    :: else
    fi;
    if
    :: was_modal -> perform()
    :: else
    fi
}

proctype Loop(byte me) {
    byte found, outer_word;
    bool ignores_wakeups, is_asleep, is_asleep_inside, was_modal, is_later, wants_first;
    if
    :: is_later = true
    :: is_later = false
    fi;
    store_locked(WAKE_WORD, RUNNING | UNTOLD);
    tell_host();
    do
    :: DID_ALL -> break
    :: else -> host_wait(); ITERATE(is_asleep, call_out)
    od
}

init {
    atomic {
        if
        :: sees_edges = true
        :: sees_edges = false
        fi;
        if
        :: may_post_first = true
        :: may_post_first = false
        fi;
        run Processor(0); run Processor(1); run Processor(2);
        run Loop(0); run Poster(1); run Poster(2)
    }
}
