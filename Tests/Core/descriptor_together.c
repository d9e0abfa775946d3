// descriptor_together.c — sources that are called together, in one iteration (R71).
#include "items.h"

enum { FEW = 4, MANY = 300 };
static runloop_source *sources[MANY];
static int descriptors[MANY], total, timer_after = -1;

static runloop_source *make_together(int descriptor, int32_t order,
                                     void (*ready)(runloop_source *, runloop_readiness, void *), void *info) {
    runloop_descriptor_config config = {.context = {.info = info},
                                        .order = order,
                                        .descriptor = descriptor,
                                        .events = RUNLOOP_READABLE,
                                        .together = true,
                                        .ready = ready};
    runloop_source *source;
    REQUIRE(runloop_descriptor_source_create(&config, &source) == 0);
    return source;
}

/// Of descending orders if `step` is negative; all are ready.
static void make_sources(int count, int32_t step, void (*ready)(runloop_source *, runloop_readiness, void *)) {
    static const char *names[FEW] = {"a", "b", "c", "d"};
    for (int i = 0; i < count; i++) {
        descriptors[i] = make_eventfd(1);
        sources[i] = make_together(descriptors[i], step * i, ready, (void *)(i < FEW ? names[i] : NULL));
        REQUIRE(runloop_add_source(runloop_current(), sources[i], MODE) == 0);
    }
}

static void take_and_trace(runloop_source *source, runloop_readiness events, void *info) {
    EXPECT_EQ(events, RUNLOOP_READABLE);
    take(runloop_source_get_descriptor(source));
    total++;
    if (info)
        trace(info);
}

