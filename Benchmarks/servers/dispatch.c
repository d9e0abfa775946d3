// dispatch.c — the servers on libdispatch: a source per direction, all on one serial queue, which stands for the loop.

#include <dispatch/dispatch.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "loop.h"

struct loop_watch {
    dispatch_source_t sources[2]; ///< by direction; NULL: not needed yet
    loop_ready ready;
    void *info;
    int descriptor;
    int alive; ///< the number of sources that are not cancelled yet
    enum loop_direction direction;
};

static dispatch_queue_t queue;
static dispatch_semaphore_t stopped;

void loop_open(void) {
    queue = dispatch_queue_create("server", DISPATCH_QUEUE_SERIAL);
    stopped = dispatch_semaphore_create(0);
}

static void ready(void *info) {
    const struct loop_watch *watch = info;
    watch->ready(watch->info);
}

/// A descriptor may be closed when the cancellation handler of its last source has run.
static void cancelled(void *info) {
    struct loop_watch *watch = info;
    if (--watch->alive > 0)
        return;
    close(watch->descriptor);
    free(watch);
}

static void start(struct loop_watch *watch) {
    dispatch_source_t *source = &watch->sources[watch->direction];
    if (!*source) {
        dispatch_source_type_t type =
            watch->direction == LOOP_READING ? DISPATCH_SOURCE_TYPE_READ : DISPATCH_SOURCE_TYPE_WRITE;
        *source = dispatch_source_create(type, (uintptr_t)watch->descriptor, 0, queue);
        dispatch_set_context(*source, watch);
        dispatch_source_set_event_handler_f(*source, ready);
        dispatch_source_set_cancel_handler_f(*source, cancelled);
        watch->alive++;
    }
    dispatch_resume(*source);
}

struct loop_watch *loop_watch_start(int descriptor, loop_ready function, void *info) {
    struct loop_watch *watch = malloc(sizeof *watch);
    loop_check(watch != NULL, "memory");
    *watch = (struct loop_watch){.ready = function, .info = info, .descriptor = descriptor};
    start(watch);
    return watch;
}

void loop_watch_turn(struct loop_watch *watch, enum loop_direction direction) {
    dispatch_suspend(watch->sources[watch->direction]);
    watch->direction = direction;
    start(watch);
}

void loop_watch_end(struct loop_watch *watch) {
    for (int i = 0; i < 2; i++) {
        if (!watch->sources[i])
            continue;
        dispatch_source_cancel(watch->sources[i]);
        if (i != (int)watch->direction)
            dispatch_resume(watch->sources[i]); // the cancellation handler of a suspended source never runs
        dispatch_release(watch->sources[i]);
    }
}

void loop_run(void) {
    dispatch_semaphore_wait(stopped, DISPATCH_TIME_FOREVER);
}

void loop_stop(void) {
    dispatch_semaphore_signal(stopped);
}
