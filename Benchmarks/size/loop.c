// The whole program: a timer of one millisecond, and the end.
#include <runloop.h>

static void stop(runloop_timer *timer, void *info) {
    (void)timer;
    (void)info;
    runloop_stop(runloop_current());
}

int main(void) {
    runloop_timer_config config = {.fire_ns = runloop_now_ns() + 1000000, .fire = stop};
    runloop_timer *timer;
    if (runloop_timer_create(&config, &timer) || runloop_add_timer(runloop_current(), timer, RUNLOOP_DEFAULT_MODE))
        return 1;
    return runloop_run() != RUNLOOP_RESULT_STOPPED;
}
