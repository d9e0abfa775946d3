// wakeup_threads.c — what other threads do to a loop that sleeps, besides what Tests/Rules compares.
#include "trace_helpers.h"

static runloop_source *s, *s2;
static runloop_timer *t;
static runloop_observer *o;
static int64_t date;

static void begin_in_p(void) {
    begin();
    watch("P");
}

/// The helper does this when the loop sleeps in its first wait; it must end the run.
static action when_asleep;

static void do_when_asleep(void) {
    wait_until_asleep();
    when_asleep();
}

static void run_and_do(action act) {
    when_asleep = act;
    start_helper(do_when_asleep);
    run("P", LONG, true);
    join_helper();
}

//===-- what wakes ------------------------------------------------------------------------------------------------===//

static void stop_q(void) {
    runloop_stop_mode(loop, "Q");
    WAIT_UNTIL(trace_is("E T S W A T S W") && loop_is_asleep());
    stop_loop();
}

TEST("R53 R54 a stop of another mode wakes the running one, which makes one iteration and does not end") {
    begin_in_p();
    add_source("quiet", NULL, "P");
    run_and_do(stop_q);
    EXPECT_TRACE("E T S W A T S W A X -> Stopped");
}

static void post_b(void) {
    EXPECT_EQ(runloop_post(loop, "P", actor_acts, new_actor("b", stop_loop), NULL), 0);
}

TEST("R54 R104 a posted task ends the sleep and runs in that iteration") {
    begin_in_p();
    add_source("quiet", NULL, "P");
    run_and_do(post_b);
    EXPECT_TRACE("E T S W A b X -> Stopped");
}

//===-- what does not wake ----------------------------------------------------------------------------------------===//

static void expect_no_wake(void) {
    usleep(30000);
    EXPECT(trace_is("E T S W"));
    EXPECT(loop_is_asleep());
}

static void signal_s_then_wake(void) {
    runloop_source_signal(s);
    expect_no_wake();
    wake_loop();
}

TEST("R54 R62 signalling a source does not end the sleep; the source performs when something else does") {
    begin_in_p();
    s = add_source("s", NULL, "P");
    run_and_do(signal_s_then_wake);
    EXPECT_TRACE("E T S W A T S s X -> HandledSource");
}

static void perform_then_wake(void) {
    perform("b", stop_loop, "P");
    expect_no_wake();
    wake_loop();
}

TEST("R54 R104 a task queued without a wake-up does not end the sleep; it runs when something else does") {
    begin_in_p();
    add_source("quiet", NULL, "P");
    run_and_do(perform_then_wake);
    EXPECT_TRACE("E T S W A b X -> Stopped");
}

static void add_and_remove_then_wake(void) {
    s = traced_source("s", 0, NULL);
    runloop_source_signal(s);
    EXPECT_EQ(runloop_add_source(loop, s, "P"), 0);
    expect_no_wake();
    o = add_observer("o", RUNLOOP_ACTIVITY_AFTER_WAITING, 0, true, NULL, "P");
    expect_no_wake();
    t = add_timer("t", LONG, 0, NULL, "P");
    expect_no_wake();
    runloop_timer_set_fire_date(t, runloop_now_ns() + 2 * LONG);
    runloop_remove_timer(loop, t, "P");
    runloop_remove_source(loop, s2, "P");
    runloop_add_common_mode(loop, "P");
    runloop_add_timer(loop, t, COMMON);
    runloop_timer_invalidate(t);
    runloop_observer_invalidate(add_observer("gone", RUNLOOP_ACTIVITY_AFTER_WAITING, 0, true, NULL, "P"));
    expect_no_wake();
    EXPECT_EQ(runloop_add_source(loop, s, "Q"), 0);
    EXPECT_EQ(runloop_remove_source(loop, s, "Q"), 0);
    expect_no_wake();
    wake_loop();
}

