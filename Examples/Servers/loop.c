// loop.c — the servers' loop: the calling thread's run loop. A watch is a descriptor source that asks for one direction at a time.

#include "loop.h"

#include <runloop.h>
#include <stdlib.h>
#include <unistd.h>

struct loop_watch {
    loop_ready ready;
    void *info;
    int descriptor;
    enum loop_direction direction;
    runloop_source *source;
};

static runloop *loop;

void loop_open(void) {
    loop = runloop_current();
    loop_check(loop != NULL, "run loop");
}

static runloop_readiness events_of(enum loop_direction direction) {
    return direction == LOOP_READING ? RUNLOOP_READABLE : RUNLOOP_WRITABLE;
}

static void ready(runloop_source *source, runloop_readiness events, void *info) {
    (void)source, (void)events;
    const struct loop_watch *watch = info;
    watch->ready(watch->info);
}

struct loop_watch *loop_watch_start(int descriptor, loop_ready function, void *info) {
    struct loop_watch *watch = malloc(sizeof *watch);
    loop_check(watch != NULL, "memory");
    *watch = (struct loop_watch){.ready = function, .info = info, .descriptor = descriptor, .direction = LOOP_READING};
    runloop_descriptor_config config = {
        .context.info = watch, .descriptor = descriptor, .events = events_of(LOOP_READING), .ready = ready};
    loop_check(runloop_descriptor_source_create(&config, &watch->source) == 0, "source");
    loop_check(runloop_add_source(loop, watch->source, RUNLOOP_DEFAULT_MODE) == 0, "add source");
    return watch;
}

void loop_watch_turn(struct loop_watch *watch, enum loop_direction direction) {
    if (watch->direction == direction)
        return;
    watch->direction = direction;
    loop_check(runloop_source_set_events(watch->source, events_of(direction)) == 0, "set events");
}

void loop_watch_end(struct loop_watch *watch) {
    runloop_source_invalidate(watch->source);
    runloop_source_release(watch->source);
    close(watch->descriptor);
    free(watch);
}

void loop_run(void) {
    runloop_run();
}

void loop_stop(void) {
    runloop_stop(loop);
}
