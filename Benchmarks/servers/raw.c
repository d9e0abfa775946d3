// raw.c — the servers' loop written by hand: one epoll set, nothing else.

#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "loop.h"

enum { BATCH = 64 };

struct loop_watch {
    loop_ready ready;
    void *info;
    int descriptor;
};

static int epoll = -1;
static bool is_stopped;

void loop_open(void) {
    epoll = epoll_create1(EPOLL_CLOEXEC);
    loop_check(epoll >= 0, "epoll");
}

static void set(struct loop_watch *watch, int operation, enum loop_direction direction) {
    struct epoll_event event = {.events = direction == LOOP_READING ? EPOLLIN : EPOLLOUT, .data.ptr = watch};
    loop_check(epoll_ctl(epoll, operation, watch->descriptor, &event) == 0, "epoll_ctl");
}

struct loop_watch *loop_watch_start(int descriptor, loop_ready ready, void *info) {
    struct loop_watch *watch = malloc(sizeof *watch);
    loop_check(watch != NULL, "memory");
    *watch = (struct loop_watch){.ready = ready, .info = info, .descriptor = descriptor};
    set(watch, EPOLL_CTL_ADD, LOOP_READING);
    return watch;
}

void loop_watch_turn(struct loop_watch *watch, enum loop_direction direction) {
    set(watch, EPOLL_CTL_MOD, direction);
}

void loop_watch_end(struct loop_watch *watch) {
    close(watch->descriptor); // also removes it from the set
    free(watch);
}

void loop_run(void) {
    is_stopped = false;
    while (!is_stopped) {
        struct epoll_event events[BATCH];
        int count = epoll_wait(epoll, events, BATCH, -1);
        // A watch ends only in its own callback, so no later event of this batch belongs to a freed one.
        for (int i = 0; i < count; i++) {
            struct loop_watch *watch = events[i].data.ptr;
            watch->ready(watch->info);
        }
    }
}

void loop_stop(void) {
    is_stopped = true;
}
