// thread_races.c — removal and invalidation while a callback runs, and callbacks that undo what calls them (R118, R119).
#include "items.h"

static runloop_source *the_source;
static runloop_timer *the_timer;
static runloop_observer *the_observer;
static int inside, go_on, releases;

static void hold(const char *what) {
    trace(what);
    __atomic_store_n(&inside, 1, __ATOMIC_RELEASE);
    WAIT_UNTIL(__atomic_load_n(&go_on, __ATOMIC_ACQUIRE));
    EXPECT_EQ(__atomic_load_n(&releases, __ATOMIC_ACQUIRE), 0);
    trace("end");
}

static void count_release(void *info) {
    (void)info;
    trace("release");
    __atomic_add_fetch(&releases, 1, __ATOMIC_ACQ_REL);
}

static void trace_cancel(runloop_source *source, runloop *loop, const char *mode, void *info) {
    (void)source, (void)loop, (void)mode, (void)info;
    trace("cancel");
}

static void hold_perform(runloop_source *source, void *info) {
    (void)source;
    hold(info);
}

static void hold_ready(runloop_source *source, runloop_readiness events, void *info) {
    (void)events;
    take(runloop_source_get_descriptor(source));
    hold(info);
}

static void hold_fire(runloop_timer *timer, void *info) {
    (void)timer;
    hold(info);
}

static void hold_observe(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer, (void)activity;
    hold(info);
}

TEST("R119 invalidating a source or a descriptor doesn't wait for its callback; its context is released after it") {
    for (int kind = 0; kind < 2; kind++) {
        struct worker worker = {0};
        inside = go_on = releases = 0;
        start_worker(&worker);
        runloop_context context = {.info = "callback", .release = count_release};
        runloop_source_config source = {.context = context, .perform = hold_perform, .cancel = trace_cancel};
        runloop_descriptor_config descriptor = {
            .context = context, .descriptor = make_eventfd(1), .events = RUNLOOP_READABLE, .ready = hold_ready};
        if (kind)
            REQUIRE(runloop_descriptor_source_create(&descriptor, &the_source) == 0);
        else
            REQUIRE(runloop_source_create(&source, &the_source) == 0);
        runloop_source_signal(the_source);
        runloop_add_source(worker.loop, the_source, MODE);
        runloop_wake_up(worker.loop);
        // It may have been about to sleep.
        WAIT_UNTIL((runloop_wake_up(worker.loop), __atomic_load_n(&inside, __ATOMIC_ACQUIRE)));
        runloop_source_invalidate(the_source);
        EXPECT(!runloop_source_is_valid(the_source));
        runloop_source_release(the_source);
        EXPECT_TRACE(kind ? "callback" : "callback cancel");
        __atomic_store_n(&go_on, 1, __ATOMIC_RELEASE);
        WAIT_UNTIL(__atomic_load_n(&releases, __ATOMIC_ACQUIRE));
        stop_worker(&worker);
        EXPECT_TRACE("end release");
    }
}

TEST("R119 invalidating a timer doesn't wait for its callback; its context is released after it") {
    struct worker worker = {0};
    start_worker(&worker);
    runloop_timer_config config = {
        .context = {.info = "callback", .release = count_release}, .interval_ns = 1, .fire = hold_fire};
    REQUIRE(runloop_timer_create(&config, &the_timer) == 0);
    runloop_add_timer(worker.loop, the_timer, MODE);
    WAIT_UNTIL(__atomic_load_n(&inside, __ATOMIC_ACQUIRE));
    runloop_timer_invalidate(the_timer);
    EXPECT(!runloop_timer_is_valid(the_timer));
    EXPECT(!runloop_contains_timer(worker.loop, the_timer, MODE));
    runloop_timer_release(the_timer);
    EXPECT_TRACE("callback");
    __atomic_store_n(&go_on, 1, __ATOMIC_RELEASE);
    WAIT_UNTIL(__atomic_load_n(&releases, __ATOMIC_ACQUIRE));
    stop_worker(&worker);
    EXPECT_TRACE("end release");
}

TEST("R119 invalidating an observer doesn't wait for its callback; its context is released after it") {
    struct worker worker = {0};
    start_worker(&worker);
    runloop_observer_config config = {.context = {.info = "callback", .release = count_release},
                                      .activities = RUNLOOP_ACTIVITY_AFTER_WAITING,
                                      .repeats = true,
                                      .observe = hold_observe};
    REQUIRE(runloop_observer_create(&config, &the_observer) == 0);
    runloop_add_observer(worker.loop, the_observer, MODE);
    while (!__atomic_load_n(&inside, __ATOMIC_ACQUIRE))
        runloop_wake_up(worker.loop), usleep(100);
    runloop_observer_invalidate(the_observer);
    EXPECT(!runloop_observer_is_valid(the_observer));
    runloop_observer_release(the_observer);
    EXPECT_TRACE("callback");
    __atomic_store_n(&go_on, 1, __ATOMIC_RELEASE);
    WAIT_UNTIL(__atomic_load_n(&releases, __ATOMIC_ACQUIRE));
    stop_worker(&worker);
    EXPECT_TRACE("end release");
}

