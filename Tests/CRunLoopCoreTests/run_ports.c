// run_ports.c — what a wait selects: one event per iteration, which one is next, and what can happen to it first.
#include "trace_helpers.h"

static runloop_source *d, *d1, *d2;
static runloop_timer *t;
static int counter, counter1, counter2;

static void begin_in_p(void) {
    begin();
    watch("P");
}

static void add_two_counters(void) {
    counter1 = new_counter();
    counter2 = new_counter();
    d1 = add_descriptor("d1", counter1, true, NULL, "P");
    d2 = add_descriptor("d2", counter2, true, NULL, "P");
}

//===-- one event per iteration -----------------------------------------------------------------------------------===//

TEST("R43 every ready descriptor takes an iteration of its own, in the order of readiness") {
    begin_in_p();
    add_two_counters();
    count_up(counter2);
    count_up(counter1);
    stop_at_wait("P", 3);
    run("P", LONG, false);
    EXPECT_TRACE("E T S W A d2 T S W A d1 T S W A X -> Stopped");
}

TEST("R43 a polling run serves one event, and the next run serves the next event") {
    begin_in_p();
    add_two_counters();
    count_up(counter1);
    count_up(counter2);
    run("P", 0, true);
    run("P", 0, true);
    run("P", 0, true);
    EXPECT_TRACE("E T S d1 X -> HandledSource E T S d2 X -> HandledSource E T S X -> TimedOut");
}

TEST("R43 a descriptor that stays ready is served after those that are already ready") {
    begin_in_p();
    counter1 = new_counter();
    counter2 = new_counter();
    add_descriptor("d1", counter1, false, NULL, "P"); // Never read: always ready.
    add_descriptor("d2", counter2, false, NULL, "P");
    count_up(counter1);
    count_up(counter2);
    stop_at_wait("P", 5);
    run("P", LONG, false);
    const char *turns[] = {"E T S W A d1 T S W A d2 T S W A d1 T S W A d2 T S W A d1 X -> Stopped",
                           "E T S W A d2 T S W A d1 T S W A d2 T S W A d1 T S W A d2 X -> Stopped"};
    EXPECT_TRACE(trace_is(turns[1]) ? turns[1] : turns[0]);
}

static const char *mode_of_d2;

static void remove_d2(void) {
    runloop_remove_source(loop, d2, mode_of_d2);
}

static void invalidate_d2(void) {
    runloop_source_invalidate(d2);
}

TEST("R43 a ready descriptor whose source was removed or invalidated causes no iteration") {
    action ends[] = {remove_d2, invalidate_d2};
    const char *modes[] = {"P", "Q"};
    begin();
    for (int i = 0; i < 2; i++) {
        const char *mode = mode_of_d2 = modes[i];
        watch(mode);
        counter1 = new_counter();
        counter2 = new_counter();
        add_descriptor("d1", counter1, true, ends[i], mode);
        d2 = add_descriptor("d2", counter2, true, NULL, mode);
        count_up(counter1);
        count_up(counter2);
        add_timer("end", 300 * MS, 0, stop_loop, mode);
        run(mode, LONG, false);
        EXPECT_TRACE("E T S W A d1 T S W A end X -> Stopped");
    }
}

//===-- alternation -----------------------------------------------------------------------------------------------===//

static void add_counter(void) {
    counter = new_counter();
    d = add_descriptor("d", counter, true, NULL, "P");
}

TEST("R43 R76 due timers are served before a ready descriptor, unless they were served last") {
    begin_in_p();
    add_counter();
    count_up(counter);
    add_timer("t1", 0, 0, NULL, "P");
    run("P", 0, false);
    EXPECT_TRACE("E T S t1 X -> TimedOut");
    add_timer("t2", 0, 0, NULL, "P");
    run("P", 0, false);
    EXPECT_TRACE("E T S d X -> TimedOut");
    run("P", 0, false);
    EXPECT_TRACE("E T S t2 X -> TimedOut");
}

TEST("R43 R76 a timer that is always due and a descriptor that is always ready alternate") {
    begin_in_p();
    counter = new_counter();
    add_descriptor("d", counter, false, NULL, "P");
    count_up(counter);
    add_timer("t", 0, 1, NULL, "P");
    stop_at_wait("P", 4);
    run("P", LONG, false);
    EXPECT_TRACE("E T S W A t T S W A d T S W A t T S W A d X -> Stopped");
}

TEST("R76 all due timers together are one event of an iteration") {
    begin_in_p();
    add_counter();
    count_up(counter);
    t = add_timer("t1", -2 * MS, 0, NULL, "P");
    add_timer("t2", -MS, 0, NULL, "P");
    stop_at_wait("P", 2);
    run("P", LONG, false);
    EXPECT_TRACE("E T S W A t1 t2 T S W A d X -> Stopped");
}

static void make_t_due(void) {
    runloop_timer_set_fire_date(t, runloop_now_ns());
}

TEST("R76 a timer that becomes due while a descriptor is served waits for the next iteration") {
    begin_in_p();
    counter = new_counter();
    add_descriptor("d", counter, true, make_t_due, "P");
    count_up(counter);
    t = add_timer("t", LONG, 0, stop_loop, "P");
    run("P", LONG, false);
    EXPECT_TRACE("E T S W A d T S W A t X -> Stopped");
}

//===-- wake-ups and stops are not events -------------------------------------------------------------------------===//

