// everything.c — a thread that uses whatever the core has, and ends. What failed has changed nothing, and contexts and tasks have their ends.
#include "faults.h"

static int retained, released, accepted, ended, scheduled, cancelled;
static int error;     ///< The last one that was told; -ENOMEM for those that are told by NULL.
static bool is_wrong; ///< Something was told without a failure, or is otherwise than was told.

static void *count_retain(void *info) {
    retained++;
    return info;
}

static void count_release(void *info) {
    (void)info;
    released++;
}

static char *describe(void *info) {
    (void)info;
    return calloc(1, 4);
}

static void count_end(void *info) {
    (void)info;
    ended++;
}

static void count_schedule(runloop_source *source, runloop *loop, const char *mode, void *info) {
    (void)source, (void)loop, (void)mode, (void)info;
    scheduled++;
}

static void count_cancel(runloop_source *source, runloop *loop, const char *mode, void *info) {
    (void)source, (void)loop, (void)mode, (void)info;
    cancelled++;
}

static void take_ready(runloop_source *source, runloop_readiness reasons, void *info) {
    (void)reasons, (void)info;
    uint64_t value;
    OWN((void)!read(runloop_source_get_descriptor(source), &value, sizeof value));
}

static runloop_context context(void) {
    return (runloop_context){.retain = count_retain, .release = count_release, .describe = describe};
}

/// Did the call succeed? An error must be that of a failure.
static bool good(int result) {
    if (result < 0) {
        error = result;
        is_wrong |= !injector_struck() || !injector_fits(result);
    }
    return result >= 0;
}

static bool is_there(const void *pointer) {
    return good(pointer ? 0 : -ENOMEM);
}

static void expect(bool condition) {
    is_wrong |= !condition;
}

static int poll_mode(const char *mode) {
    return runloop_run_in_mode(mode, 0, false);
}

static void poll_here(void *unused) {
    good(poll_mode(MODE));
    count_end(unused);
}

static void post(runloop *loop, const char *mode, runloop_function function) {
    const char *modes[] = {mode, "posted", RUNLOOP_COMMON_MODES, "many", "more", "modes"};
    accepted += good(runloop_post(loop, mode, function, NULL, count_end));
    accepted += good(runloop_perform(loop, mode, function, NULL, count_end));
    accepted += good(runloop_perform_in_modes(loop, modes, 6, function, NULL, count_end));
    accepted += good(runloop_post_in_modes(loop, modes, 6, function, NULL, count_end));
}

/// A common source that has left its common modes comes back to all of them, or to none.
static void come_back(runloop *loop, runloop_source *source) {
    const char *modes[] = {RUNLOOP_DEFAULT_MODE, "common", "common as well"};
    bool is_common = good(runloop_add_source(loop, source, RUNLOOP_COMMON_MODES));
    bool leaves = true, was_in_all = true;
    for (int i = 0; i < 3; i++) {
        was_in_all &= runloop_contains_source(loop, source, modes[i]);
        leaves &= good(runloop_remove_source(loop, source, modes[i]));
    }
    if (!is_common || !was_in_all || !leaves)
        return;
    bool had_struck = injector_struck();
    bool is_back = good(runloop_add_source(loop, source, RUNLOOP_COMMON_MODES));
    for (int i = 0; i < 3; i++)
        expect(runloop_contains_source(loop, source, modes[i]) == is_back || injector_struck() > had_struck);
}

static void use_sources(runloop *loop, int descriptor) {
    runloop_source_config config = {.context = context(), .schedule = count_schedule, .cancel = count_cancel};
    runloop_descriptor_config descriptor_config = {.context = context(),
                                                   .descriptor = descriptor,
                                                   .events = RUNLOOP_READABLE,
                                                   .counter = true,
                                                   .ready = take_ready};
    for (int kind = 0; kind < 2; kind++) {
        runloop_source *source = NULL;
        if (!good(kind ? runloop_descriptor_source_create(&descriptor_config, &source)
                       : runloop_source_create(&config, &source)))
            continue;
        const char *modes[] = {MODE, "a", "b", "c", "d", "e", "f", "g", "h", "i", RUNLOOP_COMMON_MODES};
        for (int i = 0; i < 11; i++) {
            bool is_added = good(runloop_add_source(loop, source, modes[i]));
            expect(runloop_contains_source(loop, source, modes[i]) == is_added);
        }
        runloop_source_signal(source);
        if (kind)
            OWN(MUST(eventfd_write(descriptor, 1) == 0));
        good(poll_mode(MODE));
        good(runloop_remove_source(loop, source, "a"));
        come_back(loop, source);
        good(runloop_remove_source(loop, source, RUNLOOP_COMMON_MODES));
        if (!kind)
            runloop_source_invalidate(source);
        runloop_source_release(source);
    }
}

