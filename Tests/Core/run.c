// run.c — one run: entry, limits, results and their precedence, the order of one iteration.
// More of each is in Tests/Rules/running.c. What the wait selects is tested in descriptor_turns.c, what ends it in wakeup.c, nested
// runs in run_nested.c.
#include "trace_helpers.h"

static runloop_source *s;
static runloop_timer *t;
static int count;

static void begin_in_p(void) {
    begin();
    watch("P");
}

//===-- entry -----------------------------------------------------------------------------------------------------===//

static void signal_s_twice_then_stop(void) {
    ++count < 3 ? (void)runloop_source_signal(s) : stop_loop();
}

TEST("R27 runloop_run runs the default mode, regardless of handled sources, until it is stopped") {
    begin();
    watch(DEFAULT);
    s = add_source("s", signal_s_twice_then_stop, DEFAULT);
    runloop_source_signal(s);
    EXPECT_EQ(runloop_run(), RUNLOOP_RESULT_STOPPED);
    EXPECT_TRACE("E T S s T S s T S s X");
}

static void stop_p(void) {
    EXPECT_EQ(runloop_stop_mode(loop, "P"), 0);
}

static void stop_latched(void) {
    EXPECT_EQ(runloop_stop_latched(loop), 0);
}

TEST("R29 a stop of any kind by an Entry observer ends the run before any iteration, whatever the limit") {
    action stops[] = {stop_loop, stop_p, stop_latched};
    begin_in_p();
    s = add_source("s", NULL, "P");
    runloop_source_signal(s);
    for (int i = 0; i < 3; i++) {
        once("P", RUNLOOP_ACTIVITY_ENTRY, stops[i]);
        run("P", i == 1 ? 0 : LONG, true);
        EXPECT_TRACE("E X -> Stopped");
    }
    run("P", LONG, true);
    EXPECT_TRACE("E T S s X -> HandledSource");
}

TEST("R29 a remembered stop ends a run after Entry, a plain one before the others") {
    begin_in_p();
    add_source("s", NULL, "P");
    runloop_stop_mode(loop, "P");
    runloop_stop_latched(loop);
    once("P", RUNLOOP_ACTIVITY_ENTRY, stop_loop);
    run("P", LONG, false); // the plain one
    run("P", LONG, false); // the latched one
    EXPECT_TRACE("E X -> Stopped E X -> Stopped");
    add_source("q", NULL, "Q");
    run("Q", 0, false); // only the stop of the mode is left
    run("P", LONG, false);
    run("P", 0, false);
    EXPECT_TRACE("-> TimedOut E X -> Stopped E T S X -> TimedOut");
}

//===-- limits ----------------------------------------------------------------------------------------------------===//

TEST("R31 a run with a limit of zero or less is one iteration that announces no wait") {
    int64_t limits[] = {0, -1, -SECOND, INT64_MIN};
    begin_in_p();
    add_source("s", NULL, "P");
    for (int i = 0; i < 4; i++) {
        run("P", limits[i], false);
        EXPECT_TRACE("E T S X -> TimedOut");
    }
}

static void spend_30_ms(void) {
    spend(30 * MS);
}

TEST("R32 the limit starts after the Entry observers") {
    begin();
    add_source("s", NULL, "P");
    once("P", RUNLOOP_ACTIVITY_ENTRY, spend_30_ms);
    int64_t start = runloop_now_ns();
    run("P", 30 * MS, false);
    EXPECT(runloop_now_ns() - start >= 60 * MS);
    EXPECT_TRACE("-> TimedOut");
}

TEST("R32 a run doesn't end before its limit") {
    begin();
    add_source("s", NULL, "P");
    int64_t limits[] = {1 * MS, 1500001, 7 * MS, 50 * MS};
    for (int i = 0; i < 4; i++) {
        int64_t start = runloop_now_ns();
        EXPECT_EQ(runloop_run_in_mode("P", limits[i], false), RUNLOOP_RESULT_TIMED_OUT);
        EXPECT(runloop_now_ns() - start >= limits[i]);
    }
}

static void stop_when_asleep(void) {
    wait_until_asleep();
    usleep(20000); // Long enough for a sleep that wrongly has a limit.
    EXPECT(loop_is_asleep());
    stop_loop();
}

TEST("R33 a run without a limit, or with one beyond the clock's range, sleeps until something happens") {
    int64_t limits[] = {RUNLOOP_FOREVER, RUNLOOP_FOREVER - 1, RUNLOOP_FOREVER / 2};
    begin_in_p();
    add_source("s", NULL, "P");
    for (int i = 0; i < 3; i++) {
        start_helper(stop_when_asleep);
        run("P", limits[i], false);
        join_helper();
        EXPECT_TRACE("E T S W A X -> Stopped");
    }
}

