// main_queue_traceless.c — a libdispatch whose main queue does not change when something is queued (R108). It is this program's, and as small as
// can be: it is in front of the real one.
#include <sys/eventfd.h>

#include "items.h"

extern char _dispatch_main_q[128];
int _dispatch_get_main_queue_handle_4CF(void);
void _dispatch_main_queue_callback_4CF(void *unused);

enum { DESCRIPTORS = 40, CALLS_BETWEEN_WORK = 100, WORK = 4 };

char _dispatch_main_q[128];
static int handle = -1, calls, queued, done, delays[WORK];

int _dispatch_get_main_queue_handle_4CF(void) {
    if (handle < 0)
        handle = make_eventfd(0);
    return handle;
}

void _dispatch_main_queue_callback_4CF(void *unused) {
    (void)unused;
    while (done < queued) {
        delays[done] = calls - (done + 1) * CALLS_BETWEEN_WORK;
        done++;
    }
    if (done == WORK)
        runloop_stop(runloop_current());
}

/// Stays ready.
static void count_call(runloop_source *source, runloop_readiness events, void *info) {
    (void)source, (void)events, (void)info;
    if (++calls % CALLS_BETWEEN_WORK != 0 || queued == WORK)
        return;
    queued++;
    uint64_t one = 1;
    REQUIRE(write(handle, &one, sizeof one) == (ssize_t)sizeof one);
}

TEST("R108 a main queue that shows no trace of what is queued is late once, and from then on asked each time") {
    for (int i = 0; i < DESCRIPTORS; i++) {
        runloop_descriptor_config config = {
            .descriptor = make_eventfd(1), .events = RUNLOOP_READABLE, .ready = count_call};
        runloop_source *source;
        REQUIRE(runloop_descriptor_source_create(&config, &source) == 0);
        REQUIRE(runloop_add_source(runloop_current(), source, RUNLOOP_DEFAULT_MODE) == 0);
        runloop_source_release(source);
    }
    EXPECT_EQ(run_for(RUNLOOP_DEFAULT_MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_STOPPED);
    // Those that the kernel has reported with the others.
    EXPECT(delays[0] <= 2 * DESCRIPTORS);
    for (int i = 1; i < WORK; i++)
        EXPECT(delays[i] <= 1);
}