static void use_timers(runloop *loop) {
    for (int i = 0; i < 20; i++) {
        runloop_timer_config config = {
            .context = context(), .fire_ns = i % 2 ? 0 : RUNLOOP_NEVER, .interval_ns = i % 3 * MS};
        runloop_timer *timer = NULL;
        if (!good(runloop_timer_create(&config, &timer)))
            continue;
        const char *modes[] = {MODE, "a", "t", RUNLOOP_COMMON_MODES};
        for (int j = 0; j < 4; j++) {
            bool is_added = good(runloop_add_timer(loop, timer, modes[j]));
            expect(runloop_contains_timer(loop, timer, modes[j]) == is_added);
        }
        expect(runloop_timer_set_fire_date(timer, i % 4 ? 5 : runloop_now_ns() + MS) == 0);
        good(runloop_remove_timer(loop, timer, "a"));
        if (i % 5 == 0)
            runloop_timer_invalidate(timer);
        runloop_timer_release(timer);
    }
}

static void use_observers(runloop *loop) {
    for (int i = 0; i < 10; i++) {
        runloop_observer_config config = {.context = context(), .activities = RUNLOOP_ACTIVITY_ALL, .repeats = i % 2};
        runloop_observer *observer = NULL;
        if (!good(runloop_observer_create(&config, &observer)))
            continue;
        const char *modes[] = {MODE, "o", RUNLOOP_COMMON_MODES};
        for (int j = 0; j < 3; j++) {
            bool is_added = good(runloop_add_observer(loop, observer, modes[j]));
            expect(runloop_contains_observer(loop, observer, modes[j]) == is_added);
        }
        good(runloop_remove_observer(loop, observer, "o"));
        runloop_observer_release(observer);
    }
}

static void *use_all(void *unused) {
    good(poll_mode(MODE));
    runloop *loop = runloop_current();
    if (!is_there(loop))
        return unused;
    is_there(runloop_mode_name("a name of its own"));
    good(runloop_add_common_mode(loop, "common"));
    good(runloop_add_common_mode(loop, "common as well"));
    post(loop, MODE, poll_here);
    pause_faults();
    DESCRIPTOR descriptor = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    begin_faults();
    use_sources(loop, descriptor);
    use_timers(loop);
    use_observers(loop);
    good(runloop_add_common_mode(loop, "common too"));
    good(runloop_stop_mode(loop, "stopped"));
    runloop_wake_up(loop);
    char *description = runloop_copy_description(loop);
    is_there(description);
    free(description);
    post(loop, MODE, poll_here);
    for (int i = 0; i < 3; i++) {
        good(poll_mode(MODE));
        good(runloop_run_in_mode(MODE, MS, false));
        good(poll_mode("a"));
        good(poll_mode("common too"));
    }
    post(loop, "never", count_end);
    if (good(runloop_stop_latched(loop)))
        good(poll_mode("b"));
    return unused;
}

enum outcome everything(void) {
    pthread_t thread;
    retained = released = accepted = ended = scheduled = cancelled = error = 0;
    is_wrong = false;
    begin_faults();
    TRY_OF("pthread_create", -pthread_create(&thread, NULL, use_all, NULL));
    pthread_join(thread, NULL);
    bool is_balanced = retained == released && accepted == ended && scheduled == cancelled;
    bool has_worked = error || (scheduled > 0 && retained > 30 && accepted > 10);
    return is_wrong || !is_balanced || !has_worked ? LOST : outcome_or(!error, "runloop_current", error);
}

enum outcome everything_until_memory_runs_out(void) {
    let_memory_run_out();
    return everything();
}
