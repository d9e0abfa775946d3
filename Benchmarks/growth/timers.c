// timers.c — with N timers: add, remove, move, fire, invalidate one; an iteration beside them.

#include "growth.h"

static const int64_t hour_ns = 3600 * INT64_C(1000000000);

static runloop_timer **timers; ///< all of them in the loop but, in between, the one in question
static size_t timer_count;
static size_t chosen;

static int64_t random_date_ns(void) {
    return runloop_now_ns() + hour_ns + (int64_t)growth_random((size_t)hour_ns);
}

static runloop_timer *made(void) {
    runloop_timer_config config = {.fire_ns = random_date_ns(), .interval_ns = 2 * hour_ns};
    runloop_timer *timer = NULL;
    growth_check(runloop_timer_create(&config, &timer) == 0, "timer");
    return timer;
}

static void add(void) {
    growth_check(runloop_add_timer(growth_loop, timers[chosen], growth_mode) == 0, "add");
}

static void take_out(void) {
    growth_check(runloop_remove_timer(growth_loop, timers[chosen], growth_mode) == 0, "remove");
}

static void prepare(size_t count) {
    timers = growth_array(count, sizeof(runloop_timer *));
    timer_count = count;
    for (chosen = 0; chosen < count; chosen++) {
        timers[chosen] = made();
        add();
    }
}

static void choose(void) {
    chosen = growth_random(timer_count);
}

static void choose_and_take_out(void) {
    choose();
    take_out();
}

static int64_t date_ns;

static void choose_and_date(void) {
    choose();
    date_ns = random_date_ns();
}

static void move(void) {
    runloop_timer_set_fire_date(timers[chosen], date_ns);
}

static void choose_and_make_due(void) {
    choose();
    runloop_timer_set_fire_date(timers[chosen], runloop_now_ns());
}

static void invalidate(void) {
    runloop_timer_invalidate(timers[chosen]);
}

static void replace(void) {
    runloop_timer_release(timers[chosen]);
    timers[chosen] = made();
    add();
}

static void ask_for_the_next(void) {
    runloop_next_fire_date(growth_loop, growth_mode);
}

const struct growth growth_of_timers[] = {
    {"timer add", prepare, choose_and_take_out, add, NULL},
    {"timer remove", prepare, choose, take_out, add},
    {"timer move", prepare, choose_and_date, move, NULL},
    {"timer invalidate", prepare, choose, invalidate, replace},
    {"timer fire", prepare, choose_and_make_due, growth_iterate, NULL},
    {"timer next date", prepare, NULL, ask_for_the_next, NULL},
    {"timers idle", prepare, NULL, growth_iterate, NULL},
    {0},
};
