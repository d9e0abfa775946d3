// alarms.c — dates of clocks that are set back and forth and suspended, on clocks of the test's own.
#include "clocks.h"

/// What the callbacks of an alarm received.
struct calls {
    _Atomic uint64_t count;
    int64_t date_ns, now_ns;
    uint64_t missed, missed_in_all;
    runloop_alarm *alarm;
    void (*then)(struct calls *calls);
};

static void note_call(runloop_alarm *alarm, int64_t date_ns, uint64_t missed, void *info) {
    struct calls *calls = info;
    calls->alarm = alarm;
    // The library's own last look: since then another thread may have set the clock back.
    calls->now_ns = shown_ns;
    EXPECT(calls->now_ns >= date_ns);
    calls->date_ns = date_ns;
    calls->missed = missed;
    calls->missed_in_all += missed;
    calls->count++;
    if (calls->then)
        calls->then(calls);
}

static runloop_alarm *make_alarm(runloop_clock_id clock, int64_t date_ns, int64_t interval_ns, struct calls *calls) {
    runloop_alarm_config config = {
        .context.info = calls, .clock = clock, .date_ns = date_ns, .interval_ns = interval_ns, .fire = note_call};
    runloop_alarm *alarm = NULL;
    REQUIRE(runloop_alarm_create(&config, &alarm) == 0 && alarm);
    return alarm;
}

static void add(runloop_alarm *alarm, const char *mode) {
    REQUIRE(runloop_add_source(runloop_current(), alarm, mode) == 0);
}

/// In MODE of the calling thread's loop, on the wall clock. One reference.
static runloop_alarm *add_alarm(int64_t date_ns, int64_t interval_ns, struct calls *calls) {
    runloop_alarm *alarm = make_alarm(RUNLOOP_CLOCK_WALL, date_ns, interval_ns, calls);
    add(alarm, MODE);
    return alarm;
}

static int iterations;

/// Nothing is called in the mode for a while, and the loop sleeps.
static void expect_rest(const char *mode, const struct calls *calls) {
    uint64_t before = calls->count;
    runloop_observer *observer = add_observer(mode, RUNLOOP_ACTIVITY_BEFORE_TIMERS, count_activity, &iterations);
    iterations = 0;
    run_for(mode, 50 * MS);
    EXPECT_EQ(calls->count, before);
    EXPECT(iterations <= 3);
    runloop_observer_invalidate(observer);
}

//===-- the wall clock is set ----------------------------------------------------------------------------------------===//

TEST("an alarm is called once, not before the clock shows its date, and then has none") {
    struct calls calls = {0};
    int64_t date = wall() + 20 * MS;
    runloop_alarm *alarm = add_alarm(date, 0, &calls);
    EXPECT_EQ(runloop_alarm_get_date(alarm), date);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT(calls.now_ns >= date);
    EXPECT_EQ(calls.date_ns, date);
    EXPECT_EQ(calls.missed, 0);
    EXPECT_EQ(runloop_alarm_get_date(alarm), RUNLOOP_NEVER);
    expect_rest(MODE, &calls);
    EXPECT(runloop_source_is_valid(alarm));
    end_source(alarm);
}

TEST("a step back makes an alarm wait, and a step forth over its date is one call at once") {
    struct calls calls = {0};
    int64_t date = wall() + 20 * MS;
    runloop_alarm *alarm = add_alarm(date, 0, &calls);
    step(-HOUR);
    expect_rest(MODE, &calls);
    EXPECT_EQ(runloop_alarm_get_date(alarm), date);
    step(2 * HOUR);
    poll_mode(MODE);
    EXPECT_EQ(calls.count, 1);
    EXPECT_EQ(calls.date_ns, date);
    end_source(alarm);
}

TEST("an alarm that was due when the clock was set back, and not called yet, waits again and does not spin") {
    struct calls calls = {0};
    runloop_alarm *alarm = add_alarm(wall() + MS, 0, &calls);
    pass_time(5 * MS);
    step(-HOUR);
    expect_rest(MODE, &calls);
    step(HOUR);
    handle_one(MODE);
    EXPECT_EQ(calls.count, 1);
    end_source(alarm);
}

