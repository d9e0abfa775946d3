// golden.c — the golden traces of the contract: whole runs, told by their observers as one line of text.
// Those that need the main dispatch queue are in golden_main_queue.c.
#include "trace_helpers.h"

static runloop_source *s;

/// What every golden trace starts with: a private mode P, traced, with one quiet source.
static void begin_golden(void) {
    begin();
    watch("P");
    s = add_source("s", NULL, "P");
}

TEST("G1 a polling run with nothing ready is one silent iteration") {
    begin_golden();
    run("P", 0, false);
    EXPECT_TRACE("E T S X -> TimedOut");
}

TEST("G2 a polling run that may return after a source tells so") {
    begin_golden();
    runloop_source_signal(s);
    run("P", 0, true);
    EXPECT_TRACE("E T S s X -> HandledSource");
}

TEST("G3 a polling run that may not return after a source times out") {
    begin_golden();
    runloop_source_signal(s);
    run("P", 0, false);
    EXPECT_TRACE("E T S s X -> TimedOut");
}

TEST("G4 a signalled source ends a long run without any wait") {
    begin_golden();
    runloop_source_signal(s);
    run("P", LONG, true);
    EXPECT_TRACE("E T S s X -> HandledSource");
}

TEST("G5 after a source the loop goes round once more and sleeps until the limit") {
    begin_golden();
    runloop_source_signal(s);
    int64_t start = runloop_now_ns();
    run("P", 300 * MS, false);
    EXPECT(runloop_now_ns() - start >= 300 * MS);
    EXPECT_TRACE("E T S s T S W A X -> TimedOut");
}

TEST("G6 a due timer fires in a polling run and is no source") {
    begin_golden();
    add_timer("timer", 0, 0, NULL, "P");
    run("P", 0, true);
    EXPECT_TRACE("E T S timer X -> TimedOut");
}

TEST("G7 a timer ends one sleep, the limit the next") {
    begin_golden();
    int64_t start = runloop_now_ns();
    add_timer("timer", 20 * MS, 0, NULL, "P");
    run("P", 500 * MS, true);
    EXPECT(runloop_now_ns() - start >= 500 * MS);
    EXPECT_TRACE("E T S W A timer T S W A X -> TimedOut");
}

TEST("G8 one iteration does functions, then sources, then timers") {
    begin_golden();
    perform("block", NULL, "P");
    runloop_source_signal(s);
    add_timer("timer", 0, 0, NULL, "P");
    run("P", 0, true);
    EXPECT_TRACE("E T S block s timer X -> HandledSource");
}

static void wake_when_asleep(void) {
    wait_until_asleep();
    wake_loop();
}

TEST("G9 a wake-up from another thread is one more iteration") {
    begin_golden();
    start_helper(wake_when_asleep);
    run("P", SECOND, true);
    join_helper();
    EXPECT_TRACE("E T S W A T S W A X -> TimedOut");
}

TEST("G10 three ready descriptors are three iterations, in the order in which they became ready") {
    begin();
    watch(DEFAULT);
    int a = new_counter(), b = new_counter(), c = new_counter();
    add_descriptor("a", a, true, NULL, DEFAULT);
    add_descriptor("b", b, true, NULL, DEFAULT);
    add_descriptor("c", c, true, NULL, DEFAULT);
    count_up(c);
    count_up(a);
    count_up(b);
    run(DEFAULT, 500 * MS, false);
    EXPECT_TRACE("E T S W A c T S W A a T S W A b T S W A X -> TimedOut");
}

TEST("G11 a stop from an Entry observer spares every iteration") {
    begin_golden();
    always("P", RUNLOOP_ACTIVITY_ENTRY, stop_loop);
    run("P", LONG, false);
    EXPECT_TRACE("E X -> Stopped");
}

TEST("G12 a stop from a BeforeWaiting observer ends the run without a sleep") {
    begin_golden();
    always("P", RUNLOOP_ACTIVITY_BEFORE_WAITING, stop_loop);
    run("P", LONG, false);
    EXPECT_TRACE("E T S W A X -> Stopped");
}

static void *run_one_function(void *unused) {
    begin();
    watch(DEFAULT);
    perform("block", NULL, DEFAULT);
    run(DEFAULT, LONG, false);
    return unused;
}

TEST("G13 a mode with only a function performs it and finishes at once") {
    on_new_thread(run_one_function, NULL);
    EXPECT_TRACE("E T S block W A X -> Finished");
}

static void perform_b2(void) {
    perform("b2", NULL, "P");
}

