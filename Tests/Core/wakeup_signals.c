// wakeup_signals.c — POSIX signals: they don't disturb a sleep, and their handlers may stop, wake and signal.
#include "trace_helpers.h"

static runloop_source *s;
static pthread_t loop_pthread;
static _Atomic int performed, handled;
static _Atomic bool over;

static void handle_with(void (*handler)(int)) {
    struct sigaction handling = {.sa_handler = handler}; // No SA_RESTART: system calls are interrupted.
    REQUIRE(sigaction(SIGUSR1, &handling, NULL) == 0);
}

static void begin_with_handler(void (*handler)(int)) {
    begin();
    loop_pthread = pthread_self();
    handle_with(handler);
    watch("P");
}

static void send(void) {
    REQUIRE(pthread_kill(loop_pthread, SIGUSR1) == 0);
}

static void count_handled(int number) {
    (void)number;
    handled++;
}

static void disturb_then_stop(void) {
    wait_until_asleep();
    for (int i = 1; i <= 50; i++) {
        send();
        WAIT_UNTIL(handled >= i && loop_is_asleep());
    }
    EXPECT(trace_is("E T S W"));
    stop_loop();
}

TEST("R55 a POSIX signal causes no iteration and ends no sleep") {
    begin_with_handler(count_handled);
    add_source("quiet", NULL, "P");
    start_helper(disturb_then_stop);
    run("P", LONG, false);
    join_helper();
    EXPECT_TRACE("E T S W A X -> Stopped");
}

static void disturb_until_over(void) {
    while (!over) {
        send();
        usleep(500);
    }
}

TEST("R55 a steady stream of signals makes a limit neither longer nor shorter") {
    begin_with_handler(count_handled);
    add_source("quiet", NULL, "P");
    start_helper(disturb_until_over);
    int64_t start = runloop_now_ns();
    run("P", 200 * MS, false);
    int64_t end = runloop_now_ns();
    over = true;
    join_helper();
    EXPECT(end - start >= 200 * MS);
    EXPECT(end - start < 15 * SECOND);
    EXPECT(handled > 1);
    EXPECT_TRACE("E T S W A X -> TimedOut");
}

static void handler_stops(int number) {
    (void)number;
    runloop_stop(loop);
}

static void handler_stops_latched(int number) {
    (void)number;
    runloop_stop_latched(loop);
}

static void send_when_asleep(void) {
    wait_until_asleep();
    send();
}

TEST("R46 R55 a signal handler can stop the loop whose sleep it interrupted") {
    void (*handlers[])(int) = {handler_stops, handler_stops_latched};
    begin_with_handler(NULL);
    add_source("quiet", NULL, "P");
    for (int i = 0; i < 2; i++) {
        handle_with(handlers[i]);
        start_helper(send_when_asleep);
        run("P", LONG, false);
        join_helper();
        EXPECT_TRACE("E T S W A X -> Stopped");
    }
}

TEST("R47 R55 a latched stop from a handler before the run ends it, a plain one is not remembered") {
    begin_with_handler(handler_stops_latched);
    add_source("quiet", NULL, "P");
    REQUIRE(raise(SIGUSR1) == 0);
    run("P", LONG, false);
    handle_with(handler_stops);
    REQUIRE(raise(SIGUSR1) == 0);
    run("P", 0, false);
    EXPECT_TRACE("E X -> Stopped E T S X -> TimedOut");
}

static void handler_signals_and_wakes(int number) {
    (void)number;
    runloop_source_signal(s);
    runloop_wake_up(loop);
}

TEST("R50 R62 a signal handler can signal a source and wake the loop") {
    begin_with_handler(handler_signals_and_wakes);
    s = add_source("s", NULL, "P");
    start_helper(send_when_asleep);
    run("P", LONG, true);
    join_helper();
    EXPECT_TRACE("E T S W A T S s X -> HandledSource");
}

enum { ROUNDS = 1000 };

static void count_performed(void) {
    performed++;
}

static void send_in_rounds(void) {
    for (int round = 1; round <= ROUNDS; round++) {
        send();
        int64_t deadline = runloop_now_ns() + 15 * SECOND;
        while (performed < round) {
            REQUIRE(runloop_now_ns() < deadline);
            sched_yield();
        }
    }
    stop_loop();
}

TEST("R49 R55 a handler's signal with a wake-up is never lost, wherever it interrupts the loop") {
    begin_with_handler(handler_signals_and_wakes);
    s = add_source("", count_performed, "Q");
    start_helper(send_in_rounds);
    EXPECT_EQ(runloop_run_in_mode("Q", RUNLOOP_FOREVER, false), RUNLOOP_RESULT_STOPPED);
    join_helper();
    EXPECT_EQ(performed, ROUNDS);
}

static runloop_source *s2;
static runloop_timer *t;
static struct actor silent = {.name = ""};

/// Makes calls that take locks, so that a handler interrupts one sooner or later.
static void use_the_loop(void) {
    performed++;
    runloop_add_source(loop, s2, "Q");
    runloop_add_timer(loop, t, COMMON);
    runloop_source_signal(s2);
    runloop_timer_set_fire_date(t, runloop_now_ns() + SECOND);
    runloop_perform(loop, "Q", actor_acts, &silent, NULL);
    runloop_remove_source(loop, s2, "Q");
    runloop_remove_timer(loop, t, COMMON);
}

static void handler_uses_everything_it_may(int number) {
    (void)number;
    handled++;
    runloop_source_signal(s);
    runloop_wake_up(loop);
    runloop_stop_latched(loop);
    runloop_stop(loop);
}

TEST("R46 R48 R62 a handler that interrupts the loop inside any call does not deadlock with it") {
    begin_with_handler(handler_uses_everything_it_may);
    runloop_add_common_mode(loop, "Q");
    s = add_source("", use_the_loop, "Q");
    s2 = traced_source("", 0, NULL);
    t = traced_timer("", 0, 0, NULL);
    start_helper(disturb_until_over);
    int64_t deadline = runloop_now_ns() + 15 * SECOND;
    while ((performed < ROUNDS || handled < 300) && runloop_now_ns() < deadline) {
        runloop_source_signal(s);
        EXPECT(runloop_run_in_mode("Q", 0, false) > 0);
    }
    over = true;
    join_helper();
    EXPECT(handled >= 300);
    EXPECT(performed > 0);
}

static void handler_signals(int number) {
    (void)number;
    handled++;
    runloop_source_signal(s);
}

TEST("R62 a handler can signal a source that its thread is signalling, adding or removing at that moment") {
    begin_with_handler(handler_signals);
    s = traced_source("", 0, count_performed);
    start_helper(disturb_until_over);
    int64_t deadline = runloop_now_ns() + 15 * SECOND;
    while (handled < 300 && runloop_now_ns() < deadline) {
        runloop_source_signal(s);
        runloop_add_source(loop, s, "Q");
        runloop_add_source(loop, s, DEFAULT);
        runloop_remove_source(loop, s, "Q");
        runloop_source_is_signalled(s);
        runloop_run_in_mode(DEFAULT, 0, true);
        runloop_remove_source(loop, s, DEFAULT);
    }
    over = true;
    join_helper();
    runloop_source_signal(s);
    performed = 0;
    runloop_add_source(loop, s, "Q");
    EXPECT_EQ(runloop_run_in_mode("Q", 0, true), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(performed, 1);
}
