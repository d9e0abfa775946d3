// recorder.c — what was recorded of loops, as a trace.
#include "../Core/items.h"
#include "runloop_diagnostics.h"

static unsigned count_of(const char *trace, const char *part) {
    unsigned count = 0;
    for (const char *place = trace; (place = strstr(place, part)); place++)
        count++;
    return count;
}

static char *copy_trace(void) {
    runloop *loop = runloop_current();
    char *trace = runloop_copy_trace(&loop, 1);
    REQUIRE(trace);
    return trace;
}

static void run_nested(runloop_timer *timer, void *info) {
    (void)timer;
    (void)info;
    poll_mode(OTHER_MODE);
}

TEST("a trace has balanced slices of runs, iterations, sleeps and call-outs, with names") {
    runloop_timer *timer = add_timer(MODE, RUNLOOP_NEVER, 0, run_nested, NULL);
    struct alarm_clock *clock = ring_in_sleep(timer);
    runloop_timer_set_name(timer, "nest", 4);
    keep_mode(OTHER_MODE);
    EXPECT_EQ(runloop_recorder_start(0), 0);
    EXPECT_EQ(run_for(MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_FINISHED);
    pthread_join(clock->id, NULL);
    char *trace = copy_trace();
    EXPECT_EQ(count_of(trace, "\"ph\":\"B\""), count_of(trace, "\"ph\":\"E\""));
    EXPECT_EQ(count_of(trace, "\"name\":\"run test\""), 1);
    EXPECT_EQ(count_of(trace, "\"name\":\"run other\""), 1);
    EXPECT_EQ(count_of(trace, "\"name\":\"timer nest:4\""), 1);
    EXPECT(count_of(trace, "\"name\":\"sleep\"") >= 1);
    EXPECT(count_of(trace, "\"name\":\"iteration\"") >= 2);
    EXPECT_EQ(count_of(trace, "thread_name"), 1);
    EXPECT(strstr(trace, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[") == trace);
    free(trace);
}

enum { NESTED = 45 };

/// Runs a mode of its own; the outermost one another mode after that.
static void run_deeper(void *depth) {
    int level = ++*(int *)depth;
    char mode[24];
    snprintf(mode, sizeof mode, "level %d", level);
    if (level < NESTED)
        runloop_post(runloop_current(), mode, run_deeper, depth, NULL);
    keep_mode(mode);
    poll_mode(mode);
    if (level == 1)
        poll_mode(OTHER_MODE);
}

TEST("a trace has all slices, however deep, and each lasts as long as those in it") {
    int depth = 0;
    keep_mode(MODE);
    keep_mode(OTHER_MODE);
    EXPECT_EQ(runloop_recorder_start(0), 0);
    runloop_post(runloop_current(), MODE, run_deeper, &depth, NULL);
    poll_mode(MODE);
    char *trace = copy_trace();
    EXPECT_EQ(count_of(trace, "\"name\":\"run "), NESTED + 2);
    EXPECT_EQ(count_of(trace, "\"ph\":\"B\""), count_of(trace, "\"ph\":\"E\""));
    // In the run of MODE, its iteration and the task.
    char *other = strstr(trace, "\"name\":\"run other\"");
    REQUIRE(other);
    *other = 0;
    int open = (int)count_of(trace, "\"ph\":\"B\"") - (int)count_of(trace, "\"ph\":\"E\"");
    EXPECT_EQ(open, 4);
    free(trace);
}

void a_named_task(void *info);
void a_named_task(void *info) {
    (void)info;
}

TEST("a ring keeps the latest events, and ends no slice whose beginning it has lost") {
    keep_mode(MODE);
    EXPECT_EQ(runloop_recorder_start(6), 0);
    for (int i = 0; i < 10; i++)
        runloop_post(runloop_current(), MODE, a_named_task, NULL, NULL);
    poll_mode(MODE);
    char *trace = copy_trace();
    // Of the run, the end is there, and two or three of the tasks.
    EXPECT(count_of(trace, "\"ph\":\"B\"") >= 2);
    EXPECT(count_of(trace, "\"ph\":\"E\"") <= count_of(trace, "\"ph\":\"B\""));
    EXPECT_EQ(count_of(trace, "run test"), 0);
    free(trace);
}

TEST("a recording that has stopped stays, and the next one begins anew") {
    keep_mode(MODE);
    EXPECT_EQ(runloop_recorder_start(0), 0);
    poll_mode(MODE);
    runloop_recorder_stop();
    poll_mode(MODE);
    char *trace = copy_trace();
    EXPECT_EQ(count_of(trace, "\"name\":\"run test\""), 1);
    free(trace);
    EXPECT(!runloop_get_tracer().trace);
    EXPECT_EQ(runloop_recorder_start(0), 0);
    trace = copy_trace();
    EXPECT_EQ(count_of(trace, "\"ph\":\"B\""), 0);
    free(trace);
}

static runloop *other;
static _Atomic bool is_recorded, may_end;

static void *record_another(void *argument) {
    (void)argument;
    pthread_setname_np(pthread_self(), "o\"ther");
    keep_mode(MODE);
    EXPECT_EQ(runloop_recorder_start(0), 0);
    poll_mode(MODE);
    other = runloop_current();
    is_recorded = true;
    WAIT_UNTIL(may_end);
    return NULL;
}

TEST("a trace of several loops has a line for each, and leaves out those that were not recorded") {
    keep_mode(MODE);
    poll_mode(MODE);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, record_another, NULL) == 0);
    WAIT_UNTIL(is_recorded);
    runloop *loops[] = {runloop_current(), other, NULL};
    char *trace = runloop_copy_trace(loops, 3);
    REQUIRE(trace);
    EXPECT_EQ(count_of(trace, "thread_name"), 1);
    EXPECT_EQ(count_of(trace, "\"o\\\"ther\""), 1);
    EXPECT_EQ(count_of(trace, "\"name\":\"run test\""), 1);
    free(trace);
    may_end = true;
    pthread_join(thread, NULL);
}

TEST("a trace of two loops is one list") {
    keep_mode(MODE);
    EXPECT_EQ(runloop_recorder_start(0), 0);
    poll_mode(MODE);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, record_another, NULL) == 0);
    WAIT_UNTIL(is_recorded);
    runloop *loops[] = {runloop_current(), other};
    char *trace = runloop_copy_trace(loops, 2);
    REQUIRE(trace);
    EXPECT_EQ(count_of(trace, "thread_name"), 2);
    // Of each two events there is a comma between.
    EXPECT_EQ(count_of(trace, "}\n{"), 0);
    EXPECT_EQ(count_of(trace, "\n{"), count_of(trace, ",\n{") + 1);
    free(trace);
    may_end = true;
    pthread_join(thread, NULL);
}

