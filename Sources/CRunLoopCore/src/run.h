// run.h — one active run, and looks that most of its iterations need not go beyond. Part of internal.h.
#ifndef RUNLOOP_RUN_H
#define RUNLOOP_RUN_H

//===-- one active run (run.c, wait.c) -------------------------------------------------------------------------------===//

enum choice {
    CHOICE_NONE,
    CHOICE_TIMERS,
    CHOICE_PORT,    ///< in hand: chosen, and acknowledged when it is served (R45)
    CHOICE_SOURCE,  ///< a port's only one: nobody is told anything between the choice and the call
    CHOICE_SOURCES, ///< a port's, collected: nobody is told anything between the choice and the calls
};

struct run {
    runloop *loop;
    struct mode *mode;
    struct run *outer;
    uint32_t outer_word;
    bool outer_accepts;
    const char *outer_mode;
    int64_t limit_ns, deadline_ns;
    bool returns_after_source;
    bool serves_main_queue; ///< fixed for the run
    bool leaves_main_queue; ///< it is nested in main-queue work, and what waits meanwhile is worth a note
    bool served_main_queue; ///< in the previous iteration
    bool is_first_iteration;
    bool looked_at_main_queue; ///< in this iteration, and found it not ready
    enum choice choice;        ///< what the wait has chosen to serve
    union {
        port_number port;       ///< if that is the choice
        runloop_source *source; ///< collected, if that is the choice
    };
    uint32_t chosen_serial;  ///< the loop's number of additions when it was chosen
    uint32_t collected_base; ///< the sources, if they are the choice, begin here
    uint32_t ready;          ///< … and this is what their port was reported for
    bool needs_counter;      ///< … and one of them has counter semantics
    bool counted;            ///< … whose counter was read
    bool timer_ended_wait;
};

/// Own thread, without the lock. Before a sleep, if the loop was asked to: looks out for a wake-up for a moment (spin.c).
void runloop__spin(struct run *run);
/// Waits as the iteration demands and chooses one port.
void runloop__wait(struct run *run, bool poll);
/// Looks whether the main queue is ready, without waiting; if so, that is the choice.
bool runloop__wait_choose_main_queue(struct run *run);

//===-- quick looks --------------------------------------------------------------------------------------------------===//
// Most of an iteration finds nothing to do. These see that without a call, so that what is not used costs nothing.

/// Most lookups are of the default mode, by its interned name.
static inline struct mode *runloop__find_mode(runloop *loop, const char *name) {
    struct mode *first = atomic_load_explicit(&loop->modes, memory_order_acquire);
    return first && first->name == name ? first : runloop__find_other_mode(loop, name);
}

static inline void runloop__observe(struct run *run, runloop_activity activity) {
    if (atomic_load_explicit(&run->mode->observed, memory_order_relaxed) & activity)
        runloop__observe_round(run, activity);
}

/// False only if there is no post at all.
static inline bool runloop__perform_may_have_work(runloop *loop) {
    return atomic_load_explicit(&loop->inbox, memory_order_acquire) || !list_is_empty(&loop->posts);
}

static inline void runloop__perform_drain(struct run *run) {
    if (runloop__perform_may_have_work(run->loop))
        runloop__perform_batch(run);
}

/// False only if no source is signalled, in whatever mode.
static inline bool runloop__source_may_be_signalled(runloop *loop) {
    return atomic_load(&loop->incoming) || atomic_load(&loop->has_pending) || atomic_load(&loop->rescan);
}

static inline bool runloop__source_perform_signalled(struct run *run) {
    return runloop__source_may_be_signalled(run->loop) && runloop__source_pass(run);
}

static inline bool runloop__mode_is_empty(runloop *loop, struct mode *mode) {
    return !runloop__mode_has_items(mode) && runloop__mode_without_items_is_empty(loop, mode);
}

#endif // RUNLOOP_RUN_H
