// portset.c — what the kernel waits for: one epoll set per loop, with the eventfd that wakes it, a timerfd once a timer needs
// one, the main queue's descriptor, and one registration per descriptor that sources watch.
//
// The eventfd and the timerfd are edge-triggered and never read. Descriptors of sources are level-triggered.

#include <fcntl.h>
#include <limits.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

int runloop__portset_watch(runloop *loop, int descriptor, uint64_t tag, int operation, uint32_t events) {
    struct epoll_event event = {.events = events, .data.u64 = tag};
    return epoll_ctl(loop->epoll_descriptor, operation, descriptor, &event) ? -errno : 0;
}

static int watch_edges(runloop *loop, int descriptor, uint64_t tag) {
    return runloop__portset_watch(loop, descriptor, tag, EPOLL_CTL_ADD, EPOLLIN | EPOLLET);
}

int runloop__portset_watch_main_queue(runloop *loop) {
    return watch_edges(loop, loop->main_queue_descriptor, PORT_MAIN_QUEUE);
}

int runloop__portset_open(runloop *loop) {
    loop->timer_descriptor = -1;
    loop->armed_ns = RUNLOOP_NEVER;
    loop->epoll_descriptor = epoll_create1(EPOLL_CLOEXEC);
    if (loop->epoll_descriptor < 0)
        return -errno;
    loop->wake_descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (loop->wake_descriptor < 0) {
        int error = -errno;
        close(loop->epoll_descriptor);
        return error;
    }
    int error = watch_edges(loop, loop->wake_descriptor, NUMBER_WAKE);
    if (error) {
        close(loop->wake_descriptor);
        close(loop->epoll_descriptor);
    }
    return error;
}

int runloop__portset_reopen(runloop *loop) {
    int descriptor = epoll_create1(EPOLL_CLOEXEC);
    if (descriptor < 0)
        return -errno;
    // The number stays: whoever watches it watches the loop.
    int error = dup3(descriptor, loop->epoll_descriptor, O_CLOEXEC) < 0 ? -errno : 0;
    close(descriptor);
    if (error)
        return error;
    watch_edges(loop, loop->wake_descriptor, NUMBER_WAKE);
    if (loop->timer_descriptor >= 0)
        watch_edges(loop, loop->timer_descriptor, NUMBER_TIMER);
    if (runloop__port_at(loop, PORT_MAIN_QUEUE)->in_set)
        runloop__portset_watch_main_queue(loop);
    return 0;
}

void runloop__portset_close(runloop *loop) {
    close(loop->epoll_descriptor);
    close(loop->wake_descriptor);
    if (loop->timer_descriptor >= 0)
        close(loop->timer_descriptor);
}

void runloop__portset_write_wake(runloop *loop) {
    // Called from signal handlers: errno belongs to the interrupted code. The counter can't overflow in this universe, and a
    // write that fails because it would is an edge that has been there 2^64 times.
    int saved = errno;
    uint64_t one = 1;
    ssize_t written = write(loop->wake_descriptor, &one, sizeof one);
    (void)written;
    errno = saved;
}

int runloop__portset_arm(runloop *loop, int64_t fire_ns) {
    if (loop->timer_descriptor < 0) {
        int descriptor = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
        if (descriptor < 0)
            return -errno;
        int error = watch_edges(loop, descriptor, NUMBER_TIMER);
        if (error) {
            close(descriptor);
            return error;
        }
        loop->timer_descriptor = descriptor;
    }
    // An all-zero instant would disarm; anything in the past expires at once, which is what is meant.
    int64_t instant_ns = fire_ns < 1 ? 1 : fire_ns;
    struct itimerspec when = {.it_value = {.tv_sec = instant_ns / 1000000000, .tv_nsec = instant_ns % 1000000000}};
    if (timerfd_settime(loop->timer_descriptor, TFD_TIMER_ABSTIME, &when, NULL))
        return -errno;
    loop->armed_ns = fire_ns;
    return 0;
}

static int wait_with_timeout(int epoll_descriptor, struct epoll_event *events, int64_t timeout_ns) {
#ifdef SYS_epoll_pwait2
    // The kernel's own layout: 64-bit fields on every architecture that has the call.
    struct {
        int64_t seconds, nanoseconds;
    } timeout = {timeout_ns / 1000000000, timeout_ns % 1000000000};
    long count = syscall(SYS_epoll_pwait2, epoll_descriptor, events, RUNLOOP__BATCH, &timeout, NULL, 0);
    // A kernel before 5.11 doesn't know the call, and a sandbox may forbid what it doesn't know.
    if (count >= 0 || errno == EINTR)
        return (int)count;
#endif
    int64_t milliseconds = timeout_ns / 1000000 + (timeout_ns % 1000000 != 0);
    return epoll_wait(epoll_descriptor, events, RUNLOOP__BATCH, milliseconds < INT_MAX ? (int)milliseconds : INT_MAX);
}

int runloop__portset_wait(runloop *loop, int64_t timeout_ns, bool *timer_expired) {
    struct epoll_event events[RUNLOOP__BATCH];
    int count;
    if (timeout_ns == 0 || timeout_ns == RUNLOOP_FOREVER)
        count = epoll_wait(loop->epoll_descriptor, events, RUNLOOP__BATCH, timeout_ns == 0 ? 0 : -1);
    else
        count = wait_with_timeout(loop->epoll_descriptor, events, timeout_ns);
    if (count <= 0)
        return count;
    runloop__lock(loop);
    for (int i = 0; i < count; i++) {
        uint64_t tag = events[i].data.u64;
        if (tag == NUMBER_TIMER) {
            loop->armed_ns = RUNLOOP_NEVER;
            *timer_expired = true;
        } else if (tag != NUMBER_WAKE) {
            runloop__port_report(loop, tag, events[i].events);
        }
    }
    return count;
}
