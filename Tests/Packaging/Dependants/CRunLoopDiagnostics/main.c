#include <runloop_diagnostics.h>
#include <stdlib.h>
#include <string.h>

static void fire(runloop_timer *timer, void *info) {
    (void)timer;
    (void)info;
}

int main(void) {
    runloop_timer_config config = {.fire = fire, .fire_ns = runloop_now_ns()};
    runloop_timer *timer;
    if (runloop_statistics_start() || runloop_recorder_start(0) || runloop_timer_create(&config, &timer))
        return 1;
    runloop_timer_set_name(timer, "blink", 0);
    if (runloop_add_timer(runloop_current(), timer, RUNLOOP_DEFAULT_MODE) || runloop_run() != RUNLOOP_RESULT_FINISHED)
        return 1;
    runloop_timer_release(timer);
    runloop *loop = runloop_current();
    char *report = runloop_copy_report(loop, RUNLOOP_REPORT_TEXT), *trace = runloop_copy_trace(&loop, 1);
    int failed = !report || !trace || !strstr(report, "1 of timer") || !strstr(trace, "timer blink");
    free(report);
    free(trace);
    return failed;
}
