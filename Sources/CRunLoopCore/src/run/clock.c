// clock.c — a loop whose time is the program's: virtual in a test, ordered by a seed in a simulation. Instants come from the clock, and a
// sleep is what the clock makes of it: it moves, and the loop looks again, or it lets the kernel wait.

#ifdef __linux__
#include <poll.h>

#include "run/run.h"

/// Does the loop keep any instant of its present clock?
static bool has_dates(const runloop *loop) {
    const struct mode *mode = atomic_load(&loop->modes);
    while (mode && heap_count(&mode->timers) == 0)
        mode = atomic_load(&mode->next);
    const struct run *run = loop->run;
    while (run && run->deadline_ns == RUNLOOP_NEVER)
        run = run->outer;
    return mode || run;
}

int runloop_set_clock(const runloop_clock *clock) {
    if (clock && (!clock->now || !clock->wait))
        return -EINVAL;
    runloop *loop = runloop_current();
    if (!loop)
        return runloop__this_thread.error;
    if (atomic_load_explicit(&loop->is_finished, memory_order_relaxed))
        return -ESHUTDOWN;
    loop_lock(loop);
    int error = loop->asks_clock || has_dates(loop) ? -EBUSY : 0;
    if (!error) {
        loop->clock = clock ? *clock : (runloop_clock){0};
        // What the timer descriptor is armed for is an instant of the former clock.
        loop->armed_ns = RUNLOOP_NEVER;
    }
    loop_unlock(loop);
    return error;
}

int runloop_clock_moved(runloop *loop) {
    int error = loop_check(loop);
    if (!error)
        loop_kick(loop);
    return error;
}

int64_t runloop_now_ns(void) {
    runloop *loop = runloop__thread_loop();
    return loop && !is_from_parent_process(loop) ? loop_now(loop) : monotonic_ns();
}

int64_t runloop_get_now_ns(runloop *loop) {
    if (loop_check(loop))
        return monotonic_ns();
    if (loop == runloop__thread_loop())
        return loop_now(loop);
    loop_lock(loop);
    int64_t now_ns = loop_now(loop);
    loop_unlock(loop);
    return now_ns;
}

int64_t runloop__clock_wait(struct run *run, int64_t duration_ns) {
    runloop *loop = run->loop;
    // The clock is asked when there is nothing to do, and not before.
    if (poll(&(struct pollfd){.fd = loop->poller.set, .events = POLLIN}, 1, 0) != 0)
        return 0;
    loop->asks_clock = true;
    int64_t real_ns = runloop__IS_CALLING_OUT_TO_A_CLOCK(loop->clock.wait, loop->clock.context, duration_ns);
    loop->asks_clock = false;
    if (is_from_parent_process(loop))
        return -ECHILD;
    if (real_ns <= 0)
        return 0;
    // A host has no timeout.
    if (run->is_hosted && real_ns != RUNLOOP_FOREVER &&
        runloop__poller_arm(&loop->poller, saturating_add(monotonic_ns(), real_ns)) == 0)
        return RUNLOOP_FOREVER;
    return real_ns;
}
#endif // __linux__
