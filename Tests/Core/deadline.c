// deadline.c — the deadline of a source, which is served in turn with what is ready (R152).
#include "items.h"

static const char *text_of(runloop_readiness reasons) {
    switch ((unsigned)reasons) {
    case RUNLOOP_DUE: return "due";
    case RUNLOOP_READABLE: return "readable";
    case RUNLOOP_READABLE | RUNLOOP_DUE: return "readable+due";
    case RUNLOOP_SIGNALLED | RUNLOOP_DUE: return "signalled+due";
    }
    return "?";
}

static void trace_reasons(runloop_source *source, runloop_readiness reasons, void *info) {
    (void)source, (void)info;
    trace(text_of(reasons));
}

static runloop_source *add_timed(int descriptor, int64_t due_ns) {
    runloop_source *source = add_descriptor(MODE, descriptor, RUNLOOP_READABLE, trace_reasons, NULL);
    EXPECT_EQ(runloop_source_set_deadline(source, due_ns), 0);
    return source;
}

TEST("R152 a source is called when its deadline has passed, not before, and once") {
    int64_t due_ns = runloop_now_ns() + 20 * MS;
    runloop_source *source = add_timed(-1, due_ns);
    EXPECT_EQ(runloop_source_get_deadline(source), due_ns);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT(runloop_now_ns() >= due_ns);
    EXPECT_EQ(runloop_source_get_deadline(source), RUNLOOP_NEVER);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("due");
}

TEST("R152 all reasons come in one call") {
    runloop_source *source = add_timed(make_eventfd(1), 0);
    // What is known already is served before the kernel is asked.
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
    take(runloop_source_get_descriptor(source));
    EXPECT_EQ(runloop_source_set_deadline(source, INT64_MIN), 0);
    EXPECT_EQ(runloop_source_signal(source), 0);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("due readable signalled+due");
}

TEST("R152 a deadline can be moved and taken back, also after it has passed") {
    runloop_source *source = add_timed(-1, 0);
    EXPECT_EQ(runloop_source_set_deadline(source, RUNLOOP_NEVER), 0);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(runloop_source_set_deadline(source, 0), 0);
    EXPECT(runloop_has_work(MODE));
    EXPECT_EQ(runloop_source_set_deadline(source, RUNLOOP_NEVER), 0);
    EXPECT(!runloop_has_work(MODE));
    EXPECT_EQ(runloop_source_set_deadline(source, runloop_now_ns() + 60 * SECOND), 0);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("");
    EXPECT_EQ(runloop_source_set_deadline(source, 0), 0);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("due");
}

