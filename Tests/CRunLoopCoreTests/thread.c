// thread.c — what other threads may do to a sleeping or running loop, and call-outs without a lock (R116–R119).
#include "items.h"

static runloop *the_loop;
static runloop_timer *the_timer;
static runloop_source *the_source;
static int fires, calls;

static int load(int *number) {
    return __atomic_load_n(number, __ATOMIC_ACQUIRE);
}

static void count_fire(runloop_timer *timer, void *info) {
    (void)timer, (void)info;
    __atomic_add_fetch(&fires, 1, __ATOMIC_ACQ_REL);
}

static void count_ready(runloop_source *source, runloop_readiness events, void *info) {
    (void)info, (void)events;
    take(runloop_source_get_descriptor(source));
    __atomic_add_fetch(&calls, 1, __ATOMIC_ACQ_REL);
}

static void trace_mode_activities(void) {
    trace_activities(MODE);
}

//===-- a loop that is asleep ----------------------------------------------------------------------------------------===//

static void start_sleeper(struct worker *worker) {
    worker->prepare = trace_mode_activities;
    start_worker(worker);
    wait_for_sleep(worker);
    EXPECT_TRACE("Entry T S W");
}

TEST("R54 R88 R116 a timer that another thread removes from a sleeping loop causes no empty iteration") {
    struct worker worker = {0};
    start_sleeper(&worker);
    for (int how = 0; how < 3; how++) {
        int64_t date = runloop_now_ns() + 30 * MS;
        runloop_timer *timer = make_timer(date, 0, count_fire, NULL);
        EXPECT_EQ(runloop_add_timer(worker.loop, timer, MODE), 0);
        if (how == 0)
            runloop_timer_invalidate(timer);
        else if (how == 1)
            runloop_remove_timer(worker.loop, timer, MODE);
        else
            runloop_timer_set_fire_date(timer, RUNLOOP_NEVER);
        bool in_time = runloop_now_ns() < date;
        pass_time(50 * MS);
        if (in_time) {
            EXPECT_EQ(load(&fires), 0);
            EXPECT_TRACE("");
        }
        runloop_timer_release(timer);
        // One that was removed too late may have fired.
        wait_for_sleep(&worker);
        __atomic_store_n(&fires, 0, __ATOMIC_RELEASE);
        trace_reset();
    }
    stop_worker(&worker);
}

TEST("R116 a descriptor source that another thread removes from a sleeping loop is no longer called") {
    struct worker worker = {0};
    start_sleeper(&worker);
    for (int how = 0; how < 2; how++) {
        int descriptor = make_eventfd(0);
        runloop_source *source = make_descriptor(descriptor, RUNLOOP_READABLE, count_ready, NULL);
        EXPECT_EQ(runloop_add_source(worker.loop, source, MODE), 0);
        how ? runloop_source_invalidate(source) : (void)runloop_remove_source(worker.loop, source, MODE);
        bump(descriptor);
        pass_time(20 * MS);
        EXPECT_EQ(load(&calls), 0);
        EXPECT_EQ(take(descriptor), 1);
        runloop_source_release(source);
    }
    EXPECT_TRACE("");
    stop_worker(&worker);
}

//===-- callbacks are called with no lock held -------------------------------------------------------------------------===//

