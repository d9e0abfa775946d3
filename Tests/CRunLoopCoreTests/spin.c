// spin.c — spinning before a sleep, which must change nothing but timing.
#include "trace_helpers.h"

static runloop_source *s;

static void begin_with_look_out(int64_t limit_ns) {
    begin();
    EXPECT_EQ(runloop_set_spin(loop, limit_ns), 0);
    watch("P");
    s = add_source("s", NULL, "P");
}

TEST("the spin limit is 0 by default, and kept within bounds") {
    begin();
    EXPECT_EQ(runloop_get_spin(loop), 0);
    EXPECT_EQ(runloop_set_spin(loop, -1), -EINVAL);
    EXPECT_EQ(runloop_set_spin(loop, RUNLOOP_SPIN_LIMIT_MAX + 1), -EINVAL);
    EXPECT_EQ(runloop_get_spin(loop), 0);
    EXPECT_EQ(runloop_set_spin(loop, RUNLOOP_SPIN_LIMIT_MAX), 0);
    EXPECT_EQ(runloop_get_spin(loop), RUNLOOP_SPIN_LIMIT_MAX);
    EXPECT_EQ(runloop_set_spin(loop, 0), 0);
    EXPECT_EQ(runloop_set_spin(NULL, 0), -EINVAL);
    EXPECT_EQ(runloop_get_spin(NULL), 0);
}

static void signal_and_wake(void) {
    runloop_source_signal(s);
    runloop_wake_up(loop);
}

/// Polled until the loop is about to wait, whether it spins or sleeps then.
static void signal_in_the_wait(void) {
    WAIT_UNTIL(trace_is("E T S W"));
    signal_and_wake();
}

TEST("R43 R50 a wake-up during the spin ends the wait as it ends a sleep") {
    begin_with_look_out(RUNLOOP_SPIN_LIMIT_MAX);
    for (int i = 0; i < 50; i++) {
        start_helper(signal_in_the_wait);
        run("P", LONG, true);
        join_helper();
        EXPECT_TRACE("E T S W A T S s X -> HandledSource");
    }
}

static void stop_in_the_wait(void) {
    WAIT_UNTIL(trace_is("E T S W"));
    stop_loop();
}

TEST("R46 a stop during the spin ends the run") {
    begin_with_look_out(RUNLOOP_SPIN_LIMIT_MAX);
    start_helper(stop_in_the_wait);
    run("P", LONG, false);
    join_helper();
    EXPECT_TRACE("E T S W A X -> Stopped");
}

TEST("R34 a run's limit that is shorter than the spin ends the spin") {
    begin_with_look_out(RUNLOOP_SPIN_LIMIT_MAX);
    run("P", RUNLOOP_SPIN_LIMIT_MAX / 10, false);
    EXPECT_TRACE("E T S W A X -> TimedOut");
}

TEST("R74 a timer that comes due during the spin fires once and not early") {
    begin_with_look_out(RUNLOOP_SPIN_LIMIT_MAX);
    add_timer("t", RUNLOOP_SPIN_LIMIT_MAX / 10, 0, stop_loop, "P");
    run("P", LONG, false);
    EXPECT_TRACE("E T S W A t X -> Stopped");
}

static int counter;

static void count_in_the_wait(void) {
    WAIT_UNTIL(trace_is("E T S W"));
    count_up(counter);
}

TEST("R43 a descriptor that becomes ready during the spin is served") {
    begin_with_look_out(RUNLOOP_SPIN_LIMIT_MAX);
    counter = new_counter();
    add_descriptor("d", counter, true, stop_loop, "P");
    start_helper(count_in_the_wait);
    run("P", LONG, false);
    join_helper();
    EXPECT_TRACE("E T S W A d X -> Stopped");
}

TEST("R49 a source signalled at any moment around the spin performs in that run") {
    begin_with_look_out(RUNLOOP_SPIN_LIMIT_MAX / 20);
    for (int i = 0; i < 2000; i++) {
        start_helper(signal_and_wake);
        EXPECT_EQ(runloop_run_in_mode("P", LONG, true), RUNLOOP_RESULT_HANDLED_SOURCE);
        join_helper();
        trace_reset();
    }
}
