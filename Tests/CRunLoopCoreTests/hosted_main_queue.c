// hosted_main_queue.c — the main dispatch queue under a host: hosted runs of the main loop serve it (R106).
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

/// The host: waits for the descriptor, and iterates.
static void host_until_served(int count) {
    struct pollfd waited = {.fd = runloop_hosted_descriptor(), .events = POLLIN};
    while (served < count) {
        REQUIRE(poll(&waited, 1, 30000) == 1);
        EXPECT_EQ(runloop_hosted_iterate(RUNLOOP_FOREVER), 0);
    }
}

TEST("R106 hosted: the main queue is served, whoever fills it, and the host sleeps when it is empty") {
    EXPECT_EQ(runloop_hosted_begin(RUNLOOP_DEFAULT_MODE), 0);
    dispatch_to_main(NULL);
    host_until_served(1);
    on_new_thread(dispatch_to_main, NULL);
    host_until_served(2);
    struct pollfd waited = {.fd = runloop_hosted_descriptor(), .events = POLLIN};
    EXPECT_EQ(runloop_hosted_iterate(RUNLOOP_FOREVER), 0);
    EXPECT_EQ(poll(&waited, 1, 100), 0);
    on_new_thread(dispatch_to_main, NULL);
    host_until_served(3);
    EXPECT_EQ(runloop_hosted_end(), 0);
}

//===-- the queue alone ----------------------------------------------------------------------------------------------===//

static void serve_inside(void *unused) {
    EXPECT_EQ(runloop_main_queue_serve(), -EBUSY);
    serve(unused);
}

static void *serve_elsewhere(void *unused) {
    EXPECT_EQ(runloop_main_queue_serve(), -EPERM);
    return unused;
}

TEST("R106 a host can serve the main queue without a loop") {
    struct pollfd waited = {.fd = runloop_main_queue_descriptor(), .events = POLLIN};
    EXPECT(waited.fd >= 0);
    EXPECT_EQ(runloop_main_queue_serve(), 0);
    on_new_thread(serve_elsewhere, NULL);
    on_new_thread(dispatch_to_main, NULL);
    EXPECT_EQ(poll(&waited, 1, 30000), 1);
    EXPECT_EQ(runloop_main_queue_serve(), 1);
    EXPECT_EQ(served, 1);
    EXPECT_EQ(poll(&waited, 1, 0), 0);
    dispatch_async_f(dispatch_get_main_queue(), NULL, serve_inside);
    EXPECT_EQ(poll(&waited, 1, 30000), 1);
    EXPECT_EQ(runloop_main_queue_serve(), 1);
    EXPECT_EQ(served, 2);
    EXPECT_EQ(poll(&waited, 1, 100), 0);
}

static int calls;

static void be_modal(void *unused) {
    (void)unused;
    struct pollfd waited = {.fd = runloop_main_queue_descriptor(), .events = POLLIN};
    dispatch_async_f(dispatch_get_main_queue(), NULL, serve);
    for (int64_t end_ns = runloop_now_ns() + 50 * MS; runloop_now_ns() < end_ns;) {
        if (poll(&waited, 1, 5) == 1) {
            EXPECT_EQ(runloop_main_queue_serve(), -EBUSY);
            calls++;
        }
    }
}

TEST("R106 a host's loop inside work of the main queue does not spin, and what waits is served after it") {
    dispatch_async_f(dispatch_get_main_queue(), NULL, be_modal);
    while (served < 1)
        runloop_main_queue_serve();
    EXPECT(calls <= 3);
    // Inside work that the main loop performs, likewise.
    dispatch_async_f(dispatch_get_main_queue(), NULL, be_modal);
    while (served < 2)
        runloop_run_in_mode(RUNLOOP_DEFAULT_MODE, 10 * MS, false);
    EXPECT(calls <= 6);
}
