// uv.c — the servers on libuv, by its poll handles: the reading and writing is the servers' own, as on every other loop, and what
// differs is the loop. libuv's streams would put its own buffers and requests in their place.

#include <stdlib.h>
#include <unistd.h>
#include <uv.h>

#include "loop.h"

struct loop_watch {
    uv_poll_t poll; // first: freed through it
    loop_ready ready;
    void *info;
    int descriptor;
    enum loop_direction direction;
};

static uv_loop_t loop;

void loop_open(void) {
    loop_check(uv_loop_init(&loop) == 0, "uv_loop_init");
}

static void ready(uv_poll_t *poll, int status, int events) {
    (void)status, (void)events;
    struct loop_watch *watch = (struct loop_watch *)poll;
    watch->ready(watch->info);
}

static void start(struct loop_watch *watch) {
    int events = watch->direction == LOOP_READING ? UV_READABLE : UV_WRITABLE;
    loop_check(uv_poll_start(&watch->poll, events, ready) == 0, "uv_poll_start");
}

struct loop_watch *loop_watch_start(int descriptor, loop_ready function, void *info) {
    struct loop_watch *watch = malloc(sizeof *watch);
    loop_check(watch != NULL, "memory");
    *watch = (struct loop_watch){.ready = function, .info = info, .descriptor = descriptor};
    loop_check(uv_poll_init(&loop, &watch->poll, descriptor) == 0, "uv_poll_init");
    start(watch);
    return watch;
}

void loop_watch_turn(struct loop_watch *watch, enum loop_direction direction) {
    if (watch->direction == direction)
        return;
    watch->direction = direction;
    start(watch);
}

static void closed(uv_handle_t *handle) {
    free(handle);
}

/// libuv has let go of the descriptor when uv_close returns, and of the handle an iteration later.
void loop_watch_end(struct loop_watch *watch) {
    uv_close((uv_handle_t *)&watch->poll, closed);
    close(watch->descriptor);
}

void loop_run(void) {
    uv_run(&loop, UV_RUN_DEFAULT);
}

void loop_stop(void) {
    uv_stop(&loop);
}
