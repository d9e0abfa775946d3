// run.c — the run function: a do-while loop whose body is the picture in ARCHITECTURE.md. Nobody but this file decides whether another
// iteration follows.

#include <pthread.h>

#include "run/run.h"

//===-- entering and leaving (R28) -----------------------------------------------------------------------------------===//

static void enter(struct run *run) {
    runloop *loop = run->loop;
    run->outer = loop->run;
    run->outer_mode = atomic_load_explicit(&loop->current_mode, memory_order_relaxed);
    run->outer_word = wake_enter(&loop->wake, &run->outer_accepts);
    loop->run = run;
    atomic_store_explicit(&loop->current_mode, run->mode->name, memory_order_release);
}

static void leave(struct run *run) {
    runloop *loop = run->loop;
    wake_leave(&loop->wake, run->outer_word, run->outer_accepts);
    atomic_store_explicit(&loop->current_mode, run->outer_mode, memory_order_release);
    loop->run = run->outer;
}

//===-- deciding (R29, R36) ------------------------------------------------------------------------------------------===//

static inline bool take(_Atomic bool *request) {
    return atomic_load_explicit(request, memory_order_relaxed) && atomic_exchange(request, false);
}

static inline bool take_any_stop(struct run *run) {
    return wake_take_stop(&run->loop->wake) || take(&run->loop->latched_stop) || take(&run->mode->stop_requested);
}

/// The result at the end of an iteration, or 0 for another one.
static int decide(struct run *run, bool handled_source) {
    if (is_from_parent_process(run->loop))
        return -ECHILD;
    if (handled_source && run->returns_after_source)
        return RUNLOOP_RESULT_HANDLED_SOURCE;
    if (run->limit_ns <= 0 || limit_has_passed(run))
        return RUNLOOP_RESULT_TIMED_OUT;
    if (take_any_stop(run))
        return RUNLOOP_RESULT_STOPPED;
    return mode_is_empty(run->loop, run->mode) ? RUNLOOP_RESULT_FINISHED : 0;
}

//===-- one iteration (R41) ------------------------------------------------------------------------------------------===//

static bool perform_signalled(struct run *run) {
    return signals_may_wait(run->loop, run->mode) &&
           runloop__signals_dispatch(run->loop, run->mode, run->returns_after_source);
}

/// Serves what the wait has selected. True if that was a source.
static bool serve(struct run *run) {
    runloop *loop = run->loop;
    switch (run->selection.kind) {
    case SELECTED_NOTHING: break;
    case SELECTED_TIMERS: runloop__timers_dispatch(loop, run->mode, run->timer_ended_wait); break;
    case SELECTED_MAIN_QUEUE: return run->served_main_queue = runloop__main_queue_dispatch(loop);
    case SELECTED_DESCRIPTOR:
        return runloop__descriptor_collect_selected(loop, run->mode, &run->selection, &run->dispatch) &&
               runloop__descriptor_dispatch(loop, run->mode, &run->dispatch);
    case SELECTED_SOURCES: return runloop__descriptor_dispatch(loop, run->mode, &run->dispatch);
    }
    return false;
}

static void wait(struct run *run, bool may_sleep) {
    if (may_sleep)
        observe(run->loop, run->mode, RUNLOOP_ACTIVITY_BEFORE_WAITING);
    if (is_from_parent_process(run->loop))
        return;
    runloop__wait(run, may_sleep);
    // Sources that are collected have no observers of AfterWaiting before them; one that joined since then comes too late.
    if (may_sleep && run->selection.kind != SELECTED_SOURCES)
        observe(run->loop, run->mode, RUNLOOP_ACTIVITY_AFTER_WAITING);
}

static int iterate(struct run *run) {
    runloop *loop = run->loop;
    wake_accept(&loop->wake);
    observe(loop, run->mode, RUNLOOP_ACTIVITY_BEFORE_TIMERS);
    observe(loop, run->mode, RUNLOOP_ACTIVITY_BEFORE_SOURCES);
    drain_tasks(loop, run->mode);

    bool handled_source = perform_signalled(run);
    if (handled_source)
        drain_tasks(loop, run->mode);

    // The main queue is polled before the wait, but not twice running, so that neither it nor the rest starves (R108).
    bool polls_main_queue = run->serves_main_queue && !run->served_main_queue && !run->is_first_iteration;
    run->is_first_iteration = run->served_main_queue = run->was_polled = false;
    run->selection.kind = SELECTED_NOTHING;
    if (!(polls_main_queue && runloop__wait_select_main_queue(run)))
        wait(run, !handled_source && run->limit_ns > 0);
    if (!is_from_parent_process(loop))
        handled_source |= serve(run);

    drain_tasks(loop, run->mode);
    return decide(run, handled_source);
}

//===-- runs ---------------------------------------------------------------------------------------------------------===//

static int run_entered(struct run *run) {
    observe(run->loop, run->mode, RUNLOOP_ACTIVITY_ENTRY);
    if (is_from_parent_process(run->loop))
        return -ECHILD;
    if (take_any_stop(run))
        return RUNLOOP_RESULT_STOPPED;
    if (run->limit_ns > 0 && run->limit_ns != RUNLOOP_FOREVER)
        run->deadline_ns = saturating_add(loop_now(run->loop), run->limit_ns);
    int result;
    do
        result = iterate(run);
    while (!result);
    return result;
}

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

/// The sanitizer would put the run elsewhere than on the stack.
__attribute__((no_sanitize_address)) static int run_in_mode(runloop *loop, struct mode *mode, int64_t limit_ns,
                                                            bool returns_after_source) {
    // Field by field: clearing all of them first would cost more than half of an empty run. A selection sets what it needs of the rest.
    struct run run;
    run.loop = loop;
    run.mode = mode;
    run.limit_ns = limit_ns;
    run.deadline_ns = RUNLOOP_NEVER;
    run.returns_after_source = returns_after_source;
    run.serves_main_queue = run.served_main_queue = run.was_polled = false;
    run.is_first_iteration = true;
    if (loop->is_main)
        run.serves_main_queue = atomic_load(&mode->is_common) && runloop__main_queue_watch(loop);
    run.starves_main_queue = loop->main_queue.depth > 0 && runloop__main_queue_is_starved(loop);
    if (run_was_left(loop, &run))
        check_outer_run(&run);
    enter(&run);
    int result = run_entered(&run);
    if (result != -ECHILD)
        observe(loop, mode, RUNLOOP_ACTIVITY_EXIT);
    leave(&run);
    return is_from_parent_process(loop) ? -ECHILD : result;
}

int runloop_run_in_mode(const char *name, int64_t limit_ns, bool return_after_source_handled) {
    runloop *loop = runloop__thread_loop();
    if ((!loop || is_from_parent_process(loop)) && !(loop = runloop_current()))
        return runloop__this_thread.has_ended ? -ESHUTDOWN : runloop__this_thread.error;
    if (atomic_load_explicit(&loop->is_finished, memory_order_relaxed))
        return -ESHUTDOWN;
    // The pseudo-mode is never a mode of the loop, so it is not found.
    struct mode *mode = name ? mode_find(loop, name) : NULL;
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
