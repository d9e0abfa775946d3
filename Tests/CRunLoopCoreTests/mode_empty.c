// mode_empty.c — what keeps a mode from being empty, when that is checked, and nested runs.
#include "trace_helpers.h"

static runloop_source *s;
static runloop_timer *t;

static void remove_s(void) {
    runloop_remove_source(loop, s, "P");
}

static void add_s(void) {
    EXPECT_EQ(runloop_add_source(loop, s, "P"), 0);
}

//===-- emptiness -------------------------------------------------------------------------------------------------===//

TEST("R23 observers alone do not keep a mode from being empty") {
    begin();
    watch("P");
    run("P", LONG, false);
    EXPECT_TRACE("-> Finished");
}

static void *ask_from_another_thread(void *unused) {
    (void)unused;
    EXPECT(!runloop_mode_is_empty(loop, "P"));
    EXPECT(runloop_mode_is_empty(loop, "Q"));
    return NULL;
}

TEST("R23 whether a run would finish at once can be queried; from other threads, for sources and timers alone") {
    begin();
    watch("Q");
    EXPECT(runloop_mode_is_empty(loop, "P"));
    s = add_source("s", NULL, "P");
    EXPECT(!runloop_mode_is_empty(loop, "P"));
    perform("q", NULL, "Q");
    EXPECT(!runloop_mode_is_empty(loop, "Q"));
    on_new_thread(ask_from_another_thread, NULL);
    runloop_source_invalidate(s);
    EXPECT(runloop_mode_is_empty(loop, "P"));
}

TEST("R23 a source keeps its mode from being empty until it is removed or invalidated") {
    begin();
    s = add_source("s", NULL, "P");
    run("P", 0, false);
    runloop_remove_source(loop, s, "P");
    run("P", 0, false);
    runloop_add_source(loop, s, "P");
    run("P", 0, false);
    runloop_source_invalidate(s);
    run("P", 0, false);
    EXPECT_TRACE("-> TimedOut -> Finished -> TimedOut -> Finished");
}

TEST("R23 a source without a descriptor is still an item") {
    begin();
    add_descriptor("d", -1, false, NULL, "P");
    run("P", 0, false);
    EXPECT_TRACE("-> TimedOut");
}

TEST("R23 a timer that is due in the distant future is an item, one that has fired its only time is not") {
    begin();
    t = add_timer("t", LONG, 0, NULL, "P");
    run("P", 0, false);
    runloop_timer_set_fire_date(t, runloop_now_ns());
    run("P", 0, false);
    run("P", LONG, false);
    EXPECT_TRACE("-> TimedOut t -> TimedOut -> Finished");
}

TEST("R23 a queued task that matches the mode is an item, one for another mode is not") {
    begin();
    watch("P");
    perform("q", NULL, "Q");
    run("P", LONG, false);
    EXPECT_TRACE("-> Finished");
    perform("p", NULL, "P");
    run("P", 0, false);
    EXPECT_TRACE("E T S p X -> TimedOut");
}

TEST("R23 a task for the common modes is an item of those modes only") {
    begin();
    runloop_add_common_mode(loop, "C");
    watch("P");
    perform("f", NULL, COMMON);
    run("P", LONG, false);
    run("C", 0, false);
    EXPECT_TRACE("-> Finished f -> TimedOut");
}

TEST("R23 a task for several modes is an item of each of them") {
    begin();
    EXPECT_EQ(runloop_perform_in_modes(loop, (const char *[]){"P", "Q"}, 2, actor_acts, new_actor("f", NULL), NULL), 0);
    run("Q", 0, false);
    run("P", LONG, false);
    EXPECT_TRACE("f -> TimedOut -> Finished");
}

static void run_p_long(void) {
    run("P", LONG, false);
}

TEST("R23 the rest of the batch being drained does not keep a nested run alive") {
    begin();
    perform("b1", run_p_long, "P");
    perform("b2", NULL, "P");
    run("P", LONG, false);
    EXPECT_TRACE("b1 -> Finished b2 -> Finished");
}

static void run_p_briefly(void) {
    int64_t start = runloop_now_ns();
    run("P", 20 * MS, false);
    EXPECT(runloop_now_ns() - start >= 20 * MS);
}

TEST("R23 a run nested in the callback of its only timer sleeps until its limit") {
    begin();
    add_timer("t", 0, 0, run_p_briefly, "P");
    run("P", LONG, false);
    EXPECT_TRACE("t -> TimedOut -> Finished");
}

//===-- when it is checked ----------------------------------------------------------------------------------------===//

TEST("R25 a run whose mode has nothing but tasks finishes when they are done") {
    begin();
    watch("P");
    perform("b1", NULL, "P");
    perform("b2", NULL, "P");
    run("P", RUNLOOP_FOREVER, false);
    EXPECT_TRACE("E T S b1 b2 W A X -> Finished");
}