TEST("R54 R116 changes of other modes, and those that leave the mode non-empty, do not end the sleep") {
    begin_in_p();
    s2 = add_source("s2", NULL, "P");
    run_and_do(add_and_remove_then_wake);
    EXPECT_TRACE("E T S W A o T S s X -> HandledSource");
}

static void stop_when_due(void) {
    EXPECT(runloop_now_ns() >= date);
    stop_loop();
}

static void move_timer_closer(void) {
    for (int i = 0; i < 8; i++) // Closer and away.
        runloop_timer_set_fire_date(t, runloop_now_ns() + (i % 2 ? 2 * LONG : LONG / 2));
    runloop_timer_set_fire_date(t, date = runloop_now_ns() + 30 * MS);
}

static void move_timer_into_past(void) {
    runloop_timer_set_fire_date(t, RUNLOOP_NEVER);
    runloop_timer_set_fire_date(t, date = -7);
}

TEST("R54 R83 R116 a timer moved by another thread fires at its new date, without an earlier iteration") {
    action moves[] = {move_timer_closer, move_timer_into_past};
    begin_in_p();
    for (int i = 0; i < 2; i++) {
        t = add_timer("t", LONG, 0, stop_when_due, "P");
        run_and_do(moves[i]);
        EXPECT_TRACE("E T S W A t X -> Stopped");
    }
}

//===-- emptied from outside --------------------------------------------------------------------------------------===//

static void remove_s(void) {
    runloop_remove_source(loop, s, "P");
}

static void invalidate_s(void) {
    runloop_source_invalidate(s);
}

static void remove_t(void) {
    runloop_remove_timer(loop, t, "P");
}

static void invalidate_t(void) {
    runloop_timer_invalidate(t);
}

TEST("R25 R116 a sleeping run finishes when another thread removes its mode's last item") {
    action source_ends[] = {remove_s, invalidate_s}, timer_ends[] = {remove_t, invalidate_t};
    begin_in_p();
    for (int i = 0; i < 2; i++) {
        s = add_source("s", NULL, "P");
        run_and_do(source_ends[i]);
        EXPECT_TRACE("E T S W A X -> Finished");
        t = add_timer("t", LONG, 0, NULL, "P");
        run_and_do(timer_ends[i]);
        EXPECT_TRACE("E T S W A X -> Finished");
        s = add_descriptor("d", new_counter(), true, NULL, "P");
        run_and_do(source_ends[i]);
        EXPECT_TRACE("E T S W A X -> Finished");
    }
}

static void remove_common_s(void) {
    runloop_remove_source(loop, s, COMMON);
}

TEST("R19 R25 a sleeping run finishes when the last common item is removed") {
    begin_in_p();
    runloop_add_common_mode(loop, "P");
    s = add_source("s", NULL, COMMON);
    run_and_do(remove_common_s);
    EXPECT_TRACE("E T S W A X -> Finished");
}

static void run_q(void) {
    run("Q", LONG, false);
}

static void empty_p_then_stop(void) {
    WAIT_UNTIL(trace_is("E T S s E T S W") && loop_is_asleep());
    remove_s();
    usleep(30000);
    EXPECT(trace_is("E T S s E T S W"));
    stop_loop();
}

TEST("R25 emptying the mode of an outer run leaves the nested run asleep") {
    begin_in_p();
    watch("Q");
    add_source("quiet", NULL, "Q");
    s = add_source("s", run_q, "P");
    runloop_source_signal(s);
    start_helper(empty_p_then_stop);
    run("P", LONG, false);
    join_helper();
    EXPECT_TRACE("E T S s E T S W A X -> Stopped X -> Finished");
}

TEST("R54 the date of a timer that was removed before the sleep causes no iteration") {
    begin_in_p();
    t = add_timer("t", 20 * MS, 0, NULL, "P");
    add_timer("end", 300 * MS, 0, stop_loop, "P");
    runloop_timer_invalidate(t);
    run("P", LONG, false);
    EXPECT_TRACE("E T S W A end X -> Stopped");
}
