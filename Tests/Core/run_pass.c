// run_pass.c — one pass of the loop: one wait, and all that is ready, each once (R151).
#include "items.h"

enum { FEW = 4, MANY = 300 };
static int descriptors[MANY];
static runloop_source *sources[MANY];
static int calls[MANY], total;

static void take_and_count(runloop_source *source, runloop_readiness events, void *info) {
    (void)events;
    take(runloop_source_get_descriptor(source));
    (*(int *)info)++;
    total++;
}

static void make_sources(int count, void (*ready)(runloop_source *, runloop_readiness, void *)) {
    for (int i = 0; i < count; i++) {
        descriptors[i] = make_eventfd(1);
        sources[i] = add_descriptor(MODE, descriptors[i], RUNLOOP_READABLE, ready, &calls[i]);
    }
}

TEST("R151 a pass serves all descriptors that are ready, each once, after one wait") {
    make_sources(MANY, take_and_count);
    trace_activities(MODE);
    EXPECT_EQ(runloop_run_pass(MODE, 60 * SECOND), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(total, MANY);
    for (int i = 0; i < MANY; i++)
        EXPECT_EQ(calls[i], 1);
    EXPECT_TRACE("Entry T S W A Exit");
}

static void fire_and_trace(runloop_timer *timer, void *info) {
    (void)timer;
    trace(info);
}

static void take_and_trace(runloop_source *source, runloop_readiness events, void *info) {
    (void)events;
    take(runloop_source_get_descriptor(source));
    trace(info);
}

TEST("R151 a pass serves signalled sources and tasks, then due timers, then what else is ready; a timer alone is "
     "handled, too") {
    runloop_source *first = add_source(MODE, trace_perform, "one"), *second = add_source(MODE, trace_perform, "two");
    add_timer(MODE, 0, 0, fire_and_trace, "timer");
    add_descriptor(MODE, make_eventfd(1), RUNLOOP_READABLE, take_and_trace, "a");
    add_descriptor(MODE, make_eventfd(1), RUNLOOP_READABLE, take_and_trace, "b");
    runloop_source_signal(first);
    runloop_source_signal(second);
    runloop_perform(runloop_current(), MODE, trace_function, "task", NULL);
    EXPECT_EQ(runloop_run_pass(MODE, 60 * SECOND), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("task one two timer a b");
    add_timer(MODE, 0, 0, fire_and_trace, "timer");
    EXPECT_EQ(runloop_run_pass(MODE, 60 * SECOND), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("timer");
    EXPECT_EQ(runloop_run_pass(MODE, 0), RUNLOOP_RESULT_TIMED_OUT);
}

static void write_again(runloop_source *source, runloop_readiness events, void *info) {
    take_and_count(source, events, info);
    bump(runloop_source_get_descriptor(source));
}

TEST("R151 what becomes ready during the pass waits for the next one") {
    make_sources(FEW, write_again);
    for (int pass = 1; pass <= 3; pass++) {
        EXPECT_EQ(runloop_run_pass(MODE, 0), RUNLOOP_RESULT_HANDLED_SOURCE);
        EXPECT_EQ(total, pass * FEW);
    }
}

TEST("R151 a pass that finds nothing lasts as long as its limit, and one without a limit does not wait") {
    keep_mode(MODE);
    int64_t begin_ns = runloop_now_ns();
    EXPECT_EQ(runloop_run_pass(MODE, 20 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT(runloop_now_ns() - begin_ns >= 20 * MS);
    trace_activities(MODE);
    EXPECT_EQ(runloop_run_pass(MODE, 0), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("Entry T S Exit");
    EXPECT_EQ(runloop_run_pass("unknown", 60 * SECOND), RUNLOOP_RESULT_FINISHED);
    EXPECT_EQ(runloop_run_pass(RUNLOOP_COMMON_MODES, 60 * SECOND), RUNLOOP_RESULT_FINISHED);
}

static void end_others(runloop_source *source, runloop_readiness events, void *info) {
    take_and_count(source, events, info);
    for (int i = 0; i < FEW; i++) {
        if (sources[i] == source)
            continue;
        if (i == 0 || i == 3)
            runloop_source_set_events(sources[i], 0);
        else if (i == 1)
            runloop_remove_source(runloop_current(), sources[i], MODE);
        else
            runloop_source_invalidate(sources[i]);
    }
}

TEST("R151 what an earlier call-out of the pass removes, invalidates or pauses is not called") {
    make_sources(FEW, end_others);
    for (int i = 0; i < FEW; i++)
        runloop_source_retain(sources[i]);
    EXPECT_EQ(runloop_run_pass(MODE, 60 * SECOND), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(total, 1);
    for (int i = 0; i < FEW; i++)
        runloop_source_release(sources[i]);
}

static void run_nested_pass(runloop_source *source, runloop_readiness events, void *info) {
    take_and_count(source, events, info);
    if (total == 1)
        EXPECT_EQ(runloop_run_pass(MODE, 0), RUNLOOP_RESULT_HANDLED_SOURCE);
}

TEST("R151 a pass that is nested in another serves the rest, and nothing is served twice") {
    make_sources(FEW, run_nested_pass);
    EXPECT_EQ(runloop_run_pass(MODE, 60 * SECOND), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(total, FEW);
    for (int i = 0; i < FEW; i++)
        EXPECT_EQ(calls[i], 1);
}

static runloop_source *add_ranked_counter(int descriptor, int32_t order, const char *name) {
    const runloop_descriptor_config config = {.context = {.info = (void *)name},
                                              .order = order,
                                              .descriptor = descriptor,
                                              .events = RUNLOOP_READABLE,
                                              .counter = true,
                                              .ready = trace_ready};
    runloop_source *source = NULL;
    REQUIRE(runloop_descriptor_source_create(&config, &source) == 0);
    REQUIRE(runloop_add_source(runloop_current(), source, MODE) == 0);
    return source;
}

TEST("R151 R69 in a pass each counter is read once, for all sources of its descriptor, which follow one another by "
     "their order") {
    int ours = make_eventfd(3), others = make_eventfd(5);
    runloop_source *last = add_ranked_counter(ours, 2, "last");
    add_ranked_counter(others, 0, "other");
    add_ranked_counter(ours, 1, "first");
    // The last one has a place in line before the others.
    EXPECT_EQ(runloop_source_signal(last), 0);
    EXPECT_EQ(runloop_run_pass(MODE, 60 * SECOND), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("first last other");
    EXPECT_EQ(runloop_run_pass(MODE, 0), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("");
}

static void stop_loop(runloop_timer *timer, void *info) {
    (void)timer, (void)info;
    runloop_stop(runloop_current());
}

TEST("R151 a stop ends one pass alone, and a pass with a task does not wait") {
    keep_mode(MODE);
    add_timer(MODE, 0, 0, stop_loop, NULL);
    EXPECT_EQ(runloop_run_pass(MODE, 60 * SECOND), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(runloop_run_pass(MODE, 0), RUNLOOP_RESULT_TIMED_OUT);
    runloop_post(runloop_current(), MODE, trace_function, "task", NULL);
    EXPECT_EQ(runloop_run_pass(MODE, 60 * SECOND), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("task");
}
