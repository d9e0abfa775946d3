// loop.c — the servers' loop: the calling thread's run loop. A descriptor source is created for one direction; so a watch has
// two of them, the second from the first time that it has to wait for room in the socket.

#include "loop.h"

#include <runloop.h>
#include <stdlib.h>
#include <unistd.h>

struct loop_watch {
    loop_ready ready;
    void *info;
    int descriptor;
    enum loop_direction direction;
    runloop_source *sources[2]; ///< by direction; NULL: not needed so far
};

static runloop *loop;
static const char *mode;

void loop_open(void) {
    loop = runloop_current();
    mode = runloop_mode_name(RUNLOOP_DEFAULT_MODE);
    loop_check(loop && mode, "run loop");
}

static void ready(runloop_source *source, runloop_readiness events, void *info) {
    (void)source, (void)events;
    const struct loop_watch *watch = info;
    watch->ready(watch->info);
}

static runloop_source *source_of(struct loop_watch *watch) {
    runloop_source **source = &watch->sources[watch->direction];
    if (!*source) {
        runloop_descriptor_config config = {
            .context.info = watch,
            .descriptor = watch->descriptor,
            .events = watch->direction == LOOP_READING ? RUNLOOP_READABLE : RUNLOOP_WRITABLE,
            .ready = ready,
        };
        loop_check(runloop_descriptor_source_create(&config, source) == 0, "source");
    }
    return *source;
}

struct loop_watch *loop_watch_start(int descriptor, loop_ready function, void *info) {
    struct loop_watch *watch = malloc(sizeof *watch);
    loop_check(watch != NULL, "memory");
    *watch = (struct loop_watch){.ready = function, .info = info, .descriptor = descriptor};
    loop_check(runloop_add_source(loop, source_of(watch), mode) == 0, "add source");
    return watch;
}

void loop_watch_turn(struct loop_watch *watch, enum loop_direction direction) {
    if (watch->direction == direction)
        return;
    runloop_remove_source(loop, watch->sources[watch->direction], mode);
    watch->direction = direction;
    loop_check(runloop_add_source(loop, source_of(watch), mode) == 0, "add source");
}

void loop_watch_end(struct loop_watch *watch) {
    for (int i = 0; i < 2; i++) {
        if (!watch->sources[i])
            continue;
        runloop_source_invalidate(watch->sources[i]);
        runloop_source_release(watch->sources[i]);
    }
    close(watch->descriptor);
    free(watch);
}

void loop_run(void) {
    runloop_run();
}

void loop_stop(void) {
    runloop_stop(loop);
}