static void stop_at_fifth(runloop_source *source, runloop_readiness events, void *turns) {
    (void)source, (void)events;
    if (++*(int *)turns == 5)
        runloop_stop(runloop_current());
}

TEST("an iteration of a trace ends before the next begins") {
    int turns = 0, depth = 0, deepest = 0;
    add_descriptor(MODE, make_eventfd(1), RUNLOOP_READABLE, stop_at_fifth, &turns);
    EXPECT_EQ(runloop_recorder_start(0), 0);
    EXPECT_EQ(run_for(MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_STOPPED);
    char *trace = copy_trace();
    for (const char *place = trace; (place = strstr(place, "\"ph\":\"")); place++) {
        depth += (place[6] == 'B') - (place[6] == 'E');
        deepest = depth > deepest ? depth : deepest;
    }
    EXPECT(count_of(trace, "\"name\":\"iteration\"") >= 5);
    EXPECT_EQ(depth, 0);
    // The run, the iteration, the call-out.
    EXPECT_EQ(deepest, 3);
    free(trace);
}

static _Atomic bool is_done;

static void *copy_all_the_time(void *loop) {
    for (int i = 0; i < 200; i++)
        free(runloop_copy_trace((runloop *const *)&loop, 1));
    is_done = true;
    return NULL;
}

TEST("another thread copies traces while the loop runs") {
    keep_mode(MODE);
    EXPECT_EQ(runloop_recorder_start(64), 0);
    pthread_t copier;
    REQUIRE(pthread_create(&copier, NULL, copy_all_the_time, runloop_current()) == 0);
    for (int i = 0; !is_done; i++) {
        runloop_post(runloop_current(), MODE, a_named_task, NULL, NULL);
        poll_mode(MODE);
        if (i % 50 == 0)
            EXPECT_EQ(runloop_recorder_start(i % 100 ? 64 : 128), 0);
    }
    pthread_join(copier, NULL);
}

TEST("a recorder and statistics follow a loop together, and one stops without the other") {
    keep_mode(MODE);
    EXPECT_EQ(runloop_recorder_start(0), 0);
    EXPECT_EQ(runloop_statistics_start(), 0);
    poll_mode(MODE);
    runloop_recorder_stop();
    poll_mode(MODE);
    runloop_statistics counted;
    EXPECT_EQ(runloop_statistics_copy(runloop_current(), &counted), 0);
    EXPECT_EQ(counted.runs, 2);
    char *trace = copy_trace();
    EXPECT_EQ(count_of(trace, "\"name\":\"run test\""), 1);
    free(trace);
}

TEST("bad arguments of a recorder are refused") {
    EXPECT_EQ(runloop_recorder_start(RUNLOOP_RECORDER_EVENTS_MAX + 1), -EINVAL);
    // There may be no memory for so many.
    int result = runloop_recorder_start(RUNLOOP_RECORDER_EVENTS_MAX);
    EXPECT(result == 0 || result == -ENOMEM);
    runloop_recorder_stop();
    EXPECT(!runloop_copy_trace(NULL, 1));
    runloop *loop = runloop_current();
    EXPECT(!runloop_copy_trace(&loop, 0));
    runloop_recorder_stop();
}
