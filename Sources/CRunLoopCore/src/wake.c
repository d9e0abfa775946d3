// wake.c — the wake word: one atomic word that says what the innermost run has been told, and whether the thread sleeps.
//
// Bits: RUNNING (a run is active), ACCEPTS (a wake-up counts now), STOP, WOKEN (accepted, not yet consumed), ASLEEP (the thread
// is in, or on its way into, a wait that may sleep), KICKED (a sleeper shall look again). Entering a run exchanges the
// word and leaving puts the outer level's back, so that what a level accepted stays with it.
//
// Who writes: any thread, signal handlers included, sets STOP, WOKEN, KICKED; only the loop's thread sets and clears the rest.
// Why no wake-up is lost: a waker changes the word with a read-modify-write and writes the eventfd if ASLEEP was set; the
// thread sets ASLEEP with a read-modify-write and looks at the word it got. Operations on one word are totally ordered:
// either the thread's finds the waker's bit and does not sleep, or the waker's finds ASLEEP and writes. For state
// outside the word (latched stop, a mode emptied) the same holds with a sequentially consistent store before the waker's
// look at the word, and the thread's look at that state after its announcement.
//
// The eventfd is registered edge-triggered and never read: each write is an edge. A write that comes too late for the sleep it
// was meant for makes a later wait return early once, which serves nothing and sleeps again.

#include "internal.h"

enum {
    WORD_RUNNING = 1,
    WORD_ACCEPTS = 2,
    WORD_STOP = 4,
    WORD_WOKEN = 8,
    WORD_ASLEEP = 16,
    WORD_KICKED = 32,
};

uint32_t runloop__wake_enter(runloop *loop) {
    // Nobody else changes a word of 0: without a run there is nothing to accept, to stop or to wake.
    if (atomic_load_explicit(&loop->wake_word, memory_order_relaxed) == 0) {
        atomic_store_explicit(&loop->wake_word, WORD_RUNNING | WORD_ACCEPTS, memory_order_release);
        return 0;
    }
    return atomic_exchange(&loop->wake_word, WORD_RUNNING | WORD_ACCEPTS);
}

void runloop__wake_leave(runloop *loop, uint32_t outer) {
    // Whatever the level that ends was told last is forgotten with it.
    atomic_store_explicit(&loop->wake_word, outer, memory_order_release);
}

void runloop__wake_accept(runloop *loop) {
    if (!(atomic_load_explicit(&loop->wake_word, memory_order_relaxed) & WORD_ACCEPTS))
        atomic_fetch_or(&loop->wake_word, WORD_ACCEPTS);
}

bool runloop__wake_announce_sleep(runloop *loop) {
    return atomic_fetch_or(&loop->wake_word, WORD_ASLEEP) & (WORD_WOKEN | WORD_STOP);
}

bool runloop__wake_was_woken(runloop *loop) {
    return atomic_fetch_and(&loop->wake_word, ~(uint32_t)WORD_KICKED) & (WORD_WOKEN | WORD_STOP);
}

bool runloop__wake_has_news(runloop *loop) {
    return atomic_load_explicit(&loop->wake_word, memory_order_relaxed) & (WORD_WOKEN | WORD_STOP);
}

void runloop__wake_finish_wait(runloop *loop) {
    atomic_fetch_and(&loop->wake_word, ~(uint32_t)(WORD_ACCEPTS | WORD_WOKEN | WORD_ASLEEP | WORD_KICKED));
}

bool runloop__wake_stop_is_requested(runloop *loop) {
    return atomic_load(&loop->wake_word) & WORD_STOP;
}

bool runloop__wake_take_stop(runloop *loop) {
    if (!(atomic_load_explicit(&loop->wake_word, memory_order_relaxed) & WORD_STOP))
        return false;
    return atomic_fetch_and(&loop->wake_word, ~(uint32_t)WORD_STOP) & WORD_STOP;
}

/// Sets `bit` if all of `required` are set, and writes the eventfd if that is the first reason for a sleeper to wake.
static void set_and_wake(runloop *loop, uint32_t required, uint32_t bit) {
    uint32_t word = atomic_load(&loop->wake_word);
    do {
        if ((word & required) != required || (word & bit))
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
    set_and_wake(loop, WORD_ACCEPTS, WORD_WOKEN);
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
    set_and_wake(loop, WORD_ACCEPTS, WORD_WOKEN);
    return 0;
}

bool runloop_is_waiting(runloop *loop) {
    return runloop__check(loop) == 0 && (atomic_load(&loop->wake_word) & WORD_ASLEEP);
}