TEST("R152 a deadline waits for a run of the source's modes, and is reported in one of them") {
    runloop_source *source = add_timed(-1, 0);
    REQUIRE(runloop_add_source(runloop_current(), source, OTHER_MODE) == 0);
    keep_mode("unrelated");
    EXPECT_EQ(run_a_while("unrelated"), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("");
    EXPECT_EQ(handle_one(OTHER_MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("due");
    EXPECT_EQ(runloop_source_set_deadline(source, 0), 0);
    runloop_remove_source(runloop_current(), source, OTHER_MODE);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("due");
}

static runloop_source *moved;

/// The other source has its turn after this one's.
static void move_other(runloop_source *source, runloop_readiness reasons, void *info) {
    (void)source, (void)reasons, (void)info;
    trace("moves");
    runloop_remove_source(runloop_current(), moved, MODE);
    EXPECT_EQ(runloop_source_get_deadline(moved), RUNLOOP_NEVER);
    REQUIRE(runloop_add_source(runloop_current(), moved, OTHER_MODE) == 0);
    // It is ready there, and waits for no date.
    EXPECT_EQ(runloop_next_fire_date(runloop_current(), OTHER_MODE), RUNLOOP_NEVER);
}

TEST("R152 a source that leaves its loop after its deadline and before its turn is called where it comes to") {
    runloop_source *mover = add_descriptor(MODE, -1, RUNLOOP_READABLE, move_other, NULL);
    EXPECT_EQ(runloop_source_set_deadline(mover, 0), 0);
    moved = runloop_source_retain(add_timed(-1, 1));
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("moves");
    EXPECT_EQ(handle_one(OTHER_MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(run_a_while(OTHER_MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("due");
    runloop_source_release(moved);
}

TEST("R152 deadlines and timers keep out of each other's way") {
    runloop_source *first = add_timed(-1, 1), *second = add_timed(-1, 3);
    add_timer(MODE, 2, 0, trace_fire, "timer");
    runloop_timer *late = add_timer(MODE, RUNLOOP_NEVER - 1, 0, trace_fire, "late");
    runloop_timer_set_tolerance(late, SECOND);
    EXPECT_EQ(runloop_next_fire_date(runloop_current(), MODE), 1);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("timer due due");
    EXPECT(runloop_timer_is_valid(late));
    EXPECT_EQ(runloop_next_fire_date(runloop_current(), MODE), RUNLOOP_NEVER - 1);
    EXPECT_EQ(runloop_source_set_deadline(first, runloop_now_ns() + 10 * MS), 0);
    runloop_source_invalidate(second);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("due");
}

static runloop_source *shared;

static void *run_shared(void *unused) {
    REQUIRE(runloop_add_source(runloop_current(), shared, MODE) == 0);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    return unused;
}

TEST("R152 of a source in two loops, one calls it for its deadline") {
    shared = add_timed(-1, 0);
    on_new_thread(run_shared, NULL);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("due");
}

static void end_loop(runloop_source *source, runloop_readiness reasons, void *info) {
    (void)source, (void)reasons, (void)info;
    trace("ends");
    pthread_exit(NULL);
}

static void *end_before_its_turn(void *unused) {
    runloop_source *first = add_descriptor(MODE, -1, RUNLOOP_READABLE, end_loop, NULL);
    EXPECT_EQ(runloop_source_set_deadline(first, 0), 0);
    REQUIRE(runloop_add_source(runloop_current(), shared, MODE) == 0);
    handle_one(MODE);
    return unused;
}

TEST("R152 of a source in two loops, the other one calls it if the first ends before its turn") {
    shared = add_timed(-1, 1);
    on_new_thread(end_before_its_turn, NULL);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("ends due");
}

static void *set_deadline_at_once(void *unused) {
    EXPECT_EQ(runloop_source_set_deadline(shared, 0), 0);
    return unused;
}

static void set_on_thread(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer, (void)activity, (void)info;
    on_new_thread(set_deadline_at_once, NULL);
}

TEST("R152 another thread's deadline ends a sleep") {
    shared = add_timed(-1, RUNLOOP_NEVER);
    runloop_observer *observer = add_observer(MODE, RUNLOOP_ACTIVITY_BEFORE_WAITING, set_on_thread, NULL);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("due");
    runloop_observer_invalidate(observer);
}

TEST("R152 only a valid source that is called with its reasons can have a deadline") {
    runloop_source *by_hand = add_source(MODE, trace_perform, "no"), *source = add_timed(-1, RUNLOOP_NEVER);
    EXPECT_EQ(runloop_source_set_deadline(NULL, 0), -EINVAL);
    EXPECT_EQ(runloop_source_set_deadline(by_hand, 0), -EINVAL);
    EXPECT_EQ(runloop_source_get_deadline(by_hand), RUNLOOP_NEVER);
    EXPECT_EQ(runloop_source_get_deadline(NULL), RUNLOOP_NEVER);
    runloop_source_retain(source);
    runloop_source_invalidate(source);
    EXPECT_EQ(runloop_source_set_deadline(source, 0), -EINVAL);
    runloop_source_release(source);
}

static void fire_again(runloop_timer *timer, void *info) {
    trace_fire(timer, info);
    EXPECT_EQ(runloop_timer_set_fire_date(timer, 0), 0);
}

TEST("R152 R43 a deadline takes its turn though a timer before it is due at each look") {
    runloop_timer *timer = add_timer(MODE, 0, SECOND, fire_again, "timer");
    add_timed(-1, 1);
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("timer due timer");
    runloop_timer_invalidate(timer);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("");
    EXPECT_EQ(runloop_next_fire_date(runloop_current(), MODE), RUNLOOP_NEVER);
}

TEST("R152 R151 a pass serves a deadline behind a timer that is due") {
    add_timer(MODE, 1, 0, trace_fire, "timer");
    runloop_source *source = add_timed(-1, 2);
    EXPECT_EQ(runloop_run_pass(MODE, 0), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("timer due");
    EXPECT_EQ(runloop_source_set_deadline(source, 1), 0);
    add_timer(MODE, 2, 0, trace_fire, "timer");
    EXPECT_EQ(runloop_run_pass(MODE, 0), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("timer due");
}
