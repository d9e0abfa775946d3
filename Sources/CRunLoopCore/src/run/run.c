// run.c — the run function: a do-while loop whose body is the picture in ARCHITECTURE.md. Nobody but this file decides whether another
// iteration follows.

#ifdef __linux__
#include <pthread.h>

#include "run/work.h"

INLINE uint32_t observed(const struct run *run) {
    return atomic_load_explicit(&run->mode->observed, memory_order_relaxed);
}

//===-- entering and leaving (R28) -----------------------------------------------------------------------------------===//

INLINE void enter(struct run *run) {
    runloop *loop = run->loop;
    if (run->is_hosted) {
        run->outer_hosted = loop->hosted;
        loop->hosted = run;
    }
    run->outer = loop->run;
    run->outer_word = wake_enter(&loop->wake, loop->hosted ? WAKE_UNNOTIFIED : 0);
    loop->run = run;
    if (loop->hosted)
        run_leave_to_host(loop, run);
    atomic_store_explicit(&loop->has_run, true, memory_order_relaxed);
    atomic_store_explicit(&loop->current_mode, run->mode->name, memory_order_release);
    trace_point(RUNLOOP_TRACE_RUN_BEGIN, run->mode->name, 0);
}

/// Call-outs follow, in which the host's own loop may run: it has to ask for what is armed for nobody, or was reported already.
INLINE void keep_host_awake(const struct run *run) {
    if (run->loop->hosted && !run->loop->poller.is_readable && !is_from_parent_process(run->loop) &&
        runloop__knows_more(run))
        run_notify_host(run->loop);
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

/// Call-outs have returned: hosted runs that were begun in them end. False in a child that one of them forked, where this run has no loop.
INLINE bool settle(struct run *run) {
    if (run->loop->run != run)
        end_runs_above(run);
    return !is_from_parent_process(run->loop);
}

/// False in a forked child, as well.
INLINE bool notify(struct run *run, runloop_activity activity) {
    if (!(observed(run) & activity))
        return true;
    keep_host_awake(run);
    runloop__observers_notify(run->loop, run->mode, activity);
    return settle(run);
}

/// The run was hosted, or is nested in one that is.
static COLD void leave_hosted(struct run *run) {
    runloop *loop = run->loop;
    if (run->is_hosted)
        loop->hosted = run->outer_hosted;
    if (is_from_parent_process(loop))
        return;
    run_leave_to_host(loop, run->outer);
    if (run->outer_word & WAKE_ASLEEP)
        run->outer->looks_again = true;
    // What this run took from the kernel and armed was for the hosted run around it.
    if (loop->hosted && !(run->is_hosted && run->is_of_callout))
        run_notify_host(loop);
}

INLINE void leave(struct run *run) {
    runloop *loop = run->loop;
    // The host's loop in a call-out is not a run, so a stop there means the run around it.
    bool stops_outer = run->is_hosted && run->is_of_callout && (run->was_stopped || wake_take_stop(&loop->wake));
    wake_leave(&loop->wake, run->outer_word);
    if (stops_outer)
        atomic_fetch_or(&loop->wake.word, WAKE_STOPPED);
    atomic_store_explicit(&loop->current_mode, run->outer ? run->outer->mode->name : NULL, memory_order_release);
    loop->run = run->outer;
    if (loop->hosted)
        leave_hosted(run);
}

//===-- deciding (R29, R36) ------------------------------------------------------------------------------------------===//

/// The result at the end of an iteration, or 0 for another one.
INLINE int decide(struct run *run) {
    if (run->handled_source && run->returns_after_source)
        return RUNLOOP_RESULT_HANDLED_SOURCE;
    if (!run->is_pass && (run->limit_ns <= 0 || limit_has_passed(run)))
        return RUNLOOP_RESULT_TIMED_OUT;
    if (stop_take(run))
        return RUNLOOP_RESULT_STOPPED;
    if (run_is_of_empty_mode(run))
        return RUNLOOP_RESULT_FINISHED;
    return run->is_pass ? RUNLOOP_RESULT_TIMED_OUT : 0;
}

//===-- one iteration (R41) ------------------------------------------------------------------------------------------===//

/// Whether anybody is to be called before the wait.
INLINE bool has_work_before_wait(const struct run *run) {
    return (observed(run) & (RUNLOOP_ACTIVITY_BEFORE_TIMERS | RUNLOOP_ACTIVITY_BEFORE_SOURCES)) || may_have_calls(run);
}

/// False in a forked child.
INLINE bool drain_tasks(struct run *run) {
    if (!tasks_may_wait(run->loop))
        return true;
    keep_host_awake(run);
    runloop__tasks_drain(run->loop, run->mode);
    return settle(run);
}

INLINE bool perform_signalled(const struct run *run) {
    if (!signals_may_wait(run->loop, run->mode))
        return false;
    keep_host_awake(run);
    return runloop__signals_dispatch(run->loop, run->mode, run->returns_after_source && !run->is_pass);
}

/// False in a forked child.
static bool work_before_wait(struct run *run) {
    if (!notify(run, RUNLOOP_ACTIVITY_BEFORE_TIMERS) || !notify(run, RUNLOOP_ACTIVITY_BEFORE_SOURCES))
        return false;
    // A pass that has performed tasks does not wait: its caller has his own loop.
    if (run->is_pass && runloop__tasks_any(run->loop, run->mode))
        run->limit_ns = 0;
    if (!drain_tasks(run))
        return false;
    run->handled_source = perform_signalled(run);
    return settle(run) && (!run->handled_source || drain_tasks(run));
}

/// All that is ready, each once. What the wait has selected is among it.
static COLD bool serve_all(struct run *run) {
    runloop *loop = run->loop;
    struct selection all;
    loop_lock(loop);
    bool timers_are_due_now = runloop__deadlines_pass(loop, run->mode, loop_now(loop));
    runloop__ready_select_all(loop, run->mode, run->serves_main_queue, &all);
    loop_unlock(loop);
    bool any = timers_are_due_now && runloop__timers_dispatch(loop, run->mode);
    if (settle(run))
        any |= runloop__ready_serve(loop, run->mode, &all);
    if (all.kind == SELECTED_MAIN_QUEUE && settle(run))
        any |= run->served_main_queue = runloop__main_queue_dispatch(loop, &all);
    return any;
}

/// Serves what the wait has selected. True if that was a source.
INLINE bool serve(struct run *run) {
    runloop *loop = run->loop;
    if (run->is_pass)
        return serve_all(run);
    switch (run->selection.kind) {
    case SELECTED_NOTHING: break;
    case SELECTED_TIMERS: runloop__timers_dispatch(loop, run->mode); break;
    case SELECTED_MAIN_QUEUE: return run->served_main_queue = runloop__main_queue_dispatch(loop, &run->selection);
    case SELECTED_SOURCE: return runloop__ready_serve(loop, run->mode, &run->selection);
    }
    return false;
}

enum progress { ON, HOST_IS_TO_SLEEP, IN_CHILD };

/// A wait that may have slept is over. False in a forked child, also of the loop's clock.
INLINE bool end_of_wait(struct run *run) {
    // A source that was taken has no observers of AfterWaiting before it; one that joined since then comes too late.
    return (run->selection.kind == SELECTED_SOURCE && run->selection.source) ||
           (!is_from_parent_process(run->loop) && notify(run, RUNLOOP_ACTIVITY_AFTER_WAITING));
}

INLINE enum progress wait(struct run *run, bool may_sleep) {
    if (may_sleep && !notify(run, RUNLOOP_ACTIVITY_BEFORE_WAITING))
        return IN_CHILD;
    if (!runloop__wait(run, may_sleep))
        return HOST_IS_TO_SLEEP;
    return !may_sleep || end_of_wait(run) ? ON : IN_CHILD;
}

/// After a sleep of the host's, which may go on.
static enum progress resume_wait(struct run *run) {
    if (!runloop__wait_resume(run))
        return HOST_IS_TO_SLEEP;
    return end_of_wait(run) ? ON : IN_CHILD;
}

/// An iteration up to the end of its wait.
INLINE enum progress iterate_to_wait(struct run *run) {
    if (run->ignores_wakeups)
        wake_ignore(&run->loop->wake);
    run->ignores_wakeups = false;
    trace_point(RUNLOOP_TRACE_ITERATION, run->mode->name, 0);
    run->handled_source = false;
    if (has_work_before_wait(run) && !work_before_wait(run))
        return IN_CHILD;

    // The main queue is polled before the wait, but not twice running, so that neither it nor the rest starves (R108).
    bool polls_main_queue = run->serves_main_queue && !run->served_main_queue;
    run->served_main_queue = false;
    run->selection.kind = SELECTED_NOTHING;
    if (polls_main_queue && runloop__wait_select_main_queue(run))
        return ON;
    return wait(run, !run->handled_source && run->limit_ns > 0);
}

/// The rest of it: the result, or 0 for another iteration.
INLINE int iterate_from_wait(struct run *run) {
    if (run->selection.kind != SELECTED_NOTHING) {
        keep_host_awake(run);
        run->handled_source |= serve(run);
        if (!settle(run))
            return -ECHILD;
    }
    return drain_tasks(run) ? decide(run) : -ECHILD;
}

//===-- iterations that do nothing but serve -------------------------------------------------------------------------===//

/// The one question of an iteration that has only the next source to serve: can it skip everything but serving? Then the
/// shortcut is unobservable. Wake-ups go on being ignored meanwhile, as after a wait.
INLINE bool has_only_to_serve(const struct run *run) {
    const runloop *loop = run->loop;
    const struct mode *mode = run->mode;
    return atomic_load_explicit(&loop->news, memory_order_relaxed) == NEWS_READY && run->is_plain &&
           wake_word(&loop->wake) == WAKE_RUNNING && !observed(run) && heap_count(&mode->timers) == 0 &&
           mode_has_items(mode) && !may_have_work(run) && !runloop__this_thread.tracer.trace;
}

/// Such iterations: -ECHILD, or 0.
INLINE int serve_what_is_ready(struct run *run) {
    runloop *loop = run->loop;
    while (has_only_to_serve(run)) {
        loop_lock(loop);
        bool any = runloop__ready_select(loop, run->mode, 0, &run->selection);
        loop_unlock(loop);
        if (!any)
            return 0;
        runloop__ready_serve(loop, run->mode, &run->selection);
        if (!settle(run))
            return -ECHILD;
    }
    return 0;
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
    run->serves_main_queue = run->starves_main_queue = run->ignores_wakeups = false;
    // The first iteration does not poll the main queue before its wait.
    run->served_main_queue = true;
    run->is_plain = limit_ns == RUNLOOP_FOREVER && !returns_after_source && !run->is_hosted;
    if (loop->is_main && !run->is_guest && runloop__main_queue_exists()) {
        run->serves_main_queue = atomic_load(&mode->is_common) && runloop__main_queue_watch(loop);
        run->starves_main_queue = !run->serves_main_queue && runloop__main_queue_is_starved(loop);
        run->is_plain &= !run->serves_main_queue && !run->starves_main_queue;
    }
    if (run_was_left(loop, run))
        check_outer_run(run);
    enter(run);
    if (!notify(run, RUNLOOP_ACTIVITY_ENTRY))
        return -ECHILD;
    if (stop_take(run))
        return RUNLOOP_RESULT_STOPPED;
    if (limit_ns > 0 && limit_ns != RUNLOOP_FOREVER)
        run->deadline_ns = saturating_add(loop_now(loop), limit_ns);
    return 0;
}

int runloop__run_iterate(struct run *run, int64_t end_ns, bool *host_is_to_sleep) {
    int result;
    do {
        enum progress progress = run_is_asleep(run) ? resume_wait(run) : iterate_to_wait(run);
        *host_is_to_sleep = progress == HOST_IS_TO_SLEEP;
        if (progress != ON)
            return progress == IN_CHILD ? -ECHILD : 0;
        result = iterate_from_wait(run);
        if (!result)
            result = serve_what_is_ready(run);
    } while (!result && (end_ns == RUNLOOP_NEVER || monotonic_ns() < end_ns));
    return result;
}

INLINE int end(struct run *run, int result) {
    run->was_stopped = result == RUNLOOP_RESULT_STOPPED;
    if (result != -ECHILD && !notify(run, RUNLOOP_ACTIVITY_EXIT))
        result = -ECHILD;
    trace_point(RUNLOOP_TRACE_RUN_END, run->mode->name, result);
    leave(run);
    return result;
}

int runloop__run_begin(struct run *run, runloop *loop, struct mode *mode, int64_t limit_ns, bool returns_after_source) {
    return begin(run, loop, mode, limit_ns, returns_after_source);
}

int runloop__run_end(struct run *run, int result) {
    run->is_iterating = true;
    if (run_is_asleep(run)) {
        run_finish_sleep(run);
        if (!end_of_wait(run))
            result = -ECHILD;
    }
    runloop *loop = run->loop;
    result = end(run, result);
    if (!loop->hosted && !is_from_parent_process(loop))
        runloop__poller_host(&loop->poller, false);
    free(run);
    return result;
}

/// The sanitizer would put the run elsewhere than on the stack.
__attribute__((noinline, no_sanitize_address)) static int run_in_mode(const char *name, int64_t limit_ns,
                                                                      bool returns_after_source, bool is_pass) {
    runloop *loop = runloop__thread_loop();
    if ((!loop || is_from_parent_process(loop)) && !(loop = runloop_current()))
        return runloop__this_thread.error;
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
    struct run run;
    bool unused;
    run.is_hosted = run.is_guest = false;
    run.is_pass = is_pass;
    int result = begin(&run, loop, mode, limit_ns, returns_after_source);
    if (!result)
        result = runloop__run_iterate(&run, RUNLOOP_NEVER, &unused);
    return end(&run, result);
}

int runloop_run_in_mode(const char *name, int64_t limit_ns, bool return_after_source_handled) {
    return run_in_mode(name, limit_ns, return_after_source_handled, false);
}

int runloop_run_pass(const char *name, int64_t limit_ns) {
    return run_in_mode(name, limit_ns, true, true);
}

int runloop_run(void) {
    int result;
    do
        result = runloop_run_in_mode(runloop__default_mode, RUNLOOP_FOREVER, false);
    while (result == RUNLOOP_RESULT_TIMED_OUT || result == RUNLOOP_RESULT_HANDLED_SOURCE);
    return result;
}
#endif // __linux__
