// descriptor_modes.c — one descriptor, several modes: what one mode leaves alone, another one finds (R43, R73).
#include "items.h"

#include <sys/socket.h>

static int pair[2];
static char bytes[4096];

static void make_pair(void) {
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0);
}

static void fill(int descriptor) {
    while (write(descriptor, bytes, sizeof bytes) > 0)
        continue;
}

static void empty(int descriptor) {
    while (read(descriptor, bytes, sizeof bytes) > 0)
        continue;
}

static void trace_and_stop(runloop_source *source, runloop_readiness events, void *info) {
    (void)source, (void)events;
    trace(info);
    runloop_stop(runloop_current());
}

TEST("R43 R73 a mode that masks a descriptor takes nothing from a mode that wants something else of it") {
    make_pair();
    fill(pair[0]);
    add_descriptor("A", pair[0], RUNLOOP_WRITABLE, trace_and_stop, "writable");
    add_descriptor("C", pair[0], RUNLOOP_READABLE, trace_and_stop, "readable");
    keep_mode("B");
    // What comes is wanted in C alone, so B masks the descriptor before it sleeps.
    REQUIRE(write(pair[1], "x", 1) == 1);
    EXPECT_EQ(run_for("B", 20 * MS), RUNLOOP_RESULT_TIMED_OUT);
    empty(pair[1]);
    EXPECT_EQ(run_for("A", 10 * SECOND), RUNLOOP_RESULT_STOPPED);
    EXPECT_EQ(run_for("C", 10 * SECOND), RUNLOOP_RESULT_STOPPED);
    EXPECT_TRACE("writable readable");
}

TEST("R73 sources that come and go while another mode runs leave nothing behind in their mode") {
    make_pair();
    REQUIRE(write(pair[1], "x", 1) == 1);
    keep_mode("B");
    for (int i = 0; i < 100; i++) {
        runloop_source *source = add_descriptor("A", pair[0], RUNLOOP_READABLE, trace_and_stop, "readable");
        poll_mode("B");
        runloop_source_invalidate(source);
    }
    EXPECT(!runloop_has_work("A"));
    add_descriptor("A", pair[0], RUNLOOP_READABLE, trace_and_stop, "readable");
    EXPECT_EQ(run_for("A", 10 * SECOND), RUNLOOP_RESULT_STOPPED);
    EXPECT_TRACE("readable");
}

static void fill_and_trace(runloop_source *source, runloop_readiness events, void *info) {
    (void)events;
    trace(info);
    fill(runloop_source_get_descriptor(source));
}

/// Stops at the second message, which it causes itself.
static void read_two(runloop_source *source, runloop_readiness events, void *info) {
    (void)events;
    static int messages;
    trace(info);
    empty(runloop_source_get_descriptor(source));
    if (++messages == 2)
        runloop_stop(runloop_current());
    else
        REQUIRE(write(pair[1], "y", 1) == 1);
}

static void run_a(runloop_source *source, runloop_readiness events, void *info) {
    (void)events, (void)info;
    take(runloop_source_get_descriptor(source));
    EXPECT_EQ(run_for("A", 10 * SECOND), RUNLOOP_RESULT_STOPPED);
    runloop_stop(runloop_current());
}

TEST("R43 R73 a descriptor that a mode masked and has yet to serve keeps nothing from a mode that is nested in it") {
    make_pair();
    fill(pair[0]);
    int first = make_eventfd(0), second = make_eventfd(0);
    add_descriptor("B", first, RUNLOOP_READABLE, run_a, NULL);
    add_descriptor("B", second, RUNLOOP_READABLE, NULL, NULL);
    runloop_source *writer = add_descriptor("B", pair[0], RUNLOOP_WRITABLE, fill_and_trace, "writable");
    REQUIRE(runloop_add_source(runloop_current(), writer, "A") == 0);
    add_descriptor("A", pair[0], RUNLOOP_READABLE, read_two, "readable");
    // B masks the descriptor down to "writable".
    REQUIRE(write(pair[1], "x", 1) == 1);
    EXPECT_EQ(run_for("B", 20 * MS), RUNLOOP_RESULT_TIMED_OUT);
    // A finds reported what B was about to serve: first what A does not want, then the descriptor.
    bump(first);
    bump(second);
    empty(pair[1]);
    EXPECT_EQ(run_for("B", 10 * SECOND), RUNLOOP_RESULT_STOPPED);
    EXPECT_TRACE("writable readable readable");
}

static void empty_and_trace(runloop_source *source, runloop_readiness events, void *info) {
    (void)events;
    trace(info);
    empty(runloop_source_get_descriptor(source));
}

static void poll_a(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer, (void)activity, (void)info;
    poll_mode("A");
}