TEST("a step forth over many dates of a schedule is one call for the latest, with the number of the others") {
    struct calls calls = {0};
    int64_t first = wall() + 10 * MS;
    runloop_alarm *alarm = add_alarm(first, HOUR, &calls);
    handle_one(MODE);
    EXPECT_EQ(calls.date_ns, first);
    EXPECT_EQ(runloop_alarm_get_date(alarm), first + HOUR);
    step(5 * HOUR);
    poll_mode(MODE);
    EXPECT_EQ(calls.count, 2);
    EXPECT_EQ(calls.date_ns, first + 5 * HOUR);
    EXPECT_EQ(calls.missed, 4);
    EXPECT_EQ(runloop_alarm_get_date(alarm), first + 6 * HOUR);
    expect_rest(MODE, &calls);
    end_source(alarm);
}

TEST("a date of a schedule that had its call gets no other when the clock is set back") {
    struct calls calls = {0};
    int64_t first = wall();
    runloop_alarm *alarm = add_alarm(first, HOUR, &calls);
    handle_one(MODE);
    step(-HOUR / 2);
    expect_rest(MODE, &calls);
    step(HOUR / 2);
    expect_rest(MODE, &calls);
    EXPECT_EQ(calls.count, 1);
    EXPECT_EQ(runloop_alarm_get_date(alarm), first + HOUR);
    step(HOUR);
    handle_one(MODE);
    EXPECT_EQ(calls.date_ns, first + HOUR);
    end_source(alarm);
}

static void step_forth(struct calls *calls) {
    calls->then = NULL;
    step(3 * HOUR);
}

TEST("a step during a call is served after it") {
    struct calls calls = {.then = step_forth};
    int64_t first = wall();
    runloop_alarm *alarm = add_alarm(first, HOUR, &calls);
    poll_mode(MODE);
    EXPECT_EQ(calls.date_ns, first);
    poll_mode(MODE);
    EXPECT_EQ(calls.date_ns, first + 3 * HOUR);
    EXPECT_EQ(calls.missed, 2);
    EXPECT_EQ(calls.count, 2);
    end_source(alarm);
}

static void read_clock(struct calls *calls) {
    (void)calls;
    wall();
}

TEST("a step right before or after the look at the clock is not lost") {
    struct calls calls = {.then = read_clock};
    int64_t first = wall();
    runloop_alarm *alarm = add_alarm(first, HOUR, &calls);
    clocks.jump_step_ns = HOUR;
    // Before the look; then after it, which is before the reading in the call.
    clocks.readings_before_jump = 1;
    handle_one(MODE);
    EXPECT_EQ(calls.date_ns, first + HOUR);
    clocks.readings_before_jump = 2;
    step(HOUR);
    handle_one(MODE);
    EXPECT_EQ(calls.date_ns, first + 2 * HOUR);
    handle_one(MODE);
    EXPECT_EQ(calls.date_ns, first + 3 * HOUR);
    EXPECT_EQ(calls.count, 3);
    EXPECT_EQ(calls.missed_in_all, 1);
    end_source(alarm);
}

TEST("after a suspension, alarms of both clocks are due, and timers of the loop are not") {
    struct calls of_wall = {0}, of_boot = {0};
    runloop_alarm *alarm = add_alarm(wall() + HOUR, 0, &of_wall);
    int64_t boot = runloop_clock_get_now_ns(RUNLOOP_CLOCK_BOOT) + HOUR;
    runloop_alarm *boot_alarm = make_alarm(RUNLOOP_CLOCK_BOOT, boot, HOUR, &of_boot);
    add(boot_alarm, MODE);
    add_timer(MODE, runloop_now_ns() + HOUR, 0, trace_fire, "timer");
    jump(0, 3 * HOUR);
    handle_one(MODE);
    handle_one(MODE);
    EXPECT_EQ(of_wall.count, 1);
    EXPECT_EQ(of_boot.count, 1);
    EXPECT_EQ(of_boot.missed, 2);
    EXPECT_TRACE("");
    step(HOUR);
    expect_rest(MODE, &of_boot);
    EXPECT_EQ(runloop_alarm_get_clock(boot_alarm), RUNLOOP_CLOCK_BOOT);
    EXPECT_EQ(runloop_alarm_get_interval(boot_alarm), HOUR);
    end_source(alarm);
    end_source(boot_alarm);
}

