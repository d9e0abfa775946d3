// run.c — the run function: a do-while loop whose body is the picture in ARCHITECTURE.md. Nobody but this file decides whether another
// iteration follows.

#include <pthread.h>

#include "run/run.h"

//===-- entering and leaving (R28) -----------------------------------------------------------------------------------===//

INLINE void enter(struct run *run) {
    runloop *loop = run->loop;
    if (run->is_hosted) {
        run->outer_hosted = loop->hosted;
        loop->hosted = run;
    }
    run->outer = loop->run;
    run->host_slept = loop->host_sleeps;
    loop->host_sleeps = false;
    run->outer_mode = atomic_load_explicit(&loop->current_mode, memory_order_relaxed);
    run->outer_word = wake_enter(&loop->wake, run->is_hosted ? WAKE_HOSTED : 0, &run->outer_accepts);
    loop->run = run;
    atomic_store_explicit(&loop->has_run, true, memory_order_relaxed);
    atomic_store_explicit(&loop->current_mode, run->mode->name, memory_order_release);
    trace_point(RUNLOOP_TRACE_RUN_BEGIN, run->mode->name, 0);
}

/// Call-outs follow, in which the host's own loop may run: it has to ask for what is armed for nobody by then, or was reported already.
INLINE void keep_host_awake(const struct run *run) {
    if (run->loop->hosted && !is_from_parent_process(run->loop))
        runloop__poller_set_busy(&run->loop->poller, true);
}

static COLD void end_runs_above(struct run *run) {
    for (struct run *above; !is_from_parent_process(run->loop) && (above = run->loop->run) != run;) {
        if (above != run->loop->hosted || above->is_iterating)
            runloop__fatal("runloop: A call-out returned in the middle of a run that is nested in it.");
        runloop__run_end(above, 0);
    }
    // The next call-out may run the host's loop, too.
    keep_host_awake(run);
}

/// A call-out has returned: hosted runs that were begun in it end.
static inline void settle(struct run *run) {
    if (run->loop->run != run)
        end_runs_above(run);
}

INLINE void leave(struct run *run) {
    runloop *loop = run->loop;
    settle(run);
    // The host's loop in a call-out is nobody's run, so who stops it means the run around it.
    bool stops_outer = run->is_hosted && run->is_of_callout && (run->was_stopped || wake_take_stop(&loop->wake));
    wake_leave(&loop->wake, run->outer_word, run->outer_accepts);
    if (stops_outer)
        atomic_fetch_or(&loop->wake.word, WAKE_STOPPED);
    atomic_store_explicit(&loop->current_mode, run->outer_mode, memory_order_release);
    loop->run = run->outer;
    if (run->is_hosted)
        loop->hosted = run->outer_hosted;
    if (run->host_slept && !is_from_parent_process(loop)) {
        loop->host_sleeps = true;
        atomic_store_explicit(&loop->sleeping_in, run->outer->mode, memory_order_relaxed);
        run->outer->looks_again = true;
    }
    // What this run took from the kernel and armed was for the hosted run around it.
    if ((run->outer_word & WAKE_HOSTED) && !(run->is_hosted && run->is_of_callout) && !is_from_parent_process(loop))
        runloop__poller_wake(&loop->poller);
}

//===-- deciding (R29, R36) ------------------------------------------------------------------------------------------===//

static inline bool take(_Atomic bool *request) {
    return atomic_load_explicit(request, memory_order_relaxed) && atomic_exchange(request, false);
}

static inline bool take_any_stop(struct run *run) {
    return wake_take_stop(&run->loop->wake) || take(&run->loop->latched_stop) || take(&run->mode->stop_requested);
}

/// The result at the end of an iteration, or 0 for another one.
INLINE int decide(struct run *run, bool handled_source) {
    if (is_from_parent_process(run->loop))
        return -ECHILD;
    if (handled_source && run->returns_after_source)
        return RUNLOOP_RESULT_HANDLED_SOURCE;
    if (run->limit_ns <= 0 || limit_has_passed(run))
        return RUNLOOP_RESULT_TIMED_OUT;
    if (take_any_stop(run))
        return RUNLOOP_RESULT_STOPPED;
    return run_is_of_empty_mode(run) ? RUNLOOP_RESULT_FINISHED : 0;
}

//===-- one iteration (R41) ------------------------------------------------------------------------------------------===//

