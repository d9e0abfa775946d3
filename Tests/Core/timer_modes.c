// timer_modes.c — membership and end of timers: modes, loops, contexts, and wake-ups merged by tolerance (R86–R91, R112).
#include "items.h"

static runloop_timer *timer_here;
static runloop *other_loop;
static int retains, releases, fires;

static void *count_retain(void *info) {
    retains++;
    return (char *)info + 1;
}

static void count_release(void *info) {
    releases++;
    trace(info);
}

static runloop_timer *make_counted(int64_t interval_ns, void (*fire)(runloop_timer *, void *)) {
    runloop_timer_config config = {
        .context = {.info = "-release", .retain = count_retain, .release = count_release},
        .interval_ns = interval_ns,
        .fire = fire,
    };
    runloop_timer *timer = NULL;
    REQUIRE(runloop_timer_create(&config, &timer) == 0);
    return timer;
}

static void count_fire(runloop_timer *timer, void *info) {
    (void)timer, (void)info;
    fires++;
}

static void *add_elsewhere(void *unused) {
    (void)unused;
    runloop *loop = runloop_current();
    int64_t date = runloop_timer_get_fire_date(timer_here);
    EXPECT_EQ(runloop_add_timer(loop, timer_here, MODE), -EBUSY);
    EXPECT_EQ(runloop_get_modes(loop, NULL, 0), 1);
    EXPECT(!runloop_contains_timer(loop, timer_here, MODE));
    EXPECT_EQ(runloop_remove_timer(loop, timer_here, MODE), 0);
    EXPECT(runloop_contains_timer(other_loop, timer_here, OTHER_MODE));
    runloop_remove_timer(other_loop, timer_here, MODE);
    EXPECT_EQ(runloop_add_timer(loop, timer_here, MODE), -EBUSY); // Still in another mode there.
    runloop_remove_timer(other_loop, timer_here, OTHER_MODE);
    EXPECT_EQ(runloop_add_timer(loop, timer_here, MODE), 0);
    EXPECT_EQ(runloop_timer_get_fire_date(timer_here), date);
    EXPECT_EQ(run_for(MODE, 20 * SECOND), RUNLOOP_RESULT_FINISHED);
    return NULL;
}

TEST("R86 a timer is in one loop at a time, and can move when it has been removed from all modes of the first") {
    other_loop = runloop_current();
    timer_here = make_timer(runloop_now_ns() + 5 * MS, 0, count_fire, NULL);
    runloop_add_timer(other_loop, timer_here, MODE);
    runloop_add_timer(other_loop, timer_here, OTHER_MODE);
    on_new_thread(add_elsewhere, NULL);
    EXPECT_EQ(fires, 1);
    runloop_timer_release(timer_here);
}

static void move_to_other_mode(runloop_timer *timer, void *info) {
    trace_fire(timer, info);
    runloop *loop = runloop_current();
    const char *to = fires++ % 2 ? MODE : OTHER_MODE;
    EXPECT_EQ(runloop_remove_timer(loop, timer, MODE), 0);
    EXPECT_EQ(runloop_remove_timer(loop, timer, OTHER_MODE), 0);
    EXPECT_EQ(runloop_add_timer(loop, timer, to), 0);
}

TEST("R86 a timer that moves itself to another mode in its callback is armed there when the callback ends") {
    keep_mode(MODE);
    keep_mode(OTHER_MODE);
    runloop_timer *timer = make_timer(runloop_now_ns() + MS, MS, move_to_other_mode, "t");
    runloop_add_timer(runloop_current(), timer, MODE);
    for (int i = 1; i <= 3; i++) {
        while (fires < i)
            EXPECT_EQ(run_for(i % 2 ? MODE : OTHER_MODE, 5 * MS), RUNLOOP_RESULT_TIMED_OUT);
        EXPECT_EQ(fires, i);
    }
    runloop_timer_invalidate(timer);
    runloop_timer_release(timer);
}

