// main_queue_refused.c — the kernel refuses to report the main queue in a set that is made anew (R121). This program's epoll_ctl is in front of
// the library's calls.
#include <sys/epoll.h>

#include "items.h"
#include "main_queue.h"

static _Atomic int failures_left, failed;

int __real_epoll_ctl(int set, int operation, int descriptor, struct epoll_event *event);
int __wrap_epoll_ctl(int set, int operation, int descriptor, struct epoll_event *event);
int __wrap_epoll_ctl(int set, int operation, int descriptor, struct epoll_event *event) {
    if (operation == EPOLL_CTL_ADD && failures_left > 0 && descriptor == runloop_main_queue_descriptor()) {
        failures_left--;
        failed++;
        errno = ENOMEM;
        return -1;
    }
    return __real_epoll_ctl(set, operation, descriptor, event);
}

static void stop_current(void *unused) {
    (void)unused;
    runloop_stop(runloop_current());
}

static void *queue_when_refused(void *unused) {
    WAIT_UNTIL(failed == 1);
    enqueue(stop_current, NULL);
    return unused;
}

TEST("R108 R121 a new set that the kernel refused to let report the main queue is asked to again, and its work is "
     "done") {
    int descriptor = make_eventfd(0);
    runloop_source *source = add_descriptor(RUNLOOP_DEFAULT_MODE, descriptor, RUNLOOP_READABLE, NULL, NULL);
    run_for(RUNLOOP_DEFAULT_MODE, 5 * MS);
    // The set has an entry that nobody can take out.
    int duplicate = dup(descriptor);
    close(descriptor);
    runloop_source_set_events(source, 0);
    failures_left = 1;
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, queue_when_refused, NULL) == 0);
    EXPECT_EQ(run_for(RUNLOOP_DEFAULT_MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_STOPPED);
    pthread_join(thread, NULL);
    EXPECT_EQ(failed, 1);
    close(duplicate);
}
