// wakeup.c — wake-ups and latched stops: which run consumes them, and when they are remembered.
// Other stops and more wake-ups are in Tests/Rules/stopping.c and running.c; wakeup_threads.c tests what other threads and signal
// handlers do to a sleeping loop.
#include "trace_helpers.h"

static runloop_source *s;

static void begin_in_p(void) {
    begin();
    watch("P");
    add_source("quiet", NULL, "P");
    watch("Q");
    add_source("quiet", NULL, "Q");
}

static void stop_latched(void) {
    EXPECT_EQ(runloop_stop_latched(loop), 0);
}

TEST("R47 a latched stop is remembered for a run in any mode, and ends one") {
    begin_in_p();
    stop_latched();
    stop_latched();
    run("Q", LONG, false);
    run("P", 10 * MS, false);
    EXPECT_TRACE("E X -> Stopped E T S W A X -> TimedOut");
}

TEST("R47 a latched stop outlives a run that finishes at once") {
    begin_in_p();
    stop_latched();
    run("empty", LONG, false);
    run("P", 0, false);
    EXPECT_TRACE("-> Finished E X -> Stopped");
}

TEST("R36 R47 a latched stop that loses to a handled source or a limit stays set") {
    begin_in_p();
    s = add_source("s", stop_latched, "P");
    runloop_source_signal(s);
    run("P", LONG, true);
    run("P", LONG, false);
    EXPECT_TRACE("E T S s X -> HandledSource E X -> Stopped");
    runloop_source_signal(s);
    run("P", 0, false);
    run("P", LONG, false);
    run("P", 0, false);
    EXPECT_TRACE("E T S s X -> TimedOut E X -> Stopped E T S X -> TimedOut");
}

TEST("R47 a latched stop from an Exit observer ends the next run") {
    begin_in_p();
    once("P", RUNLOOP_ACTIVITY_EXIT, stop_latched);
    run("P", 0, false);
    run("P", LONG, false);
    EXPECT_TRACE("E T S X -> TimedOut E X -> Stopped");
}

static void stop_latched_and_run_q(void) {
    stop_latched();
    run("Q", LONG, false);
}

TEST("R46 R47 a latched stop is consumed by the innermost run, even one that starts later") {
    begin_in_p();
    perform("b", stop_latched_and_run_q, "P");
    run("P", 50 * MS, false);
    EXPECT_TRACE("E T S b E X -> Stopped W A X -> TimedOut");
}

TEST("R46 a latched stop ends the sleep of a running loop") {
    begin_in_p();
    once("P", RUNLOOP_ACTIVITY_BEFORE_WAITING, stop_latched);
    run("P", LONG, false);
    run("P", 0, false);
    EXPECT_TRACE("E T S W A X -> Stopped E T S X -> TimedOut");
}

//===-- when a wake-up is accepted --------------------------------------------------------------------------------===//

static void perform_wake(void) {
    perform("b", wake_loop, "P");
}

static void run_q_and_wake(void) {
    run("Q", 10 * MS, false);
    wake_loop();
}

TEST("R48 after a nested run the outer one ignores or accepts wake-ups as before") {
    begin_in_p();
    add_timer("t", 0, 0, run_q_and_wake, "P"); // Ignored: after the wait.
    add_timer("end", 300 * MS, 0, stop_loop, "P");
    run("P", LONG, false);
    EXPECT_TRACE("E T S W A t E T S W A X -> TimedOut T S W A end X -> Stopped");
    perform("b", run_q_and_wake, "P"); // Accepted: before the wait.
    add_timer("end", 300 * MS, 0, stop_loop, "P");
    run("P", LONG, false);
    EXPECT_TRACE("E T S b E T S W A X -> TimedOut W A T S W A end X -> Stopped");
}

static void wake_and_stop(void) {
    wake_loop();
    stop_loop();
}

static void run_q_woken_and_stopped(void) {
    once("Q", RUNLOOP_ACTIVITY_ENTRY, wake_and_stop);
    run("Q", LONG, false);
}

TEST("R51 a wake-up that a run accepted and did not consume is discarded with it, and reaches no other run") {
    begin_in_p();
    once("P", RUNLOOP_ACTIVITY_ENTRY, wake_and_stop);
    run("P", LONG, false);
    run("P", 10 * MS, false);
    EXPECT_TRACE("E X -> Stopped E T S W A X -> TimedOut");
    perform("b", run_q_woken_and_stopped, "P");
    add_timer("end", 300 * MS, 0, stop_loop, "P");
    run("P", LONG, false);
    EXPECT_TRACE("E T S b E X -> Stopped W A end X -> Stopped");
}

//===-- work known before the sleep -------------------------------------------------------------------------------===//

static void signal_s(void) {
    runloop_source_signal(s);
}

TEST("R25 R54 a source signalled for another mode doesn't prevent the sleep") {
    begin_in_p();
    s = add_source("q", NULL, "Q");
    once("P", RUNLOOP_ACTIVITY_BEFORE_WAITING, signal_s);
    run("P", 10 * MS, true);
    run("Q", 0, true);
    EXPECT_TRACE("E T S W A X -> TimedOut E T S q X -> HandledSource");
}

static void poll_q(void) {
    run("Q", 0, false);
}

TEST("R25 a task that a run nested in BeforeWaiting leaves behind prevents the sleep") {
    begin_in_p();
    s = add_source("q", perform_wake, "Q");
    runloop_source_signal(s);
    once("P", RUNLOOP_ACTIVITY_BEFORE_WAITING, poll_q);
    stop_at_wait("P", 2);
    run("P", LONG, false);
    EXPECT_TRACE("E T S W E T S q X -> TimedOut A b T S W A X -> Stopped");
}
