// libevent.c — the servers on libevent.

#include <event2/event.h>
#include <stdlib.h>
#include <unistd.h>

#include "loop.h"

struct loop_watch {
    struct event *event;
    loop_ready ready;
    void *info;
    int descriptor;
};

static struct event_base *base;

void loop_open(void) {
    base = event_base_new();
    loop_check(base != NULL, "event_base_new");
}

static void ready(evutil_socket_t descriptor, short events, void *info) {
    (void)descriptor, (void)events;
    const struct loop_watch *watch = info;
    watch->ready(watch->info);
}

struct loop_watch *loop_watch_start(int descriptor, loop_ready function, void *info) {
    struct loop_watch *watch = malloc(sizeof *watch);
    loop_check(watch != NULL, "memory");
    *watch = (struct loop_watch){.ready = function, .info = info, .descriptor = descriptor};
    watch->event = event_new(base, descriptor, EV_READ | EV_PERSIST, ready, watch);
    loop_check(watch->event && event_add(watch->event, NULL) == 0, "event");
    return watch;
}

void loop_watch_turn(struct loop_watch *watch, enum loop_direction direction) {
    short events = direction == LOOP_READING ? EV_READ : EV_WRITE;
    event_del(watch->event);
    event_assign(watch->event, base, watch->descriptor, (short)(events | EV_PERSIST), ready, watch);
    loop_check(event_add(watch->event, NULL) == 0, "event_add");
}

void loop_watch_end(struct loop_watch *watch) {
    event_free(watch->event);
    close(watch->descriptor);
    free(watch);
}

void loop_run(void) {
    event_base_dispatch(base);
}

void loop_stop(void) {
    event_base_loopbreak(base);
}
