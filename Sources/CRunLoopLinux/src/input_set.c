// input_set.c — the epoll set of an input.

#include "input_set.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

int runloop__input_set_open(struct input_set *set, int descriptor, bool *is_always_ready) {
    struct epoll_event readable = {.events = EPOLLIN};
    set->set = epoll_create1(EPOLL_CLOEXEC);
    if (set->set < 0)
        return -errno;
    if (epoll_ctl(set->set, EPOLL_CTL_ADD, descriptor, &readable) == 0)
        return 0;
    if (errno != EPERM)
        return -errno;
    *is_always_ready = true;
    return runloop__input_set_stir(set, true);
}

void runloop__input_set_close(struct input_set *set) {
    if (set->stirrer >= 0)
        close(set->stirrer);
    if (set->set >= 0)
        close(set->set);
}

int runloop__input_set_reserve(struct input_set *set) {
    if (set->stirrer < 0)
        set->stirrer = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
    return set->stirrer < 0 ? -errno : 0;
}

int runloop__input_set_stir(struct input_set *set, bool stirs) {
    if (stirs == set->is_stirred)
        return 0;
    struct epoll_event readable = {.events = EPOLLIN};
    int result = runloop__input_set_reserve(set);
    if (result == 0 && epoll_ctl(set->set, stirs ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, set->stirrer, &readable) < 0)
        result = -errno;
    if (result == 0)
        set->is_stirred = stirs;
    return result;
}