static void move_to_other_loop(runloop_timer *timer, void *info) {
    (void)info;
    if (__atomic_fetch_add(&fires, 1, __ATOMIC_ACQ_REL))
        return;
    runloop_remove_timer(runloop_current(), timer, MODE);
    EXPECT_EQ(runloop_add_timer(other_loop, timer, MODE), 0);
}

TEST("R86 a timer that moves itself to another, sleeping loop in its callback ticks there") {
    struct worker worker = {0};
    start_worker(&worker);
    other_loop = worker.loop;
    wait_for_sleep(&worker);
    runloop_timer *timer = make_timer(0, 5 * MS, move_to_other_loop, NULL);
    runloop_add_timer(runloop_current(), timer, MODE);
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
    WAIT_UNTIL(__atomic_load_n(&fires, __ATOMIC_ACQUIRE) >= 3);
    EXPECT(runloop_contains_timer(other_loop, timer, MODE));
    EXPECT(!runloop_contains_timer(runloop_current(), timer, MODE));
    stop_worker(&worker);
    runloop_timer_release(timer);
}

TEST("R88 invalidation removes the timer everywhere, clears its info and releases it once") {
    runloop_timer *timer = make_counted(0, NULL);
    EXPECT(!strcmp(runloop_timer_get_info(timer), "release")); // The result of retain.
    runloop_add_timer(runloop_current(), timer, MODE);
    runloop_add_timer(runloop_current(), timer, RUNLOOP_COMMON_MODES);
    for (int i = 0; i < 3; i++)
        runloop_timer_invalidate(timer);
    EXPECT_EQ(releases, 1);
    EXPECT(!runloop_timer_get_info(timer));
    EXPECT(!runloop_contains_timer(runloop_current(), timer, MODE));
    EXPECT(!runloop_contains_timer(runloop_current(), timer, RUNLOOP_COMMON_MODES));
    EXPECT_EQ(run_for(MODE, 20 * SECOND), RUNLOOP_RESULT_FINISHED);
    runloop_timer_release(timer);
    EXPECT_EQ(releases, 1);
    EXPECT_EQ(retains, 1);
}

TEST("R89 a timer freed without being invalidated releases its context once, wherever it is freed") {
    runloop_timer_release(make_counted(0, NULL));
    EXPECT_EQ(releases, 1);
    runloop_timer *timer = make_counted(0, NULL);
    runloop_add_timer(runloop_current(), timer, MODE);
    runloop_timer_release(timer);
    EXPECT_EQ(releases, 1);
    runloop_remove_timer(runloop_current(), timer, MODE);
    EXPECT_EQ(releases, 2);
}

static void remove_self(runloop_timer *timer, void *info) {
    (void)info;
    runloop_remove_timer(runloop_current(), timer, MODE);
    EXPECT_EQ(releases, 0);
    trace("end");
}

TEST("R89 a timer that only its loop retains and that removes itself in its callback is freed after the callback") {
    runloop_timer *timer = make_counted(MS, remove_self);
    runloop_add_timer(runloop_current(), timer, MODE);
    runloop_timer_release(timer);
    EXPECT_EQ(run_for(MODE, 20 * SECOND), RUNLOOP_RESULT_FINISHED);
    EXPECT_TRACE("end release");
    EXPECT_EQ(retains, 1);
}

TEST("R89 however often a timer fires, its context is retained once") {
    runloop_timer *timer = make_counted(1, NULL);
    runloop_add_timer(runloop_current(), timer, MODE);
    for (int i = 0; i < 5; i++)
        poll_mode(MODE);
    EXPECT_EQ(retains, 1);
    EXPECT_EQ(releases, 0);
    runloop_timer_invalidate(timer);
    EXPECT_EQ(releases, 1);
    runloop_timer_release(timer);
}

