// rest.c — with N functions posted to another mode: post and perform one. With N observers: add and remove one, tell them all, or nobody
// because they are another mode's. With N modes: an iteration in one of them, and finding the last. And nothing at all, which is what
// measuring costs.

#include "growth.h"

#include <stdio.h>

static const char *other_mode;

static void nothing(void) {}

static void prepare_nothing(size_t count) {
    (void)count;
}

//===-- posted functions ---------------------------------------------------------------------------------------------===//

static void perform(void *info) {
    (void)info;
}

static void post(void) {
    growth_check(runloop_post(growth_loop, growth_mode, perform, NULL, NULL) == 0, "post");
}

static void prepare_posts(size_t count) {
    other_mode = runloop_mode_name("other");
    growth_source(other_mode);
    for (size_t i = 0; i < count; i++)
        growth_check(runloop_post(growth_loop, other_mode, perform, NULL, NULL) == 0, "post");
    growth_iterate();
}

//===-- observers ----------------------------------------------------------------------------------------------------===//

static runloop_observer **observers;
static size_t observer_count;
static size_t chosen;

static void observe(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer, (void)activity, (void)info;
}

static void fill_with_observers(size_t count, const char *mode) {
    runloop_observer_config config = {.activities = RUNLOOP_ACTIVITY_ENTRY, .repeats = true, .observe = observe};
    observers = growth_array(count, sizeof(runloop_observer *));
    observer_count = count;
    for (size_t i = 0; i < count; i++) {
        growth_check(runloop_observer_create(&config, &observers[i]) == 0, "observer");
        growth_check(runloop_add_observer(growth_loop, observers[i], mode) == 0, "add observer");
    }
}

static void prepare_observers(size_t count) {
    fill_with_observers(count, growth_mode);
}

static void prepare_observers_elsewhere(size_t count) {
    growth_source("other");
    fill_with_observers(count, "other");
}

static void choose_observer(void) {
    chosen = growth_random(observer_count);
}

static void add_observer(void) {
    growth_check(runloop_add_observer(growth_loop, observers[chosen], growth_mode) == 0, "add observer");
}

static void remove_observer(void) {
    growth_check(runloop_remove_observer(growth_loop, observers[chosen], growth_mode) == 0, "remove observer");
}

static void choose_and_remove_observer(void) {
    choose_observer();
    remove_observer();
}

//===-- modes --------------------------------------------------------------------------------------------------------===//

static void prepare_modes(size_t count) {
    char name[32];
    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "mode %zu", i);
        growth_source(name);
    }
    other_mode = runloop_mode_name(name);
}

static void ask_for_mode(void) {
    runloop_mode_is_common(growth_loop, other_mode);
}

const struct growth growth_of_the_rest[] = {
    {"nothing", prepare_nothing, NULL, nothing, NULL},
    {"post", prepare_posts, NULL, post, growth_iterate},
    {"perform", prepare_posts, post, growth_iterate, NULL},
    {"observer add", prepare_observers, choose_and_remove_observer, add_observer, NULL},
    {"observer remove", prepare_observers, choose_observer, remove_observer, add_observer},
    {"observers notified", prepare_observers, NULL, growth_iterate, NULL},
    {"observers elsewhere", prepare_observers_elsewhere, NULL, growth_iterate, NULL},
    {"modes unused", prepare_modes, NULL, growth_iterate, NULL},
    {"mode find", prepare_modes, NULL, ask_for_mode, NULL},
    {0},
};
