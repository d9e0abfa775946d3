// descriptor_turns.c — which ready descriptor is served when, and what may remove it first (R43, R45, R76, R38, R39).
#include "items.h"

static runloop_source *sources[4];
static runloop_timer *timers[2];
static int descriptors[4];
static int calls;

static void take_and_trace(runloop_source *source, runloop_readiness events, void *info) {
    (void)events;
    take(runloop_source_get_descriptor(source));
    trace(info);
}

static void make_sources(int count, void (*ready)(runloop_source *, runloop_readiness, void *)) {
    static const char *names[] = {"a", "b", "c", "d"};
    for (int i = 0; i < count; i++) {
        descriptors[i] = make_eventfd(0);
        sources[i] = make_descriptor(descriptors[i], RUNLOOP_READABLE, ready, (void *)names[i]);
        REQUIRE(runloop_add_source(runloop_current(), sources[i], MODE) == 0);
    }
}

TEST("R43 one ready descriptor is served per iteration, in the order in which they became ready") {
    make_sources(3, take_and_trace);
    trace_activities(MODE);
    bump(descriptors[2]);
    bump(descriptors[0]);
    bump(descriptors[1]);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("Entry T S W A c T S W A a T S W A b T S W A Exit");
}

TEST("R43 a run that doesn't sleep serves one descriptor") {
    make_sources(3, take_and_trace);
    trace_activities(MODE);
    bump(descriptors[1]);
    bump(descriptors[2]);
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("Entry T S b Exit");
    EXPECT_EQ(runloop_run_in_mode(MODE, 0, true), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("Entry T S c Exit");
}

TEST("R43 a descriptor that stays ready is served after all that were reported before") {
    make_sources(3, trace_ready);
    for (int i = 0; i < 3; i++)
        bump(descriptors[i]);
    for (int i = 0; i < 9; i++)
        EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("a b c a b c a b c");
}

static void wake_loop(void *loop) {
    EXPECT_EQ(runloop_wake_up(loop), 0);
}

TEST("R43 a wake-up before the wait is not an event: the same wait also selects a descriptor") {
    make_sources(1, take_and_trace);
    trace_activities(MODE);
    bump(descriptors[0]);
    runloop_perform(runloop_current(), MODE, wake_loop, runloop_current(), NULL);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("Entry T S W A a T S W A Exit");
}

TEST("R43 R50 in a poll a wake-up doesn't take the place of an event") {
    make_sources(1, take_and_trace);
    bump(descriptors[0]);
    add_timer(MODE, 0, 0, trace_fire, "t");
    trace_activities(MODE);
    for (int i = 0; i < 2; i++) {
        runloop_perform(runloop_current(), MODE, wake_loop, runloop_current(), NULL);
        EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
        EXPECT_TRACE(i ? "Entry T S a Exit" : "Entry T S t Exit");
    }
}

static void stop_loop(void *loop) {
    EXPECT_EQ(runloop_stop(loop), 0);
}

TEST("R43 R46 after a stop before the wait a ready event is still served") {
    make_sources(1, take_and_trace);
    trace_activities(MODE);
    bump(descriptors[0]);
    runloop_perform(runloop_current(), MODE, stop_loop, runloop_current(), NULL);
    EXPECT_EQ(run_for(MODE, 30 * SECOND), RUNLOOP_RESULT_STOPPED);
    EXPECT_TRACE("Entry T S W A a Exit");
}

static void remove_next(runloop_source *source, runloop_readiness events, void *info) {
    take_and_trace(source, events, info);
    if (source == sources[0])
        runloop_remove_source(runloop_current(), sources[1], MODE);
}

static void invalidate_next(runloop_source *source, runloop_readiness events, void *info) {
    take_and_trace(source, events, info);
    if (source == sources[0])
        runloop_source_invalidate(sources[1]);
}

static void close_next(runloop_source *source, runloop_readiness events, void *info) {
    take_and_trace(source, events, info);
    if (source == sources[0])
        close(descriptors[1]), sources[0] = NULL;
}

TEST("R43 R73 a ready descriptor whose source is removed or invalidated first costs no iteration") {
    void (*spoilers[])(runloop_source *, runloop_readiness, void *) = {remove_next, invalidate_next};
    trace_activities(MODE);
    for (int i = 0; i < 2; i++) {
        make_sources(2, spoilers[i]);
        bump(descriptors[0]);
        bump(descriptors[1]);
        EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
        EXPECT_TRACE("Entry T S W A a T S W A Exit");
        for (int j = 0; j < 2; j++) {
            runloop_source_invalidate(sources[j]);
            runloop_source_release(sources[j]);
        }
    }
}

TEST("R73 a ready descriptor that an earlier callback closes does no harm and gets no more events") {
    make_sources(2, close_next);
    bump(descriptors[0]);
    bump(descriptors[1]);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT(!strcmp(test_trace_text, "a") || !strcmp(test_trace_text, "a b")); // At most once for nothing.
    trace_reset();
    bump(descriptors[0]);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("a");
}

static void remove_and_add_next(runloop_source *source, runloop_readiness events, void *info) {
    take_and_trace(source, events, info);
    if (source != sources[0])
        return;
    runloop_remove_source(runloop_current(), sources[1], MODE);
    runloop_add_source(runloop_current(), sources[1], MODE);
}

TEST("R73 a source whose number refers to another file gets no more events, even if a duplicate keeps its file open") {
    int descriptor = make_eventfd(1), kept = dup(descriptor), other = make_eventfd(0);
    add_descriptor(MODE, descriptor, RUNLOOP_READABLE, trace_ready, "vain");
    REQUIRE(kept >= 0 && dup2(other, descriptor) == descriptor);
    int in_vain = 0;
    while (runloop_run_in_mode(MODE, 50 * MS, true) == RUNLOOP_RESULT_HANDLED_SOURCE && in_vain < 200)
        in_vain++;
    EXPECT(in_vain < 64);
}

TEST("R73 a descriptor whose number referred to another file when its source was removed works again with its own "
     "file") {
    int descriptor = make_eventfd(1), kept = dup(descriptor), other = make_eventfd(0);
    runloop_source *source = make_descriptor(descriptor, RUNLOOP_READABLE, trace_ready, "back");
    EXPECT_EQ(runloop_add_source(runloop_current(), source, MODE), 0);
    REQUIRE(kept >= 0 && dup2(other, descriptor) == descriptor);
    EXPECT_EQ(runloop_remove_source(runloop_current(), source, MODE), 0);
    REQUIRE(dup2(kept, descriptor) == descriptor);
    for (int i = 0; i < 2; i++) {
        EXPECT_EQ(runloop_add_source(runloop_current(), source, MODE), 0);
        EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
        EXPECT_TRACE("back");
        EXPECT_EQ(runloop_remove_source(runloop_current(), source, MODE), 0);
    }
    runloop_source_release(source);
}

TEST("R43 a ready descriptor that is removed and added again is served, once") {
    make_sources(3, remove_and_add_next);
    for (int i = 0; i < 3; i++)
        bump(descriptors[i]);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT(!strcmp(test_trace_text, "a c b") || !strcmp(test_trace_text, "a b c"));
}

static void nest_once(runloop_source *source, runloop_readiness events, void *info) {
    take_and_trace(source, events, info);
    if (source != sources[0])
        return;
    trace("(");
    EXPECT_EQ(runloop_run_in_mode(MODE, 0, true), RUNLOOP_RESULT_HANDLED_SOURCE);
    trace(")");
}

TEST("R43 a nested run serves a descriptor that the outer run found ready, and the outer run doesn't serve it again") {
    make_sources(3, nest_once);
    trace_activities(MODE);
    for (int i = 0; i < 3; i++)
        bump(descriptors[i]);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("Entry T S W A a ( Entry T S b Exit ) T S W A c T S W A Exit");
}

static void remove_second_here(runloop_source *source, runloop_readiness events, void *info) {
    (void)source, (void)events;
    trace(info);
    runloop_remove_source(runloop_current(), sources[1], MODE);
}

TEST("R43 each source of a ready descriptor is checked again before its call") {
    descriptors[0] = make_eventfd(1);
    sources[0] = add_descriptor(MODE, descriptors[0], RUNLOOP_READABLE, remove_second_here, "first");
    sources[1] = make_descriptor(descriptors[0], RUNLOOP_READABLE, trace_ready, "second");
    runloop_add_source(runloop_current(), sources[1], MODE);
    add_descriptor(MODE, descriptors[0], RUNLOOP_READABLE, trace_ready, "third");
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("first third");
    EXPECT_EQ(runloop_add_source(runloop_current(), sources[1], MODE), 0);
    runloop_source_invalidate(sources[0]);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("third second");
    runloop_source_release(sources[1]);
}

static void take_away(runloop_source *source, runloop_readiness events, void *info) {
    take_and_trace(source, events, info);
    for (int i = 0; i < 3; i++)
        take(descriptors[i]);
}

TEST("R43 R69 a counter that another reader has read in the meantime is not called") {
    descriptors[0] = make_eventfd(1);
    descriptors[1] = make_eventfd(1);
    descriptors[2] = make_eventfd(0);
    add_descriptor(MODE, descriptors[0], RUNLOOP_READABLE, take_away, "a");
    runloop_source *counter = make_counter(descriptors[1], trace_ready, "counter");
    runloop_add_source(runloop_current(), counter, MODE);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT(!strcmp(test_trace_text, "a") || !strcmp(test_trace_text, "counter a"));
    trace_reset();
    bump(descriptors[1]);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("counter");
    runloop_source_release(counter);
}

TEST("R38 the sources of a descriptor are all called before the run returns, and count as one handled source") {
    descriptors[0] = make_eventfd(1);
    add_descriptor(MODE, descriptors[0], RUNLOOP_READABLE, trace_ready, "first");
    add_descriptor(MODE, descriptors[0], RUNLOOP_READABLE, trace_ready, "second");
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("first second");
}

TEST("R39 a ready descriptor without a callback counts as handled") {
    add_descriptor(MODE, make_eventfd(1), RUNLOOP_READABLE, NULL, NULL);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    runloop_source *counter = make_counter(make_eventfd(1), NULL, NULL);
    runloop_add_source(runloop_current(), counter, OTHER_MODE);
    EXPECT_EQ(handle_one(OTHER_MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(take(runloop_source_get_descriptor(counter)), 0);
    runloop_source_release(counter);
}

//===-- alternation with timers --------------------------------------------------------------------------------------===//

TEST("R43 R76 due timers and ready descriptors alternate, the timers first") {
    make_sources(2, trace_ready);
    bump(descriptors[0]);
    bump(descriptors[1]);
    add_timer(MODE, 0, 1, trace_fire, "t"); // Due again whenever its callback ends.
    for (int i = 0; i < 4; i++)
        EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("t a t b t a t b");
}

TEST("R43 R76 the alternation continues from run to run, even in runs that don't sleep") {
    make_sources(1, trace_ready);
    bump(descriptors[0]);
    add_timer(MODE, 0, 1, trace_fire, "t");
    for (int i = 0; i < 6; i++)
        EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("t a t a t a");
}

TEST("R76 all due timers together are one event") {
    make_sources(1, take_and_trace);
    bump(descriptors[0]);
    add_timer(MODE, 1, 0, trace_fire, "t1");
    add_timer(MODE, 2, 0, trace_fire, "t2");
    trace_activities(MODE);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("Entry T S W A t1 t2 T S W A a T S W A Exit");
}

static void make_timer_due(runloop_source *source, runloop_readiness events, void *info) {
    take_and_trace(source, events, info);
    runloop_timer_set_fire_date(timers[0], runloop_now_ns());
}

TEST("R76 a timer that becomes due while a descriptor is served waits for the next iteration") {
    make_sources(1, make_timer_due);
    bump(descriptors[0]);
    timers[0] = add_timer(MODE, RUNLOOP_NEVER, 0, trace_fire, "t");
    trace_activities(MODE);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("Entry T S W A a T S W A t T S W A Exit");
}

static void park_in_other_mode(int index, const char *name) {
    descriptors[index] = make_eventfd(1);
    sources[index] = add_descriptor(OTHER_MODE, descriptors[index], RUNLOOP_READABLE, take_and_trace, (void *)name);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
}

TEST("R43 R73 descriptors whose events wait for their mode can be removed, and others added") {
    keep_mode(MODE);
    park_in_other_mode(0, "a");
    park_in_other_mode(1, "b");
    runloop_source_invalidate(sources[0]);
    park_in_other_mode(2, "c");
    runloop_source_invalidate(sources[1]);
    runloop_source_invalidate(sources[2]);
    park_in_other_mode(0, "d");
    park_in_other_mode(1, "e");
    EXPECT_TRACE("");
    EXPECT_EQ(run_a_while(OTHER_MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT(trace_contains("d") && trace_contains("e"));
    bump(descriptors[1]);
    EXPECT_EQ(handle_one(OTHER_MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
}

//===-- a selected event ---------------------------------------------------------------------------------------------===//

static void nest_while_in_hand(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer, (void)activity, (void)info;
    if (calls++)
        return;
    trace("(");
    poll_mode(MODE);
    trace(")");
}

TEST("R45 a run nested in an AfterWaiting observer serves the descriptor; the outer one doesn't") {
    make_sources(2, take_and_trace);
    add_observer(MODE, RUNLOOP_ACTIVITY_BEFORE_TIMERS, trace_activity, NULL);
    add_observer(MODE, RUNLOOP_ACTIVITY_AFTER_WAITING, nest_while_in_hand, NULL);
    bump(descriptors[0]);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("T ( T a ) T");
}

TEST("R45 the outer iteration doesn't select another descriptor instead") {
    make_sources(2, take_and_trace);
    add_observer(MODE, RUNLOOP_ACTIVITY_BEFORE_TIMERS, trace_activity, NULL);
    add_observer(MODE, RUNLOOP_ACTIVITY_AFTER_WAITING, nest_while_in_hand, NULL);
    bump(descriptors[0]);
    bump(descriptors[1]);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("T ( T a ) T b T");
}

static void serve_and_make_ready_again(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer, (void)activity, (void)info;
    if (calls++)
        return;
    trace("(");
    poll_mode(MODE);
    bump(descriptors[0]);
    poll_mode(OTHER_MODE); // Its wait may find the descriptor ready, but must not serve it.
    trace(")");
}

TEST("R45 a descriptor that was served and is ready again waits for the next iteration") {
    make_sources(1, take_and_trace);
    add_descriptor(OTHER_MODE, make_eventfd(0), RUNLOOP_READABLE, NULL, NULL);
    add_observer(MODE, RUNLOOP_ACTIVITY_BEFORE_TIMERS, trace_activity, NULL);
    add_observer(MODE, RUNLOOP_ACTIVITY_AFTER_WAITING, serve_and_make_ready_again, NULL);
    bump(descriptors[0]);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("T ( T a ) T a T");
}

TEST("R45 a run nested in an AfterWaiting observer fires the due timer; the outer one selects no descriptor instead") {
    make_sources(1, take_and_trace);
    bump(descriptors[0]);
    add_observer(MODE, RUNLOOP_ACTIVITY_BEFORE_TIMERS, trace_activity, NULL);
    add_observer(MODE, RUNLOOP_ACTIVITY_AFTER_WAITING, nest_while_in_hand, NULL);
    add_timer(MODE, 0, 0, trace_fire, "t");
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("T ( T t ) T a T");
}

static void spoil_in_hand(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer, (void)activity;
    if (calls++)
        return;
    runloop *loop = runloop_current();
    if (!strcmp(info, "read"))
        EXPECT_EQ(take(descriptors[0]), 1); // Not yet read by the loop.
    else if (!strcmp(info, "queue a task"))
        runloop_perform(loop, MODE, trace_function, "late", NULL);
    else if (!strcmp(info, "postpone"))
        runloop_timer_set_fire_date(timers[0], runloop_now_ns() + 100 * SECOND);
    else if (!strcmp(info, "remove"))
        runloop_remove_source(loop, sources[0], MODE);
    else
        runloop_remove_source(loop, sources[0], MODE), runloop_add_source(loop, sources[0], MODE);
}

static void start_spoiling(const char *how) {
    keep_mode(MODE);
    add_observer(MODE, RUNLOOP_ACTIVITY_BEFORE_TIMERS, trace_activity, NULL);
    add_observer(MODE, RUNLOOP_ACTIVITY_AFTER_WAITING, spoil_in_hand, (void *)how);
}

TEST("R45 a selected descriptor that is removed is not called, and its event is not lost") {
    make_sources(1, take_and_trace);
    start_spoiling("remove");
    bump(descriptors[0]);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("T T");
    runloop_add_source(runloop_current(), sources[0], MODE);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("T a");
}

TEST("R45 a selected descriptor that is removed and added again waits for the next iteration") {
    make_sources(1, take_and_trace);
    start_spoiling("add again");
    bump(descriptors[0]);
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("T T a T");
}

TEST("R45 of two sources of a selected descriptor only the one that is added again waits for the next iteration") {
    descriptors[0] = make_eventfd(1);
    add_descriptor(MODE, descriptors[0], RUNLOOP_READABLE, trace_ready, "stays");
    sources[0] = make_descriptor(descriptors[0], RUNLOOP_READABLE, trace_ready, "returns");
    EXPECT_EQ(runloop_add_source(runloop_current(), sources[0], MODE), 0);
    start_spoiling("add again");
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("T stays");
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("T stays returns");
}

TEST("R45 a task that an AfterWaiting observer queues runs after the event is served") {
    make_sources(1, take_and_trace);
    start_spoiling("queue a task");
    bump(descriptors[0]);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("T a late");
}

enum { CROWD = 100 };

static void crowd_in_hand(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer, (void)activity, (void)info;
    static runloop_source *crowd[CROWD];
    if (calls++)
        return;
    for (int i = 0; i < CROWD; i++)
        crowd[i] = add_descriptor(OTHER_MODE, make_eventfd(0), RUNLOOP_READABLE, NULL, NULL);
    for (int i = 0; i < CROWD; i += 2)
        runloop_source_invalidate(crowd[i]);
}

TEST("R45 a selected descriptor is served, however many others are added and removed first") {
    make_sources(2, take_and_trace);
    add_observer(MODE, RUNLOOP_ACTIVITY_AFTER_WAITING, crowd_in_hand, NULL);
    bump(descriptors[0]);
    bump(descriptors[1]);
    RUN_UNTIL(MODE, trace_contains("b"));
    EXPECT_TRACE("a b");
}

TEST("R45 a selected counter is read only when it is served") {
    descriptors[0] = make_eventfd(1);
    runloop_source *counter = make_counter(descriptors[0], trace_ready, "counter");
    runloop_add_source(runloop_current(), counter, MODE);
    runloop_source_release(counter);
    start_spoiling("read");
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("T T");
}

TEST("R45 a selected timer whose date is moved doesn't fire") {
    timers[0] = add_timer(MODE, runloop_now_ns() + MS, 0, trace_fire, "t");
    start_spoiling("postpone");
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("T T");
}

//===-- sources without a descriptor ---------------------------------------------------------------------------------===//

static void signal_again(runloop_source *source, runloop_readiness reasons, void *info) {
    (void)info;
    EXPECT_EQ(reasons, RUNLOOP_SIGNALLED);
    calls++;
    runloop_source_signal(source);
}

static void be_due_again(runloop_source *source, runloop_readiness reasons, void *info) {
    (void)info;
    EXPECT_EQ(reasons, RUNLOOP_DUE);
    calls++;
    runloop_source_set_deadline(source, 1);
}

/// A descriptor that becomes ready in between has its turn every time.
static void expect_turns_beside(void (*ready)(runloop_source *, runloop_readiness, void *)) {
    runloop_source *busy = add_descriptor(MODE, -1, RUNLOOP_READABLE, ready, NULL);
    make_sources(2, take_and_trace);
    if (ready == be_due_again)
        runloop_source_set_deadline(busy, 1);
    else
        runloop_source_signal(busy);
    for (int i = 0; i < 10; i++) {
        int before = calls;
        bump(descriptors[i % 2]);
        for (int turn = 0; turn < 3; turn++)
            handle_one(MODE);
        EXPECT_TRACE(i % 2 ? "b" : "a");
        EXPECT(calls > before);
    }
    runloop_source_invalidate(busy);
}

TEST("R154 a source that is signalled in each of its calls keeps no descriptor from its turn") {
    expect_turns_beside(signal_again);
}

TEST("R154 a source that is signalled in each of its calls keeps no descriptor from its turn, and observers may look "
     "on") {
    add_observer(MODE, RUNLOOP_ACTIVITY_AFTER_WAITING, NULL, NULL);
    expect_turns_beside(signal_again);
}

TEST("R154 a source that is due again in each of its calls keeps no descriptor from its turn") {
    expect_turns_beside(be_due_again);
}
