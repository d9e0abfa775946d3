// statistics_exact.c — what statistics and histograms say of times that are known to the nanosecond. Link with -Wl,--wrap=clock_gettime.
#include <time.h>

#include "../Core/items.h"
#include "runloop_diagnostics.h"

/// The machine's clock stands still at this instant; 0: it goes on.
static int64_t stopped_ns;

int __real_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time);

int __wrap_clock_gettime(clockid_t clock, struct timespec *time) {
    if (!stopped_ns || clock != CLOCK_MONOTONIC)
        return __real_clock_gettime(clock, time);
    *time = (struct timespec){.tv_sec = stopped_ns / SECOND, .tv_nsec = stopped_ns % SECOND};
    return 0;
}

static runloop_statistics now_counted(void) {
    runloop_statistics counted;
    REQUIRE(runloop_statistics_copy(runloop_current(), &counted) == 0);
    return counted;
}

static void pass(void *duration_ns) {
    stopped_ns += *(int64_t *)duration_ns;
}

/// The statistics of one call-out that takes so long, and of one that takes an hour. The clock stands still otherwise.
static runloop_histogram count_durations(int64_t duration_ns) {
    static int64_t hour_ns = 3600 * SECOND;
    static int64_t durations[64];
    static int used;
    durations[used] = duration_ns;
    stopped_ns = 1000 * 3600 * SECOND;
    runloop_statistics_stop();
    REQUIRE(runloop_statistics_start() == 0);
    runloop_post(runloop_current(), MODE, pass, &durations[used++], NULL);
    runloop_post(runloop_current(), MODE, pass, &hour_ns, NULL);
    poll_mode(MODE);
    return now_counted().callout;
}

TEST("a duration is in the bucket of its eighth of a power of two, and is reported as its end") {
    static const struct {
        int64_t duration_ns, end_ns;
    } expected[] = {{0, 63},      {63, 63},     {64, 71},       {71, 71},       {72, 79},          {127, 127},
                    {128, 143},   {143, 143},   {144, 159},     {255, 255},     {256, 287},        {1000, 1023},
                    {1023, 1023}, {1024, 1151}, {65535, 65535}, {65536, 73727}, {1000000, 1048575}};
    keep_mode(MODE);
    poll_mode(MODE);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        runloop_histogram histogram = count_durations(expected[i].duration_ns);
        EXPECT_EQ(histogram.count, 2);
        EXPECT_EQ(histogram.sum_ns, expected[i].duration_ns + 3600 * SECOND);
        EXPECT_EQ(runloop_histogram_quantile_ns(&histogram, 0.5), expected[i].end_ns);
        EXPECT_EQ(runloop_histogram_quantile_ns(&histogram, 1), 3600 * SECOND);
        // An hour is too long for any other bucket.
        EXPECT_EQ(histogram.buckets[RUNLOOP_HISTOGRAM_BUCKETS - 1], 1);
    }
}

TEST("a call-out that ends before it has begun has taken no time") {
    int64_t durations[] = {5000, -1000};
    keep_mode(MODE);
    poll_mode(MODE);
    stopped_ns = 1000 * SECOND;
    EXPECT_EQ(runloop_statistics_start(), 0);
    for (int i = 0; i < 2; i++)
        runloop_post(runloop_current(), MODE, pass, &durations[i], NULL);
    poll_mode(MODE);
    runloop_histogram histogram = now_counted().callout;
    EXPECT_EQ(histogram.count, 2);
    EXPECT_EQ(histogram.sum_ns, 5000);
    EXPECT_EQ(histogram.buckets[0], 1);
}

static void take_long(runloop_timer *timer, void *duration_ns) {
    (void)timer;
    pass(duration_ns);
}

