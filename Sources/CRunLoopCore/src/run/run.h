// run.h — one active run, and the files that make it: a wait, the end of a thread.
#ifndef RUNLOOP_RUN_H
#define RUNLOOP_RUN_H

#include "items/items.h"

struct run {
    runloop *loop;
    struct mode *mode;
    struct run *outer;
    uint32_t outer_word;  ///< the wake word of the outer run (kernel/wake.c)
    bool ignores_wakeups; ///< until the next iteration: its wait is over
    int64_t limit_ns, deadline_ns;
    bool returns_after_source;
    bool is_pass;           ///< it has one iteration, which serves all that is ready
    bool serves_main_queue; ///< fixed for the run
    bool is_plain; ///< fixed for the run: it has no limit, serves no main queue, ends for no source, and is not hosted
    bool starves_main_queue; ///< it is nested in main-queue work, and what waits meanwhile is worth a diagnostic
    bool served_main_queue;  ///< in the previous iteration; true before the first one
    bool handled_source;     ///< in this iteration
    bool is_hosted;          ///< its sleep is a host's (hosted.c), and it is not on the stack
    bool is_iterating;       ///< hosted: a call-out of it may be running
    bool is_of_callout;      ///< hosted: begun because the host's loop runs inside a call-out
    bool is_guest;           ///< hosted: the host serves the main queue, and so keeps the mode from being empty
    bool was_stopped;        ///< of_callout: so shall the run around it be
    bool looks_again;        ///< hosted: while it slept, a nested run may have taken what came for it
    struct run *outer_hosted;
    bool set_is_stale;   ///< and could not be made anew before this wait
    bool timers_are_due; ///< when the wait last looked
    struct selection selection;
};

//===-- one wait (wait.c), in steps ----------------------------------------------------------------------------------===//

/// Waits as the iteration demands, and selects one event to serve. False if the run is hosted, and the host is to sleep.
bool runloop__wait(struct run *run, bool may_sleep);
/// Sleeps, once that is announced. In a hosted run it takes no time: false if the host is to sleep, or to sleep on.
bool runloop__wait_resume(struct run *run);
/// Asks whether the main queue is ready, without waiting; if so, that is the selection.
bool runloop__wait_select_main_queue(struct run *run);

//===-- the same questions without a wait (work.c) -------------------------------------------------------------------===//

/// Takes what the kernel has to report, for the runs around this one, and masks what its mode does not want.
void runloop__wait_settle(struct run *run);
/// The host's loop may run in a call-out that follows, and the kernel was asked: is there anything that it will not report again? What it
/// reports of descriptors it does, as long as they are ready.
bool runloop__knows_more(const struct run *run);

//===-- a run in parts (run.c), and one whose sleep is a host's (hosted.c) -------------------------------------------===//

/// Of hosted runs, as plain ones do it. A run, whose `is_hosted` is set, up to the end of Entry. The result if it is over at once, or 0.
int runloop__run_begin(struct run *run, runloop *loop, struct mode *mode, int64_t limit_ns, bool returns_after_source);
/// Exit, and the outer run goes on. Frees the run. Returns the result, or -ECHILD.
int runloop__run_end(struct run *run, int result);
/// Iterations until the run is over, or past the instant: the result, or 0. It is left where the host is to sleep, and taken up there.
int runloop__run_iterate(struct run *run, int64_t end_ns, bool *host_is_to_sleep);

/// Of a hosted run: is it the innermost, and not in the midst of an iteration?
static inline bool run_is_between_iterations(const struct run *run) {
    return run->loop->run == run && !run->is_iterating;
}

/// Is the innermost run hosted, and the host to sleep? (A plain run is asleep in the middle of an iteration alone.)
static inline bool run_is_asleep(const struct run *run) {
    return wake_word(&run->loop->wake) & WAKE_ASLEEP;
}

/// The wait of this iteration is over.
static inline void run_finish_wait(struct run *run) {
    wake_finish_wait(&run->loop->wake);
    run->ignores_wakeups = true;
}

/// The run is awake. A host may run its own loop, and sleep in the run's mode, in any call-out.
static inline void run_leave_to_host(runloop *loop, const struct run *run) {
    atomic_store_explicit(&loop->sleeping_in, loop->hosted && run ? run->mode : NULL, memory_order_relaxed);
}

/// Ends the host's sleep, or its next one. It will ask for whatever there is.
static inline void run_notify_host(runloop *loop) {
    wake_notify_host(&loop->wake);
    runloop__poller_keep_readable(&loop->poller);
}

/// The sleep is over, for whatever reason.
static inline void run_finish_sleep(struct run *run) {
    run_leave_to_host(run->loop, run);
    run_finish_wait(run);
}

//===-- a clock of the program's (clock.c) ---------------------------------------------------------------------------===//

/// The loop has nothing to do for so long by its clock. How long the kernel may take; -ECHILD in a forked child.
int64_t runloop__clock_wait(struct run *run, int64_t duration_ns);

//===-- the end of a thread (teardown.c) -----------------------------------------------------------------------------===//

/// What the thread was in the middle of when it ended is over: call-outs, what was collected for others, the runs themselves.
void runloop__abandon_callouts(runloop *loop);
void runloop__teardown(runloop *loop);

/// Was the innermost run left by longjmp? Stacks grow downwards, and `here` is on the one in use.
static inline bool run_was_left(const runloop *loop, const void *here) {
    return loop->run && loop->run != loop->hosted && (uintptr_t)loop->run <= (uintptr_t)here;
}

#endif // RUNLOOP_RUN_H
