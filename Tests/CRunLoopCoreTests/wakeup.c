// wakeup.c — wake-ups and stops: which run consumes them, when they are remembered, and what they wake.
// wakeup_threads.c tests what other threads and signal handlers do to a sleeping loop.
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

static void stop_p(void) {
    EXPECT_EQ(runloop_stop_mode(loop, "P"), 0);
}

//===-- plain stops -----------------------------------------------------------------------------------------------===//

TEST("R46 a stop ends the run at the end of its iteration, whichever callback requests it") {
    runloop_activity activities[] = {RUNLOOP_ACTIVITY_BEFORE_TIMERS, RUNLOOP_ACTIVITY_BEFORE_SOURCES,
                                     RUNLOOP_ACTIVITY_BEFORE_WAITING};
    begin_in_p();
    for (int i = 0; i < 3; i++) {
        once("P", activities[i], stop_loop);
        run("P", LONG, false);
        EXPECT_TRACE("E T S W A X -> Stopped");
    }
    perform("b", stop_loop, "P");
    run("P", LONG, false);
    EXPECT_TRACE("E T S b W A X -> Stopped");
    add_timer("t", 0, 0, stop_loop, "P");
    run("P", LONG, false);
    EXPECT_TRACE("E T S W A t X -> Stopped");
}

static void stop_twice(void) {
    stop_loop();
    stop_loop();
}

TEST("R46 two stops of one run count as one") {
    begin_in_p();
    once("P", RUNLOOP_ACTIVITY_BEFORE_TIMERS, stop_twice);
    run("P", LONG, false);
    run("P", 10 * MS, false);
    EXPECT_TRACE("E T S W A X -> Stopped E T S W A X -> TimedOut");
}

static void run_q_and_stop_inside(void) {
    once("Q", RUNLOOP_ACTIVITY_BEFORE_TIMERS, stop_loop);
    run("Q", LONG, false);
}

TEST("R46 a stop ends the innermost run only") {
    begin_in_p();
    perform("b", run_q_and_stop_inside, "P");
    run("P", 50 * MS, false);
    EXPECT_TRACE("E T S b E T S W A X -> Stopped W A X -> TimedOut");
}

TEST("R47 a stop without an active run is not remembered") {
    begin_in_p();
    EXPECT_EQ(runloop_stop(loop), 0);
    run("P", 10 * MS, false);
    EXPECT_TRACE("E T S W A X -> TimedOut");
}

static void stop_and_run_q(void) {
    stop_loop();
    run("Q", 10 * MS, false);
}

TEST("R47 a stop requested before a nested run belongs to the outer run") {
    begin_in_p();
    perform("b", stop_and_run_q, "P");
    run("P", LONG, false);
    EXPECT_TRACE("E T S b E T S W A X -> TimedOut W A X -> Stopped");
}

static void run_q_briefly(void) {
    run("Q", 10 * MS, false);
}

TEST("R47 a stop from an Exit observer is lost, for the run, the next one and the outer one") {
    begin_in_p();
    always("P", RUNLOOP_ACTIVITY_EXIT, stop_loop);
    always("Q", RUNLOOP_ACTIVITY_EXIT, stop_loop);
    run("P", 10 * MS, false);
    perform("b", run_q_briefly, "P");
    run("P", 50 * MS, false);
    EXPECT_TRACE("E T S W A X -> TimedOut E T S b E T S W A X -> TimedOut W A X -> TimedOut");
}

//===-- latched stops ---------------------------------------------------------------------------------------------===//

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

//===-- stops of a mode -------------------------------------------------------------------------------------------===//

TEST("R53 a stop of a mode is remembered until that mode runs, and ends one run") {
    begin_in_p();
    stop_p();
    stop_p();
    run("Q", 0, false);
    EXPECT_TRACE("E T S X -> TimedOut");
    run("P", LONG, false);
    run("P", 0, false);
    EXPECT_TRACE("E X -> Stopped E T S X -> TimedOut");
}

static void stop_p_and_run_q(void) {
    stop_p();
    run("Q", 10 * MS, false);
}

TEST("R53 a stop of the outer mode doesn't affect a nested run in another mode") {
    begin_in_p();
    perform("b", stop_p_and_run_q, "P");
    run("P", LONG, false);
    EXPECT_TRACE("E T S b E T S W A X -> TimedOut W A X -> Stopped");
}

TEST("R53 a stop of an unknown mode creates it; one of the pseudo-mode is refused") {
    begin();
    EXPECT_EQ(runloop_stop_mode(loop, "new"), 0);
    EXPECT(mode_exists("new"));
    EXPECT_EQ(runloop_stop_mode(loop, COMMON), -EINVAL);
    run("new", LONG, false); // Empty: the stop is remembered.
    add_source("s", NULL, "new");
    run("new", LONG, false);
    run("new", 0, false);
    EXPECT_TRACE("-> Finished -> Stopped -> TimedOut");
}

//===-- when a wake-up is accepted --------------------------------------------------------------------------------===//

