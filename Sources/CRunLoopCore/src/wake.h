// wake.h — the loop's own side of the wake word (wake.c), without a call.
#ifndef RUNLOOP_WAKE_H
#define RUNLOOP_WAKE_H

#include "internal.h"

enum {
    WORD_RUNNING = 1,
    WORD_STOP = 2,
    WORD_WOKEN = 4,
    WORD_ASLEEP = 8,
    WORD_KICKED = 16,
};

static inline uint32_t wake_word(runloop *loop) {
    return atomic_load_explicit(&loop->wake_word, memory_order_relaxed);
}

/// A run or an iteration begins: from now on a wake-up counts.
static inline void wake_accept(runloop *loop) {
    if (!atomic_load_explicit(&loop->accepts_wakeups, memory_order_relaxed))
        atomic_store(&loop->accepts_wakeups, true);
}

/// It ends. Whatever the level that ends was told last is forgotten with it.
static inline void wake_leave(runloop *loop, uint32_t outer, bool outer_accepts) {
    atomic_store_explicit(&loop->wake_word, outer, memory_order_release);
    if (outer_accepts)
        wake_accept(loop);
    else
        atomic_store_explicit(&loop->accepts_wakeups, false, memory_order_release);
}

/// A run begins. What the outer level has been told is returned, and kept for it.
static inline uint32_t wake_enter(runloop *loop, bool *outer_accepts) {
    *outer_accepts = atomic_load_explicit(&loop->accepts_wakeups, memory_order_relaxed);
    wake_accept(loop);
    // Nobody else changes a word of 0: without a run there is nothing to stop or to wake.
    if (wake_word(loop) == 0) {
        atomic_store_explicit(&loop->wake_word, WORD_RUNNING, memory_order_release);
        return 0;
    }
    return atomic_exchange(&loop->wake_word, WORD_RUNNING);
}

/// Would a wake-up change anything? Any thread, after the change that it wakes the loop for.
static inline bool wake_is_needed(runloop *loop) {
    return atomic_load(&loop->accepts_wakeups) &&
           (atomic_load(&loop->wake_word) & (WORD_RUNNING | WORD_WOKEN)) == WORD_RUNNING;
}

/// Has the run been woken or stopped? For a look that nothing depends on.
static inline bool wake_has_news(runloop *loop) {
    return wake_word(loop) & (WORD_WOKEN | WORD_STOP);
}

/// The wait is over: wake-ups are consumed and no longer accepted.
static inline void wake_finish_wait(runloop *loop) {
    atomic_store_explicit(&loop->accepts_wakeups, false, memory_order_release);
    if (wake_word(loop) & (WORD_WOKEN | WORD_ASLEEP | WORD_KICKED))
        atomic_fetch_and(&loop->wake_word, ~(uint32_t)(WORD_WOKEN | WORD_ASLEEP | WORD_KICKED));
}

static inline bool wake_take_stop(runloop *loop) {
    return (wake_word(loop) & WORD_STOP) && (atomic_fetch_and(&loop->wake_word, ~(uint32_t)WORD_STOP) & WORD_STOP);
}

#endif // RUNLOOP_WAKE_H
