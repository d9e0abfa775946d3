// loop.c — a loop's life: made, referenced, freed. Its end with its thread is teardown.c's.

#ifdef __linux__
#include "model/model.h"

void (*runloop__loop_closed)(runloop *loop);
void (*runloop__send_hook)(runloop *loop, enum runloop__sent kind, const void *what);

void runloop__set_send_hook(void (*hook)(runloop *loop, enum runloop__sent kind, const void *what)) {
    runloop__send_hook = hook;
}

#ifdef RUNLOOP_DEBUG
_Thread_local const runloop *runloop__locked;
#endif

UNCHECKED static void init(runloop *loop, bool is_main) {
    atomic_init(&loop->references, 1);
    loop->generation = runloop__generation();
    loop->is_main = is_main;
    loop->last_mode = &loop->modes;
    loop->armed_ns = RUNLOOP_NEVER;
    loop->tasks.end_ns = RUNLOOP_NEVER;
    loop->common.name = runloop__common_modes;
    list_init(&loop->ready.waiting);
    list_init(&loop->ready.unwanted);
    list_init(&loop->ready.aside);
    list_init(&loop->registrations.masked);
    list_init(&loop->main_queue.news.link);
    list_init(&loop->sources);
    list_init(&loop->common_items);
    list_init(&loop->tasks.queue);
}

UNCHECKED int runloop__loop_create(bool is_main, runloop **out) {
    *out = NULL;
    runloop *loop = aligned_alloc(CACHE_LINE, sizeof *loop);
    if (!loop)
        return -ENOMEM;
    memset(loop, 0, sizeof *loop);
    int error = runloop__poller_open(&loop->poller);
    // Every loop has the default mode, and it is common (R4).
    struct mode *mode = error ? NULL : runloop__mode_new(runloop__default_mode);
    if (!mode) {
        runloop__poller_close(&loop->poller);
        free(loop);
        return error ? error : -ENOMEM;
    }
    init(loop, is_main);
    atomic_init(&mode->is_common, true);
    atomic_init(loop->last_mode, mode);
    loop->last_mode = &mode->next;
    *out = loop;
    return 0;
}

runloop *runloop_retain(runloop *loop) {
    if (loop) {
        uint32_t before = atomic_fetch_add_explicit(&loop->references, 1, memory_order_relaxed);
        (void)before;
        ASSERT(before > 0, "A loop was retained after its last reference was released.");
    }
    return loop;
}

UNCHECKED static void free_loop(runloop *loop) {
    runloop__loop_closed(loop);
    runloop__poller_close(&loop->poller);
    for (struct mode *mode = atomic_load(&loop->modes), *next; mode; mode = next) {
        next = atomic_load(&mode->next);
        runloop__mode_free(mode);
    }
    free(loop->callouts);
    free(loop->collected);
    free(loop);
}

void runloop_release(runloop *loop) {
    // In a forked child nothing of an inherited loop is touched; its memory stays.
    if (!loop || is_from_parent_process(loop))
        return;
    uint32_t before = atomic_fetch_sub_explicit(&loop->references, 1, memory_order_acq_rel);
    // What `current` and `main` lend is not the caller's: the reference of the thread is given back by its end alone.
    ASSERT(before > 1 || atomic_load(&loop->is_finished), "A loop was released that its thread still has (rule R6).");
    if (before == 1)
        free_loop(loop);
}

bool runloop_is_current(runloop *loop) {
    if (!loop || is_from_parent_process(loop))
        return false;
    const struct runloop__this_thread *thread = &runloop__this_thread;
    // The initial thread may not have asked for its loop yet, which others got from runloop_main.
    return loop == thread->loop || (loop->is_main && !thread->loop && !thread->has_ended && is_initial_thread());
}

bool runloop__has_run(runloop *loop) {
    return atomic_load_explicit(&loop->has_run, memory_order_relaxed);
}

bool runloop_is_waiting(runloop *loop) {
    return loop_check(loop) == 0 && (atomic_load(&loop->wake.word) & WAKE_ASLEEP);
}

bool runloop_needs_wake_up(runloop *loop) {
    return loop_check(loop) == 0 && !atomic_load(&loop->is_finished) &&
           (!runloop_is_current(loop) || (atomic_load(&loop->wake.word) & WAKE_ASLEEP));
}

const char *runloop_current_mode(runloop *loop) {
    return loop_check(loop) ? NULL : atomic_load(&loop->current_mode);
}

//===-- stopping and waking ------------------------------------------------------------------------------------------===//

int runloop_wake_up(runloop *loop) {
    int error = loop_check(loop);
    if (!error) {
        runloop__wake_set(&loop->wake, &loop->poller, WAKE_RUNNING, WAKE_WOKEN);
        loop_sent(loop, RUNLOOP__SENT_WAKE_UP, NULL);
    }
    return error;
}

int runloop_stop(runloop *loop) {
    int error = loop_check(loop);
    if (!error) {
        runloop__wake_set(&loop->wake, &loop->poller, WAKE_RUNNING, WAKE_STOPPED);
        loop_sent(loop, RUNLOOP__SENT_STOP, NULL);
    }
    return error;
}

int runloop_stop_latched(runloop *loop) {
    int error = loop_check(loop);
    if (error)
        return error;
    // A read-modify-write, so that whoever takes the stop also sees what was written before those that it stands for.
    atomic_exchange(&loop->latched_stop, true);
    loop_kick(loop);
    loop_sent(loop, RUNLOOP__SENT_STOP, NULL);
    return 0;
}

int runloop_stop_mode(runloop *loop, const char *name) {
    int error = loop_check(loop);
    if (error)
        return error;
    if (!name || is_common_name(name))
        return -EINVAL;
    loop_lock(loop);
    struct mode *mode = mode_make(loop, name);
    loop_unlock(loop);
    if (!mode)
        return -ENOMEM;
    atomic_exchange(&mode->stop_requested, true);
    // A wake-up like any other: a run of another mode is not stopped, but goes round once (R53, R54).
    return runloop_wake_up(loop);
}
#endif // __linux__
