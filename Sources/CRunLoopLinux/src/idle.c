// idle.c — how long an input may bring nothing, or a part of a message, and an output be stuck.
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

/// RUNLOOP_NEVER: not at all.
static void set_timer(struct idle *idle, int64_t after_ns, int64_t now_ns) {
    struct itimerspec date = {0};
    if (after_ns != RUNLOOP_NEVER)
        date.it_value = (struct timespec){.tv_sec = after_ns / 1000000000, .tv_nsec = after_ns % 1000000000};
    timerfd_settime(idle->timer, 0, &date, NULL);
    if (__builtin_add_overflow(now_ns, after_ns, &idle->due_ns))
        idle->due_ns = RUNLOOP_NEVER;
}

int runloop__idle_open(struct idle *idle, int set, int64_t now_ns) {
    idle->begun_ns = idle->due_ns = RUNLOOP_NEVER;
    if (idle->limit_ns == 0 && idle->message_ns == 0)
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
    if (idle->limit_ns)
        set_timer(idle, idle->limit_ns, now_ns);
    return 0;
}

void runloop__idle_close(struct idle *idle) {
    if (idle->timer < 0)
        return;
    close(idle->timer);
    runloop_output_release(idle->output);
}

void runloop__idle_set_begun(struct idle *idle, int64_t begun_ns) {
    idle->begun_ns = begun_ns;
    // A timer that is due earlier looks, and is then set on.
    bool is_late = idle->due_ns == RUNLOOP_NEVER || idle->due_ns - begun_ns > idle->message_ns;
    if (begun_ns != RUNLOOP_NEVER && is_late)
        set_timer(idle, idle->message_ns, begun_ns);
}

/// How much is left of a limit; 0 or less: nothing.
static int64_t rest_of(int64_t limit_ns, int64_t since_ns, int64_t now_ns) {
    // Another thread may have sent something since the clock was read.
    return limit_ns - (now_ns > since_ns ? now_ns - since_ns : 0);
}

bool runloop__idle_is_over(struct idle *idle, int64_t moved_ns, int64_t now_ns) {
    if (idle->timer < 0)
        return false;
    int64_t rest = RUNLOOP_NEVER;
    if (idle->limit_ns) {
        int64_t latest = moved_ns > idle->since_ns ? moved_ns : idle->since_ns;
        int64_t sent = idle->output ? runloop_output_get_moved_ns(idle->output) : latest;
        rest = rest_of(idle->limit_ns, sent > latest ? sent : latest, now_ns);
    }
    if (idle->begun_ns != RUNLOOP_NEVER) {
        int64_t rest_of_message = rest_of(idle->message_ns, idle->begun_ns, now_ns);
        rest = rest_of_message < rest ? rest_of_message : rest;
    }
    if (rest <= 0)
        return true;
    set_timer(idle, rest, now_ns);
    return false;
}