static _Atomic bool storm_is_over;

static void *storm(void *argument) {
    (void)argument;
    for (int i = 0; i < 3000; i++)
        step(i % 2 ? HOUR : -HOUR);
    storm_is_over = true;
    return NULL;
}

TEST("in a storm of steps no date is early, none is called twice, and none is lost") {
    struct calls calls = {0};
    int64_t first = wall() + HOUR / 2;
    runloop_alarm *alarm = add_alarm(first, HOUR, &calls);
    // From now on the clock shows a time before or after the first date.
    step(HOUR);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, storm, NULL) == 0);
    RUN_UNTIL(MODE, storm_is_over);
    pthread_join(thread, NULL);
    RUN_UNTIL(MODE, calls.count == 1);
    EXPECT_EQ(calls.date_ns, first);
    expect_rest(MODE, &calls);
    EXPECT_EQ(runloop_alarm_get_date(alarm), first + HOUR);
    end_source(alarm);
}

static void ignore(int number) {
    (void)number;
}

static _Atomic bool is_over;

static void *interrupt(void *thread) {
    while (!is_over) {
        pthread_kill(*(pthread_t *)thread, SIGUSR1);
        usleep(500);
    }
    return NULL;
}

TEST("waits that signals interrupt make no date early") {
    struct sigaction action = {.sa_handler = ignore};
    REQUIRE(sigaction(SIGUSR1, &action, NULL) == 0);
    pthread_t self = pthread_self(), thread;
    REQUIRE(pthread_create(&thread, NULL, interrupt, &self) == 0);
    struct calls calls = {0};
    int64_t first = wall() + 10 * MS;
    runloop_alarm *alarm = add_alarm(first, 10 * MS, &calls);
    RUN_UNTIL(MODE, calls.count >= 5);
    EXPECT_EQ(calls.date_ns, first + 10 * MS * (int64_t)(calls.count + calls.missed_in_all - 1));
    is_over = true;
    pthread_join(thread, NULL);
    end_source(alarm);
}

//===-- dates are set ------------------------------------------------------------------------------------------------===//

static void set_next(struct calls *calls) {
    if (calls->count < 3)
        EXPECT_EQ(runloop_alarm_set_date(calls->alarm, calls->date_ns + 5 * MS), 0);
}

TEST("a call sets the next date, as calendars do") {
    struct calls calls = {.then = set_next};
    int64_t first = wall() + 5 * MS;
    runloop_alarm *alarm = add_alarm(first, 0, &calls);
    RUN_UNTIL(MODE, calls.count == 3);
    EXPECT_EQ(calls.date_ns, first + 10 * MS);
    expect_rest(MODE, &calls);
    end_source(alarm);
}

static struct calls of_worker;
static runloop_alarm *of_worker_alarm;

static void add_to_worker(void) {
    add(of_worker_alarm, MODE);
}

TEST("another thread moves the date of a loop that sleeps: earlier, later, never") {
    of_worker_alarm = make_alarm(RUNLOOP_CLOCK_WALL, wall() + HOUR, 0, &of_worker);
    struct worker worker = {.prepare = add_to_worker};
    start_worker(&worker);
    wait_for_sleep(&worker);
    int64_t date = wall() + 2 * MS;
    EXPECT_EQ(runloop_alarm_set_date(of_worker_alarm, date), 0);
    WAIT_UNTIL(of_worker.count == 1);
    runloop_alarm_set_date(of_worker_alarm, wall() + 200 * MS);
    runloop_alarm_set_date(of_worker_alarm, wall() + HOUR);
    runloop_alarm_set_date(of_worker_alarm, RUNLOOP_NEVER);
    step(2 * HOUR);
    pass_time(50 * MS);
    EXPECT_EQ(of_worker.count, 1);
    EXPECT_EQ(runloop_alarm_get_date(of_worker_alarm), RUNLOOP_NEVER);
    // A step ends the sleep, too.
    runloop_alarm_set_date(of_worker_alarm, wall() + HOUR);
    wait_for_sleep(&worker);
    step(HOUR);
    WAIT_UNTIL(of_worker.count == 2);
    stop_worker(&worker);
    end_source(of_worker_alarm);
}