static void *use_the_loop(void *unused) {
    (void)unused;
    runloop_source *source = make_source(NULL, NULL);
    runloop_source *descriptor = make_descriptor(make_eventfd(0), RUNLOOP_READABLE, NULL, NULL);
    runloop_timer *timer = make_timer(RUNLOOP_NEVER, 0, NULL, NULL);
    runloop_observer *observer = make_observer(RUNLOOP_ACTIVITY_ENTRY, NULL, NULL);
    const char *modes[] = {MODE, OTHER_MODE, RUNLOOP_COMMON_MODES};
    for (int i = 0; i < 3; i++) {
        runloop_add_source(the_loop, source, modes[i]);
        runloop_add_source(the_loop, descriptor, modes[i]);
        runloop_add_timer(the_loop, timer, modes[i]);
        runloop_add_observer(the_loop, observer, modes[i]);
        runloop_contains_source(the_loop, source, modes[i]);
        runloop_next_fire_date(the_loop, modes[i]);
        runloop_perform(the_loop, modes[i], trace_function, "performed", trace_function);
        runloop_remove_source(the_loop, source, modes[i]);
    }
    runloop_add_common_mode(the_loop, MODE);
    runloop_timer_set_fire_date(timer, runloop_now_ns() + 100 * SECOND);
    runloop_wake_up(the_loop);
    runloop_get_modes(the_loop, NULL, 0);
    if (the_source) {
        runloop_source_signal(the_source);
        runloop_contains_source(the_loop, the_source, MODE);
    }
    if (the_timer)
        runloop_timer_set_fire_date(the_timer, RUNLOOP_NEVER);
    runloop_source_invalidate(source);
    runloop_source_invalidate(descriptor);
    runloop_timer_invalidate(timer);
    runloop_observer_invalidate(observer);
    close(runloop_source_get_descriptor(descriptor));
    runloop_source_release(source);
    runloop_source_release(descriptor);
    runloop_timer_release(timer);
    runloop_observer_release(observer);
    free(runloop_copy_description(the_loop));
    return NULL;
}

/// Another thread makes every kind of call on the loop while one of its callbacks waits: a deadlock if a lock is held.
static void let_another_thread_use_the_loop(const char *where) {
    trace(where);
    on_new_thread(use_the_loop, NULL);
}

static void use_in_perform(runloop_source *source, void *info) {
    (void)source;
    let_another_thread_use_the_loop(info);
}

static void use_in_ready(runloop_source *source, runloop_readiness events, void *info) {
    take(runloop_source_get_descriptor(source));
    (void)events;
    let_another_thread_use_the_loop(info);
}

static void use_in_fire(runloop_timer *timer, void *info) {
    (void)timer;
    let_another_thread_use_the_loop(info);
}

static void use_in_observe(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer, (void)activity;
    let_another_thread_use_the_loop(info);
}

static void use_in_function(void *info) {
    let_another_thread_use_the_loop(info);
}

TEST("R117 other threads can use the loop while any of its callbacks runs") {
    the_loop = runloop_current();
    the_source = add_source(MODE, use_in_perform, "source");
    the_timer = add_timer(MODE, 0, 100 * SECOND, use_in_fire, "timer");
    runloop_source_signal(the_source);
    add_observer(MODE, RUNLOOP_ACTIVITY_BEFORE_TIMERS, use_in_observe, "observer");
    runloop_perform(the_loop, MODE, use_in_function, "function", NULL);
    poll_mode(MODE);
    EXPECT(strstr(test_trace_text, "observer"));
    EXPECT(strstr(test_trace_text, "function"));
    EXPECT(strstr(test_trace_text, "source"));
    add_descriptor(OTHER_MODE, make_eventfd(1), RUNLOOP_READABLE, use_in_ready, "descriptor");
    the_timer = NULL; // The earlier timer would otherwise move it.
    add_timer(OTHER_MODE, 0, 0, use_in_fire, "timer");
    poll_mode(OTHER_MODE);
    poll_mode(OTHER_MODE);
    EXPECT(strstr(test_trace_text, "timer"));
    EXPECT(strstr(test_trace_text, "descriptor"));
}

static void use_in_schedule(runloop_source *source, runloop *loop, const char *mode, void *info) {
    (void)source, (void)loop, (void)info;
    let_another_thread_use_the_loop("schedule");
    trace(mode);
}

static void use_in_cancel(runloop_source *source, runloop *loop, const char *mode, void *info) {
    (void)source, (void)loop, (void)info;
    let_another_thread_use_the_loop("cancel");
    trace(mode);
}

static runloop_source *make_busy_source(void) {
    runloop_source_config config = {.schedule = use_in_schedule, .cancel = use_in_cancel};
    runloop_source *source = NULL;
    REQUIRE(runloop_source_create(&config, &source) == 0);
    return source;
}