TEST("R48 R50 a wake-up from Entry to BeforeWaiting prevents the sleep that follows, and only that") {
    runloop_activity activities[] = {RUNLOOP_ACTIVITY_ENTRY, RUNLOOP_ACTIVITY_BEFORE_TIMERS,
                                     RUNLOOP_ACTIVITY_BEFORE_SOURCES, RUNLOOP_ACTIVITY_BEFORE_WAITING};
    begin_in_p();
    for (int i = 0; i < 4; i++) {
        once("P", activities[i], wake_loop);
        add_timer("end", 600 * MS, 0, stop_loop, "P");
        run("P", LONG, false);
        EXPECT_TRACE("E T S W A T S W A end X -> Stopped");
    }
}

static int iterations;

static void wake_in_second_iteration(void) {
    if (++iterations == 2)
        wake_loop();
}

TEST("R48 a wake-up in a later iteration is accepted like one in the first") {
    begin_in_p();
    always("P", RUNLOOP_ACTIVITY_BEFORE_TIMERS, wake_in_second_iteration);
    add_timer("t", 0, 0, NULL, "P");
    add_timer("end", 1500 * MS, 0, stop_loop, "P");
    run("P", LONG, false);
    EXPECT_TRACE("E T S W A t T S W A T S W A end X -> Stopped");
}

static void wake_often(void) {
    for (int i = 0; i < 10; i++)
        wake_loop();
}

TEST("R50 any number of wake-ups before a wait count as one") {
    begin_in_p();
    once("P", RUNLOOP_ACTIVITY_BEFORE_TIMERS, wake_often);
    add_timer("end", 300 * MS, 0, stop_loop, "P");
    run("P", LONG, false);
    EXPECT_TRACE("E T S W A T S W A end X -> Stopped");
}

TEST("R43 R48 a wake-up from a source is consumed by the poll of that iteration") {
    begin_in_p();
    s = add_source("s", wake_loop, "P");
    runloop_source_signal(s);
    add_timer("end", 300 * MS, 0, stop_loop, "P");
    run("P", LONG, false);
    EXPECT_TRACE("E T S s T S W A end X -> Stopped");
}

static void perform_wake(void) {
    perform("b", wake_loop, "P");
}

TEST("R48 a wake-up after the wait is ignored, in AfterWaiting observers and in the tasks of the last drain") {
    begin_in_p();
    once("P", RUNLOOP_ACTIVITY_AFTER_WAITING, wake_loop);
    add_timer("t", 0, 0, NULL, "P");
    add_timer("end", 300 * MS, 0, stop_loop, "P");
    run("P", LONG, false);
    EXPECT_TRACE("E T S W A t T S W A end X -> Stopped");
    add_timer("t", 0, 0, perform_wake, "P");
    add_timer("end", 300 * MS, 0, stop_loop, "P");
    run("P", LONG, false);
    EXPECT_TRACE("E T S W A t b T S W A end X -> Stopped");
}

TEST("R48 a wake-up from a descriptor's callback is ignored") {
    begin_in_p();
    int counter = new_counter();
    add_descriptor("d", counter, true, wake_loop, "P");
    count_up(counter);
    add_timer("end", 300 * MS, 0, stop_loop, "P");
    run("P", LONG, false);
    EXPECT_TRACE("E T S W A d T S W A end X -> Stopped");
}

TEST("R48 a wake-up without a run, or in its Exit observers, is ignored") {
    begin_in_p();
    EXPECT_EQ(runloop_wake_up(loop), 0);
    always("P", RUNLOOP_ACTIVITY_EXIT, wake_loop);
    for (int i = 0; i < 2; i++) {
        run("P", 10 * MS, false);
        EXPECT_TRACE("E T S W A X -> TimedOut");
    }
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

static void wake_and_run_q(void) {
    wake_loop();
    run("Q", 10 * MS, false);
}

TEST("R48 R51 a nested run neither sees nor consumes a wake-up that the outer run accepted") {
    begin_in_p();
    perform("b", wake_and_run_q, "P");
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

TEST("R25 R54 a source signalled by a BeforeWaiting observer prevents the sleep") {
    begin_in_p();
    s = add_source("s", NULL, "P");
    once("P", RUNLOOP_ACTIVITY_BEFORE_WAITING, signal_s);
    run("P", LONG, true);
    EXPECT_TRACE("E T S W A T S s X -> HandledSource");
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

//===-- waiting ---------------------------------------------------------------------------------------------------===//

static void expect_awake(void) {
    EXPECT(!runloop_is_waiting(loop));
}

TEST("R52 a loop is not waiting during call-outs or outside runs") {
    begin_in_p();
    expect_awake();
    always("P", RUNLOOP_ACTIVITY_ALL, expect_awake);
    s = add_source("s", expect_awake, "P");
    runloop_source_signal(s);
    add_timer("t", 0, 0, expect_awake, "P");
    perform("b", expect_awake, "P");
    stop_at_wait("P", 1);
    run("P", LONG, false);
    expect_awake();
    EXPECT_TRACE("E T S b s t T S W A X -> Stopped");
    EXPECT(!runloop_is_waiting(NULL));
}