TEST("dates before 1970 are due, those at the end of time are not, and no sum overflows") {
    const int64_t past[] = {0, -1, -HOUR, INT64_MIN, 1};
    for (size_t i = 0; i < sizeof past / sizeof *past; i++) {
        struct calls calls = {0};
        runloop_alarm *alarm = add_alarm(past[i], 0, &calls);
        poll_mode(MODE);
        EXPECT_EQ(calls.date_ns, past[i]);
        end_source(alarm);
    }
    struct calls calls = {0};
    runloop_alarm *never = add_alarm(RUNLOOP_NEVER, 1, &calls), *last = add_alarm(RUNLOOP_NEVER - 1, 1, &calls);
    expect_rest(MODE, &calls);
    end_source(never);
    end_source(last);

    runloop_alarm *every_nanosecond = add_alarm(INT64_MIN, 1, &calls);
    poll_mode(MODE);
    EXPECT(calls.date_ns > 1700000000 * SECOND && calls.date_ns <= wall());
    EXPECT_EQ(calls.missed, (uint64_t)calls.date_ns - (uint64_t)INT64_MIN);
    end_source(every_nanosecond);
    runloop_alarm *once_more = add_alarm(SECOND, RUNLOOP_NEVER, &calls);
    poll_mode(MODE);
    EXPECT_EQ(calls.date_ns, SECOND);
    EXPECT_EQ(runloop_alarm_get_date(once_more), RUNLOOP_NEVER);
    expect_rest(MODE, &calls);
    end_source(once_more);
}

TEST("an alarm without a date keeps its mode, and can have one later") {
    struct calls calls = {0};
    runloop_alarm *alarm = add_alarm(RUNLOOP_NEVER, 0, &calls);
    EXPECT(!runloop_mode_is_empty(runloop_current(), MODE));
    expect_rest(MODE, &calls);
    runloop_alarm_set_date(alarm, wall());
    handle_one(MODE);
    EXPECT_EQ(calls.count, 1);
    end_source(alarm);
    EXPECT(runloop_mode_is_empty(runloop_current(), MODE));
}

//===-- modes, loops, ends -------------------------------------------------------------------------------------------===//

TEST("an alarm that is due in another mode waits for it, and the loop sleeps") {
    struct calls calls = {0};
    runloop_alarm *alarm = make_alarm(RUNLOOP_CLOCK_WALL, wall(), 0, &calls);
    add(alarm, OTHER_MODE);
    keep_mode(MODE);
    expect_rest(MODE, &calls);
    handle_one(OTHER_MODE);
    EXPECT_EQ(calls.count, 1);
    end_source(alarm);
}

static void run_nested(struct calls *calls) {
    calls->then = NULL;
    run_for(OTHER_MODE, 20 * MS);
    EXPECT_EQ(calls->count, 1);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(calls->count, 2);
}

TEST("a run in a call serves the next date if the mode is its own") {
    struct calls calls = {.then = run_nested};
    keep_mode(OTHER_MODE);
    runloop_alarm *alarm = add_alarm(wall(), 10 * MS, &calls);
    handle_one(MODE);
    EXPECT_EQ(calls.count, 2);
    end_source(alarm);
}

TEST("the descriptor of a hosted run is ready when an alarm is") {
    struct calls calls = {0};
    runloop_alarm *alarm = add_alarm(wall() + HOUR, 0, &calls);
    REQUIRE(runloop_hosted_begin(MODE) == 0);
    EXPECT_EQ(runloop_hosted_iterate(0), 0);
    struct pollfd host = {.fd = runloop_hosted_descriptor(), .events = POLLIN};
    EXPECT_EQ(poll(&host, 1, 20), 0);
    step(HOUR);
    EXPECT_EQ(poll(&host, 1, 30000), 1);
    runloop_hosted_iterate(0);
    EXPECT_EQ(calls.count, 1);
    runloop_hosted_end();
    end_source(alarm);
}

