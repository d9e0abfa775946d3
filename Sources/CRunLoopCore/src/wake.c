// wake.c — the wake word: one atomic word that says what the innermost run has been told, and whether the thread sleeps.
//
// Bits: RUNNING (a run is active), STOP, WOKEN (accepted, not yet consumed), ASLEEP (the thread is in, or on its way into, a wait
// that may sleep), KICKED (a sleeper shall look again). Entering a run exchanges the word and leaving puts the outer level's
// back, so that what a level accepted stays with it.
//
// Who writes: any thread, signal handlers included, sets STOP, WOKEN, KICKED; only the loop's thread sets and clears the rest.
// Why no wake-up is lost: a waker changes the word with a read-modify-write and writes the eventfd if ASLEEP was set; the
// thread sets ASLEEP with a read-modify-write and looks at the word it got. Operations on one word are totally ordered:
// either the thread's finds the waker's bit and does not sleep, or the waker's finds ASLEEP and writes. For state
// outside the word (latched stop, a mode emptied) the same holds with a sequentially consistent store before the waker's
// look at the word, and the thread's look at that state after its announcement.
//
// Whether a wake-up counts (R48) is a word of its own, `accepts_wakeups`, which only the loop's thread writes: true at the start of
// an iteration, and again when a run nested in it ends before its wait; false when its wait is over. It becomes true by a
// sequentially consistent store, before anything the iteration looks at or calls from then on: so whoever finds it false, and is
// ignored, has made his change before the iteration looks. It becomes false by a plain one: a waker who has found it true just
// before may set WOKEN after the wait has cleared it, which makes the next wait take no time, as if he had come a moment later.
// One who knows that the wait is over, by whatever means, finds it false.
//
// The eventfd is registered edge-triggered and never read: each write is an edge. A write that comes too late for the sleep it
// was meant for makes a later wait return early once, which serves nothing and sleeps again.

#include "wake.h"

bool runloop__wake_announce_sleep(runloop *loop) {
    return atomic_fetch_or(&loop->wake_word, WORD_ASLEEP) & (WORD_WOKEN | WORD_STOP);
}

bool runloop__wake_was_woken(runloop *loop) {
    // Who has ended the wait changed the word before he wrote the eventfd: what the kernel passed on to us, we see.
    uint32_t word = atomic_load(&loop->wake_word);
    if (word & WORD_KICKED)
        word = atomic_fetch_and(&loop->wake_word, ~(uint32_t)WORD_KICKED);
    return word & (WORD_WOKEN | WORD_STOP);
}

/// Sets `bit` if `required` is set, and writes the eventfd if that is the first reason for a sleeper to wake.
static void set_and_wake(runloop *loop, uint32_t required, uint32_t bit) {
    uint32_t word = atomic_load(&loop->wake_word);
    do {
        if (!(word & required) || (word & bit))
            return;
    } while (!atomic_compare_exchange_weak(&loop->wake_word, &word, word | bit));
    if ((word & WORD_ASLEEP) && !(word & (WORD_WOKEN | WORD_STOP | WORD_KICKED)))
        runloop__portset_write_wake(loop);
}

void runloop__wake_kick(runloop *loop) {
    set_and_wake(loop, WORD_ASLEEP, WORD_KICKED);
}

int runloop_wake_up(runloop *loop) {
    int error = runloop__check(loop);
    if (error)
        return error;
    if (wake_is_needed(loop))
        set_and_wake(loop, WORD_RUNNING, WORD_WOKEN);
    return 0;
}

int runloop_stop(runloop *loop) {
    int error = runloop__check(loop);
    if (error)
        return error;
    set_and_wake(loop, WORD_RUNNING, WORD_STOP);
    return 0;
}

int runloop_stop_latched(runloop *loop) {
    int error = runloop__check(loop);
    if (error)
        return error;
    atomic_store(&loop->latched_stop, true);
    runloop__wake_kick(loop);
    return 0;
}

int runloop_stop_mode(runloop *loop, const char *name) {
    int error = runloop__check(loop);
    if (error)
        return error;
    if (!name || runloop__is_common_name(name))
        return -EINVAL;
    runloop__lock(loop);
    struct mode *mode = runloop__make_mode(loop, name);
    runloop__unlock(loop);
    if (!mode)
        return -ENOMEM;
    atomic_store(&mode->stop_requested, true);
    // A wake-up like any other: a run of another mode is not stopped, but goes round once (R53, R54).
    return runloop_wake_up(loop);
}

bool runloop_is_waiting(runloop *loop) {
    return runloop__check(loop) == 0 && (atomic_load(&loop->wake_word) & WORD_ASLEEP);
}
