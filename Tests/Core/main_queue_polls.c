// main_queue_polls.c — what asking for the main queue costs a main loop that has much to do. This program's epoll_wait is in front of the
// library's calls, and counts what the kernel reports.
#include <sys/epoll.h>

#include "items.h"
#include "main_queue.h"

enum { DESCRIPTORS = 40 };

static int reports, calls, calls_before_work;

int __real_epoll_wait(int set, struct epoll_event *events, int capacity, int timeout);
int __wrap_epoll_wait(int set, struct epoll_event *events, int capacity, int timeout);
int __wrap_epoll_wait(int set, struct epoll_event *events, int capacity, int timeout) {
    int count = __real_epoll_wait(set, events, capacity, timeout);
    reports += count > 0 ? count : 0;
    return count;
}

static void count_work(void *unused) {
    (void)unused;
    calls_before_work = calls;
}

/// The first one queues work.
static void count_call(runloop_source *source, runloop_readiness events, void *info) {
    (void)source, (void)events, (void)info;
    if (++calls == 1)
        enqueue(count_work, NULL);
    if (calls == DESCRIPTORS)
        runloop_stop(runloop_current());
}

TEST("R108 what is ready is reported once to a loop that asks for the main queue again and again, and does not delay "
     "its work") {
    for (int i = 0; i < DESCRIPTORS; i++) {
        runloop_source *source = make_counter(make_eventfd(1), count_call, NULL);
        REQUIRE(runloop_add_source(runloop_current(), source, RUNLOOP_DEFAULT_MODE) == 0);
        runloop_source_release(source);
    }
    EXPECT_EQ(run_for(RUNLOOP_DEFAULT_MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_STOPPED);
    EXPECT_EQ(calls, DESCRIPTORS);
    EXPECT(calls_before_work >= 1 && calls_before_work <= 2);
    // Besides, the main queue.
    EXPECT(reports >= DESCRIPTORS && reports <= DESCRIPTORS + 4);
}