TEST("R43 R50 in a poll a wake-up doesn't take the place of an event") {
    begin_in_p();
    add_timer("t", 0, 0, NULL, "P");
    always("P", RUNLOOP_ACTIVITY_ENTRY, wake_loop);
    run("P", 0, false);
    EXPECT_TRACE("E T S t X -> TimedOut");
    add_counter();
    count_up(counter);
    run("P", 0, false);
    EXPECT_TRACE("E T S d X -> TimedOut");
}

TEST("R43 R50 one wait consumes a wake-up and serves a ready descriptor") {
    begin_in_p();
    add_counter();
    count_up(counter);
    once("P", RUNLOOP_ACTIVITY_BEFORE_TIMERS, wake_loop);
    add_timer("end", 300 * MS, 0, stop_loop, "P");
    run("P", LONG, false);
    EXPECT_TRACE("E T S W A d T S W A end X -> Stopped");
}

TEST("R43 R46 after a stop before the wait a ready event is still served") {
    begin_in_p();
    add_counter();
    count_up(counter);
    once("P", RUNLOOP_ACTIVITY_BEFORE_SOURCES, stop_loop);
    run("P", LONG, false);
    EXPECT_TRACE("E T S W A d X -> Stopped");
}

//===-- selected, between the wait and the service ----------------------------------------------------------------===//

static void poll_p(void) {
    run("P", 0, false);
}

TEST("R45 if a run nested in AfterWaiting serves the due timer, the outer iteration serves nothing") {
    begin_in_p();
    add_source("quiet", NULL, "P");
    add_timer("t", 0, 0, NULL, "P");
    once("P", RUNLOOP_ACTIVITY_AFTER_WAITING, poll_p);
    stop_at_wait("P", 2);
    run("P", LONG, false);
    EXPECT_TRACE("E T S W A E T S t X -> TimedOut T S W A X -> Stopped");
}

TEST("R45 a run nested in AfterWaiting can serve the ready descriptor, whose counter is still unread") {
    begin_in_p();
    add_counter();
    count_up(counter);
    once("P", RUNLOOP_ACTIVITY_AFTER_WAITING, poll_p);
    stop_at_wait("P", 2);
    run("P", LONG, false);
    EXPECT_TRACE("E T S W A E T S d X -> TimedOut T S W A X -> Stopped");
}

TEST("R45 an iteration whose event a nested run has served does not select another") {
    begin_in_p();
    add_counter();
    count_up(counter);
    add_timer("t", 0, 0, NULL, "P");
    once("P", RUNLOOP_ACTIVITY_AFTER_WAITING, poll_p);
    stop_at_wait("P", 2);
    run("P", LONG, false);
    EXPECT_TRACE("E T S W A E T S t X -> TimedOut T S W A d X -> Stopped");
}

static void remove_d(void) {
    runloop_remove_source(loop, d, "P");
}

static void add_d(void) {
    EXPECT_EQ(runloop_add_source(loop, d, "P"), 0);
}

static void remove_and_add_d(void) {
    remove_d();
    add_d();
}

TEST("R45 an event whose source an AfterWaiting observer removes is not lost") {
    begin_in_p();
    add_counter();
    add_source("quiet", NULL, "P");
    count_up(counter);
    once("P", RUNLOOP_ACTIVITY_AFTER_WAITING, remove_d);
    stop_at_wait("P", 2);
    run("P", LONG, false);
    EXPECT_TRACE("E T S W A T S W A X -> Stopped");
    add_d();
    run("P", 0, true);
    EXPECT_TRACE("E T S d X -> HandledSource");
}

TEST("R45 a source that an AfterWaiting observer removes and adds again waits for the next iteration") {
    begin_in_p();
    add_counter();
    count_up(counter);
    once("P", RUNLOOP_ACTIVITY_AFTER_WAITING, remove_and_add_d);
    run("P", LONG, true);
    EXPECT_TRACE("E T S W A T S W A d X -> HandledSource");
}

TEST("R45 of two sources on one descriptor only the one that was added again waits for the next iteration") {
    begin_in_p();
    counter = new_counter();
    add_descriptor("stays", counter, false, NULL, "P");
    d = add_descriptor("returns", counter, false, NULL, "P");
    count_up(counter);
    once("P", RUNLOOP_ACTIVITY_AFTER_WAITING, remove_and_add_d);
    stop_at_wait("P", 2);
    run("P", LONG, false);
    EXPECT_TRACE("E T S W A stays T S W A stays returns X -> Stopped");
}

static void postpone_t(void) {
    runloop_timer_set_fire_date(t, runloop_now_ns() + LONG);
}

TEST("R45 a timer that an AfterWaiting observer postpones does not fire") {
    begin_in_p();
    t = add_timer("t", 0, 0, NULL, "P");
    once("P", RUNLOOP_ACTIVITY_AFTER_WAITING, postpone_t);
    stop_at_wait("P", 2);
    run("P", LONG, false);
    EXPECT_TRACE("E T S W A T S W A X -> Stopped");
}

static void perform_late(void) {
    perform("late", NULL, "P");
}

TEST("R45 a task that an AfterWaiting observer queues runs after the event is served") {
    begin_in_p();
    add_counter();
    count_up(counter);
    once("P", RUNLOOP_ACTIVITY_AFTER_WAITING, perform_late);
    run("P", LONG, true);
    EXPECT_TRACE("E T S W A d late X -> HandledSource");
}