INLINE bool perform_signalled(struct run *run) {
    return signals_may_wait(run->loop, run->mode) &&
           runloop__signals_dispatch(run->loop, run->mode, run->returns_after_source);
}

/// Serves what the wait has selected. True if that was a source.
INLINE bool serve(struct run *run) {
    runloop *loop = run->loop;
    switch (run->selection.kind) {
    case SELECTED_NOTHING: break;
    case SELECTED_TIMERS: runloop__timers_dispatch(loop, run->mode, run->timer_ended_wait); break;
    case SELECTED_MAIN_QUEUE: return run->served_main_queue = runloop__main_queue_dispatch(loop);
    case SELECTED_SOURCE: return runloop__ready_serve(loop, run->mode, &run->selection.taken);
    }
    return false;
}

/// False if the host is to sleep.
INLINE bool wait(struct run *run, bool may_sleep) {
    if (run->was_polled)
        keep_host_awake(run);
    if (may_sleep)
        observe(run->loop, run->mode, RUNLOOP_ACTIVITY_BEFORE_WAITING);
    if (is_from_parent_process(run->loop))
        return true;
    settle(run);
    if (!runloop__wait(run, may_sleep))
        return false;
    if (may_sleep)
        run_wait_is_over(run);
    return true;
}

/// After a sleep of the host's: false if it goes on.
static bool resume_wait(struct run *run) {
    bool is_over = runloop__wait_resume(run);
    if (is_over)
        run_wait_is_over(run);
    return is_over;
}

/// An iteration up to the end of its wait: false if the host is to sleep.
INLINE bool iterate_to_wait(struct run *run) {
    runloop *loop = run->loop;
    wake_accept(&loop->wake);
    trace_point(RUNLOOP_TRACE_ITERATION, run->mode->name, 0);
    observe(loop, run->mode, RUNLOOP_ACTIVITY_BEFORE_TIMERS);
    observe(loop, run->mode, RUNLOOP_ACTIVITY_BEFORE_SOURCES);
    drain_tasks(loop, run->mode);

    run->handled_source = perform_signalled(run);
    if (run->handled_source)
        drain_tasks(loop, run->mode);
    settle(run);

    // The main queue is polled before the wait, but not twice running, so that neither it nor the rest starves (R108).
    bool polls_main_queue = run->serves_main_queue && !run->served_main_queue && !run->is_first_iteration;
    run->is_first_iteration = run->served_main_queue = run->was_polled = false;
    run->selection.kind = SELECTED_NOTHING;
    return (polls_main_queue && runloop__wait_select_main_queue(run)) ||
           wait(run, !run->handled_source && run->limit_ns > 0);
}

/// The rest of it: the result, or 0 for another iteration.
INLINE int iterate_from_wait(struct run *run) {
    keep_host_awake(run);
    if (!is_from_parent_process(run->loop))
        run->handled_source |= serve(run);
    settle(run);
    drain_tasks(run->loop, run->mode);
    settle(run);
    return decide(run, run->handled_source);
}

//===-- runs ---------------------------------------------------------------------------------------------------------===//

static bool is_on_this_stack(const void *address) {
    pthread_attr_t attributes;
    void *low;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &attributes))
        return false;
    pthread_attr_getstack(&attributes, &low, &size);
    pthread_attr_destroy(&attributes);
    return (uintptr_t)address - (uintptr_t)low < size;
}

/// A run that was left by longjmp leaves the loop in the middle of things. The next run finds it on a part of the stack that is in use
/// no more, or that it uses itself. A program with several stacks for a thread can't be checked.
static COLD void check_outer_run(const struct run *run) {
    if (is_on_this_stack(run->loop->run) && is_on_this_stack(run))
        runloop__fatal("runloop: A call-out was left by longjmp, which leaves the loop in the middle of a run. Return "
                       "from it instead.");
}

