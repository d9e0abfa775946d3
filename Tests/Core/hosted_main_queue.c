// hosted_main_queue.c — the main dispatch queue under a host that calls poll: served by a hosted run of the main loop, and by itself (R106).
#include <poll.h>

#include "items.h"

#define HOST_NESTS 1
static void host_attach(const char *mode) {
    EXPECT_EQ(runloop_hosted_begin(mode), 0);
}

static void host_detach(void) {
    EXPECT_EQ(runloop_hosted_end(), 0);
}

static void host_iterate(int64_t limit_ns) {
    struct pollfd waited = {.fd = runloop_hosted_descriptor(), .events = POLLIN};
    if (poll(&waited, 1, (int)(limit_ns / MS)) == 1)
        EXPECT_EQ(runloop_hosted_iterate(RUNLOOP_FOREVER), 0);
}

#include "host_main_queue.h"

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