TEST("R90 the next fire date of a mode is that of its earliest timer, or never") {
    runloop *loop = runloop_current();
    EXPECT_EQ(runloop_next_fire_date(loop, "unknown"), RUNLOOP_NEVER);
    EXPECT_EQ(runloop_get_modes(loop, NULL, 0), 1); // The query created no mode.
    keep_mode(MODE);
    EXPECT_EQ(runloop_next_fire_date(loop, MODE), RUNLOOP_NEVER);
    int64_t dates[] = {700, 300, 500, -4, 900};
    runloop_timer *timers[5];
    int64_t earliest[] = {700, 300, 300, -4, -4};
    for (int i = 0; i < 5; i++) {
        timers[i] = add_timer(MODE, dates[i], 0, NULL, NULL);
        EXPECT_EQ(runloop_next_fire_date(loop, MODE), earliest[i]);
    }
    EXPECT_EQ(runloop_next_fire_date(loop, RUNLOOP_COMMON_MODES), RUNLOOP_NEVER);
    runloop_timer_set_fire_date(timers[3], RUNLOOP_NEVER);
    EXPECT_EQ(runloop_next_fire_date(loop, MODE), 300);
    runloop_remove_timer(loop, timers[1], MODE);
    EXPECT_EQ(runloop_next_fire_date(loop, MODE), 500);
    runloop_timer_invalidate(timers[2]);
    EXPECT_EQ(runloop_next_fire_date(loop, MODE), 700);
    EXPECT_EQ(runloop_next_fire_date(loop, RUNLOOP_DEFAULT_MODE), RUNLOOP_NEVER);
}

TEST("R112 an invalid timer reports what it was created with, except for its date and info, and refuses everything") {
    runloop_timer_config config = {
        .context = {.info = &fires}, .order = 3, .fire_ns = 5, .interval_ns = 100, .tolerance_ns = 40};
    runloop_timer *timer = NULL;
    REQUIRE(runloop_timer_create(&config, &timer) == 0);
    EXPECT(runloop_timer_get_info(timer) == &fires);
    runloop_timer_invalidate(timer);
    EXPECT(!runloop_timer_is_valid(timer));
    EXPECT_EQ(runloop_timer_get_fire_date(timer), RUNLOOP_NEVER);
    EXPECT_EQ(runloop_timer_get_interval(timer), 100);
    EXPECT_EQ(runloop_timer_get_order(timer), 3);
    EXPECT_EQ(runloop_timer_get_tolerance(timer), 40);
    EXPECT(!runloop_timer_get_info(timer));
    EXPECT_EQ(runloop_timer_set_fire_date(timer, 5), -EINVAL);
    EXPECT_EQ(runloop_timer_set_tolerance(timer, 5), -EINVAL);
    EXPECT_EQ(runloop_add_timer(runloop_current(), timer, MODE), -EINVAL);
    EXPECT(!runloop_contains_timer(runloop_current(), timer, MODE));
    EXPECT_EQ(runloop_get_modes(runloop_current(), NULL, 0), 1);
    runloop_timer_release(timer);
}

//===-- tolerance ----------------------------------------------------------------------------------------------------===//

static runloop_timer *add_tolerant(int64_t fire_ns, int64_t tolerance_ns, const char *name) {
    runloop_timer_config config = {
        .context = {.info = (void *)name}, .fire_ns = fire_ns, .tolerance_ns = tolerance_ns, .fire = trace_fire};
    runloop_timer *timer = NULL;
    REQUIRE(runloop_timer_create(&config, &timer) == 0);
    REQUIRE(runloop_add_timer(runloop_current(), timer, MODE) == 0);
    runloop_timer_release(timer);
    return timer;
}