TEST("the longest call-out is named, and not the last") {
    int64_t durations[] = {5000, 9000, 7000};
    const char *const names[] = {"short", "long", "last"};
    keep_mode(MODE);
    poll_mode(MODE);
    stopped_ns = 1000 * SECOND;
    EXPECT_EQ(runloop_statistics_start(), 0);
    for (int i = 0; i < 3; i++)
        runloop_timer_set_name(add_timer(MODE, i, 0, take_long, &durations[i]), names[i], 0);
    poll_mode(MODE);
    runloop_statistics counted = now_counted();
    EXPECT_EQ(counted.callout.count, 3);
    EXPECT_EQ(counted.callout.max_ns, 9000);
    EXPECT_TEXT(counted.longest_name, "long");
}

static void nest_and_take(void *duration_ns) {
    pass(duration_ns);
    runloop_post(runloop_current(), OTHER_MODE, pass, duration_ns, NULL);
    poll_mode(OTHER_MODE);
    pass(duration_ns);
}

TEST("an iteration has the time before, in and after a run that is nested in it, once") {
    int64_t duration_ns = 1000;
    keep_mode(MODE);
    keep_mode(OTHER_MODE);
    poll_mode(MODE);
    stopped_ns = 1000 * SECOND;
    EXPECT_EQ(runloop_statistics_start(), 0);
    runloop_post(runloop_current(), MODE, nest_and_take, &duration_ns, NULL);
    poll_mode(MODE);
    runloop_statistics counted = now_counted();
    EXPECT_EQ(counted.iteration.count, 1);
    EXPECT_EQ(counted.iteration.sum_ns, 3000);
    EXPECT_EQ(counted.running_ns, 3000);
    EXPECT_EQ(counted.iterations, 2);
}

TEST("statistics that are started again while they go on have counted what was before") {
    keep_mode(MODE);
    EXPECT_EQ(runloop_statistics_start(), 0);
    poll_mode(MODE);
    EXPECT_EQ(runloop_statistics_start(), 0);
    EXPECT_EQ(now_counted().runs, 1);
}

static int64_t shown_ns;

static int64_t show_time(void *context) {
    (void)context;
    return shown_ns;
}

static int64_t no_wait(void *context, int64_t duration_ns) {
    (void)context, (void)duration_ns;
    return 1;
}

TEST("a timer is late by the clock of its loop") {
    const runloop_clock clock = {.now = show_time, .wait = no_wait};
    REQUIRE(runloop_set_clock(&clock) == 0);
    keep_mode(MODE);
    EXPECT_EQ(runloop_statistics_start(), 0);
    add_timer(MODE, 100, 0, trace_fire, "");
    shown_ns = 1234;
    poll_mode(MODE);
    runloop_statistics counted = now_counted();
    EXPECT_EQ(counted.lateness.count, 1);
    EXPECT_EQ(counted.lateness.sum_ns, 1134);
}

//===-- tracers that pass on a part ------------------------------------------------------------------------------------===//

static runloop_tracer passed_on_to;
static runloop_trace_point left_out;

static void pass_on_a_part(void *context, runloop_trace_point point, const void *object, int64_t value) {
    (void)context;
    if (point != left_out)
        passed_on_to.trace(passed_on_to.context, point, object, value);
}

static runloop_statistics count_without(runloop_trace_point point) {
    const runloop_tracer tracer = {.trace = pass_on_a_part};
    keep_mode(MODE);
    EXPECT_EQ(runloop_statistics_start(), 0);
    passed_on_to = runloop_get_tracer();
    left_out = point;
    EXPECT_EQ(runloop_set_tracer(&tracer), 0);
    for (int i = 0; i < 3; i++)
        run_for(MODE, 2 * MS);
    return now_counted();
}

TEST("sleeps whose end another tracer keeps to itself are one that goes on, and no longer than the runs") {
    runloop_statistics counted = count_without(RUNLOOP_TRACE_WAKE);
    EXPECT_EQ(counted.sleeps, 0);
    EXPECT(counted.asleep_ns > 0 && counted.asleep_ns <= counted.elapsed_ns);
}

TEST("sleeps whose beginning another tracer keeps to itself are none") {
    runloop_statistics counted = count_without(RUNLOOP_TRACE_SLEEP);
    EXPECT(counted.sleeps == 0 && counted.asleep_ns == 0);
}