TEST("R118 schedule and cancel of a mode hold no lock") {
    the_loop = runloop_current();
    runloop_source *source = make_busy_source();
    runloop_add_source(the_loop, source, OTHER_MODE);
    runloop_remove_source(the_loop, source, OTHER_MODE);
    runloop_add_source(the_loop, source, OTHER_MODE);
    runloop_source_invalidate(source);
    EXPECT_TRACE("schedule other cancel other schedule other cancel other");
    runloop_source_release(source);
}

TEST("R118 schedule and cancel of common-mode operations hold no lock") {
    the_loop = runloop_current();
    runloop_add_common_mode(the_loop, MODE); // The other thread declares it too: let that be done first.
    runloop_source *source = make_busy_source();
    EXPECT_EQ(runloop_add_source(the_loop, source, RUNLOOP_COMMON_MODES), 0);
    EXPECT(strstr(test_trace_text, "schedule " RUNLOOP_DEFAULT_MODE));
    EXPECT(strstr(test_trace_text, "schedule " MODE));
    trace_reset();
    EXPECT_EQ(runloop_add_common_mode(the_loop, "third"), 0);
    EXPECT_TRACE("schedule third");
    EXPECT_EQ(runloop_remove_source(the_loop, source, RUNLOOP_COMMON_MODES), 0);
    EXPECT(strstr(test_trace_text, "cancel third"));
    trace_reset();
    EXPECT_EQ(runloop_add_source(the_loop, source, RUNLOOP_COMMON_MODES), 0);
    trace_reset();
    runloop_source_invalidate(source);
    EXPECT(strstr(test_trace_text, "cancel " RUNLOOP_DEFAULT_MODE));
    EXPECT(strstr(test_trace_text, "cancel third"));
    runloop_source_release(source);
}

static void *end_with_busy_source(void *unused) {
    (void)unused;
    the_loop = runloop_current();
    runloop_source *source = make_busy_source();
    runloop_add_source(the_loop, source, OTHER_MODE);
    runloop_source_release(source);
    runloop_perform(the_loop, "never", trace_function, "discard", use_in_function);
    trace_reset();
    return NULL;
}

TEST("R118 cancel and discard at a thread's end hold no lock") {
    on_new_thread(end_with_busy_source, NULL);
    EXPECT(strstr(test_trace_text, "cancel other"));
    EXPECT(strstr(test_trace_text, "discard"));
}

static bool use_in_equal(const void *info, const void *other) {
    if (!load(&calls)) {
        __atomic_store_n(&calls, 1, __ATOMIC_RELEASE);
        let_another_thread_use_the_loop("equal");
    }
    return info == other;
}

static void use_in_release(void *info) {
    let_another_thread_use_the_loop(info);
}

static char *use_in_describe(void *info) {
    (void)info;
    if (__atomic_add_fetch(&calls, 1, __ATOMIC_ACQ_REL) == 1) // The other thread describes the loop too.
        let_another_thread_use_the_loop("describe");
    return strdup("described");
}

TEST("R118 equal, release and describe hold no lock") {
    the_loop = runloop_current();
    runloop_source *two[2];
    for (int i = 0; i < 2; i++) {
        runloop_source_config config = {.context = {.info = i ? "release" : "first", .release = use_in_release},
                                        .equal = use_in_equal};
        REQUIRE(runloop_source_create(&config, &two[i]) == 0);
        EXPECT_EQ(runloop_add_source(the_loop, two[i], OTHER_MODE), 0);
    }
    EXPECT_TRACE("equal");
    for (int i = 0; i < 2; i++) {
        runloop_source_release(two[i]);
        runloop_remove_source(the_loop, two[i], OTHER_MODE);
    }
    EXPECT_TRACE("first release");
    calls = 0;
    runloop_timer_config config = {.context = {.info = "timer", .release = use_in_release, .describe = use_in_describe},
                                   .fire_ns = INT64_MAX};
    runloop_timer *timer = NULL;
    REQUIRE(runloop_timer_create(&config, &timer) == 0);
    runloop_add_timer(the_loop, timer, OTHER_MODE);
    free(runloop_copy_description(the_loop));
    EXPECT_TRACE("describe");
    runloop_timer_invalidate(timer);
    EXPECT_TRACE("timer");
    runloop_timer_release(timer);
}