TEST("R91 a tolerance is kept, never negative, and at most half the interval") {
    struct {
        int64_t interval, tolerance, kept;
    } rows[] = {{0, 5, 5},     {0, -5, 0},          {0, INT64_MAX, INT64_MAX},
                {100, 40, 40}, {100, 50, 50},       {100, 80, 50},
                {1, 1, 0},     {100, INT64_MIN, 0}, {INT64_MAX, INT64_MAX, INT64_MAX / 2},
                {-3, 7, 7}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        runloop_timer_config config = {.interval_ns = rows[i].interval, .tolerance_ns = rows[i].tolerance};
        runloop_timer *timer = NULL;
        REQUIRE(runloop_timer_create(&config, &timer) == 0);
        EXPECT_EQ(runloop_timer_get_tolerance(timer), rows[i].kept);
        EXPECT_EQ(runloop_timer_set_tolerance(timer, 0), 0);
        EXPECT_EQ(runloop_timer_get_tolerance(timer), 0);
        EXPECT_EQ(runloop_timer_set_tolerance(timer, rows[i].tolerance), 0);
        EXPECT_EQ(runloop_timer_get_tolerance(timer), rows[i].kept);
        runloop_timer_release(timer);
    }
}

/// On a busy machine a loop may reach its sleep too late, when dates have passed. What is expected of a loop that sleeps
/// for them is therefore expected of one of several attempts.
static bool attempt(void (*add_timers)(int64_t now), const char *expected) {
    trace_reset();
    add_timers(runloop_now_ns());
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    return strcmp(test_trace_text, expected) == 0;
}

static void add_overlapping(int64_t now) {
    add_tolerant(now + 10 * MS, 20 * SECOND, "a");
    add_tolerant(now + 20 * MS, 20 * SECOND, "b");
    add_tolerant(now + 40 * MS, 0, "c");
}

TEST("R91 timers whose windows overlap share one wake-up") {
    keep_mode(MODE);
    trace_activities(MODE);
    bool shared = false;
    for (int i = 0; i < 30 && !shared; i++)
        shared = attempt(add_overlapping, "Entry T S W A a b c T S W A Exit");
    EXPECT(shared);
}

static void note_own_time(runloop_timer *timer, void *info) {
    (void)timer;
    *(int64_t *)info = runloop_now_ns();
}

TEST("R91 a tolerant timer alone in a sleeping loop fires in its window, not before its date") {
    int64_t fired = 0, now = runloop_now_ns();
    runloop_timer_config config = {
        .context = {.info = &fired}, .fire_ns = now + 20 * MS, .tolerance_ns = 30 * MS, .fire = note_own_time};
    runloop_timer *timer = NULL;
    REQUIRE(runloop_timer_create(&config, &timer) == 0);
    runloop_add_timer(runloop_current(), timer, MODE);
    EXPECT_EQ(run_for(MODE, 20 * SECOND), RUNLOOP_RESULT_FINISHED);
    EXPECT(fired >= now + 20 * MS);
    runloop_timer_release(timer);
}

TEST("R91 an iteration that happens anyway fires a tolerant timer at its date") {
    keep_mode(MODE);
    int64_t date = runloop_now_ns() + 500 * MS;
    add_tolerant(date, 100 * SECOND, "tolerant");
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("");
    pass_time(date - runloop_now_ns());
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("tolerant");
}

static void *wake_later(void *loop) {
    WAIT_UNTIL(runloop_is_waiting(loop));
    EXPECT_EQ(runloop_timer_set_fire_date(timer_here, runloop_now_ns() + 5 * MS), 0);
    pass_time(10 * MS);
    EXPECT_EQ(runloop_wake_up(loop), 0);
    return NULL;
}

TEST("R91 another event's wake-up fires a tolerant timer that is due") {
    timer_here = runloop_timer_retain(add_tolerant(RUNLOOP_NEVER, INT64_MAX, "tolerant"));
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, wake_later, runloop_current()) == 0);
    EXPECT_EQ(run_for(MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_FINISHED);
    EXPECT_TRACE("tolerant");
    pthread_join(thread, NULL);
    runloop_timer_release(timer_here);
}

