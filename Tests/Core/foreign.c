// foreign.c — guests of a loop: when they are prepared, and when they are served.
#include "guest.h"

TEST("a guest is prepared for the sleep and nothing else, and served as a source") {
    struct guest guest = {.is_traced = true, .takes = true};
    int descriptor = make_eventfd(1);
    guest_begin(&guest, descriptor);
    trace_activities(MODE);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("Entry T S prepare cancel W prepare cancel A prepare check dispatch Exit");
    EXPECT_EQ(guest.revents[0], POLLIN);
    guest_end(&guest);
}

TEST("an idle guest is not asked again, and wakes nobody") {
    struct guest guest = {0};
    guest_begin(&guest, make_eventfd(0));
    EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(guest.prepares, 2);
    EXPECT_EQ(guest.dispatches, 0);
    guest_end(&guest);
}

static void no_deadline(struct guest *guest) {
    guest->deadline_ns = RUNLOOP_NEVER;
}

TEST("a deadline is never early, and can move at each prepare") {
    for (int64_t delay_ns = 1; delay_ns < 100 * MS; delay_ns *= 99) {
        struct guest guest = {.in_dispatch = no_deadline, .deadline_ns = runloop_now_ns() + delay_ns};
        int64_t deadline_ns = guest.deadline_ns;
        guest_begin(&guest, -1);
        EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
        EXPECT(runloop_now_ns() >= deadline_ns);
        EXPECT_EQ(guest.dispatches, 1);
        guest.deadline_ns = runloop_now_ns() + 3600 * SECOND;
        EXPECT_EQ(run_for(MODE, MS), RUNLOOP_RESULT_TIMED_OUT);
        EXPECT_EQ(guest.dispatches, 1);
        guest_end(&guest);
    }
}

static void count_fire(runloop_timer *timer, void *info) {
    (void)timer;
    ++*(int *)info;
}

static void count_ready(runloop_source *source, runloop_readiness events, void *info) {
    (void)source, (void)events;
    ++*(int *)info;
}

static void stop_at_100(struct guest *guest) {
    if (guest->dispatches == 100)
        runloop_stop(runloop_current());
}

