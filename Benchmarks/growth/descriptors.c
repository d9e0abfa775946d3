// descriptors.c — with N descriptor sources: add, remove, serve one; an iteration beside them. The descriptors are duplicates of one
// eventfd, which epoll takes for different ones, and which cost the kernel little; but for one, which becomes ready.

#include "growth.h"

#include <sys/eventfd.h>
#include <unistd.h>

static runloop_source **sources;
static size_t source_count;
static size_t chosen;
static int ready_descriptor;

static void add(void) {
    growth_check(runloop_add_source(growth_loop, sources[chosen], growth_mode) == 0, "add");
}

static void take_out(void) {
    growth_check(runloop_remove_source(growth_loop, sources[chosen], growth_mode) == 0, "remove");
}

static void take(runloop_source *source, runloop_readiness events, void *info) {
    (void)source, (void)events, (void)info;
    eventfd_t counter;
    growth_check(eventfd_read(ready_descriptor, &counter) == 0, "read");
}

static int counter(void) {
    int descriptor = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    growth_check(descriptor >= 0, "eventfd");
    return descriptor;
}

static void prepare(size_t count) {
    sources = growth_array(count, sizeof(runloop_source *));
    source_count = count;
    int idle = counter();
    for (chosen = 0; chosen < count; chosen++) {
        runloop_descriptor_config config = {.descriptor = dup(idle), .events = RUNLOOP_READABLE, .ready = take};
        growth_check(config.descriptor >= 0, "descriptor");
        growth_check(runloop_descriptor_source_create(&config, &sources[chosen]) == 0, "source");
        add();
    }
}

static void prepare_and_one(size_t count) {
    prepare(count);
    ready_descriptor = counter();
    runloop_descriptor_config config = {.descriptor = ready_descriptor, .events = RUNLOOP_READABLE, .ready = take};
    runloop_source *source = NULL;
    growth_check(runloop_descriptor_source_create(&config, &source) == 0, "source");
    growth_check(runloop_add_source(growth_loop, source, growth_mode) == 0, "add");
}

static void choose(void) {
    chosen = growth_random(source_count);
}

static void choose_and_take_out(void) {
    choose();
    take_out();
}

static void make_ready(void) {
    growth_check(eventfd_write(ready_descriptor, 1) == 0, "write");
}

const struct growth growth_of_descriptors[] = {
    {"descriptor add", prepare, choose_and_take_out, add, NULL},
    {"descriptor remove", prepare, choose, take_out, add},
    {"descriptor ready", prepare_and_one, make_ready, growth_iterate, NULL},
    {"descriptors idle", prepare, NULL, growth_iterate, NULL},
    {0},
};
