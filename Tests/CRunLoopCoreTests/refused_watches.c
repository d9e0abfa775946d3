// refused_watches.c — epoll_ctl fails where the loop takes a descriptor back that it had masked (R121).
// Link with -Wl,--wrap=epoll_ctl.
#include <sys/epoll.h>

#include "items.h"

extern int __real_epoll_ctl(int set, int operation, int descriptor, struct epoll_event *event);

static int failures_left, failed;

int __wrap_epoll_ctl(int set, int operation, int descriptor, struct epoll_event *event) {
    if (failures_left > 0 && operation != EPOLL_CTL_DEL) {
        failures_left--;
        failed++;
        errno = ENOMEM;
        return -1;
    }
    return __real_epoll_ctl(set, operation, descriptor, event);
}

static void take_counter(runloop_source *source, runloop_readiness events, void *info) {
    (void)events;
    take(runloop_source_get_descriptor(source));
    ++*(int *)info;
}

TEST("R121 a masked descriptor that could not be watched again is watched as soon as that succeeds") {
    int descriptor = make_eventfd(0), calls = 0;
    runloop_descriptor_config config = {
        .context.info = &calls, .descriptor = descriptor, .events = RUNLOOP_READABLE, .ready = take_counter};
    runloop_source *source;
    REQUIRE(runloop_descriptor_source_create(&config, &source) == 0);
    REQUIRE(runloop_add_source(runloop_current(), source, "b") == 0);
    runloop_timer_config never = {.fire_ns = RUNLOOP_NEVER};
    runloop_timer *timer;
    REQUIRE(runloop_timer_create(&never, &timer) == 0);
    REQUIRE(runloop_add_timer(runloop_current(), timer, "a") == 0);

    // Mode a does not want it, and masks it before it sleeps.
    bump(descriptor);
    EXPECT_EQ(run_a_while("a"), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(calls, 0);

    failures_left = 1;
    poll_mode("b");
    EXPECT_EQ(failed, 1);
    EXPECT_EQ(calls, 1);
    bump(descriptor);
    poll_mode("b");
    EXPECT_EQ(calls, 2);

    // A loop that sleeps asks again, too.
    bump(descriptor);
    EXPECT_EQ(run_a_while("a"), RUNLOOP_RESULT_TIMED_OUT);
    failures_left = 5;
    poll_mode("b");
    EXPECT_EQ(calls, 3);
    EXPECT(failures_left > 0);
    bump(descriptor);
    EXPECT_EQ(runloop_run_in_mode("b", 60 * SECOND, true), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(failures_left, 0);
    EXPECT_EQ(calls, 4);

    runloop_timer_release(timer);
    runloop_source_invalidate(source);
    runloop_source_release(source);
    close(descriptor);
}
