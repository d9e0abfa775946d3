// run.h — one active run, and the files that make it: a wait, a spin, the end of a thread.
#ifndef RUNLOOP_RUN_H
#define RUNLOOP_RUN_H

#include "items/items.h"

struct run {
    runloop *loop;
    struct mode *mode;
    struct run *outer;
    uint32_t outer_word; ///< what the outer run was told (kernel/wake.c)
    bool outer_accepts;
    const char *outer_mode;
    int64_t limit_ns, deadline_ns;
    bool returns_after_source;
    bool serves_main_queue;  ///< fixed for the run
    bool starves_main_queue; ///< it is nested in main-queue work, and what waits meanwhile is worth a diagnostic
    bool served_main_queue;  ///< in the previous iteration
    bool is_first_iteration;
    bool was_polled; ///< in this iteration, for the main queue: the kernel need not be asked again
    bool timer_ended_wait;
    bool set_is_stale;   ///< and could not be made anew before this wait
    bool timers_are_due; ///< when the wait last looked
    struct selection selection;
    struct descriptor_dispatch dispatch; ///< of SELECTED_SOURCES
};

//===-- one wait (wait.c), in steps ----------------------------------------------------------------------------------===//

/// Waits as the iteration demands, and selects one event to serve.
void runloop__wait(struct run *run, bool may_sleep);
/// Asks whether the main queue is ready, without waiting; if so, that is the selection.
bool runloop__wait_select_main_queue(struct run *run);

//===-- spinning (spin.c) --------------------------------------------------------------------------------------------===//

/// The thread, without the lock. Before a sleep, if the loop was asked to: watches for a wake-up for a moment.
void runloop__spin(struct run *run);

//===-- the end of a thread (teardown.c) -----------------------------------------------------------------------------===//

/// What the thread was in the middle of when it ended is over: call-outs, what was collected for others, the runs themselves.
void runloop__abandon_callouts(runloop *loop);
void runloop__teardown(runloop *loop);

/// Is the innermost run one that was left without being told? Stacks grow downwards, and `here` is on the one in use.
static inline bool run_was_left(const runloop *loop, const void *here) {
    return loop->run && (uintptr_t)loop->run <= (uintptr_t)here;
}

static inline bool stop_is_remembered(const struct run *run) {
    return atomic_load(&run->loop->latched_stop) || atomic_load(&run->mode->stop_requested);
}

static inline bool limit_has_passed(const struct run *run) {
    return run->deadline_ns != RUNLOOP_NEVER && loop_now(run->loop) >= run->deadline_ns;
}

#endif // RUNLOOP_RUN_H
