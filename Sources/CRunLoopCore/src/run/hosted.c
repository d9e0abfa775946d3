// hosted.c — runs whose sleep is a host's: another loop owns the thread, waits for our one descriptor, and lets the run go on when that is
// readable. A hosted run is a plain one that is left at its sleep and taken up again (wait.c), so observers are notified of the same.
//
// The descriptor is an epoll set with nothing in it, during a hosted run, but the loop's own set (poller.c). It is readable while the
// loop's set has anything to report, so the host has no timeout to compute. What woke it is asked for before the next sleep, and not before:
// so the descriptor is readable while call-outs run, in which the host may run its own loop. What makes it readable:
//
//   what there is to do                      while the host sleeps        in a call-out
//   ---------------------------------------  ---------------------------  ------------------------------------------------------
//   a descriptor is ready                    the kernel                   the kernel
//   a timer is due                           the kernel, by the timerfd   the same
//   a post, a wake-up, a stop, a kick        the first one writes the     the first one since the host called: UNNOTIFIED in the
//                                            eventfd (wake.c)             wake word, which a write takes away
//   a task, a signal, a deadline that the    -                            the same, unless the set is still readable
//   thread itself leaves behind                                           (loop_leave_to_host)
//   what the loop took from the kernel       -                            the thread, before the call-out, if the kernel reports it
//   and has not served                                                    no more (keep_host_awake)
//
// Otherwise the thread writes where it hands over: a run begins, is left at its budget, or ends within another one that goes on; a question
// of the program's took what was meant for the host (work.c); the set or the timerfd fails, so the host has to ask again and again.
//
// Hosted runs nest, and live on the heap, since nobody's stack lasts from one of the host's calls to the next. A host that runs its loop
// inside one of our call-outs (a modal dialog) asks for an iteration in the midst of one: that begins a nested run of the same mode,
// which ends when the call-out returns.

#ifdef __linux__
#include "run/run.h"

/// The calling thread's innermost hosted run, or why there is none.
static int find(struct run **found) {
    runloop *loop = runloop__thread_loop();
    if (!loop || !loop->hosted || is_from_parent_process(loop))
        return -EINVAL;
    if (loop->asks_clock)
        return -EBUSY;
    *found = loop->hosted;
    return 0;
}

enum kind { OF_HOST, OF_CALLOUT, OF_MAIN_QUEUE };

static int begin(runloop *loop, struct mode *mode, enum kind kind) {
    struct run *run = calloc(1, sizeof *run);
    if (!run)
        return -ENOMEM;
    int descriptor = runloop__poller_host(&loop->poller, true);
    if (descriptor < 0) {
        free(run);
        return descriptor;
    }
    run->is_hosted = true;
    run->is_of_callout = kind == OF_CALLOUT;
    run->is_guest = kind == OF_MAIN_QUEUE;
    run->is_iterating = true;
    int result = runloop__run_begin(run, loop, mode, RUNLOOP_FOREVER, false);
    run->is_iterating = false;
    if (result)
        return runloop__run_end(run, result);
    // The host's first iteration follows.
    if (kind != OF_CALLOUT)
        run_notify_host(loop);
    return 0;
}

int runloop_hosted_descriptor(void) {
    runloop *loop = runloop_current();
    if (!loop)
        return runloop__this_thread.error;
    if (atomic_load_explicit(&loop->is_finished, memory_order_relaxed))
        return -ESHUTDOWN;
    // Other threads compare it with what they watch.
    loop_lock(loop);
    int descriptor = runloop__poller_host(&loop->poller, loop->hosted);
    loop_unlock(loop);
    return descriptor;
}

int runloop__set_descriptor(runloop *loop) {
    return loop->poller.set;
}

static int begin_in_mode(const char *name, enum kind kind) {
    int descriptor = runloop_hosted_descriptor();
    if (descriptor < 0)
        return descriptor;
    runloop *loop = runloop__thread_loop();
    if (loop->asks_clock)
        return -EBUSY;
    struct mode *mode = mode_find(loop, name);
    if (!mode)
        runloop__note_unknown_mode(loop, name);
    if (!mode || (kind == OF_HOST && mode_is_empty(loop, mode)))
        return RUNLOOP_RESULT_FINISHED;
    // A timer that comes later must find its descriptor: a host has no timeout.
    loop_lock(loop);
    int error = loop->poller.timer < 0 ? runloop__poller_arm(&loop->poller, RUNLOOP_NEVER) : 0;
    loop_unlock(loop);
    return error ? error : begin(loop, mode, kind);
}

int runloop_hosted_begin(const char *name) {
    return name ? begin_in_mode(name, OF_HOST) : -EINVAL;
}

int runloop__hosted_begin_as_guest(void) {
    return begin_in_mode(runloop__default_mode, OF_MAIN_QUEUE);
}

/// A nested run that nobody asked for by name has ended, which is not the host's business. A mode that was emptied must not keep the
/// descriptor readable; what comes to any other is served by the next one.
static int end_of_callout(struct run *run, int result) {
    runloop *loop = run->loop;
    if (result == RUNLOOP_RESULT_FINISHED)
        runloop__wait_settle(run);
    result = runloop__run_end(run, result);
    if (result == RUNLOOP_RESULT_STOPPED)
        run_notify_host(loop);
    return result == -ECHILD ? -ECHILD : 0;
}

static int iterate(struct run *run, int64_t budget_ns) {
    runloop *loop = run->loop;
    int64_t end_ns = budget_ns == RUNLOOP_FOREVER ? RUNLOOP_NEVER : saturating_add(monotonic_ns(), budget_ns);
    int64_t outer_end_ns = loop->tasks.end_ns;
    // A single iteration is a whole one.
    loop->tasks.end_ns = budget_ns > 0 ? end_ns : RUNLOOP_NEVER;
    if (run->is_guest)
        runloop__main_queue_unwatch(loop);
    wake_host_called(&loop->wake);
    run->is_iterating = true;
    bool sleeps = false;
    int result = runloop__run_iterate(run, end_ns, &sleeps);
    run->is_iterating = false;
    loop->tasks.end_ns = outer_end_ns;
    if (result)
        return run->is_of_callout ? end_of_callout(run, result) : runloop__run_end(run, result);
    if (sleeps)
        return 0;
    if (!loop->poller.is_readable || (wake_word(&loop->wake) & WAKE_UNNOTIFIED))
        run_notify_host(loop);
    return -EAGAIN;
}

int runloop_hosted_iterate(int64_t budget_ns) {
    struct run *run;
    int error = find(&run);
    if (error)
        return error;
    runloop *loop = run->loop;
    if (!run_is_between_iterations(run)) {
        error = begin(loop, loop->run->mode, OF_CALLOUT);
        // The run that the host knows goes on, so the host is to ask again.
        if (error == -ENOMEM)
            run_notify_host(loop);
        if (error)
            return error == -ECHILD ? -ECHILD : 0;
        run = loop->hosted;
    }
    return iterate(run, budget_ns < 0 ? 0 : budget_ns);
}

int runloop_hosted_end(void) {
    struct run *run;
    int error = find(&run);
    if (error)
        return error;
    if (!run_is_between_iterations(run) || run->is_of_callout)
        return -EBUSY;
    runloop__run_end(run, 0);
    return 0;
}
#endif // __linux__
