// uv.c — libuv.

#include <uv.h>

#include "queue.h"

const struct peer_traits peer_traits = {
    .name = "uv",
    .version = uv_version_string,
    .has = PEER_WAKES | PEER_SIGNALS | PEER_SUBMITS | PEER_WATCHES | PEER_TIMERS | PEER_POLLS | PEER_REPEATS,
};

struct peer_loop {
    uv_loop_t uv;
    struct queue queue;
    uv_async_t submitted;
};

struct peer_wake {
    uv_async_t async;
};

struct peer_signal {
    uv_idle_t idle;
};

struct peer_watch {
    uv_poll_t poll;
};

struct peer_timer {
    uv_timer_t timer;
};

struct peer_loop *peer_open(void) {
    struct peer_loop *loop = calloc(1, sizeof *loop);
    bench_check(uv_loop_init(&loop->uv) == 0, "uv_loop_init");
    return loop;
}

void peer_close(struct peer_loop *loop) {
    uv_loop_close(&loop->uv);
    free(loop);
}

void peer_run(struct peer_loop *loop, int64_t limit_ns) {
    (void)limit_ns;
    uv_run(&loop->uv, UV_RUN_DEFAULT);
}

void peer_stop(struct peer_loop *loop) {
    uv_stop(&loop->uv);
}

void peer_poll(struct peer_loop *loop) {
    uv_run(&loop->uv, UV_RUN_NOWAIT);
}

static void woken(uv_async_t *async) {
    peer_calls.on_wake(async->data);
}

struct peer_wake *peer_wake_create(struct peer_loop *loop, void *info) {
    struct peer_wake *wake = malloc(sizeof *wake);
    uv_async_init(&loop->uv, &wake->async, woken);
    wake->async.data = info;
    return wake;
}

void peer_wake_send(struct peer_wake *wake) {
    uv_async_send(&wake->async);
}

static void signalled(uv_idle_t *idle) {
    uv_idle_stop(idle);
    peer_calls.on_signal(idle->data);
}

static void stay(uv_async_t *async) {
    (void)async;
}

struct peer_signal *peer_signal_create(struct peer_loop *loop, void *info) {
    static uv_async_t keeper; // a loop without handles would end at once
    uv_async_init(&loop->uv, &keeper, stay);
    struct peer_signal *signal = malloc(sizeof *signal);
    uv_idle_init(&loop->uv, &signal->idle);
    signal->idle.data = info;
    return signal;
}

void peer_signal_send(struct peer_signal *signal) {
    uv_idle_start(&signal->idle, signalled);
}

static void drain(uv_async_t *async) {
    queue_drain(async->data);
}

void peer_accept_submissions(struct peer_loop *loop) {
    queue_init(&loop->queue);
    uv_async_init(&loop->uv, &loop->submitted, drain);
    loop->submitted.data = &loop->queue;
}

void peer_submit(struct peer_loop *loop, void (*function)(void *info), void *info) {
    if (queue_put(&loop->queue, function, info))
        uv_async_send(&loop->submitted);
}

static void ready(uv_poll_t *poll, int status, int events) {
    (void)status, (void)events;
    peer_calls.on_ready(poll->data);
}

struct peer_watch *peer_watch_add(struct peer_loop *loop, int descriptor, void *info) {
    struct peer_watch *watch = malloc(sizeof *watch);
    bench_check(uv_poll_init(&loop->uv, &watch->poll, descriptor) == 0, "uv_poll_init");
    watch->poll.data = info;
    bench_check(uv_poll_start(&watch->poll, UV_READABLE, ready) == 0, "uv_poll_start");
    return watch;
}

static void fired(uv_timer_t *timer) {
    peer_calls.on_timer(timer->data);
}

/// libuv's timers have a resolution of a millisecond; rounded up, so that none fires early.
static uint64_t milliseconds(int64_t ns) {
    return (uint64_t)(ns + 999999) / 1000000;
}

struct peer_timer *peer_timer_start(struct peer_loop *loop, int64_t delay_ns, void *info) {
    struct peer_timer *timer = malloc(sizeof *timer);
    uv_timer_init(&loop->uv, &timer->timer);
    timer->timer.data = info;
    uv_timer_start(&timer->timer, fired, milliseconds(delay_ns), milliseconds(peer_calls.interval_ns));
    return timer;
}

void peer_timer_move(struct peer_timer *timer, int64_t delay_ns) {
    uv_timer_start(&timer->timer, fired, milliseconds(delay_ns), milliseconds(peer_calls.interval_ns));
}

static void closed(uv_handle_t *handle) {
    free(handle);
}

/// Freed in the loop's next iteration, as libuv requires.
void peer_timer_cancel(struct peer_timer *timer) {
    uv_close((uv_handle_t *)&timer->timer, closed);
}

void peer_reap(struct peer_loop *loop) {
    uv_run(&loop->uv, UV_RUN_NOWAIT);
}
