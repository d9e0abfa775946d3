// run.c — the run function: a do-while loop whose body is the picture in ARCHITECTURE.md. Nobody but this file decides whether to
// go round again.

#include "wake.h"

//===-- entering and leaving (R28) -----------------------------------------------------------------------------------===//

static void enter(struct run *run) {
    runloop *loop = run->loop;
    run->outer = loop->run;
    run->outer_mode = atomic_load_explicit(&loop->current_mode, memory_order_relaxed);
    run->outer_word = wake_enter(loop, &run->outer_accepts);
    loop->run = run;
    atomic_store_explicit(&loop->current_mode, run->mode->name, memory_order_release);
}

static void leave(struct run *run) {
    runloop *loop = run->loop;
    wake_leave(loop, run->outer_word, run->outer_accepts);
    atomic_store_explicit(&loop->current_mode, run->outer_mode, memory_order_release);
    loop->run = run->outer;
}

//===-- deciding (R29, R36) ------------------------------------------------------------------------------------------===//

static inline bool take(_Atomic bool *request) {
    return atomic_load_explicit(request, memory_order_relaxed) && atomic_exchange(request, false);
}

static inline bool take_any_stop(struct run *run) {
    return wake_take_stop(run->loop) || take(&run->loop->latched_stop) || take(&run->mode->stop_requested);
}

static inline bool limit_has_passed(const struct run *run) {
    if (run->deadline_ns == RUNLOOP_NEVER)
        return run->limit_ns <= 0;
    return runloop_now_ns() >= run->deadline_ns;
}

/// The result at the end of an iteration, or 0 to go round again.
static int decide(struct run *run, bool handled_source) {
    if (runloop__is_inherited(run->loop))
        return -ECHILD;
    if (handled_source && run->returns_after_source)
        return RUNLOOP_RESULT_HANDLED_SOURCE;
    if (limit_has_passed(run))
        return RUNLOOP_RESULT_TIMED_OUT;
    if (take_any_stop(run))
        return RUNLOOP_RESULT_STOPPED;
    return runloop__mode_is_empty(run->loop, run->mode) ? RUNLOOP_RESULT_FINISHED : 0;
}

//===-- one iteration (R41) ------------------------------------------------------------------------------------------===//

static bool serve(struct run *run) {
    switch (run->choice) {
    case CHOICE_NONE: break;
    case CHOICE_TIMERS: runloop__timers_fire(run); break;
    case CHOICE_PORT:
        if (run->port == PORT_MAIN_QUEUE)
            return run->served_main_queue = runloop__main_queue_serve(run);
        runloop__port_serve(run);
        return runloop__port_call(run);
    case CHOICE_SOURCE: runloop__port_call_only(run); return true;
    case CHOICE_SOURCES: return runloop__port_call(run);
    }
    return false;
}

static void wait(struct run *run, bool poll) {
    if (!poll)
        runloop__observe(run, RUNLOOP_ACTIVITY_BEFORE_WAITING);
    if (runloop__is_inherited(run->loop))
        return;
    runloop__wait(run, poll);
    // Sources are chosen at once where nobody is to be told before; who asks to be told since then comes too late.
    if (!poll && run->choice != CHOICE_SOURCE && run->choice != CHOICE_SOURCES)
        runloop__observe(run, RUNLOOP_ACTIVITY_AFTER_WAITING);
}

static int iterate(struct run *run) {
    wake_accept(run->loop);
    runloop__observe(run, RUNLOOP_ACTIVITY_BEFORE_TIMERS);
    runloop__observe(run, RUNLOOP_ACTIVITY_BEFORE_SOURCES);
    runloop__perform_drain(run);

    bool handled_source = runloop__source_perform_signalled(run);
    if (handled_source)
        runloop__perform_drain(run);

    // The main queue is looked at before the wait, but not twice running, so that neither it nor the rest starves (R108).
    bool looks_at_main_queue = run->serves_main_queue && !run->served_main_queue && !run->is_first_iteration;
    run->is_first_iteration = run->served_main_queue = run->looked_at_main_queue = false;
    run->choice = CHOICE_NONE;
    if (!(looks_at_main_queue && runloop__wait_choose_main_queue(run)))
        wait(run, handled_source || run->limit_ns <= 0);
    if (!runloop__is_inherited(run->loop))
        handled_source |= serve(run);

    runloop__perform_drain(run);
    return decide(run, handled_source);
}

//===-- runs ---------------------------------------------------------------------------------------------------------===//

static int run_entered(struct run *run) {
    runloop__observe(run, RUNLOOP_ACTIVITY_ENTRY);
    if (runloop__is_inherited(run->loop))
        return -ECHILD;
    if (take_any_stop(run))
        return RUNLOOP_RESULT_STOPPED;
    if (run->limit_ns > 0 && run->limit_ns != RUNLOOP_FOREVER)
        run->deadline_ns = runloop__saturating_add(runloop_now_ns(), run->limit_ns);
    int result;
    do
        result = iterate(run);
    while (!result);
    return result;
}

static int run_in_mode(runloop *loop, struct mode *mode, int64_t limit_ns, bool returns_after_source) {
    // Field by field: to clear them all first costs more than half of an empty run. A choice sets what it needs of the rest.
    struct run run;
    run.loop = loop;
    run.mode = mode;
    run.limit_ns = limit_ns;
    run.deadline_ns = RUNLOOP_NEVER;
    run.returns_after_source = returns_after_source;
    run.serves_main_queue = run.served_main_queue = run.leaves_main_queue = run.looked_at_main_queue = false;
    run.is_first_iteration = true;
    if (loop->may_have_main_queue)
        run.serves_main_queue = atomic_load(&mode->is_common) && runloop__main_queue_watch(loop);
    if (loop->main_queue_depth > 0)
        run.leaves_main_queue = runloop__main_queue_is_left(loop);
    enter(&run);
    int result = run_entered(&run);
    if (result != -ECHILD)
        runloop__observe(&run, RUNLOOP_ACTIVITY_EXIT);
    leave(&run);
    return runloop__is_inherited(loop) ? -ECHILD : result;
}

int runloop_run_in_mode(const char *name, int64_t limit_ns, bool return_after_source_handled) {
    runloop *loop = runloop__thread_loop();
    if (!loop && !(loop = runloop_current()))
        return runloop__thread_error();
    // The pseudo-mode is never a mode of the loop, so it is not found.
    struct mode *mode = name ? runloop__find_mode(loop, name) : NULL;
    if (!mode || runloop__mode_is_empty(loop, mode))
        return RUNLOOP_RESULT_FINISHED;
    return run_in_mode(loop, mode, limit_ns, return_after_source_handled);
}

int runloop_run(void) {
    int result;
    do
        result = runloop_run_in_mode(RUNLOOP_DEFAULT_MODE, RUNLOOP_FOREVER, false);
    while (result == RUNLOOP_RESULT_TIMED_OUT || result == RUNLOOP_RESULT_HANDLED_SOURCE);
    return result;
}
