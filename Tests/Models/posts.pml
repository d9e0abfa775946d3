// posts.pml — the inbox of tasks: posted by any thread, taken and performed by the loop, closed at its end. Source:
// items/task.c, run/run.c.
//
// Two threads post two tasks each. The loop performs tasks and sleeps, until it has performed all, or until it chooses
// to end: then it closes the inbox. Modes, batches and the limit of a drain are left out.
//
// Claim: a task that was accepted is performed or discarded, once, and whoever does that sees all that the poster
// wrote; one that was refused is neither. None is performed after the close. The tasks of one thread are performed in
// their order. No wake-up is lost, although a post only loads the wake word if there is nothing to do: its push was a
// read-modify-write.
//
// Broken variants:
//   PUSHES_BY_STORE       a task is pushed by a load and a store
//   LINKS_LATE            it is pushed, then linked to the one before
//   PUSHES_INTO_CLOSED    a push does not look whether the inbox is closed
//   WAKES_EARLY           a post wakes the loop, then pushes
//   TAKES_BY_STORE        the loop takes the inbox by a load and a store
//   PERFORMS_NEWEST_FIRST it does not turn the stack round
//   DISCARDS_EARLY        it takes the rest, then closes the inbox

#define THREADS 3
#define WORDS 11
#define WAKE_WORD 0
#define INBOX 1    // the newest task, from 1, or 0, or CLOSED
#define PREVIOUS 1 // plus 1 to 4: the next older task
#define WRITTEN 6  // plus 1 to 4: what the task will do
#define CLOSED 5
#define TASKS 4

#include "parts/machine.pml"
#include "parts/waking.pml"

/// Of each task: is it done, and was it accepted?
bool is_done[TASKS + 1], is_accepted[TASKS + 1];
byte done_count;
bool has_ended;

//===-- any thread ---------------------------------------------------------------------------------------------------===//

/// A compare-exchange, whose failure tells the newer head.
inline push_at_head() {
#ifdef PUSHES_BY_STORE
    store(INBOX, task);
    pushed = true
#else
    atomic {
        LOCKED ->
        if
        :: memory[INBOX] == head -> memory[INBOX] = task; pushed = true
        :: else -> head = memory[INBOX]
        fi
    }
#endif
}

inline push() {
    head = LOAD(INBOX);
    do
    :: pushed -> break
#ifndef PUSHES_INTO_CLOSED
    :: !pushed && head == CLOSED -> break
#endif
    :: else ->
#ifdef LINKS_LATE
       push_at_head();
       store(PREVIOUS + task, head)
#else
       store(PREVIOUS + task, head);
       push_at_head()
#endif
    od
}

inline post() {
    store(WRITTEN + task, true);
#ifdef WAKES_EARLY
    wake_up_after_change();
    push();
#else
    push();
    if
    :: pushed -> wake_up_after_change()
    :: else
    fi;
#endif
    is_accepted[task] = pushed;
    pushed = false;
    head = 0
}

proctype Poster(byte me) {
    byte found, head, task = 2 * me - 1;
    bool pushed;
    post();
    task++;
    post()
}

//===-- the loop's thread --------------------------------------------------------------------------------------------===//

/// Performs or discards. Tasks 1 and 2 are of one thread, 3 and 4 of the other.
inline do_task(task) {
    atomic {
        assert(task <= TASKS && !is_done[task] && LOAD(WRITTEN + task));
        assert(task % 2 == 1 || is_done[task - 1]);
        is_done[task] = true;
        done_count++
    }
}

/// append_batch, and doing what it appended: the links are followed from the newest task to the oldest.
inline do_stack() {
    count = 0;
    do
    :: head == 0 -> break
    :: else ->
       assert(count < TASKS);
#ifdef PERFORMS_NEWEST_FIRST
       do_task(head);
#else
       stack[count] = head;
       count++;
#endif
       head = LOAD(PREVIOUS + head)
    od;
    do
    :: count == 0 -> break
    :: else -> count--; do_task(stack[count]); stack[count] = 0
    od
}

inline drain() {
    if
    :: LOAD(INBOX) ->
#ifdef TAKES_BY_STORE
       head = LOAD(INBOX);
       store(INBOX, 0);
#else
       exchange(INBOX, 0, head);
#endif
       do_stack()
    :: else
    fi
}

inline close() {
#ifdef DISCARDS_EARLY
    exchange(INBOX, 0, head);
    store_locked(INBOX, CLOSED);
#else
    exchange(INBOX, CLOSED, head);
#endif
    do_stack()
}

proctype Loop(byte me) {
    byte found, outer_word, head, count, stack[TASKS];
    bool may_sleep, ignores_wakeups;
    wake_enter(outer_word);
    do
    :: wake_ignore();
       drain();
       if
       :: done_count == TASKS -> break
       :: true -> break // asked to end
       :: done_count < TASKS
       fi;
       wake_announce_sleep();
       may_sleep = !LOAD(INBOX);
       do
       :: (found & WOKEN) || !may_sleep -> break
       :: else -> poller_wait(); wake_take_news()
       od;
       wake_finish_wait();
       drain()
    od;
    wake_leave(outer_word);
    close();
    has_ended = true
}

init {
    atomic {
        run Processor(0); run Processor(1); run Processor(2);
        run Loop(0); run Poster(1); run Poster(2)
    };
    // When all have ended but the processors: nothing is left half done.
    _nr_pr == THREADS + 1;
    byte task;
    for (task : 1 .. TASKS) {
        assert(is_done[task] == is_accepted[task])
    }
}

ltl comes_to_its_end { <> has_ended }
