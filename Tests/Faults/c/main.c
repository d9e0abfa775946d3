// main.c — the scenarios of the C libraries.
#include "faults.h"

static void note_fire(runloop_timer *timer, void *info) {
    (void)timer;
    *(bool *)info = true;
}

/// A timer fires, whatever came before; and a loop that had no descriptor for timers has one from now on.
static bool fires(void) {
    bool has_fired = false;
    runloop_timer *timer = NULL;
    runloop_timer_config config = {{.info = &has_fired}, .fire_ns = runloop_now_ns() + MS, .fire = note_fire};
    MUST(runloop_timer_create(&config, &timer) == 0 && runloop_add_timer(runloop_current(), timer, "after") == 0);
    runloop_run_in_mode("after", 10 * SECOND, false);
    end_timer(&timer);
    return has_fired;
}

int main(int count, char **words) {
    const struct scenario *const groups[] = {core_scenarios,    linux_scenarios,      stream_scenarios,
                                             message_scenarios, diagnostic_scenarios, cf_scenarios};
    struct fault_plan plan = {.groups = groups, .group_count = sizeof groups / sizeof *groups, .works = fires};
    return !fault_plan_try(&plan, count - 1, words + 1);
}