TEST("R91 the limit of a run has no tolerance, and timers due then fire") {
    int64_t start = runloop_now_ns();
    keep_mode(MODE);
    add_tolerant(start + 5 * MS, 100 * SECOND, "tolerant");
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT(runloop_now_ns() - start < 50 * SECOND);
    EXPECT_TRACE("tolerant");
}

TEST("R91 reducing a tolerance re-arms the loop") {
    int64_t start = runloop_now_ns();
    runloop_timer *timer = add_tolerant(start + 5 * MS, 100 * SECOND, "timer");
    runloop_timer_set_tolerance(timer, MS);
    EXPECT_EQ(run_for(MODE, 60 * SECOND), RUNLOOP_RESULT_FINISHED);
    EXPECT(runloop_now_ns() - start < 50 * SECOND);
    EXPECT_TRACE("timer");
}

static void run_others(runloop_timer *timer, void *info) {
    count_fire(timer, info);
    poll_mode(MODE);
}

TEST("R26 R84 more than a thousand timers that fire one inside the other all remain in their mode") {
    enum { COUNT = 1200 };
    static runloop_timer *timers[COUNT];
    int64_t now = runloop_now_ns();
    for (int i = 0; i < COUNT; i++)
        timers[i] = add_timer(MODE, now - i, 3600 * SECOND, run_others, NULL);
    poll_mode(MODE);
    EXPECT_EQ(fires, COUNT);
    for (int i = COUNT - 1; i >= 0; i--) {
        EXPECT_EQ(runloop_next_fire_date(runloop_current(), MODE), now - i + 3600 * SECOND);
        runloop_timer_invalidate(timers[i]);
    }
    EXPECT_EQ(runloop_next_fire_date(runloop_current(), MODE), RUNLOOP_NEVER);
}

//===-- many ---------------------------------------------------------------------------------------------------------===//

/// Each timer is changed, in random order; then the earliest date and the timers that fire must be right.
static void remove_some_of(runloop_timer **timers, int count, const char *mode) {
    for (int i = 0; i < count; i += 3)
        EXPECT_EQ(runloop_remove_timer(runloop_current(), timers[i * 7 % count], mode), 0);
}

TEST("R86 hundreds of timers in three modes keep their positions when they are removed from the first") {
    enum { COUNT = 300 };
    runloop *loop = runloop_current();
    runloop_timer *timers[COUNT];
    const char *modes[] = {MODE, OTHER_MODE, "third"};
    for (int i = 0; i < COUNT; i++) {
        timers[i] = make_timer(runloop_now_ns() + (100 + i * 37 % COUNT) * SECOND, 0, count_fire, NULL);
        for (int mode = 0; mode < 3; mode++)
            EXPECT_EQ(runloop_add_timer(loop, timers[i], modes[(i + mode) % 3]), 0);
    }
    for (int mode = 0; mode < 3; mode++)
        remove_some_of(timers, COUNT, modes[mode]);
    for (int i = 0; i < COUNT; i++)
        EXPECT_EQ(runloop_timer_set_fire_date(timers[i], runloop_now_ns() + (200 + i * 11 % COUNT) * SECOND), 0);
    for (int i = 0; i < COUNT; i++) {
        int64_t date = runloop_now_ns() + SECOND + i;
        EXPECT_EQ(runloop_timer_set_fire_date(timers[i], date), 0);
        for (int mode = 0; mode < 3; mode++) {
            bool contains = runloop_contains_timer(loop, timers[i], modes[mode]);
            EXPECT_EQ(runloop_next_fire_date(loop, modes[mode]) == date, contains);
        }
        runloop_timer_invalidate(timers[i]);
        runloop_timer_release(timers[i]);
    }
    for (int mode = 0; mode < 3; mode++)
        EXPECT_EQ(runloop_next_fire_date(loop, modes[mode]), RUNLOOP_NEVER);
}
