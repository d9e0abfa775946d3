// serials.c — numbers that a loop gives out may pass 2^31 and 2^32: nothing compares them in less than 64 bits (R45, R69, R74).
#include "items.h"

#include "items/items.h"

static int called;

static void count_ready(runloop_source *source, runloop_readiness events, void *info) {
    (void)source, (void)events, (void)info;
    called++;
}

static void count_iteration(runloop_observer *observer, runloop_activity activity, void *iterations) {
    (void)observer, (void)activity;
    ++*(int *)iterations;
}

static const uint64_t overflows[] = {UINT64_C(1) << 31, UINT64_C(1) << 32, UINT64_C(1) << 33};

/// As if so many items had been added since.
static void pass_additions(uint64_t additions) {
    runloop *loop = runloop_current();
    loop->serial += additions - 1;
    add_timer(MODE, RUNLOOP_NEVER - 1, 0, NULL, NULL);
}

static void expect_served(int descriptor) {
    called = 0;
    bump(descriptor);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT(called > 0);
    take(descriptor);
}

TEST("R69 a counter source still hears its descriptor after 2^31 and more additions, and the loop does not spin") {
    int descriptor = make_eventfd(0), iterations = 0;
    runloop_source *source = make_counter(descriptor, count_ready, NULL);
    REQUIRE(runloop_add_source(runloop_current(), source, MODE) == 0);
    add_observer(MODE, RUNLOOP_ACTIVITY_BEFORE_TIMERS, count_iteration, &iterations);
    for (int i = 0; i < 3; i++) {
        pass_additions(overflows[i]);
        expect_served(descriptor);
    }
    iterations = 0;
    bump(descriptor);
    EXPECT_EQ(run_for(MODE, 20 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT(iterations <= 3);
    runloop_source_release(source);
}

TEST(
    "R72 two sources on one descriptor are still called, in the order of their additions, after 2^31 and more others") {
    int descriptor = make_eventfd(0);
    add_descriptor(MODE, descriptor, RUNLOOP_READABLE, trace_ready, "first");
    for (int i = 0; i < 3; i++) {
        pass_additions(overflows[i]);
        runloop_source *second = add_descriptor(MODE, descriptor, RUNLOOP_READABLE, trace_ready, "second");
        bump(descriptor);
        EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
        EXPECT_TRACE("first second");
        runloop_source_invalidate(second);
        take(descriptor);
    }
}

TEST("R45 a descriptor in a mode whose observers are notified after waiting is served after 2^31 and more additions") {
    int descriptor = make_eventfd(0);
    add_descriptor(MODE, descriptor, RUNLOOP_READABLE, count_ready, NULL);
    add_observer(MODE, RUNLOOP_ACTIVITY_AFTER_WAITING, NULL, NULL);
    for (int i = 0; i < 3; i++) {
        pass_additions(overflows[i]);
        expect_served(descriptor);
    }
}

TEST("R74 timers of one date fire in the order in which they joined the loop, however many were added in between") {
    for (int i = 0; i < 3; i++) {
        int64_t now = runloop_now_ns();
        add_timer(MODE, now, 0, trace_fire, "first");
        pass_additions(overflows[i]);
        add_timer(MODE, now, 0, trace_fire, "second");
        poll_mode(MODE);
        EXPECT_TRACE("first second");
    }
}

TEST("R102 tasks are performed in order, and later ones wait for the next drain, after 2^32 batches") {
    runloop *loop = runloop_current();
    keep_mode(MODE);
    for (int i = 0; i < 3; i++) {
        loop->tasks.serial = overflows[i] - 1;
        runloop_post(loop, OTHER_MODE, trace_function, "other", NULL);
        runloop_post(loop, MODE, trace_function, "first", NULL);
        runloop_post(loop, MODE, trace_function, "second", NULL);
        poll_mode(MODE);
        runloop_post(loop, MODE, trace_function, "third", NULL);
        poll_mode(MODE);
        EXPECT_TRACE("first second third");
        keep_mode(OTHER_MODE);
        poll_mode(OTHER_MODE);
        EXPECT_TRACE("other");
    }
}

TEST("R73 what was reported for an earlier registration does not count for a later one when their numbers begin anew") {
    runloop *loop = runloop_current();
    int descriptor = make_eventfd(1);
    // The number 0 is the main queue's, and is left out.
    loop->registrations.generation = UINT32_MAX - 1;
    for (int i = 0; i < 4; i++) {
        runloop_source *source = add_descriptor(MODE, descriptor, RUNLOOP_READABLE, count_ready, NULL);
        called = 0;
        EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
        EXPECT_EQ(called, 1);
        runloop_source_invalidate(source);
        EXPECT(loop->registrations.generation != 0);
    }
}
