// wait_set.c — an epoll set that is brought up to date before each wait.
//
// A guest closes and opens descriptors as it likes, and the kernel gives the same numbers again. Whether 5 is still the file that was
// put into the set can't be seen from here, so each update asks the kernel: EPOLL_CTL_MOD fails if it is another one.
//
// The set may also hold what has no number any more: a file that the guest has closed but another process, or a duplicate, keeps open.
// EPOLLONESHOT makes it harmless. An update arms everything that has a number, so what was reported and discarded without one is
// never reported again.
#ifdef __linux__
#include "wait_set.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "runloop_lock.h"

int runloop__wait_set_open(struct wait_set *set) {
    *set = (struct wait_set){.descriptor = epoll_create1(EPOLL_CLOEXEC), .timer = -1, .armed_ns = RUNLOOP_NEVER};
    if (set->descriptor >= 0)
        set->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    struct epoll_event readable = {.events = EPOLLIN};
    if (set->timer < 0 || epoll_ctl(set->descriptor, EPOLL_CTL_ADD, set->timer, &readable) != 0) {
        int error = errno;
        runloop__wait_set_close(set);
        return -error;
    }
    runloop__wait_set_arm(set, 0);
    return 0;
}

void runloop__wait_set_close(struct wait_set *set) {
    if (set->timer >= 0)
        close(set->timer);
    if (set->descriptor >= 0)
        close(set->descriptor);
    free(set->held);
    free(set->next);
    *set = (struct wait_set){.descriptor = -1, .timer = -1};
}

int runloop__wait_set_reserve(struct wait_set *set, int count) {
    if (count <= set->capacity)
        return 0;
    struct watch *held = realloc(set->held, (size_t)count * sizeof *held);
    if (held)
        set->held = held;
    struct watch *next = realloc(set->next, (size_t)count * sizeof *next);
    if (next)
        set->next = next;
    if (!held || !next)
        return -ENOMEM;
    set->capacity = count;
    return 0;
}

void runloop__wait_set_arm(struct wait_set *set, int64_t deadline_ns) {
    if (deadline_ns == set->armed_ns)
        return;
    struct itimerspec when = {0};
    if (deadline_ns != RUNLOOP_NEVER) {
        // All zeros would disarm it.
        int64_t ns = deadline_ns > 0 ? deadline_ns : 1;
        when.it_value.tv_sec = ns / 1000000000;
        when.it_value.tv_nsec = ns % 1000000000;
    }
    timerfd_settime(set->timer, TFD_TIMER_ABSTIME, &when, NULL);
    set->armed_ns = deadline_ns;
}

static int compare(const void *left, const void *right) {
    int a = ((const struct watch *)left)->descriptor, b = ((const struct watch *)right)->descriptor;
    return (a > b) - (a < b);
}

/// As watches in ascending order, each descriptor once.
static int collect(struct watch *watches, const struct pollfd *descriptors, int count) {
    int found = 0, merged = 0;
    for (int i = 0; i < count; i++)
        if (descriptors[i].fd >= 0)
            watches[found++] = (struct watch){descriptors[i].fd, (uint16_t)descriptors[i].events};
    if (found > 1)
        qsort(watches, (size_t)found, sizeof *watches, compare);
    for (int i = 0; i < found; i++) {
        if (merged > 0 && watches[merged - 1].descriptor == watches[i].descriptor)
            watches[merged - 1].events |= watches[i].events;
        else
            watches[merged++] = watches[i];
    }
    return merged;
}

/// Arms a descriptor. When the guest has to be asked because the kernel won't report it.
static int64_t watch(int set, const struct watch *watch) {
    struct epoll_event event = {.events = watch->events | EPOLLONESHOT};
    if (epoll_ctl(set, EPOLL_CTL_MOD, watch->descriptor, &event) == 0 ||
        epoll_ctl(set, EPOLL_CTL_ADD, watch->descriptor, &event) == 0)
        return RUNLOOP_NEVER;
    // For `poll` a closed descriptor and a regular file are ready.
    return errno == EBADF || errno == EPERM ? 0 : runloop_get_now_ns(NULL) + WAIT_SET_RETRY_NS;
}

void runloop__wait_set_update(struct wait_set *set, const struct pollfd *descriptors, int count, int64_t deadline_ns) {
    ASSERT(count <= set->capacity, "A wait set has too little memory for its descriptors.");
    int wanted = collect(set->next, descriptors, count);
    for (int held = 0, next = 0; held < set->count; held++) {
        while (next < wanted && set->next[next].descriptor < set->held[held].descriptor)
            next++;
        // Fails for one that was closed, which has left the set.
        if (next == wanted || set->next[next].descriptor != set->held[held].descriptor)
            epoll_ctl(set->descriptor, EPOLL_CTL_DEL, set->held[held].descriptor, NULL);
    }
    for (int next = 0; next < wanted; next++) {
        int64_t ask_ns = watch(set->descriptor, &set->next[next]);
        if (ask_ns < deadline_ns)
            deadline_ns = ask_ns;
    }
    struct watch *former = set->held;
    set->held = set->next;
    set->next = former;
    set->count = wanted;
    runloop__wait_set_arm(set, deadline_ns);
}

void runloop__wait_set_discard(struct wait_set *set) {
    struct epoll_event events[16];
    // The timer is always reported, so a full batch may be followed by another one, but not for ever.
    for (int left = set->count + 1, count = 16; count == 16 && left > 0; left -= count)
        count = epoll_wait(set->descriptor, events, 16, 0);
}
#endif // __linux__
