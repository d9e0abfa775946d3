// installed_uv.c — a program that uses the installed librunloop-uv, in C and in C++: Tests/bin/packages builds it.
#include <runloop-uv.h>

static int ticks, timeouts, reason, is_closed;

static void tick(runloop_timer *timer, void *info) {
    (void)timer, (void)info;
    if (++ticks == 3)
        runloop_stop(runloop_current());
}

static void count_timeout(uv_timer_t *timer) {
    (void)timer;
    timeouts++;
}

static void ended(struct runloop_uv *hosted, int result) {
    *(int *)hosted->info = result;
    runloop_uv_detach(hosted);
    uv_stop(hosted->poll.loop);
}

static void closed(struct runloop_uv *hosted) {
    (void)hosted;
    is_closed = 1;
}

int main(void) {
    uv_loop_t *loop = uv_default_loop();
    uv_timer_t timeout;
    struct runloop_uv hosted = {};
    hosted.ended = ended;
    hosted.closed = closed;
    hosted.info = &reason;
    if (runloop_uv_attach(&hosted, loop, "empty") != RUNLOOP_RESULT_FINISHED)
        return 1;
    struct runloop_timer_config config = {};
    config.fire_ns = runloop_now_ns();
    config.interval_ns = 20000000;
    config.fire = tick;
    runloop_timer *timer;
    if (runloop_timer_create(&config, &timer) || runloop_add_timer(runloop_current(), timer, RUNLOOP_DEFAULT_MODE))
        return 1;
    runloop_timer_release(timer);
    if (uv_timer_init(loop, &timeout) || uv_timer_start(&timeout, count_timeout, 0, 1))
        return 1;
    if (runloop_uv_attach(&hosted, loop, RUNLOOP_DEFAULT_MODE))
        return 1;
    uv_run(loop, UV_RUN_DEFAULT);
    if (reason != RUNLOOP_RESULT_STOPPED || ticks != 3 || timeouts == 0)
        return 1;
    uv_close((uv_handle_t *)&timeout, NULL);
    uv_run(loop, UV_RUN_DEFAULT);
    return !is_closed || uv_loop_close(loop) != 0;
}
