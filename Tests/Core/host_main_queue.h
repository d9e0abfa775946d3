// host_main_queue.h — the main dispatch queue in a hosted run of the main loop, under whatever host (R106). A test file includes this after
// it has defined its host, as host_scenes.h says; it needs libdispatch.
#include <dispatch/dispatch.h>
#include <poll.h>

#include "items.h"

static int served;

static void serve(void *unused) {
    (void)unused;
    EXPECT(runloop_is_current(runloop_main()));
    served++;
}

static void *dispatch_to_main(void *unused) {
    dispatch_async_f(dispatch_get_main_queue(), NULL, serve);
    return unused;
}

static void host_until_served(int count) {
    int64_t deadline_ns = runloop_now_ns() + 30 * SECOND;
    while (served < count) {
        REQUIRE(runloop_now_ns() < deadline_ns);
        host_iterate(100 * MS);
    }
}

TEST("R106 hosted: the main queue is served, whoever fills it, and the host sleeps when it is empty") {
    host_attach(RUNLOOP_DEFAULT_MODE);
    dispatch_to_main(NULL);
    host_until_served(1);
    on_new_thread(dispatch_to_main, NULL);
    host_until_served(2);
    struct pollfd waited = {.fd = runloop_hosted_descriptor(), .events = POLLIN};
    while (!runloop_is_waiting(runloop_main()))
        host_iterate(100 * MS);
    EXPECT_EQ(poll(&waited, 1, 100), 0);
    on_new_thread(dispatch_to_main, NULL);
    host_until_served(3);
    host_detach();
}

#if HOST_NESTS
static int fired;

static void fire_in_dialog(runloop_timer *timer, void *unused) {
    (void)timer, (void)unused;
    fired++;
}

/// A modal dialog in work of the main queue, which serves no other work until this has returned.
static void be_modal_in_queue(void *unused) {
    dispatch_to_main(unused);
    add_timer(RUNLOOP_DEFAULT_MODE, runloop_now_ns() + 2 * MS, 0, fire_in_dialog, NULL);
    int64_t deadline_ns = runloop_now_ns() + 30 * SECOND;
    while (fired == 0) {
        REQUIRE(runloop_now_ns() < deadline_ns);
        host_iterate(100 * MS);
    }
    EXPECT_EQ(served, 0);
}

TEST("R106 hosted: in the host's loop inside work of the main queue timers fire, and the queue goes on after it") {
    host_attach(RUNLOOP_DEFAULT_MODE);
    dispatch_async_f(dispatch_get_main_queue(), NULL, be_modal_in_queue);
    host_until_served(1);
    EXPECT_EQ(fired, 1);
    host_detach();
}
#endif