TEST("R45 R73 what a run of another mode reads that is nested in an AfterWaiting observer is not reported any more") {
    make_pair();
    add_descriptor("A", pair[0], RUNLOOP_READABLE, empty_and_trace, "inner");
    add_descriptor("B", pair[0], RUNLOOP_READABLE, empty_and_trace, "outer");
    runloop_observer *observer = add_observer("B", RUNLOOP_ACTIVITY_AFTER_WAITING, poll_a, NULL);
    for (int i = 0; i < 3; i++) {
        REQUIRE(write(pair[1], "x", 1) == 1);
        EXPECT_EQ(run_for("B", 20 * MS), RUNLOOP_RESULT_TIMED_OUT);
    }
    runloop_observer_invalidate(observer);
    REQUIRE(write(pair[1], "x", 1) == 1);
    EXPECT_EQ(handle_one("B"), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("inner inner inner outer");
}

static int iterations;

static void count_iteration(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer, (void)activity, (void)info;
    iterations++;
}

TEST("R43 a descriptor that is ready in other modes does not keep a mode awake") {
    make_pair();
    REQUIRE(write(pair[1], "x", 1) == 1);
    add_descriptor("A", pair[0], RUNLOOP_READABLE, trace_and_stop, "readable");
    add_descriptor("B", pair[0], RUNLOOP_PRIORITY, trace_and_stop, "priority");
    runloop_observer *observer = make_observer(RUNLOOP_ACTIVITY_BEFORE_TIMERS, count_iteration, NULL);
    REQUIRE(runloop_add_observer(runloop_current(), observer, "B") == 0);
    EXPECT_EQ(run_for("B", 50 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(iterations, 1);
    EXPECT_EQ(run_for("A", 10 * SECOND), RUNLOOP_RESULT_STOPPED);
    EXPECT_TRACE("readable");
}

static runloop *finished_loop;

static void *make_loop(void *unused) {
    finished_loop = runloop_retain(runloop_current());
    return unused;
}

TEST("R20 R97 an addition that is refused leaves a common item of another loop common") {
    on_new_thread(make_loop, NULL);
    runloop *loop = runloop_current();
    runloop_observer *observer = make_observer(RUNLOOP_ACTIVITY_ENTRY, count_iteration, NULL);
    REQUIRE(runloop_add_observer(loop, observer, RUNLOOP_COMMON_MODES) == 0);
    runloop_remove_observer(loop, observer, RUNLOOP_DEFAULT_MODE);
    EXPECT_EQ(runloop_add_observer(finished_loop, observer, "A"), -ESHUTDOWN);
    EXPECT(runloop_contains_observer(loop, observer, RUNLOOP_COMMON_MODES));
    runloop_release(finished_loop);
}

static runloop_source *sharers[3];

static void leave_mode(runloop_source *source, runloop_readiness events, void *info) {
    (void)source, (void)events;
    trace(info);
    runloop_remove_source(runloop_current(), sharers[1], "A");
}

static void take_all(runloop_source *source, runloop_readiness events, void *info) {
    (void)events;
    trace(info);
    take(runloop_source_get_descriptor(source));
}

TEST("R73 a source that an earlier one of its descriptor takes out of the mode is passed over") {
    int descriptor = make_eventfd(0);
    sharers[0] = add_descriptor("A", descriptor, RUNLOOP_READABLE, leave_mode, "first");
    sharers[1] = add_descriptor("A", descriptor, RUNLOOP_READABLE, trace_ready, "second");
    sharers[2] = add_descriptor("A", descriptor, RUNLOOP_READABLE, take_all, "third");
    REQUIRE(runloop_add_source(runloop_current(), sharers[1], "B") == 0);
    bump(descriptor);
    EXPECT_EQ(handle_one("A"), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("first third");
    // What was left of that turn is no part of the next one.
    REQUIRE(runloop_add_source(runloop_current(), sharers[1], "A") == 0);
    bump(descriptor);
    EXPECT_EQ(handle_one("A"), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(run_a_while("A"), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT(trace_contains("third"));
    bump(descriptor);
    EXPECT_EQ(runloop_run_pass("A", 60 * SECOND), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(run_a_while("A"), RUNLOOP_RESULT_TIMED_OUT);
}

//===-- what is aside stays aside ------------------------------------------------------------------------------------===//

static _Atomic bool has_returned;

/// For a wait that never ends.
static void *stop_if_it_takes_too_long(void *loop) {
    for (int i = 0; i < 1000 && !has_returned; i++)
        usleep(10 * 1000);
    if (!has_returned)
        runloop_stop(loop);
    return NULL;
}

/// The host is told to sleep, though the descriptor of another mode is ready.
static void expect_sleep(const char *mode) {
    pthread_t thread;
    has_returned = false;
    REQUIRE(pthread_create(&thread, NULL, stop_if_it_takes_too_long, runloop_current()) == 0);
    REQUIRE(runloop_hosted_begin(mode) == 0);
    EXPECT_EQ(runloop_hosted_iterate(RUNLOOP_FOREVER), 0);
    has_returned = true;
    pthread_join(thread, NULL);
    runloop_hosted_end();
}

TEST("R43 what is aside for another mode keeps none awake after its source asked for more, or another of its "
     "descriptor") {
    make_pair();
    REQUIRE(write(pair[1], "x", 1) == 1);
    runloop_source *source = add_descriptor("B", pair[0], RUNLOOP_READABLE, trace_and_stop, "readable");
    keep_mode("A");
    EXPECT_EQ(run_for("A", 20 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(runloop_source_set_events(source, RUNLOOP_READABLE | RUNLOOP_PRIORITY), 0);
    expect_sleep("A");
    runloop_source *other = add_descriptor("A", pair[0], RUNLOOP_PRIORITY, trace_and_stop, "priority");
    expect_sleep("A");
    runloop_source_invalidate(other);
    expect_sleep("A");
    add_descriptor("C", pair[0], RUNLOOP_PRIORITY, trace_and_stop, "priority");
    expect_sleep("C");
    EXPECT_EQ(run_for("B", 10 * SECOND), RUNLOOP_RESULT_STOPPED);
    EXPECT_TRACE("readable");
}