TEST("R34 a limit reached before the wait ends the run after that iteration, in which a due timer fires") {
    begin_in_p();
    add_timer("t", MS, 0, NULL, "P");
    add_source("s", NULL, "P");
    always("P", RUNLOOP_ACTIVITY_BEFORE_WAITING, spend_30_ms);
    run("P", 5 * MS, false);
    EXPECT_TRACE("E T S W A t X -> TimedOut");
}

static void signal_s(void) {
    count++;
    runloop_source_signal(s);
}

TEST("R35 a source that keeps signalling itself delays neither the limit nor timers nor stops") {
    begin();
    s = add_source("", signal_s, "P");
    runloop_source_signal(s);
    int64_t start = runloop_now_ns();
    run("P", 20 * MS, false);
    EXPECT(runloop_now_ns() - start >= 20 * MS);
    EXPECT_TRACE("-> TimedOut");
    EXPECT(count > 0);
    t = add_timer("t", 5 * MS, 0, NULL, "P");
    run("P", 500 * MS, false);
    EXPECT_TRACE("t -> TimedOut");
    add_timer("t", 5 * MS, 0, stop_loop, "P");
    run("P", LONG, false);
    EXPECT_TRACE("t -> Stopped");
}

//===-- results ---------------------------------------------------------------------------------------------------===//

static void stop_p_and_invalidate(void) {
    stop_p();
    runloop_source_invalidate(s);
}

TEST("R36 a stop of the mode takes precedence over an empty mode, and is consumed") {
    begin();
    s = add_source("s", stop_p_and_invalidate, "P");
    runloop_source_signal(s);
    run("P", LONG, false);
    add_source("quiet", NULL, "P");
    run("P", MS, false);
    EXPECT_TRACE("s -> Stopped -> TimedOut");
}

static void stop_in_three_ways(void) {
    stop_p();
    stop_latched();
    stop_loop();
}

TEST("R36 a plain stop is consumed before a latched stop, and that before a stop of the mode") {
    begin_in_p();
    s = add_source("s", stop_in_three_ways, "P");
    add_source("q", NULL, "Q");
    runloop_source_signal(s);
    run("P", LONG, false);
    EXPECT_TRACE("E T S s X -> Stopped");
    run("Q", LONG, false); // Only the latched stop can end this run.
    run("Q", 0, false);
    EXPECT_TRACE("-> Stopped -> TimedOut");
    run("P", LONG, false);
    run("P", 0, false);
    EXPECT_TRACE("E X -> Stopped E T S X -> TimedOut");
}

TEST("R39 a source without a callback counts as handled") {
    begin_in_p();
    s = new_source((runloop_source_config){.order = 0});
    EXPECT_EQ(runloop_add_source(loop, s, "P"), 0);
    runloop_source_signal(s);
    run("P", LONG, true);
    EXPECT_TRACE("E T S X -> HandledSource");
    EXPECT(!runloop_source_is_signalled(s));
    int counter = new_counter();
    runloop_descriptor_config config = {.descriptor = counter, .events = RUNLOOP_READABLE, .counter = true};
    REQUIRE(runloop_descriptor_source_create(&config, &s) == 0);
    EXPECT_EQ(runloop_add_source(loop, s, "P"), 0);
    count_up(counter);
    run("P", LONG, true);
    EXPECT_TRACE("E T S W A X -> HandledSource");
    eventfd_t value;
    EXPECT(eventfd_read(counter, &value) < 0);
}

static void perform_after_source(void) {
    perform("b", NULL, "P");
}

TEST("R40 a run that returns after a source still fires due timers and drains tasks") {
    begin_in_p();
    s = add_source("s", NULL, "P");
    runloop_source_signal(s);
    add_timer("t", 0, 0, perform_after_source, "P");
    run("P", LONG, true);
    EXPECT_TRACE("E T S s t b X -> HandledSource");
}

//===-- one iteration ---------------------------------------------------------------------------------------------===//

static void perform_b2(void) {
    perform("b2", NULL, "P");
}

TEST("R41 an iteration without a signalled source waits between its drains") {
    begin_in_p();
    perform("b1", NULL, "P");
    int counter = new_counter();
    add_descriptor("d", counter, true, perform_b2, "P");
    count_up(counter);
    run("P", LONG, true);
    EXPECT_TRACE("E T S b1 W A d b2 X -> HandledSource");
}

TEST("R42 a wait is announced although an event is ready, but not when a source was handled, and not in a poll") {
    begin_in_p();
    int counter = new_counter();
    add_descriptor("d", counter, true, NULL, "P");
    s = add_source("s", NULL, "P");
    count_up(counter);
    run("P", 0, true);
    EXPECT_TRACE("E T S d X -> HandledSource");
    count_up(counter);
    runloop_source_signal(s);
    run("P", LONG, true);
    EXPECT_TRACE("E T S s d X -> HandledSource");
    count_up(counter);
    run("P", LONG, true);
    EXPECT_TRACE("E T S W A d X -> HandledSource");
}
