// idle.c — the query whether the run would sleep, made where observers make it.
#include "trace_helpers.h"

#define P "P"

static runloop_source *s;
static int asked;

static void ask(void) {
    trace(runloop_is_idle(loop) ? "idle" : "busy");
}

/// Queries in the first BeforeWaiting after `act`, and ends the run at the second one.
static void ask_after(action act) {
    begin();
    always(P, RUNLOOP_ACTIVITY_BEFORE_WAITING, act);
    always(P, RUNLOOP_ACTIVITY_BEFORE_WAITING, ask);
    stop_at_wait(P, 2);
}

static bool first(void) {
    return asked++ == 0;
}

static void do_nothing(void) {}

TEST("R148 a run that is about to sleep is idle") {
    ask_after(do_nothing);
    add_source("s", NULL, P);
    add_timer("later", LONG, 0, NULL, P);
    stop_at_wait(P, 1);
    run(P, LONG, false);
    EXPECT_TRACE("idle -> Stopped");
}

static void signal_s(void) {
    if (first())
        runloop_source_signal(s);
}

TEST("R148 a run with a signalled source is not idle until the source has performed") {
    ask_after(signal_s);
    s = add_source("s", NULL, P);
    run(P, LONG, false);
    EXPECT_TRACE("busy s idle -> Stopped");
}

static void function(void *info) {
    trace(info);
}

static void perform_function(void) {
    if (first())
        REQUIRE(runloop_perform(loop, P, function, "function", NULL) == 0);
}

TEST("R148 a run is not idle while a task matches its mode; a task for another mode makes no difference") {
    ask_after(perform_function);
    add_source("s", NULL, P);
    REQUIRE(runloop_perform(loop, "Q", function, "other", NULL) == 0);
    run(P, LONG, false);
    EXPECT_TRACE("busy function idle -> Stopped");
}

static void let_timer_come_due(void) {
    if (first())
        add_timer("timer", 0, 0, NULL, P);
}

TEST("R148 a run is not idle while a timer is due") {
    ask_after(let_timer_come_due);
    add_source("s", NULL, P);
    run(P, LONG, false);
    EXPECT_TRACE("busy timer idle -> Stopped");
}

static int counter;

static void raise_counter(void) {
    if (first())
        count_up(counter);
}

TEST("R148 a run is not idle while a descriptor is ready, and the query doesn't consume the event") {
    ask_after(raise_counter);
    counter = new_counter();
    add_descriptor("counter", counter, true, NULL, P);
    run(P, LONG, false);
    EXPECT_TRACE("busy counter idle -> Stopped");
}

TEST("R148 a ready descriptor of another mode makes no difference") {
    ask_after(raise_counter);
    counter = new_counter();
    add_descriptor("counter", counter, true, NULL, "Q");
    add_source("s", NULL, P);
    stop_at_wait(P, 1);
    run(P, LONG, false);
    EXPECT_TRACE("idle -> Stopped");
    run("Q", LONG, true);
    EXPECT_TRACE("counter -> HandledSource");
}

static void wake_once(void) {
    if (first())
        runloop_wake_up(loop);
}

TEST("R148 a run with a wake-up, a stop or a reached limit is not idle") {
    ask_after(wake_once);
    add_source("s", NULL, P);
    run(P, LONG, false);
    EXPECT_TRACE("busy idle -> Stopped");
    stop_at_wait(P, 1);
    always(P, RUNLOOP_ACTIVITY_BEFORE_WAITING, ask);
    run(P, LONG, false);
    EXPECT_TRACE("idle busy -> Stopped");
}

static void wake_and_ask(void) {
    runloop_wake_up(loop);
    ask();
}

TEST("R48 R148 a wake-up that comes too late for the wait does not keep a run from being idle") {
    begin();
    add_source("s", NULL, P);
    stop_at_wait(P, 2);
    add_timer("timer", 0, 0, wake_and_ask, P);
    run(P, LONG, false);
    EXPECT_TRACE("timer idle -> Stopped");
}

static int64_t limit_ns;

/// The run has computed it before, so this is not earlier.
static void note_limit(void) {
    limit_ns = runloop_now_ns() + 500 * MS;
}

static void outlast_limit(void) {
    spend(limit_ns - runloop_now_ns() + 1 * MS);
}

TEST("R148 a run never sleeps past a reached limit") {
    begin();
    add_source("s", NULL, P);
    always(P, RUNLOOP_ACTIVITY_ENTRY, note_limit);
    always(P, RUNLOOP_ACTIVITY_BEFORE_WAITING, outlast_limit);
    always(P, RUNLOOP_ACTIVITY_BEFORE_WAITING, ask);
    run(P, 500 * MS, false);
    EXPECT_TRACE("busy -> TimedOut");
}

static void ask_in_nested_poll(void) {
    if (first())
        run("Q", 0, false);
    ask();
}

TEST("R148 the query is about the innermost run, and a polling run is never idle") {
    begin();
    add_source("s", NULL, P);
    s = add_source("asks", ask, "Q");
    runloop_source_signal(s);
    always(P, RUNLOOP_ACTIVITY_BEFORE_WAITING, ask_in_nested_poll);
    stop_at_wait(P, 2);
    runloop_wake_up(loop);
    add_timer("timer", 500 * MS, 0, NULL, P);
    run(P, LONG, false);
    EXPECT_TRACE("asks busy -> TimedOut idle timer idle -> Stopped");
}

static void ask_from_elsewhere(void) {
    ask();
}

TEST("R148 outside runs and on another thread the answer is no") {
    begin();
    ask();
    start_helper(ask_from_elsewhere);
    join_helper();
    EXPECT_TRACE("busy busy");
}
