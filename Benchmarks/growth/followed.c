// followed.c — what is paid for statistics, the recorder and the watchdog, when all three follow a loop: a function that is posted, and performed
// by one iteration.

#include "growth.h"

#include <runloop_diagnostics.h>

static void do_nothing(void *info) {
    (void)info;
}

static void prepare_followers(size_t count) {
    const runloop_watchdog_config watchdog = {.limit_ns = INT64_C(1000000000000), .spin_limit = 1000000000};
    for (size_t i = 0; i < count; i++)
        growth_check(runloop_post(growth_loop, "another mode", do_nothing, NULL, NULL) == 0, "post");
    growth_check(runloop_statistics_start() == 0 && runloop_recorder_start(0) == 0, "follow");
    growth_check(runloop_watchdog_start(&watchdog) == 0, "watchdog");
}

static void post_and_serve(void) {
    growth_check(runloop_post(growth_loop, growth_mode, do_nothing, NULL, NULL) == 0, "post");
    growth_iterate();
}

const struct growth growth_of_followed_loops[] = {
    {"post, followed", prepare_followers, NULL, post_and_serve, NULL},
    {0},
};