TEST("R71 sources that are called together are called in one iteration, whether the run sleeps, polls or passes") {
    make_sources(FEW, 0, take_and_trace);
    trace_activities(MODE);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("Entry T S W A a b c d T S W A Exit");
    bump(descriptors[2]);
    bump(descriptors[1]);
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("Entry T S c b Exit");
    bump(descriptors[3]);
    bump(descriptors[0]);
    EXPECT_EQ(runloop_run_in_mode(MODE, 60 * SECOND, true), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("Entry T S W A d a Exit");
    bump(descriptors[3]);
    bump(descriptors[0]);
    EXPECT_EQ(runloop_run_pass(MODE, 60 * SECOND), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("Entry T S W A d a Exit");
}

TEST("R71 they are called by order, and others in iterations of their own") {
    int other = make_eventfd(1);
    add_descriptor(MODE, other, RUNLOOP_READABLE, take_and_trace, "other");
    make_sources(FEW, -1, take_and_trace);
    trace_activities(MODE);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("Entry T S W A other T S W A d c b a T S W A Exit");
    bump(descriptors[0]);
    bump(other);
    bump(descriptors[3]);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("Entry T S W A d a T S W A other T S W A Exit");
}

static void fire_and_count(runloop_timer *timer, void *info) {
    (void)timer, (void)info;
    timer_after = total;
}

static void take_and_add_timer(runloop_source *source, runloop_readiness events, void *info) {
    take_and_trace(source, events, info);
    if (total == 1)
        add_timer(MODE, 0, 0, fire_and_count, NULL);
}

TEST("R71 a timer that the first of them adds fires after the last of them, however many there are") {
    make_sources(MANY, 0, take_and_add_timer);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(total, MANY);
    EXPECT_EQ(timer_after, MANY);
}

static void run_nested(runloop_source *source, runloop_readiness events, void *info) {
    take_and_trace(source, events, info);
    if (total != 1)
        return;
    poll_mode(OTHER_MODE);
    trace("|");
    poll_mode(MODE);
    trace("|");
}

TEST("R71 a run that is nested in one of them calls the rest in the same mode, none in another, and nothing is called "
     "twice") {
    keep_mode(OTHER_MODE);
    make_sources(FEW, 0, run_nested);
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("a | b c d |");
}

static void run_other_mode(runloop_source *source, runloop_readiness events, void *info) {
    take_and_trace(source, events, info);
    if (total == 1)
        poll_mode(OTHER_MODE);
}

TEST("R71 a run of another mode that is nested in one of them leaves the rest to the outer iteration") {
    add_descriptor(OTHER_MODE, make_eventfd(1), RUNLOOP_READABLE, take_and_trace, "other");
    make_sources(FEW, 0, run_other_mode);
    trace_activities(MODE);
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("Entry T S a other b c d Exit");
}

static void spoil_others(runloop_source *source, runloop_readiness events, void *info) {
    take_and_trace(source, events, info);
    EXPECT_EQ(runloop_source_set_events(sources[1], 0), 0);
    EXPECT_EQ(runloop_remove_source(runloop_current(), sources[2], MODE), 0);
    runloop_source_invalidate(sources[3]);
}

TEST("R71 what the first of them pauses, removes or invalidates is not called") {
    make_sources(FEW, 0, spoil_others);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("a");
}

TEST("R71 R73 the other sources of one's descriptor are called in the same iteration, and those of other modes are "
     "not") {
    make_sources(2, 0, take_and_trace);
    add_descriptor(MODE, descriptors[1], RUNLOOP_READABLE, trace_ready, "shared");
    add_descriptor(OTHER_MODE, descriptors[0], RUNLOOP_READABLE, trace_ready, "elsewhere");
    trace_activities(MODE);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("Entry T S W A a b shared T S W A Exit");
    EXPECT_EQ(poll_mode(OTHER_MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("");
}

TEST("R71 R72 R152 one that is signalled or due is called with the others, also without a descriptor") {
    make_sources(2, 0, trace_ready);
    runloop_source *bare = make_together(-1, 0, trace_ready, "bare");
    REQUIRE(runloop_add_source(runloop_current(), bare, MODE) == 0);
    runloop_source_set_events(sources[1], 0);
    runloop_source_set_deadline(sources[1], 0);
    runloop_source_signal(bare);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT(trace_contains("a") && trace_contains("b") && trace_contains("bare"));
    runloop_source_release(bare);
}

TEST("R71 R151 a pass calls them one after the other by order, too, and forgets them for other modes") {
    add_descriptor(MODE, make_eventfd(1), RUNLOOP_READABLE, take_and_trace, "x");
    make_sources(2, -1, take_and_trace);
    int shared = make_eventfd(1);
    add_descriptor(MODE, shared, RUNLOOP_READABLE, take_and_trace, "y");
    add_descriptor(OTHER_MODE, shared, RUNLOOP_READABLE, trace_ready, "elsewhere");
    EXPECT_EQ(runloop_run_pass(MODE, 60 * SECOND), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("b a x y");
    EXPECT_EQ(poll_mode(OTHER_MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("");
}

static void look_in_other_mode(runloop_source *source, runloop_readiness events, void *info) {
    trace_ready(source, events, info);
    poll_mode(OTHER_MODE);
}

/// The descriptor stays readable, so a run inside of the second one's call-out gets both sources again.
static void expect_told_again_later(int (*run_once)(const char *mode), bool together) {
    int descriptor = make_eventfd(1);
    add_descriptor(OTHER_MODE, make_eventfd(0), RUNLOOP_READABLE, trace_ready, "other");
    if (together)
        runloop_add_source(runloop_current(), make_together(descriptor, 0, trace_ready, "a"), MODE);
    else
        add_descriptor(MODE, descriptor, RUNLOOP_READABLE, trace_ready, "a");
    add_descriptor(MODE, descriptor, RUNLOOP_READABLE, look_in_other_mode, "b");
    for (int i = 0; i < 3; i++) {
        run_once(MODE);
        EXPECT_TRACE("a b");
    }
}

static int run_pass_once(const char *mode) {
    return runloop_run_pass(mode, 60 * SECOND);
}

TEST("R71 R73 what the kernel reports again to a nested run of another mode waits for the next iteration") {
    expect_told_again_later(handle_one, false);
}

TEST("R71 R73 what the kernel reports again to a nested run waits for the next iteration, where one is called together "
     "with others") {
    expect_told_again_later(handle_one, true);
}

TEST("R71 what the kernel reports again to a nested run in a pass waits for the next pass") {
    expect_told_again_later(run_pass_once, false);
}