TEST("a guest that is always ready starves nobody, and is starved by nobody") {
    int fires = 0, calls = 0;
    struct guest guest = {.in_dispatch = stop_at_100};
    guest_begin(&guest, -1);
    guest.deadline_ns = 0;
    add_descriptor(MODE, make_eventfd(1), RUNLOOP_READABLE, count_ready, &calls);
    add_timer(MODE, 0, 1, count_fire, &fires);
    EXPECT_EQ(run_for(MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_STOPPED);
    EXPECT(fires > 25);
    EXPECT(calls > 25);
    EXPECT(calls < 400);
    guest_end(&guest);
}

TEST("runs that only poll serve a guest, with what it wants since the last one") {
    struct guest guest = {.is_traced = true, .takes = true};
    int descriptor = make_eventfd(1);
    guest_begin(&guest, descriptor);
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("prepare cancel prepare check dispatch");
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("prepare cancel");
    EXPECT(!runloop_has_work(MODE));
    // After a sleep, too.
    guest.wants[0].fd = make_eventfd(0);
    EXPECT_EQ(run_for(MODE, MS), RUNLOOP_RESULT_TIMED_OUT);
    bump(descriptor);
    guest.wants[0].fd = descriptor;
    trace_reset();
    EXPECT_EQ(runloop_run_in_mode(MODE, 0, true), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("prepare cancel prepare check dispatch");
    guest.deadline_ns = 0;
    guest.in_dispatch = no_deadline;
    EXPECT_EQ(runloop_run_in_mode(MODE, 0, true), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(guest.dispatches, 3);
    guest_end(&guest);
}

static void signal_again(runloop_source *source, void *info) {
    struct guest *guest = info;
    EXPECT(!guest->is_prepared);
    if (guest->dispatches < 5)
        runloop_source_signal(source);
    else
        runloop_stop(runloop_current());
}

TEST("iterations that don't sleep serve a guest") {
    struct guest guest = {0};
    guest_begin(&guest, make_eventfd(1));
    runloop_source_signal(add_source(MODE, signal_again, &guest));
    EXPECT_EQ(run_for(MODE, 30 * SECOND), RUNLOOP_RESULT_STOPPED);
    EXPECT(guest.dispatches >= 5);
    guest_end(&guest);
}

static void expect_nothing(void *info) {
    struct guest *guest = info;
    EXPECT(!guest->is_prepared);
    guest->is_traced = true;
    EXPECT_EQ(run_for(OTHER_MODE, MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("");
    guest->is_traced = false;
    runloop_stop(runloop_current());
}

TEST("a guest has nothing to do with runs in other modes") {
    struct guest guest = {0};
    guest_begin(&guest, make_eventfd(1));
    keep_mode(OTHER_MODE);
    REQUIRE(runloop_post(runloop_current(), MODE, expect_nothing, &guest, NULL) == 0);
    EXPECT_EQ(run_for(MODE, 30 * SECOND), RUNLOOP_RESULT_STOPPED);
    expect_nothing(&guest);
    guest_end(&guest);
}

static void run_nested(struct guest *guest) {
    if (guest->dispatches > 1)
        return;
    EXPECT_EQ(run_for(MODE, 5 * MS), RUNLOOP_RESULT_TIMED_OUT);
    // What it wanted doesn't keep a nested run awake.
    EXPECT_EQ(guest->prepares, 3);
    EXPECT_EQ(guest->dispatches, 1);
    take(guest->wants[0].fd);
}

static void run_nested_and_again(struct guest *guest) {
    if (guest->dispatches > 2)
        return;
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    take(guest->wants[0].fd);
}

TEST("a run nested in dispatch serves the guest only if that nests") {
    struct guest guest = {.in_dispatch = run_nested};
    int descriptor = make_eventfd(1);
    guest_begin(&guest, descriptor);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(run_for(MODE, MS), RUNLOOP_RESULT_TIMED_OUT);
    bump(descriptor);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(guest.dispatches, 2);
    guest_end(&guest);

    struct guest other = {.in_dispatch = run_nested_and_again, .deadline_ns = RUNLOOP_NEVER, .count = 1};
    other.wants[0] = (struct pollfd){.fd = make_eventfd(1), .events = POLLIN};
    guest_create(&other, true);
    guest_add(&other, MODE);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(other.dispatches, 3);
    EXPECT_EQ(runloop_foreign_source_invalidate(other.source), 0);
    EXPECT_EQ(other.releases, 0);
    runloop_foreign_source_release(other.source);
    EXPECT_EQ(other.releases, 1);
}

static void run_in_wait(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer, (void)activity;
    struct guest *guest = info;
    EXPECT(guest->is_prepared);
    EXPECT_EQ(run_for(MODE, MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT(!guest->is_prepared);
}

static void stop_at_7(struct guest *guest) {
    if (guest->prepares == 7)
        runloop_stop(runloop_current());
}

TEST("a wait that was interrupted by a run is not taken unprepared") {
    struct guest guest = {.is_traced = true, .in_prepare = stop_at_7};
    guest_begin(&guest, make_eventfd(0));
    runloop_observer_config config = {.context.info = &guest,
                                      .order = INT32_MAX,
                                      .activities = RUNLOOP_ACTIVITY_BEFORE_WAITING,
                                      .observe = run_in_wait};
    runloop_observer *observer;
    REQUIRE(runloop_observer_create(&config, &observer) == 0);
    REQUIRE(runloop_add_observer(runloop_current(), observer, MODE) == 0);
    runloop_observer_release(observer);
    trace_activities(MODE);
    EXPECT_EQ(run_for(MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_STOPPED);
    EXPECT_TRACE("Entry T S prepare cancel W prepare cancel Entry T S prepare cancel W prepare cancel A Exit "
                 "A prepare cancel T S prepare cancel W prepare cancel A Exit");
    guest_end(&guest);
}

TEST("two guests, and one guest with two sources") {
    struct guest first = {.takes = true}, second = {.takes = true};
    int descriptor = make_eventfd(1), other = make_eventfd(1);
    guest_begin(&first, descriptor);
    guest_begin(&second, other);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(first.dispatches, 1);
    EXPECT_EQ(second.dispatches, 1);
    guest_end(&second);
    // Both sources ask for the same descriptor; whichever comes first takes what is there.
    struct guest twin = {.takes = true};
    guest_begin(&twin, descriptor);
    bump(descriptor);
    EXPECT_EQ(run_for(MODE, 5 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(first.dispatches + twin.dispatches, 2);
    guest_end(&first);
    guest_end(&twin);
}
