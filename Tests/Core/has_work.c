// has_work.c — the check for work that precedes a sleep, as a query (R25).
#include "items.h"

static void expect_work_once(const char *words) {
    EXPECT(runloop_has_work(MODE));
    EXPECT(runloop_has_work(MODE));
    EXPECT_TRACE("");
    poll_mode(MODE);
    EXPECT_TRACE(words);
    EXPECT(!runloop_has_work(MODE));
}

TEST("R25 a signalled source, a task, a due timer and a remembered stop are work") {
    EXPECT(!runloop_has_work(MODE));
    runloop_source *source = add_source(MODE, trace_perform, "source");
    EXPECT(!runloop_has_work(MODE));
    runloop_source_signal(source);
    expect_work_once("source");
    runloop_perform(runloop_current(), OTHER_MODE, trace_function, "other", NULL);
    EXPECT(!runloop_has_work(MODE));
    runloop_perform(runloop_current(), MODE, trace_function, "function", NULL);
    expect_work_once("function");
    add_timer(MODE, RUNLOOP_NEVER, 0, trace_fire, "never");
    EXPECT(!runloop_has_work(MODE));
    add_timer(MODE, runloop_now_ns(), 0, trace_fire, "timer");
    expect_work_once("timer");
    runloop_stop_latched(runloop_current());
    expect_work_once("");
    runloop_stop_mode(runloop_current(), MODE);
    expect_work_once("");
}

TEST("R25 a ready descriptor is work, and the query consumes nothing") {
    int counter = make_eventfd(0), pipe[2];
    runloop_source *source = make_counter(counter, trace_ready, "counter");
    REQUIRE(runloop_add_source(runloop_current(), source, MODE) == 0);
    runloop_source_release(source);
    EXPECT(!runloop_has_work(MODE));
    bump(counter);
    EXPECT(!runloop_has_work(OTHER_MODE));
    expect_work_once("counter");
    make_pipe(pipe);
    add_descriptor(OTHER_MODE, pipe[1], RUNLOOP_WRITABLE, trace_ready, "pipe");
    EXPECT(!runloop_has_work(MODE));
    EXPECT(runloop_has_work(OTHER_MODE));
}

static void look(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer, (void)activity, (void)info;
    trace(runloop_has_work(MODE) ? "work" : "idle");
}

static void look_and_stop(runloop_timer *timer, void *info) {
    (void)timer, (void)info;
    runloop_stop(runloop_current());
    trace(runloop_has_work(MODE) ? "work" : "idle");
}

TEST("R25 in a call-out the query is about a run that would be nested") {
    add_observer(MODE, RUNLOOP_ACTIVITY_BEFORE_WAITING, look, NULL);
    add_timer(MODE, runloop_now_ns() + 300 * MS, 0, look_and_stop, NULL);
    EXPECT_EQ(run_for(MODE, 20 * SECOND), RUNLOOP_RESULT_STOPPED);
    EXPECT_TRACE("idle idle");
    add_timer(MODE, runloop_now_ns(), 0, look_and_stop, NULL);
    EXPECT_EQ(run_for(MODE, 20 * SECOND), RUNLOOP_RESULT_STOPPED);
    EXPECT_TRACE("work idle");
}

TEST("R115 a NULL mode, an unknown mode and the pseudo-mode have no work") {
    EXPECT(!runloop_has_work(NULL));
    EXPECT(!runloop_has_work("unknown"));
    runloop_perform(runloop_current(), RUNLOOP_COMMON_MODES, trace_function, "function", NULL);
    EXPECT(!runloop_has_work(RUNLOOP_COMMON_MODES));
    EXPECT(runloop_has_work(RUNLOOP_DEFAULT_MODE));
}
