// golden.c — the golden traces of docs/RULES.md: whole runs, told by their observers as one line of text. The C tests compare what the
// core does with that line, the conformance suite what CoreFoundation does and what we do through its interface.
// Those that need the main dispatch queue are in golden_main_queue.c.
#include "golden.h"

GOLDEN(nothing_ready, "G1 R31", "a polling run with nothing ready", "E T S X -> TimedOut") {
    watch(P);
    quiet(P);
    run(P, 0, GO_ON);
}

GOLDEN(source_polled_return, "G2 R36 R38", "a signalled source, polled, returning", "E T S a X -> HandledSource") {
    watch(P);
    source("a", 0, P, NULL);
    signal_source("a");
    run(P, 0, RETURN);
}

GOLDEN(source_polled, "G3 R37", "a signalled source, polled, not returning", "E T S a X -> TimedOut") {
    watch(P);
    source("a", 0, P, NULL);
    signal_source("a");
    run(P, 0, GO_ON);
}

GOLDEN(source_return, "G4 R36", "a signalled source ends a run at once if asked to return",
       "E T S a X -> HandledSource, at once") {
    watch(P);
    source("a", 0, P, NULL);
    signal_source("a");
    timed_run(P, 20, RETURN);
}

GOLDEN(source_then_limit, "G5 R34 R42", "after a source the run goes on to its limit",
       "E T S a T S W A X -> TimedOut, at the limit") {
    watch(P);
    source("a", 0, P, NULL);
    signal_source("a");
    timed_run(P, .5, GO_ON);
}

GOLDEN(due_timer_polled, "G6 R38 R76", "a due timer in a polling run is no source", "E T S t X -> TimedOut") {
    watch(P);
    timer("t", PAST, 0, P, NULL);
    run(P, 0, RETURN);
}

GOLDEN(timer_during_run, "G7 R38", "a timer fires between sleeps and ends nothing",
       "E T S W A t T S W A X -> TimedOut, at the limit") {
    watch(P);
    quiet(P);
    timer("t", 20, 0, P, NULL);
    timed_run(P, 1, RETURN);
}

GOLDEN(everything_polled, "G8 R40 R41 R103", "task, source and timer in one polling iteration",
       "E T S f a t X -> HandledSource") {
    watch(P);
    source("a", 0, P, NULL);
    timer("t", PAST, 0, P, NULL);
    block("f", P, NULL);
    signal_source("a");
    run(P, 0, RETURN);
}

GOLDEN(wake_from_elsewhere, "G9 R50", "a wake-up causes one more iteration and is not a handled source",
       "E T S W A T S W A X -> TimedOut") {
    watch(P);
    quiet(P);
    when_asleep(DO(wake));
    run(P, 1, RETURN);
}

GOLDEN(three_counters, "G10 R43 R71", "ready counters are served in the order in which they became ready",
       "E T S W A c T S W A a T S W A b T S W A X -> TimedOut") {
    watch(P);
    counter("a", P, NULL);
    counter("b", P, NULL);
    counter("c", P, NULL);
    ready("c");
    ready("a");
    ready("b");
    run(P, .5, GO_ON);
}

GOLDEN(stop_at_entry, "G11 R29", "an Entry observer stops the run before its first iteration", "E o:E X -> Stopped") {
    watch(P);
    quiet(P);
    observer("o", "E", 0, P, DO(stop));
    run(P, 20, GO_ON);
}

GOLDEN(stop_before_waiting, "G12", "a BeforeWaiting observer stops the run without a sleep",
       "E T S W o:W A X -> Stopped, at once") {
    watch(P);
    quiet(P);
    observer("o", "W", 0, P, DO(stop));
    timed_run(P, 20, GO_ON);
}

GOLDEN(only_a_function, "G13 R25", "a mode whose only work was a task finishes after it",
       "E T S f W A X -> Finished, at once") {
    watch(DEFAULT);
    block("f", DEFAULT, NULL);
    timed_run(DEFAULT, 5, GO_ON);
}

static void queue_b2(void) {
    block("b2", P, NULL);
}

GOLDEN(function_queues_function, "G14 R104", "a function queued by a function is performed without a sleep",
       "E T S b1 W A b2 T S W A X -> TimedOut") {
    watch(P);
    quiet(P);
    block("b1", P, DO(queue_b2));
    run(P, .5, GO_ON);
}

static void outlast_second(void) {
    outlast("second");
}

GOLDEN(two_timers_one_busy, "G17 R75", "one that comes due during a pass fires in the next iteration",
       "E T S W A first T S W A second X -> Stopped") {
    watch(P);
    quiet(P);
    timer("first", 10, 0, P, DO(outlast_second));
    timer("second", 300, 0, P, DO(stop));
    run(P, 20, GO_ON);
}

static int tick_count;

static void tick_slowly_at_first(void) {
    on_grid("t", tick_count == 0 ? 0 : tick_count == 1 ? 4 : 1);
    if (++tick_count == 1)
        nap(75);
    if (tick_count == 4)
        stop();
}

GOLDEN(missed_ticks, "G18 R80", "missed ticks are skipped, the grid is kept",
       "t on the grid t on the grid t on the grid t on the grid -> Stopped") {
    timer("t", 20, 20, P, DO(tick_slowly_at_first));
    run(P, 20, GO_ON);
}

static void tick_after_a_break(void) {
    on_grid("t", tick_count == 0 ? 0 : tick_count == 1 ? 3 : 1);
    if (++tick_count == 3)
        stop();
}

GOLDEN(unattended_timer, "G19 R80", "a loop that didn't run for several intervals fires once",
       "t on the grid t on the grid t on the grid -> Stopped") {
    tick_count = 0;
    timer("t", 20, 20, P, DO(tick_after_a_break));
    nap(70);
    run(P, 20, GO_ON);
}

GOLDEN(wake_in_timer, "G20 R48", "a wake-up in a timer's callback causes no further iteration",
       "E T S W A t T S W A X -> TimedOut") {
    watch(P);
    quiet(P);
    timer("t", PAST, 0, P, DO(wake));
    run(P, .5, GO_ON);
}

GOLDEN(order_of_sources, "G21 R63", "ascending order, then the first signal", "b d c a -> TimedOut") {
    source("a", 5, P, NULL);
    source("b", -1, P, NULL);
    source("c", 0, P, NULL);
    source("d", 0, P, NULL);
    signal_source("a");
    signal_source("d");
    nap(.01);
    signal_source("c");
    nap(.01);
    signal_source("b");
    signal_source("d");
    run(P, 0, GO_ON);
}

static void run_q(void) {
    run(Q, 20, GO_ON);
}

GOLDEN(stop_nested_asleep, "G22 R46", "a stop while a nested run sleeps ends that one only",
       "E T S a E T S W A X -> Stopped T S W A X -> Stopped") {
    watch(P);
    watch(Q);
    quiet(Q);
    source("a", 0, P, DO(run_q));
    signal_source("a");
    when_asleep(DO(stop));
    when_asleep(DO(stop));
    run(P, 20, GO_ON);
}
