// wait_set.h — what a guest waits for, as one descriptor: an epoll set of the guest's descriptors and a timerfd for its deadline.
#ifndef RUNLOOP_FOREIGN_WAIT_SET_H
#define RUNLOOP_FOREIGN_WAIT_SET_H
#ifdef __linux__

#include <poll.h>
#include <stdint.h>

/// What can't be watched, for want of memory or because epoll sets are nested too deeply, is asked about again after so long.
#define WAIT_SET_RETRY_NS INT64_C(10000000)

struct watch {
    int descriptor;
    uint32_t events;
};

struct wait_set {
    int descriptor;     ///< The epoll set.
    int timer;          ///< Never read, so it remains readable until it is armed anew.
    int64_t armed_ns;   ///< What the timer is armed for.
    struct watch *held; ///< What is in the set, by ascending descriptor.
    int count;
    struct watch *next; ///< What will be.
    int capacity;       ///< Of both arrays.
};

/// 0, or the error of epoll_create1, timerfd_create or epoll_ctl. It is readable.
int runloop__wait_set_open(struct wait_set *set);
/// Also one that could not be opened.
void runloop__wait_set_close(struct wait_set *set);

/// Reserves memory for `count` descriptors: 0 or -ENOMEM.
int runloop__wait_set_reserve(struct wait_set *set, int count);
/// From now on the set is readable as soon as `poll` would return for these descriptors, at most as many as were
/// reserved, or the deadline has come.
void runloop__wait_set_update(struct wait_set *set, const struct pollfd *descriptors, int count, int64_t deadline_ns);
/// Changes the deadline alone.
void runloop__wait_set_arm(struct wait_set *set, int64_t deadline_ns);
/// Descriptors that are reported do not make the set readable again before the next update.
void runloop__wait_set_discard(struct wait_set *set);

#endif // __linux__
#endif // RUNLOOP_FOREIGN_WAIT_SET_H
