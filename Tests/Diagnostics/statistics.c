// statistics.c — what the statistics of a loop count.
#include "../Core/forks.h"
#include "runloop_diagnostics.h"

#include <sys/wait.h>

static runloop_statistics now_counted(void) {
    runloop_statistics counted;
    REQUIRE(runloop_statistics_copy(runloop_current(), &counted) == 0);
    return counted;
}

static void do_nothing(void *info) {
    (void)info;
}

static void take_time(runloop_timer *timer, void *info) {
    (void)timer;
    pass_time(*(int64_t *)info);
}

TEST("statistics that were never started can't be read") {
    runloop_statistics counted;
    EXPECT_EQ(runloop_statistics_copy(runloop_current(), &counted), -ENOENT);
    EXPECT_EQ(runloop_statistics_copy(NULL, &counted), -EINVAL);
    EXPECT_EQ(runloop_statistics_copy(runloop_current(), NULL), -EINVAL);
    runloop_statistics_stop();
    EXPECT_EQ(runloop_statistics_copy(runloop_current(), &counted), -ENOENT);
}

static runloop *inherited;

static void read_inherited(void) {
    runloop_statistics counted;
    EXPECT_EQ(runloop_statistics_copy(inherited, &counted), -ENOENT);
}

TEST("statistics of a loop of the parent process can't be read") {
    EXPECT_EQ(runloop_statistics_start(), 0);
    inherited = runloop_current();
    expect_in_child(fork, read_inherited);
}

TEST("runs, iterations and call-outs are counted by kind, from the start on") {
    keep_mode(MODE);
    poll_mode(MODE);
    EXPECT_EQ(runloop_statistics_start(), 0);
    EXPECT_EQ(runloop_statistics_start(), 0);
    runloop_source *source = add_source(MODE, trace_perform, "s");
    runloop_source_signal(source);
    add_descriptor(MODE, make_eventfd(1), RUNLOOP_READABLE, trace_ready, "d");
    add_timer(MODE, 0, 0, trace_fire, "t");
    add_observer(MODE, RUNLOOP_ACTIVITY_EXIT, trace_activity, NULL);
    runloop_post(runloop_current(), MODE, do_nothing, NULL, NULL);
    runloop_post(runloop_current(), MODE, do_nothing, NULL, NULL);
    poll_mode(MODE);
    poll_mode(MODE);
    runloop_statistics counted = now_counted();
    EXPECT_EQ(counted.runs, 2);
    EXPECT_EQ(counted.iterations, 2);
    EXPECT_EQ(counted.sleeps, 0);
    EXPECT_EQ(counted.callouts[RUNLOOP_CALLOUT_SIGNALLED_SOURCE], 1);
    EXPECT_EQ(counted.callouts[RUNLOOP_CALLOUT_DESCRIPTOR_SOURCE], 1);
    EXPECT_EQ(counted.callouts[RUNLOOP_CALLOUT_TIMER], 1);
    EXPECT_EQ(counted.callouts[RUNLOOP_CALLOUT_OBSERVER], 2);
    EXPECT_EQ(counted.callouts[RUNLOOP_CALLOUT_TASK], 2);
    EXPECT_EQ(counted.callout.count, 7);
    EXPECT_EQ(counted.iteration.count, 2);
    EXPECT_EQ(counted.lateness.count, 1);
    // One burst.
    EXPECT_EQ(counted.post_to_run.count, 1);
}