TEST("R119 a date set by another thread while a repeating timer's callback runs is kept") {
    struct worker worker = {0};
    start_worker(&worker);
    the_timer = make_timer(0, 5 * MS, hold_fire, "callback");
    runloop_add_timer(worker.loop, the_timer, MODE);
    WAIT_UNTIL(__atomic_load_n(&inside, __ATOMIC_ACQUIRE));
    int64_t date = runloop_now_ns() + 1000 * SECOND;
    EXPECT_EQ(runloop_timer_set_fire_date(the_timer, date), 0);
    __atomic_store_n(&go_on, 1, __ATOMIC_RELEASE);
    wait_for_sleep(&worker);
    EXPECT_EQ(runloop_timer_get_fire_date(the_timer), date);
    EXPECT_TRACE("callback end");
    stop_worker(&worker);
    runloop_timer_release(the_timer);
}

//===-- callbacks that undo what calls them --------------------------------------------------------------------------===//

static int scheduled, cancelled;
static bool undoes;

static void count_cancel(runloop_source *source, runloop *loop, const char *mode, void *info) {
    (void)source, (void)loop, (void)mode, (void)info;
    __atomic_add_fetch(&cancelled, 1, __ATOMIC_RELAXED);
}

static void undo_schedule(runloop_source *source, runloop *loop, const char *mode, void *info) {
    (void)info;
    __atomic_add_fetch(&scheduled, 1, __ATOMIC_RELAXED);
    if (undoes)
        EXPECT_EQ(runloop_remove_source(loop, source, mode), 0);
}

static runloop_source *make_undoing_source(void) {
    runloop_source_config config = {.schedule = undo_schedule, .cancel = count_cancel};
    runloop_source *source = NULL;
    REQUIRE(runloop_source_create(&config, &source) == 0);
    return source;
}

TEST("R118 a schedule callback may remove its source from its mode; every schedule still has one cancel") {
    runloop *loop = runloop_current();
    EXPECT_EQ(runloop_add_common_mode(loop, OTHER_MODE), 0);
    runloop_source *source = make_undoing_source();
    undoes = true;
    runloop_add_source(loop, source, RUNLOOP_COMMON_MODES);
    EXPECT_EQ(scheduled, 2);
    EXPECT_EQ(cancelled, 2);
    EXPECT(!runloop_contains_source(loop, source, OTHER_MODE));
    EXPECT(!runloop_contains_source(loop, source, RUNLOOP_DEFAULT_MODE));
    runloop_source_invalidate(source);
    EXPECT_EQ(cancelled, 2);
    runloop_source_release(source);
}

static void *declare_modes(void *loop) {
    for (int i = 0; i < 50; i++) {
        char name[24];
        snprintf(name, sizeof name, "mode %d", i);
        EXPECT_EQ(runloop_add_common_mode(loop, name), 0);
    }
    return NULL;
}

TEST("R118 declaring modes while another thread adds and removes the source keeps schedule and cancel in pairs") {
    runloop *loop = runloop_current();
    runloop_source *source = make_undoing_source();
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, declare_modes, loop) == 0);
    for (int i = 0; i < 300; i++) {
        EXPECT_EQ(runloop_add_source(loop, source, RUNLOOP_COMMON_MODES), 0);
        EXPECT_EQ(runloop_remove_source(loop, source, RUNLOOP_COMMON_MODES), 0);
    }
    EXPECT_EQ(runloop_add_source(loop, source, RUNLOOP_COMMON_MODES), 0);
    pthread_join(thread, NULL);
    int members = runloop_contains_source(loop, source, RUNLOOP_DEFAULT_MODE);
    for (int i = 0; i < 50; i++) {
        char name[24];
        snprintf(name, sizeof name, "mode %d", i);
        members += runloop_contains_source(loop, source, name);
    }
    EXPECT_EQ(members, 51); // A common item is in every common mode, whichever thread came first.
    EXPECT_EQ(scheduled - cancelled, 51);
    runloop_source_invalidate(source);
    EXPECT_EQ(scheduled, cancelled);
    runloop_source_release(source);
}

static void add_again(runloop_source *source, runloop *loop, const char *mode, void *info) {
    (void)info;
    trace("cancel");
    int *left = info;
    if (left && (*left)-- > 0)
        EXPECT_EQ(runloop_add_source(loop, source, mode), runloop_source_is_valid(source) ? 0 : -EINVAL);
}

TEST("R118 a cancel callback may add its source again, unless it is invalid") {
    int left = 1;
    runloop_source_config config = {.context = {.info = &left}, .cancel = add_again};
    runloop_source *source = NULL;
    REQUIRE(runloop_source_create(&config, &source) == 0);
    runloop_add_source(runloop_current(), source, MODE);
    runloop_remove_source(runloop_current(), source, MODE);
    EXPECT(runloop_contains_source(runloop_current(), source, MODE));
    left = 1;
    runloop_source_invalidate(source);
    EXPECT(!runloop_contains_source(runloop_current(), source, MODE));
    EXPECT_TRACE("cancel cancel");
    runloop_source_release(source);
}