TEST("R25 a run whose mode a BeforeWaiting observer empties finishes after one AfterWaiting") {
    begin();
    watch("P");
    s = add_source("s", NULL, "P");
    once("P", RUNLOOP_ACTIVITY_BEFORE_WAITING, remove_s);
    run("P", LONG, false);
    EXPECT_TRACE("E T S W A X -> Finished");
}

TEST("R25 a run whose mode is emptied by its own source finishes at the end of that iteration") {
    begin();
    watch("P");
    s = add_source("s", remove_s, "P");
    runloop_source_signal(s);
    run("P", LONG, false);
    EXPECT_TRACE("E T S s X -> Finished");
}

TEST("R25 a polling run whose mode is emptied before the wait times out") {
    begin();
    watch("P");
    s = add_source("s", NULL, "P");
    once("P", RUNLOOP_ACTIVITY_BEFORE_SOURCES, remove_s);
    run("P", 0, false);
    EXPECT_TRACE("E T S X -> TimedOut");
}

TEST("R25 a run whose mode is emptied before the wait and refilled by an AfterWaiting observer continues") {
    begin();
    watch("P");
    s = add_source("s", NULL, "P");
    once("P", RUNLOOP_ACTIVITY_BEFORE_WAITING, remove_s);
    once("P", RUNLOOP_ACTIVITY_AFTER_WAITING, add_s);
    stop_at_wait("P", 2);
    run("P", LONG, false);
    EXPECT_TRACE("E T S W A T S W A X -> Stopped");
}

static void perform_add_s(void) {
    perform("b", add_s, "P");
}

TEST("R25 a last task that adds an item keeps the run going") {
    begin();
    watch("P");
    s = add_source("s", NULL, "P");
    once("P", RUNLOOP_ACTIVITY_BEFORE_WAITING, remove_s);
    once("P", RUNLOOP_ACTIVITY_AFTER_WAITING, perform_add_s);
    stop_at_wait("P", 2);
    run("P", LONG, false);
    EXPECT_TRACE("E T S W A b T S W A X -> Stopped");
}

static void remove_s_and_wake(void) {
    remove_s();
    wake_loop();
}

TEST(
    "R25 the limit is not an item: a run whose mode is empty before its sleep finishes without waiting for the limit") {
    begin();
    s = add_source("s", NULL, "P");
    once("P", RUNLOOP_ACTIVITY_BEFORE_WAITING, remove_s_and_wake);
    run("P", LONG, false);
    EXPECT_TRACE("-> Finished");
}

//===-- nested runs -----------------------------------------------------------------------------------------------===//

static int depth;

static void go_deeper(void) {
    EXPECT_TEXT(runloop_current_mode(loop), "P");
    if (++depth < 100) {
        runloop_source_signal(s);
        EXPECT_EQ(runloop_run_in_mode("P", 0, true), RUNLOOP_RESULT_HANDLED_SOURCE);
    }
}

TEST("R26 runs nest to any depth in the same mode") {
    begin();
    s = add_source("", go_deeper, "P");
    runloop_source_signal(s);
    EXPECT_EQ(runloop_run_in_mode("P", 0, true), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(depth, 100);
    EXPECT(runloop_current_mode(loop) == NULL);
}

static void poll_q(void) {
    run("Q", 0, false);
    EXPECT_TEXT(runloop_current_mode(loop), "P");
}

TEST("R26 a run can be nested in any kind of callback") {
    begin();
    watch("Q");
    add_source("quiet", NULL, "Q");
    s = add_source("s", poll_q, "P");
    runloop_source_signal(s);
    perform("b", poll_q, "P");
    add_timer("t", 0, 0, poll_q, "P");
    add_observer("o", RUNLOOP_ACTIVITY_ALL, 0, true, poll_q, "P");
    run("P", 0, false);
    const char *inner = "E T S X -> TimedOut";
    char expected[512];
    snprintf(expected, sizeof expected, "o %s o %s o %s b %s s %s t %s o %s -> TimedOut", inner, inner, inner, inner,
             inner, inner, inner);
    EXPECT_TRACE(expected);
}

TEST("R26 a run can be nested in the callback of a descriptor and in the observers around a wait") {
    begin();
    watch("Q");
    add_source("quiet", NULL, "Q");
    int counter = new_counter();
    add_descriptor("d", counter, true, poll_q, "P");
    count_up(counter);
    add_observer("o", RUNLOOP_ACTIVITY_BEFORE_WAITING | RUNLOOP_ACTIVITY_AFTER_WAITING, 0, true, poll_q, "P");
    run("P", LONG, true);
    EXPECT_TRACE("o E T S X -> TimedOut o E T S X -> TimedOut d E T S X -> TimedOut -> HandledSource");
}