TEST("G14 a function that a function performs does not wait for the end of a sleep") {
    begin_golden();
    perform("b1", perform_b2, "P");
    int64_t start = runloop_now_ns();
    run("P", 300 * MS, false);
    EXPECT(runloop_now_ns() - start >= 300 * MS);
    EXPECT_TRACE("E T S b1 W A b2 T S W A X -> TimedOut");
}

static int64_t second_due;

static void outlast_second(void) {
    spend(second_due - runloop_now_ns() + 5 * MS);
}

TEST("G17 a timer that becomes due during another one's callback waits for the next iteration") {
    begin_golden();
    add_timer("first", 0, 0, outlast_second, "P");
    runloop_timer *second = add_timer("second", 300 * MS, 0, stop_loop, "P");
    second_due = runloop_timer_get_fire_date(second);
    run("P", LONG, false);
    EXPECT_TRACE("E T S W A first T S W A second X -> Stopped");
}

static runloop_timer *ticker;
static int64_t ticks[8];
static int tick_count;

static void note_tick(void) {
    ticks[tick_count] = runloop_timer_get_fire_date(ticker);
    EXPECT(runloop_now_ns() >= ticks[tick_count]);
    if (++tick_count == 5)
        runloop_stop(loop);
}

static void note_tick_slowly_at_first(void) {
    if (tick_count == 0)
        spend(75 * MS);
    note_tick();
}

TEST("G18 ticks missed during a long callback are skipped, and the phase is kept") {
    begin();
    ticker = add_timer("", 20 * MS, 20 * MS, note_tick_slowly_at_first, "P");
    int64_t start = runloop_timer_get_fire_date(ticker) - 20 * MS;
    run("P", LONG, false);
    EXPECT_TRACE("-> Stopped");
    EXPECT_EQ(ticks[0] - start, 20 * MS);
    EXPECT(ticks[1] - start >= 100 * MS);
    for (int i = 1; i < 5; i++) {
        EXPECT(ticks[i] > ticks[i - 1]);
        EXPECT_EQ((ticks[i] - start) % (20 * MS), 0);
    }
}

TEST("G19 a loop that did not run for several intervals ticks once and returns to the grid") {
    begin();
    ticker = add_timer("", 50 * MS, 50 * MS, note_tick, "P");
    int64_t start = runloop_timer_get_fire_date(ticker) - 50 * MS;
    spend(120 * MS);
    run("P", 0, false);
    EXPECT_EQ(tick_count, 1);
    EXPECT_EQ(ticks[0] - start, 50 * MS);
    run("P", LONG, false);
    EXPECT(ticks[1] - start >= 150 * MS);
    for (int i = 1; i < 5; i++) {
        EXPECT(ticks[i] > ticks[i - 1]);
        EXPECT_EQ((ticks[i] - start) % (50 * MS), 0);
    }
}

TEST("G20 a wake-up inside a timer's callback makes no iteration of its own") {
    begin_golden();
    add_timer("timer", MS, 0, wake_loop, "P");
    add_timer("end", 100 * MS, 0, stop_loop, "P");
    run("P", LONG, false);
    EXPECT_TRACE("E T S W A timer T S W A end X -> Stopped");
}

TEST("G21 sources perform by order, equal ones by their first signal") {
    begin_golden();
    runloop_source *a = traced_source("a", 5, NULL), *b = traced_source("b", -1, NULL);
    runloop_source *c = traced_source("c", 0, NULL), *d = traced_source("d", 0, NULL);
    runloop_source *all[] = {a, b, d, c};
    for (int i = 0; i < 4; i++)
        EXPECT_EQ(runloop_add_source(loop, all[i], "P"), 0);
    runloop_source *signals[] = {a, d, c, b, d};
    for (int i = 0; i < 5; i++)
        runloop_source_signal(signals[i]);
    run("P", 0, false);
    EXPECT_TRACE("E T S b d c a X -> TimedOut");
}

static void run_inner(void) {
    run("inner", LONG, false);
}

static void stop_inner_then_outer(void) {
    WAIT_UNTIL(trace_is("E T S s E T S W") && loop_is_asleep());
    stop_loop();
    WAIT_UNTIL(trace_is("E T S s E T S W A X -> Stopped T S W") && loop_is_asleep());
    stop_loop();
}

TEST("G22 a stop from another thread ends the inner run and leaves the outer one running") {
    begin();
    watch("P");
    watch("inner");
    s = add_source("s", run_inner, "P");
    add_source("quiet", NULL, "inner");
    runloop_source_signal(s);
    start_helper(stop_inner_then_outer);
    run("P", LONG, false);
    join_helper();
    EXPECT_TRACE("E T S s E T S W A X -> Stopped T S W A X -> Stopped");
}