static struct calls of_shared;

static void count_shared(runloop_alarm *alarm, int64_t date_ns, uint64_t missed, void *info) {
    (void)alarm, (void)date_ns, (void)info;
    of_shared.count += 1 + missed;
}

TEST("an alarm in two loops is served by one of them for each date") {
    runloop_alarm_config config = {.date_ns = wall(), .interval_ns = HOUR, .fire = count_shared};
    REQUIRE(runloop_alarm_create(&config, &shared) == 0);
    struct worker workers[2];
    start_sharing(workers);
    for (int i = 0; i < 500; i++)
        step(HOUR);
    WAIT_UNTIL(of_shared.count >= 501);
    stop_sharing(workers);
    EXPECT_EQ(of_shared.count, 501);
    end_source(shared);
}

TEST("an alarm that another thread has invalidated is not called, and keeps its date") {
    of_worker_alarm = make_alarm(RUNLOOP_CLOCK_WALL, wall() + HOUR, 0, &of_worker);
    struct worker worker = {.prepare = add_to_worker};
    start_worker(&worker);
    wait_for_sleep(&worker);
    runloop_source_invalidate(of_worker_alarm);
    runloop_source_invalidate(of_worker_alarm);
    EXPECT_EQ(runloop_alarm_set_date(of_worker_alarm, 0), -EINVAL);
    EXPECT(runloop_alarm_get_date(of_worker_alarm) != RUNLOOP_NEVER);
    step(2 * HOUR);
    pass_time(20 * MS);
    stop_worker(&worker);
    EXPECT_EQ(of_worker.count, 0);
    runloop_source_release(of_worker_alarm);
}

static struct calls of_parent;
static runloop_alarm *of_parent_alarm;

static void use_inherited_alarm(void) {
    EXPECT_EQ(runloop_alarm_set_date(of_parent_alarm, 0), -ECHILD);
    EXPECT_EQ(runloop_alarm_get_date(of_parent_alarm), RUNLOOP_NEVER);
    // Whatever its loop does with the source.
    add(of_parent_alarm, MODE);
    struct calls calls = {0};
    runloop_alarm *ours = add_alarm(wall() + HOUR, 0, &calls);
    step(2 * HOUR);
    RUN_UNTIL(MODE, calls.count == 1);
    run_for(MODE, 20 * MS);
    EXPECT_EQ(of_parent.count, 0);
    end_source(ours);
    end_source(of_parent_alarm);
}

TEST("a forked child never calls an inherited alarm, and the parent's is not moved") {
    int64_t date = wall() + HOUR;
    of_parent_alarm = add_alarm(date, 0, &of_parent);
    EXPECT_EQ(status_of_child(use_inherited_alarm), 0);
    EXPECT_EQ(runloop_alarm_get_date(of_parent_alarm), date);
    // What the child has set are the child's clocks, but its timers would be ours.
    expect_rest(MODE, &of_parent);
    step(HOUR);
    handle_one(MODE);
    EXPECT_EQ(of_parent.count, 1);
    end_source(of_parent_alarm);
}

static int create_alarm(void) {
    runloop_alarm_config config = {0};
    runloop_alarm *alarm = NULL;
    int result = runloop_alarm_create(&config, &alarm);
    runloop_source_release(alarm);
    return result;
}

TEST("without descriptors or memory there is an error, and nothing is left") {
    expect_failures_without_traces(create_alarm);
}

TEST("arguments that make no sense are refused") {
    runloop_alarm *alarm = NULL;
    runloop_alarm_config config = {.interval_ns = -1};
    EXPECT_EQ(runloop_alarm_create(&config, &alarm), -EINVAL);
    config = (runloop_alarm_config){.clock = (runloop_clock_id)2};
    EXPECT_EQ(runloop_alarm_create(&config, &alarm), -EINVAL);
    EXPECT_EQ(runloop_alarm_create(NULL, &alarm), -EINVAL);
    config.clock = RUNLOOP_CLOCK_WALL;
    EXPECT_EQ(runloop_alarm_create(&config, NULL), -EINVAL);
    EXPECT(!alarm);
}
