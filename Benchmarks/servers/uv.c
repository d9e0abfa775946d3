// uv.c — the servers on libuv, with its poll handles: the servers themselves read and write, as on every other loop, and only the
// loop differs. libuv's streams would use its own buffers and requests instead.

#include <stdlib.h>
#include <unistd.h>
#include <uv.h>

#include "loop.h"

struct loop_watch {
    uv_poll_t poll; // first, because the watch is freed through it
    loop_ready ready;
    void *info;
    int descriptor;
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

static void start(struct loop_watch *watch, enum loop_direction direction) {
    int events = direction == LOOP_READING ? UV_READABLE : UV_WRITABLE;
    loop_check(uv_poll_start(&watch->poll, events, ready) == 0, "uv_poll_start");
}

struct loop_watch *loop_watch_start(int descriptor, loop_ready function, void *info) {
    struct loop_watch *watch = malloc(sizeof *watch);
    loop_check(watch != NULL, "memory");
    *watch = (struct loop_watch){.ready = function, .info = info, .descriptor = descriptor};
    loop_check(uv_poll_init(&loop, &watch->poll, descriptor) == 0, "uv_poll_init");
    start(watch, LOOP_READING);
    return watch;
}

void loop_watch_turn(struct loop_watch *watch, enum loop_direction direction) {
    start(watch, direction);
}

static void closed(uv_handle_t *handle) {
    free(handle);
}

/// libuv no longer uses the descriptor when uv_close returns, and the handle an iteration later.
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
