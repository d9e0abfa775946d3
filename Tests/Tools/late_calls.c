// late_calls.c — makes one in some calls of libc late, as on a machine whose processors have other work: for LD_PRELOAD.
//
// Around the calls by which a loop learns the time and waits, a thread sleeps for LATE_MS=12 once in LATE_ONE_IN=8 times; less often the
// more calls the process has made, so that a flood of them ends, too. A test that passes only if nothing takes longer than a few
// milliseconds fails under it soon, where a busy machine shows that once in a thousand runs.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

/// After so many calls, half as many are late.
enum { CALLS_TO_HALVE = 1024 };

static _Thread_local uint32_t state;
static _Atomic uint32_t calls;

static long setting(const char *name, long usual) {
    const char *value = getenv(name);
    return value ? atol(value) : usual;
}

/// Is no cancellation point, and leaves errno alone.
static void come_late(void) {
    static long one_in, length_ms;
    int saved = errno;
    if (one_in == 0) {
        length_ms = setting("LATE_MS", 12);
        one_in = setting("LATE_ONE_IN", 8);
    }
    // time() may be the program's own, and ask us.
    if (state == 0)
        state = (uint32_t)(uintptr_t)&state ^ (uint32_t)syscall(SYS_gettid) << 12;
    state = state * 1664525 + 1013904223;
    if ((state >> 8) % ((uint32_t)one_in * (1 + calls++ / CALLS_TO_HALVE)) == 0) {
        struct timespec length = {.tv_sec = length_ms / 1000, .tv_nsec = length_ms % 1000 * 1000000};
        syscall(SYS_nanosleep, &length, NULL);
    }
    errno = saved;
}

/// A call of the next library's function, with a delay before it and one after it.
#define LATE(name, parameters, ...)                                                                                    \
    int name parameters {                                                                                              \
        static int(*next) parameters;                                                                                  \
        if (!next)                                                                                                     \
            *(void **)&next = dlsym(RTLD_NEXT, #name);                                                                 \
        come_late();                                                                                                   \
        int result = next(__VA_ARGS__);                                                                                \
        come_late();                                                                                                   \
        return result;                                                                                                 \
    }

LATE(epoll_wait, (int set, struct epoll_event *events, int capacity, int limit), set, events, capacity, limit)
LATE(epoll_pwait2,
     (int set, struct epoll_event *events, int capacity, const struct timespec *limit, const sigset_t *mask), set,
     events, capacity, limit, mask)
LATE(epoll_ctl, (int set, int operation, int descriptor, struct epoll_event *event), set, operation, descriptor, event)
LATE(timerfd_settime, (int timer, int flags, const struct itimerspec *date, struct itimerspec *former), timer, flags,
     date, former)
LATE(clock_gettime, (clockid_t clock, struct timespec *now), clock, now)