TEST("a sleep is asleep and not busy, a slow call-out is busy and has the name of its item") {
    int64_t duration_ns = 15 * MS;
    runloop_timer *timer = add_timer(MODE, RUNLOOP_NEVER, 0, take_time, &duration_ns);
    struct alarm_clock *clock = ring_in_sleep(timer);
    runloop_timer_set_name(timer, "slow.c", 7);
    EXPECT_EQ(runloop_statistics_start(), 0);
    EXPECT_EQ(run_for(MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_FINISHED);
    runloop_statistics counted = now_counted();
    pthread_join(clock->id, NULL);
    EXPECT(counted.sleeps >= 1 && counted.sleep.count == counted.sleeps);
    EXPECT(counted.asleep_ns > 0 && counted.asleep_ns <= counted.running_ns - duration_ns);
    EXPECT(counted.running_ns <= counted.elapsed_ns);
    EXPECT(counted.callout.max_ns >= duration_ns);
    EXPECT_EQ(counted.longest_kind, RUNLOOP_CALLOUT_TIMER);
    EXPECT_TEXT(counted.longest_name, "slow.c:7");
    EXPECT(runloop_histogram_quantile_ns(&counted.callout, 1) >= duration_ns);
    EXPECT(counted.iteration.max_ns >= duration_ns);
    EXPECT(counted.iteration.sum_ns <= counted.running_ns - counted.asleep_ns);
}

TEST("timers whose date is as far in the past as can be are as late as can be, and so are all of them together") {
    keep_mode(MODE);
    EXPECT_EQ(runloop_statistics_start(), 0);
    for (int i = 0; i < 2; i++)
        add_timer(MODE, INT64_MIN, 0, trace_fire, "");
    poll_mode(MODE);
    runloop_statistics counted = now_counted();
    EXPECT_EQ(counted.lateness.count, 2);
    EXPECT_EQ(counted.lateness.max_ns, INT64_MAX);
    EXPECT_EQ(counted.lateness.sum_ns, INT64_MAX);
}

static void look_third(runloop_source *source, runloop_readiness events, void *turns) {
    (void)source, (void)events;
    if (++*(int *)turns < 3)
        return;
    EXPECT_EQ(now_counted().awake_iterations, 3);
    runloop_stop(runloop_current());
}

TEST("an iteration whose wait finds a descriptor ready does not count as a sleep, and a sleep ends a row of them") {
    int turns = 0;
    EXPECT_EQ(runloop_statistics_start(), 0);
    runloop_source *source = add_descriptor(MODE, make_eventfd(1), RUNLOOP_READABLE, look_third, &turns);
    EXPECT_EQ(run_for(MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_STOPPED);
    runloop_statistics counted = now_counted();
    EXPECT_EQ(counted.iterations, 3);
    EXPECT(counted.sleeps == 0 && counted.asleep_ns == 0 && counted.awake_iterations == 0);
    runloop_source_invalidate(source);
    struct alarm_clock *clock = ring_in_sleep(add_timer(MODE, RUNLOOP_NEVER, 0, trace_fire, "t"));
    EXPECT_EQ(run_for(MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_FINISHED);
    pthread_join(clock->id, NULL);
    counted = now_counted();
    EXPECT(counted.sleeps >= 1 && counted.sleeps <= counted.iterations - 3);
    EXPECT(counted.asleep_ns > 0);
}

static void run_other_mode(void *info) {
    (void)info;
    run_for(OTHER_MODE, 20 * MS);
}

TEST("a nested run is counted, and its time is not counted twice") {
    keep_mode(MODE);
    keep_mode(OTHER_MODE);
    EXPECT_EQ(runloop_statistics_start(), 0);
    runloop_post(runloop_current(), MODE, run_other_mode, NULL, NULL);
    poll_mode(MODE);
    runloop_statistics counted = now_counted();
    EXPECT_EQ(counted.runs, 2);
    EXPECT_EQ(counted.iteration.count, 1);
    EXPECT(counted.callout.max_ns >= 20 * MS);
    EXPECT(counted.running_ns <= counted.elapsed_ns && counted.running_ns >= 20 * MS);
}

static void start_here(void *info) {
    (void)info;
    EXPECT_EQ(runloop_statistics_start(), 0);
}

TEST("statistics can be started in a call-out, whose return is then nothing to them") {
    keep_mode(MODE);
    runloop_post(runloop_current(), MODE, start_here, NULL, NULL);
    runloop_post(runloop_current(), MODE, do_nothing, NULL, NULL);
    poll_mode(MODE);
    poll_mode(MODE);
    runloop_statistics counted = now_counted();
    EXPECT_EQ(counted.callout.count, 1);
    EXPECT_EQ(counted.iterations, 1);
    EXPECT(counted.running_ns <= counted.elapsed_ns);
}

TEST("stopped statistics stay as they are, and start again from zero") {
    keep_mode(MODE);
    EXPECT_EQ(runloop_statistics_start(), 0);
    poll_mode(MODE);
    runloop_statistics_stop();
    poll_mode(MODE);
    runloop_statistics counted = now_counted();
    EXPECT_EQ(counted.runs, 1);
    EXPECT(!runloop_get_tracer().trace);
    pass_time(2 * MS);
    EXPECT_EQ(now_counted().elapsed_ns, counted.elapsed_ns);
    EXPECT_EQ(runloop_statistics_start(), 0);
    EXPECT_EQ(now_counted().runs, 0);
}

static void tell(void *context, runloop_trace_point point, const void *object, int64_t value) {
    (void)object;
    (void)value;
    if (point == RUNLOOP_TRACE_RUN_BEGIN)
        ++*(int *)context;
}

TEST("a tracer that was there before is called as before, while and after") {
    int runs = 0;
    runloop_tracer tracer = {.trace = tell, .context = &runs};
    keep_mode(MODE);
    EXPECT_EQ(runloop_set_tracer(&tracer), 0);
    EXPECT_EQ(runloop_statistics_start(), 0);
    poll_mode(MODE);
    EXPECT_EQ(runs, 1);
    runloop_statistics_stop();
    EXPECT(runloop_get_tracer().trace == tell);
    poll_mode(MODE);
    EXPECT_EQ(runs, 2);
    EXPECT_EQ(now_counted().runs, 1);
}

TEST("a tracer that replaces ours and passes on nothing cuts the statistics off until they are started again") {
    int runs = 0;
    runloop_tracer tracer = {.trace = tell, .context = &runs};
    keep_mode(MODE);
    for (int turn = 1; turn <= 3; turn++) {
        EXPECT_EQ(runloop_statistics_start(), 0);
        poll_mode(MODE);
        EXPECT_EQ(runloop_set_tracer(&tracer), 0);
        poll_mode(MODE);
        EXPECT_EQ(now_counted().runs, 1);
        runloop_statistics_stop();
        EXPECT(runloop_get_tracer().trace == tell);
    }
    // In the first turn it was there for one of the two runs.
    EXPECT_EQ(runs, 5);
    EXPECT_EQ(runloop_statistics_start(), 0);
    poll_mode(MODE);
    poll_mode(MODE);
    EXPECT_EQ(now_counted().runs, 2);
    EXPECT_EQ(runs, 7);
}

static runloop_tracer passed_on_to;

static void count_and_pass_on(void *context, runloop_trace_point point, const void *object, int64_t value) {
    tell(context, point, object, value);
    passed_on_to.trace(passed_on_to.context, point, object, value);
}

TEST("a tracer that passes calls on, and those before it, are called once, however often statistics start "
     "again") {
    int first = 0, second = 0;
    runloop_tracer before = {.trace = tell, .context = &first},
                   after = {.trace = count_and_pass_on, .context = &second};
    keep_mode(MODE);
    EXPECT_EQ(runloop_set_tracer(&before), 0);
    EXPECT_EQ(runloop_statistics_start(), 0);
    passed_on_to = runloop_get_tracer();
    EXPECT_EQ(runloop_set_tracer(&after), 0);
    for (int turn = 1; turn <= 5; turn++) {
        poll_mode(MODE);
        EXPECT_EQ(first, turn);
        EXPECT_EQ(second, turn);
        EXPECT_EQ(now_counted().runs, 1);
        runloop_statistics_stop();
        EXPECT_EQ(runloop_statistics_start(), 0);
    }
    // It goes, and puts back what was there before it.
    EXPECT_EQ(runloop_set_tracer(&passed_on_to), 0);
    poll_mode(MODE);
    EXPECT_EQ(now_counted().runs, 1);
    EXPECT_EQ(first, 6);
    EXPECT_EQ(second, 5);
}

static void *read_all_the_time(void *argument) {
    runloop *loop = argument;
    runloop_statistics counted;
    uint64_t before = 0;
    while (runloop_statistics_copy(loop, &counted) == 0) {
        EXPECT(counted.iterations >= before);
        // No run and no sleep counts twice, or before it has begun.
        EXPECT(counted.running_ns >= 0 && counted.running_ns <= counted.elapsed_ns);
        EXPECT(counted.asleep_ns >= 0 && counted.asleep_ns <= counted.running_ns);
        before = counted.iterations;
        sched_yield();
    }
    runloop_release(loop);
    return NULL;
}

static pthread_t reader;

static void *be_read(void *argument) {
    (void)argument;
    keep_mode(MODE);
    EXPECT_EQ(runloop_statistics_start(), 0);
    REQUIRE(pthread_create(&reader, NULL, read_all_the_time, runloop_retain(runloop_current())) == 0);
    for (int i = 0; i < 2000; i++) {
        runloop_post(runloop_current(), MODE, do_nothing, NULL, NULL);
        poll_mode(MODE);
        run_for(MODE, 1000);
    }
    return NULL;
}

TEST("another thread reads them at any time, up to the end of the loop's thread") {
    on_new_thread(be_read, NULL);
    pthread_join(reader, NULL);
}

TEST("a histogram reports a share within an eighth, and its longest exactly") {
    runloop_histogram histogram = {0};
    EXPECT_EQ(runloop_histogram_quantile_ns(&histogram, 0.5), 0);
    EXPECT_EQ(runloop_histogram_quantile_ns(NULL, 0.5), 0);
    int64_t duration_ns = 10 * MS;
    for (int i = 0; i < 3; i++)
        add_timer(MODE, 0, 0, take_time, &duration_ns);
    EXPECT_EQ(runloop_statistics_start(), 0);
    poll_mode(MODE);
    runloop_statistics counted = now_counted();
    EXPECT_EQ(counted.callout.count, 3);
    int64_t median_ns = runloop_histogram_quantile_ns(&counted.callout, 0.5);
    EXPECT(median_ns >= duration_ns && median_ns <= counted.callout.max_ns);
    EXPECT_EQ(runloop_histogram_quantile_ns(&counted.callout, 2), counted.callout.max_ns);
    uint64_t total = 0;
    for (int i = 0; i < RUNLOOP_HISTOGRAM_BUCKETS; i++)
        total += counted.callout.buckets[i];
    EXPECT_EQ(total, 3);
}
