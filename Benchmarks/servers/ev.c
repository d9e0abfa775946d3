// ev.c — the servers on libev.

#define EV_MULTIPLICITY 1
#include <ev.h>
#include <stdlib.h>
#include <unistd.h>

#include "loop.h"

struct loop_watch {
    ev_io io;
    loop_ready ready;
};

static struct ev_loop *loop;

void loop_open(void) {
    loop = ev_loop_new(EVBACKEND_EPOLL);
    loop_check(loop != NULL, "ev_loop_new");
}

static void ready(struct ev_loop *ev, ev_io *io, int events) {
    (void)ev, (void)events;
    ((struct loop_watch *)io)->ready(io->data);
}

struct loop_watch *loop_watch_start(int descriptor, loop_ready function, void *info) {
    struct loop_watch *watch = malloc(sizeof *watch);
    loop_check(watch != NULL, "memory");
    watch->ready = function;
    ev_io_init(&watch->io, ready, descriptor, EV_READ);
    watch->io.data = info;
    ev_io_start(loop, &watch->io);
    return watch;
}

void loop_watch_turn(struct loop_watch *watch, enum loop_direction direction) {
    ev_io_stop(loop, &watch->io);
    ev_io_set(&watch->io, watch->io.fd, direction == LOOP_READING ? EV_READ : EV_WRITE);
    ev_io_start(loop, &watch->io);
}

void loop_watch_end(struct loop_watch *watch) {
    ev_io_stop(loop, &watch->io);
    close(watch->io.fd);
    free(watch);
}

void loop_run(void) {
    ev_run(loop, 0);
}

void loop_stop(void) {
    ev_break(loop, EVBREAK_ALL);
}
