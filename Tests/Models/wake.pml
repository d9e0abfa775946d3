// wake.pml — waking, stopping and kicking a loop. Source: kernel/kernel.h, kernel/wake.c, run/wait.c, run/run.c.
//
// Two threads write something and wake the loop; a third one latches a stop and kicks it, or kicks it for nothing. The
// loop iterates, looks at what was written in its call-outs, and sleeps. A call-out may run it once more, in a run that
// looks at nothing. A stop ends a run, and the loop begins another one.
//
// Claim: no wake-up is lost, even one that finds the loop woken or comes too late for a wait: an iteration that begins
// after it sees what was written before it. No latched stop is lost. So the loop always comes to its end, and never sleeps for
// ever.
//
// Broken variants:
//   WAKES_WITHOUT_FENCE   a wake-up that has nothing to do only loads
//   LOOKS_EARLY           the loop looks for stops, then announces its sleep
//   IGNORES_FINDING       it sleeps whatever its announcement finds
//   ANNOUNCES_BY_STORE    it announces by a load and a store
//   ENTERS_BY_STORE       a run begins by a plain store
//   LEAVES_BY_STORE       a nested run ends by a plain store
//   IGNORES_BY_STORE      an iteration forgets late wake-ups by a load and a store
//   IGNORES_LATE          it does so after its first call-out
//   KEEPS_KICKS           it does not forget kicks before it sleeps again
//   LATCHES_BY_STORE      a stop is latched by a plain store, and the kick only loads if there is nothing to kick

#define THREADS 4
#define WORDS 4
#define WAKE_WORD 0
#define LATCHED 1
#define WRITTEN 2 // two words

#include "parts/machine.pml"
#include "parts/waking.pml"

/// What the loop's call-outs have seen of the wakers' writing, and that it took the stop.
bool saw_first, saw_second, was_stopped;
#define CAME_TO_ITS_END (saw_first && saw_second && was_stopped)

proctype Waker(byte me) {
    byte found;
    store(WRITTEN + me - 1, true);
    wake_up()
}

proctype Stopper(byte me) {
    byte found;
    // A mode that was emptied, and has an item again when the loop looks.
    wake_set(ASLEEP, KICKED);
#ifdef LATCHES_BY_STORE
    store(LATCHED, true);
    if
    :: LOAD(WAKE_WORD) & ASLEEP -> wake_set(ASLEEP, KICKED)
    :: else
    fi
#else
    store_locked(LATCHED, true);
    wake_set(ASLEEP, KICKED)
#endif
}

inline sleep_until_something_happens() {
    do
    :: poller_wait();
       wake_take_news();
       if
       :: (found & WOKEN) || LOAD(LATCHED) -> break
       :: else
       fi
    od
}

inline sleep_or_find_work() {
#ifdef LOOKS_EARLY
    stop_is_known = LOAD(LATCHED);
    wake_announce_sleep();
#else
    wake_announce_sleep();
    stop_is_known = LOAD(LATCHED);
#endif
    if
#ifdef IGNORES_FINDING
    :: stop_is_known
#else
    :: (found & WOKEN) || stop_is_known
#endif
    :: else -> sleep_until_something_happens()
    fi
}

inline call_out() {
    if
    :: may_nest -> may_nest = false; wake_enter(outer_word); wake_leave(outer_word); outer_word = 0
    :: true
    fi;
    saw_first = saw_first || LOAD(WRITTEN);
    saw_second = saw_second || LOAD(WRITTEN + 1)
}

proctype Loop(byte me) {
    byte found, outer_word, known_events = 2;
    bool stop_is_known, stops, ignores_wakeups, may_nest = true;
    do
    :: CAME_TO_ITS_END -> break
    :: else ->
       wake_enter(outer_word);
       ignores_wakeups = false;
       do
       ::
#ifdef IGNORES_LATE
          call_out();
          wake_ignore();
#else
          wake_ignore();
          call_out();
#endif
          if
          :: CAME_TO_ITS_END -> break
          :: else
          fi;
          if
          :: sleep_or_find_work()
          :: known_events > 0 -> known_events-- // is served without an announcement
          fi;
          wake_finish_wait();
          stops = LOAD(LATCHED);
          if
          :: stops -> store_locked(LATCHED, false); was_stopped = true
          :: else
          fi;
          if
          :: stops -> break
          :: else
          fi
       od;
       outer_word = 0;
       wake_leave(outer_word)
    od
}

init {
    atomic {
        run Processor(0); run Processor(1); run Processor(2); run Processor(3);
        run Loop(0); run Waker(1); run Waker(2); run Stopper(3)
    }
}

ltl comes_to_its_end { <> CAME_TO_ITS_END }
