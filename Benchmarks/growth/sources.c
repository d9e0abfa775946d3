// sources.c — with N signalled sources: add, remove, signal, perform one; an iteration beside them. With N common items
// in four modes: add and remove one.

#include "growth.h"

static runloop_source **sources;
static size_t source_count;
static size_t chosen;
static const char *mode; ///< the default mode, or the common ones

static void add(void) {
    growth_check(runloop_add_source(growth_loop, sources[chosen], mode) == 0, "add");
}

static void take_out(void) {
    growth_check(runloop_remove_source(growth_loop, sources[chosen], mode) == 0, "remove");
}

static void fill(size_t count) {
    sources = growth_array(count, sizeof(runloop_source *));
    source_count = count;
    for (chosen = 0; chosen < count; chosen++)
        sources[chosen] = growth_source(mode);
}

static void prepare(size_t count) {
    mode = growth_mode;
    fill(count);
}

static void prepare_common(size_t count) {
    static const char *const names[] = {"one", "two", "three"};
    for (int i = 0; i < 3; i++)
        growth_check(runloop_add_common_mode(growth_loop, names[i]) == 0, "common mode");
    mode = runloop_mode_name(RUNLOOP_COMMON_MODES);
    fill(count);
}

static void choose(void) {
    chosen = growth_random(source_count);
}

static void choose_and_take_out(void) {
    choose();
    take_out();
}

static void signal(void) {
    runloop_source_signal(sources[chosen]);
}

static void choose_and_signal(void) {
    choose();
    signal();
}

static void invalidate(void) {
    runloop_source_invalidate(sources[chosen]);
}

static void replace(void) {
    runloop_source_release(sources[chosen]);
    sources[chosen] = growth_source(mode);
}

static void ask(void) {
    runloop_contains_source(growth_loop, sources[chosen], growth_mode);
}

static void wake(void) {
    runloop_wake_up(growth_loop);
}

const struct growth growth_of_sources[] = {
    {"source add", prepare, choose_and_take_out, add, NULL},
    {"source remove", prepare, choose, take_out, add},
    {"source invalidate", prepare, choose, invalidate, replace},
    {"source contains", prepare, choose, ask, NULL},
    {"source signal", prepare, choose, signal, growth_iterate},
    {"source perform", prepare, choose_and_signal, growth_iterate, NULL},
    {"sources idle", prepare, NULL, growth_iterate, NULL},
    {"wake-up", prepare, NULL, wake, growth_iterate},
    {"common item add", prepare_common, choose_and_take_out, add, NULL},
    {"common item remove", prepare_common, choose, take_out, add},
    {0},
};
