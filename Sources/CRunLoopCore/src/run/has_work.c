// has_work.c — the program asks what a run would find if it waited now. A copy of the run answers, so that nothing changes.

#ifdef __linux__
#include "run/run.h"

static __attribute__((noinline)) bool has_nothing_left(runloop *loop) {
    struct run question = *loop->run;
    question.was_polled = false; // something may be ready since then
    uint32_t news = question.ignores_wakeups ? WAKE_STOPPED : WAKE_STOPPED | WAKE_WOKEN;
    return question.limit_ns > 0 && !(wake_word(&loop->wake) & news) && !run_is_of_empty_mode(&question) &&
           !runloop__wait_has_work(&question);
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
    return runloop__wait_has_work(&question);
}
#endif // __linux__
