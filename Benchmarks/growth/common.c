// common.c — items in all common modes. With M common modes: add, remove, invalidate, move, fire one item; post a function to them all.
// With N common items: declare one more mode common.

#include "growth.h"

#include <stdio.h>

static const int64_t hour_ns = 3600 * INT64_C(1000000000);

static const char *common;
static runloop_source *source;
static runloop_timer *timer;
static runloop_observer *observer;

static void declare_next(void) {
    static size_t count;
    char name[32];
    snprintf(name, sizeof name, "mode %zu", count++);
    growth_check(runloop_add_common_mode(growth_loop, name) == 0, "common mode");
}

/// The default mode is one of them.
static void prepare_modes(size_t count) {
    common = runloop_mode_name(RUNLOOP_COMMON_MODES);
    for (size_t i = 1; i < count; i++)
        declare_next();
}

//===-- one item in M modes ------------------------------------------------------------------------------------------===//

static runloop_source *made_source(void) {
    static const runloop_source_config config;
    runloop_source *made = NULL;
    growth_check(runloop_source_create(&config, &made) == 0, "source");
    return made;
}

static runloop_timer *made_timer(void) {
    runloop_timer_config config = {.fire_ns = runloop_now_ns() + hour_ns, .interval_ns = 2 * hour_ns};
    runloop_timer *made = NULL;
    growth_check(runloop_timer_create(&config, &made) == 0, "timer");
    return made;
}

static void observe(runloop_observer *told, runloop_activity activity, void *info) {
    (void)told, (void)activity, (void)info;
}

static runloop_observer *made_observer(void) {
    runloop_observer_config config = {.activities = RUNLOOP_ACTIVITY_ENTRY, .repeats = true, .observe = observe};
    runloop_observer *made = NULL;
    growth_check(runloop_observer_create(&config, &made) == 0, "observer");
    return made;
}

static void add_source(void) {
    growth_check(runloop_add_source(growth_loop, source, common) == 0, "add source");
}

static void add_timer(void) {
    growth_check(runloop_add_timer(growth_loop, timer, common) == 0, "add timer");
}

static void add_observer(void) {
    growth_check(runloop_add_observer(growth_loop, observer, common) == 0, "add observer");
}

static void remove_source(void) {
    growth_check(runloop_remove_source(growth_loop, source, common) == 0, "remove source");
}

static void remove_timer(void) {
    growth_check(runloop_remove_timer(growth_loop, timer, common) == 0, "remove timer");
}

static void remove_observer(void) {
    growth_check(runloop_remove_observer(growth_loop, observer, common) == 0, "remove observer");
}

static void prepare_source(size_t count) {
    prepare_modes(count);
    source = made_source();
    add_source();
}

static void prepare_timer(size_t count) {
    prepare_modes(count);
    timer = made_timer();
    add_timer();
}

static void prepare_observer(size_t count) {
    prepare_modes(count);
    observer = made_observer();
    add_observer();
}

static void invalidate_source(void) {
    runloop_source_invalidate(source);
}

static void replace_source(void) {
    runloop_source_release(source);
    source = made_source();
    add_source();
}

static void invalidate_timer(void) {
    runloop_timer_invalidate(timer);
}

static void replace_timer(void) {
    runloop_timer_release(timer);
    timer = made_timer();
    add_timer();
}

static void signal_source(void) {
    runloop_source_signal(source);
}

static void move_timer(void) {
    static int64_t later_ns;
    later_ns += 1000;
    runloop_timer_set_fire_date(timer, runloop_now_ns() + hour_ns + later_ns);
}

static void make_timer_due(void) {
    runloop_timer_set_fire_date(timer, runloop_now_ns());
}

//===-- a function in M modes ----------------------------------------------------------------------------------------===//

static void perform(void *info) {
    (void)info;
}

static void post(void) {
    growth_check(runloop_post(growth_loop, RUNLOOP_COMMON_MODES, perform, NULL, NULL) == 0, "post");
}

//===-- N items and one more mode ------------------------------------------------------------------------------------===//

static void prepare_sources(size_t count) {
    prepare_modes(1);
    for (size_t i = 0; i < count; i++) {
        source = made_source();
        add_source();
    }
}

static void prepare_timers(size_t count) {
    prepare_modes(1);
    for (size_t i = 0; i < count; i++) {
        timer = made_timer();
        runloop_timer_set_fire_date(timer, runloop_now_ns() + hour_ns + (int64_t)growth_random((size_t)hour_ns));
        add_timer();
    }
}

static void prepare_observers(size_t count) {
    prepare_modes(1);
    for (size_t i = 0; i < count; i++) {
        observer = made_observer();
        add_observer();
    }
}

const struct growth growth_of_common_items[] = {
    {"common source add", prepare_source, remove_source, add_source, NULL},
    {"common source remove", prepare_source, NULL, remove_source, add_source},
    {"common source invalidate", prepare_source, NULL, invalidate_source, replace_source},
    {"common source perform", prepare_source, signal_source, growth_iterate, NULL},
    {"common timer add", prepare_timer, remove_timer, add_timer, NULL},
    {"common timer remove", prepare_timer, NULL, remove_timer, add_timer},
    {"common timer invalidate", prepare_timer, NULL, invalidate_timer, replace_timer},
    {"common timer move", prepare_timer, NULL, move_timer, NULL},
    {"common timer fire", prepare_timer, make_timer_due, growth_iterate, NULL},
    {"common observer add", prepare_observer, remove_observer, add_observer, NULL},
    {"common observer remove", prepare_observer, NULL, remove_observer, add_observer},
    {"common post", prepare_modes, NULL, post, growth_iterate},
    {"common perform", prepare_modes, post, growth_iterate, NULL},
    {"declare common, sources", prepare_sources, NULL, declare_next, NULL},
    {"declare common, timers", prepare_timers, NULL, declare_next, NULL},
    {"declare common, observers", prepare_observers, NULL, declare_next, NULL},
    {0},
};
