// main_queue_polls.c — what asking for the main queue costs a main loop that has much to do. This program's epoll_wait is in front of the
// library's calls, and counts what the kernel reports; and its poll counts the questions about the queue alone.
#include <poll.h>
#include <sys/epoll.h>

#include "items.h"
#include "main_queue.h"

enum { DESCRIPTORS = 40 };

static int reports, questions, calls, calls_before_work;

int __real_epoll_wait(int set, struct epoll_event *events, int capacity, int timeout);
int __wrap_epoll_wait(int set, struct epoll_event *events, int capacity, int timeout);
int __wrap_epoll_wait(int set, struct epoll_event *events, int capacity, int timeout) {
    int count = __real_epoll_wait(set, events, capacity, timeout);
    reports += count > 0 ? count : 0;
    return count;
}

int __real_poll(struct pollfd *descriptors, nfds_t count, int timeout);
int __wrap_poll(struct pollfd *descriptors, nfds_t count, int timeout);
int __wrap_poll(struct pollfd *descriptors, nfds_t count, int timeout) {
    questions++;
    return __real_poll(descriptors, count, timeout);
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
    // When nothing is known of the queue, when it has changed, and after its service.
    EXPECT(questions >= 1 && questions <= 3);
}

static runloop_source *bell;
static int rounds;

/// Rings again, so that it is ready in the next iteration.
static void ring_again(runloop_source *source, runloop_readiness events, void *info) {
    (void)source, (void)events, (void)info;
    uint64_t one = 1;
    int descriptor = runloop_source_get_descriptor(bell);
    REQUIRE(read(descriptor, &one, sizeof one) == (ssize_t)sizeof one);
    if (++rounds == 100)
        runloop_stop(runloop_current());
    one = 1;
    REQUIRE(write(descriptor, &one, sizeof one) == (ssize_t)sizeof one);
}

TEST("R108 a main loop whose queue nobody uses asks the kernel once per event") {
    runloop_descriptor_config config = {.descriptor = make_eventfd(1), .events = RUNLOOP_READABLE, .ready = ring_again};
    REQUIRE(runloop_descriptor_source_create(&config, &bell) == 0);
    REQUIRE(runloop_add_source(runloop_current(), bell, RUNLOOP_DEFAULT_MODE) == 0);
    EXPECT_EQ(run_for(RUNLOOP_DEFAULT_MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_STOPPED);
    EXPECT_EQ(rounds, 100);
    EXPECT(questions <= 1);
    EXPECT_EQ(reports, 100);
    runloop_source_release(bell);
}
