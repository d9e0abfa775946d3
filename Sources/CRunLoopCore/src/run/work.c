// work.c — the questions of a wait without a wait: would a run find something to do, and would its host be woken for it?

#ifdef __linux__
#include "run/work.h"
#include "model/heap.h"

bool runloop__any_signalled(const struct run *run) {
    runloop *loop = run->loop;
    loop_lock(loop);
    bool any = runloop__signals_any(loop, run->mode) || any_ready(run);
    loop_unlock(loop);
    return any;
}

//===-- the program asks, and a copy of the run answers, so that nothing changes -------------------------------------===//

/// Is a descriptor of the mode ready, or the main queue? What is reported stays so for the wait, which serves it first.
static bool asks_kernel(struct run *question) {
    runloop *loop = question->loop;
    bool any = false;
    loop_lock(loop);
    runloop__ready_prepare(loop, question->mode, false);
    for (int count = POLLER_BATCH;
         !(any = any_ready(question)) && count == POLLER_BATCH && has_descriptors(question);) {
        runloop__ready_prepare(loop, question->mode, true);
        loop_unlock(loop);
        count = runloop__registrations_poll(loop);
        loop_lock(loop);
    }
    loop_unlock(loop);
    // What was fetched here was meant for the host, or for the sleep before which the clock is asked.
    if (loop->hosted || (loop->asks_clock && wake_has_come(&loop->wake)))
        run_notify_host(loop);
    return any;
}

static bool finds_work(struct run *question) {
    loop_lock(question->loop);
    question->timers_are_due = timers_are_due_in(question);
    loop_unlock(question->loop);
    return has_work(question) || asks_kernel(question);
}

static __attribute__((noinline)) bool has_nothing_left(runloop *loop) {
    struct run question = *loop->run;
    bool is_woken = !question.ignores_wakeups && (wake_word(&loop->wake) & WAKE_WOKEN);
    return question.limit_ns > 0 && !is_woken && !stop_is_pending(&question) && !run_is_of_empty_mode(&question) &&
           !finds_work(&question);
}

/// With a frame that is smaller than a run, wherever in it the processor's frame address is: a run that was left by longjmp is below that.
bool runloop_is_idle(runloop *loop) {
    return loop && runloop_is_current(loop) && loop->run && !run_was_left(loop, __builtin_frame_address(0)) &&
           has_nothing_left(loop);
}

bool runloop_has_work(const char *name) {
    runloop *loop = runloop_current();
    struct mode *mode = loop && name ? mode_find(loop, name) : NULL;
    if (!mode)
        return false;
    struct run question = {.loop = loop, .mode = mode, .deadline_ns = RUNLOOP_NEVER};
    question.serves_main_queue = loop->is_main && atomic_load(&mode->is_common) && runloop__main_queue_watch(loop);
    return finds_work(&question);
}

//===-- a hosted run asks before its call-outs -----------------------------------------------------------------------===//

void runloop__wait_settle(struct run *run) {
    runloop *loop = run->loop;
    runloop__registrations_poll(loop);
    loop_lock(loop);
    any_ready(run);
    runloop__ready_prepare(loop, run->mode, true);
    loop_unlock(loop);
}

bool runloop__knows_more(const struct run *run) {
    runloop *loop = run->loop;
    // Observers are notified in the nested run. Unless the next to come writes, whoever posts in the call-out relies on what was written before,
    // and that was taken.
    if (atomic_load_explicit(&run->mode->observed, memory_order_relaxed) ||
        wake_word(&loop->wake) != (WAKE_RUNNING | WAKE_UNNOTIFIED) || loop->clock.now || may_have_work(run) ||
        atomic_load_explicit(&loop->news, memory_order_relaxed))
        return true;
    loop_lock(loop);
    int64_t timer_ns = runloop__timers_latest(run->mode);
    bool is_armed = timer_ns == RUNLOOP_NEVER || loop_is_armed(loop, timer_ns);
    loop_unlock(loop);
    return !is_armed;
}
#endif // __linux__
