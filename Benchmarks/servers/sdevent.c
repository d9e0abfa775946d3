// sdevent.c — the servers on sd-event.

#include <stdlib.h>
#include <sys/epoll.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "loop.h"

struct loop_watch {
    sd_event_source *source;
    loop_ready ready;
    void *info;
    int descriptor;
};

static sd_event *loop;

void loop_open(void) {
    loop_check(sd_event_default(&loop) >= 0, "sd_event_default");
}

static int ready(sd_event_source *source, int descriptor, uint32_t events, void *info) {
    (void)source, (void)descriptor, (void)events;
    const struct loop_watch *watch = info;
    watch->ready(watch->info);
    return 0;
}

struct loop_watch *loop_watch_start(int descriptor, loop_ready function, void *info) {
    struct loop_watch *watch = malloc(sizeof *watch);
    loop_check(watch != NULL, "memory");
    *watch = (struct loop_watch){.ready = function, .info = info, .descriptor = descriptor};
    loop_check(sd_event_add_io(loop, &watch->source, descriptor, EPOLLIN, ready, watch) >= 0, "sd_event_add_io");
    return watch;
}

void loop_watch_turn(struct loop_watch *watch, enum loop_direction direction) {
    sd_event_source_set_io_events(watch->source, direction == LOOP_READING ? EPOLLIN : EPOLLOUT);
}

void loop_watch_end(struct loop_watch *watch) {
    sd_event_source_disable_unref(watch->source);
    close(watch->descriptor);
    free(watch);
}

void loop_run(void) {
    sd_event_loop(loop);
}

void loop_stop(void) {
    sd_event_exit(loop, 0);
}
