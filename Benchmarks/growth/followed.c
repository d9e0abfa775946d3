// followed.c — what is paid for statistics, the recorder and the watchdog, when all three follow a loop: a hundred functions are posted and performed
// by one iteration, with them and without.

#include "growth.h"

#include <runloop_diagnostics.h>

static void do_nothing(void *info) {
    (void)info;
}

static void prepare_unfollowed(size_t count) {
    for (size_t i = 0; i < count; i++)
        growth_check(runloop_post(growth_loop, "another mode", do_nothing, NULL, NULL) == 0, "post");
}

static void prepare_followed(size_t count) {
    const runloop_watchdog_config watchdog = {.limit_ns = INT64_C(1000000000000), .spin_limit = 1000000000};
    prepare_unfollowed(count);
    growth_check(runloop_statistics_start() == 0 && runloop_recorder_start(0) == 0, "follow");
    growth_check(runloop_watchdog_start(&watchdog) == 0, "watchdog");
}

static void post_and_perform_hundred(void) {
    for (int i = 0; i < 100; i++)
        growth_check(runloop_post(growth_loop, growth_mode, do_nothing, NULL, NULL) == 0, "post");
    growth_iterate();
}

const struct growth growth_of_followed_loops[] = {
    {"hundred posts", prepare_unfollowed, NULL, post_and_perform_hundred, NULL},
    {"hundred posts, followed", prepare_followed, NULL, post_and_perform_hundred, NULL},
    {0},
};
