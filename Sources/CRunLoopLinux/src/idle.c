// idle.c — how long an input may bring nothing, and an output be stuck.
//
// The timer is in the epoll set that the stream's source watches, so it comes in the modes of the source, on the loop that reads or writes, and
// not while an input is paused, or no output waits; and it ends with the stream. It is never read: setting it on makes it unreadable.

// On 32-bit machines, limits of many years are asked for like this. Nothing of this file's types is seen by others.
#define _FILE_OFFSET_BITS 64
#define _TIME_BITS 64

#include "idle.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

static void set_timer(const struct idle *idle, int64_t after_ns) {
    const struct itimerspec date = {.it_value = {.tv_sec = after_ns / 1000000000, .tv_nsec = after_ns % 1000000000}};
    timerfd_settime(idle->timer, 0, &date, NULL);
}

int runloop__idle_open(struct idle *idle, int set, int64_t now_ns) {
    if (idle->limit_ns == 0)
        return 0;
    struct epoll_event readable = {.events = EPOLLIN};
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (timer < 0)
        return -errno;
    if (epoll_ctl(set, EPOLL_CTL_ADD, timer, &readable) < 0) {
        int result = -errno;
        close(timer);
        return result;
    }
    idle->timer = timer;
    idle->since_ns = now_ns;
    idle->output = runloop_output_retain(idle->output);
    set_timer(idle, idle->limit_ns);
    return 0;
}

void runloop__idle_close(struct idle *idle) {
    if (idle->timer < 0)
        return;
    close(idle->timer);
    runloop_output_release(idle->output);
}

bool runloop__idle_is_over(struct idle *idle, int64_t moved_ns, int64_t now_ns) {
    if (idle->limit_ns == 0)
        return false;
    int64_t latest = moved_ns > idle->since_ns ? moved_ns : idle->since_ns;
    int64_t sent = idle->output ? runloop_output_get_moved_ns(idle->output) : latest;
    if (sent > latest)
        latest = sent;
    // Another thread may have sent something since the clock was read.
    int64_t silence = now_ns > latest ? now_ns - latest : 0;
    if (silence >= idle->limit_ns)
        return true;
    set_timer(idle, idle->limit_ns - silence);
    return false;
}