INLINE int begin(struct run *run, runloop *loop, struct mode *mode, int64_t limit_ns, bool returns_after_source) {
    // Field by field: clearing all of them first would cost more than half of an empty run. A selection sets what it needs of the rest.
    run->loop = loop;
    run->mode = mode;
    run->limit_ns = limit_ns;
    run->deadline_ns = RUNLOOP_NEVER;
    run->returns_after_source = returns_after_source;
    run->serves_main_queue = run->served_main_queue = run->starves_main_queue = run->was_polled = false;
    run->is_first_iteration = true;
    if (loop->is_main && !run->is_guest) {
        run->serves_main_queue = atomic_load(&mode->is_common) && runloop__main_queue_watch(loop);
        run->starves_main_queue = !run->serves_main_queue && runloop__main_queue_is_starved(loop);
    }
    if (run_was_left(loop, run))
        check_outer_run(run);
    enter(run);
    observe(loop, mode, RUNLOOP_ACTIVITY_ENTRY);
    if (is_from_parent_process(loop))
        return -ECHILD;
    settle(run);
    if (take_any_stop(run))
        return RUNLOOP_RESULT_STOPPED;
    if (limit_ns > 0 && limit_ns != RUNLOOP_FOREVER)
        run->deadline_ns = saturating_add(loop_now(loop), limit_ns);
    return 0;
}

INLINE int iterate(struct run *run, int64_t end_ns, bool *host_is_to_sleep) {
    int result;
    do {
        *host_is_to_sleep = !(run->loop->host_sleeps ? resume_wait(run) : iterate_to_wait(run));
        if (*host_is_to_sleep)
            return 0;
        result = iterate_from_wait(run);
    } while (!result && (end_ns == RUNLOOP_NEVER || monotonic_ns() < end_ns));
    return result;
}

INLINE int end(struct run *run, int result) {
    runloop *loop = run->loop;
    run->was_stopped = result == RUNLOOP_RESULT_STOPPED;
    if (result != -ECHILD)
        observe(loop, run->mode, RUNLOOP_ACTIVITY_EXIT);
    trace_point(RUNLOOP_TRACE_RUN_END, run->mode->name, result);
    leave(run);
    return is_from_parent_process(loop) ? -ECHILD : result;
}

int runloop__run_begin(struct run *run, runloop *loop, struct mode *mode, int64_t limit_ns, bool returns_after_source) {
    return begin(run, loop, mode, limit_ns, returns_after_source);
}

int runloop__run_iterate(struct run *run, int64_t end_ns, bool *host_is_to_sleep) {
    return iterate(run, end_ns, host_is_to_sleep);
}

int runloop__run_end(struct run *run, int result) {
    run->is_iterating = true;
    if (run->loop->host_sleeps) {
        run_finish_sleep(run);
        run_wait_is_over(run);
    }
    runloop *loop = run->loop;
    result = end(run, result);
    if (!is_from_parent_process(loop)) {
        runloop__poller_set_busy(&loop->poller, false);
        if (!loop->hosted)
            runloop__poller_host(&loop->poller, false);
    }
    free(run);
    return result;
}

/// The sanitizer would put the run elsewhere than on the stack.
__attribute__((no_sanitize_address)) static int run_in_mode(runloop *loop, struct mode *mode, int64_t limit_ns,
                                                            bool returns_after_source) {
    struct run run;
    bool unused;
    run.is_hosted = run.is_guest = false;
    int result = begin(&run, loop, mode, limit_ns, returns_after_source);
    if (!result)
        result = iterate(&run, RUNLOOP_NEVER, &unused);
    return end(&run, result);
}

int runloop_run_in_mode(const char *name, int64_t limit_ns, bool return_after_source_handled) {
    runloop *loop = runloop__thread_loop();
    if ((!loop || is_from_parent_process(loop)) && !(loop = runloop_current()))
        return runloop__this_thread.has_ended ? -ESHUTDOWN : runloop__this_thread.error;
    if (atomic_load_explicit(&loop->is_finished, memory_order_relaxed))
        return -ESHUTDOWN;
    if (loop->asks_clock)
        return -EBUSY;
    // The pseudo-mode is never a mode of the loop, so it is not found.
    struct mode *mode = name ? mode_find(loop, name) : NULL;
    if (!mode)
        runloop__note_unknown_mode(loop, name);
    if (!mode || mode_is_empty(loop, mode))
        return RUNLOOP_RESULT_FINISHED;
    return run_in_mode(loop, mode, limit_ns, return_after_source_handled);
}

int runloop_run(void) {
    int result;
    do
        result = runloop_run_in_mode(runloop__default_mode, RUNLOOP_FOREVER, false);
    while (result == RUNLOOP_RESULT_TIMED_OUT || result == RUNLOOP_RESULT_HANDLED_SOURCE);
    return result;
}
