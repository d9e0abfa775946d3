// ev.c — libev.

#define EV_MULTIPLICITY 1
#include <ev.h>

#include "queue.h"

static const char *version(void) {
    static char text[16];
    snprintf(text, sizeof text, "%d.%d", ev_version_major(), ev_version_minor());
    return text;
}

const struct peer_traits peer_traits = {
    .name = "ev",
    .version = version,
    .has = PEER_WAKES | PEER_SIGNALS | PEER_SUBMITS | PEER_WATCHES | PEER_TIMERS | PEER_POLLS | PEER_REPEATS,
};

struct peer_loop {
    struct ev_loop *ev;
    struct queue queue;
    ev_async submitted;
};

struct peer_wake {
    ev_async async;
    struct ev_loop *ev;
};

struct peer_signal {
    ev_prepare watcher; // an event can be fed to any kind of watcher
    struct ev_loop *ev;
};

struct peer_watch {
    ev_io io;
};

struct peer_timer {
    ev_timer timer;
    struct ev_loop *ev;
};

static void drain(struct ev_loop *ev, ev_async *async, int events) {
    (void)ev, (void)events;
    queue_drain(async->data);
}

struct peer_loop *peer_open(void) {
    struct peer_loop *loop = calloc(1, sizeof *loop);
    loop->ev = ev_loop_new(EVBACKEND_EPOLL);
    bench_check(loop->ev, "ev_loop_new");
    return loop;
}

void peer_close(struct peer_loop *loop) {
    ev_loop_destroy(loop->ev);
    free(loop);
}

void peer_run(struct peer_loop *loop, int64_t limit_ns) {
    (void)limit_ns;
    ev_run(loop->ev, 0);
}

void peer_stop(struct peer_loop *loop) {
    ev_break(loop->ev, EVBREAK_ALL);
}

void peer_poll(struct peer_loop *loop) {
    ev_run(loop->ev, EVRUN_NOWAIT);
}

static void woken(struct ev_loop *ev, ev_async *async, int events) {
    (void)ev, (void)events;
    peer_calls.on_wake(async->data);
}

struct peer_wake *peer_wake_create(struct peer_loop *loop, void *info) {
    struct peer_wake *wake = malloc(sizeof *wake);
    wake->ev = loop->ev;
    ev_async_init(&wake->async, woken);
    wake->async.data = info;
    ev_async_start(loop->ev, &wake->async);
    return wake;
}

void peer_wake_send(struct peer_wake *wake) {
    ev_async_send(wake->ev, &wake->async);
}

static void signalled(struct ev_loop *ev, ev_prepare *watcher, int events) {
    (void)ev, (void)events;
    peer_calls.on_signal(watcher->data);
}

static void stay(struct ev_loop *ev, ev_async *async, int events) {
    (void)ev, (void)async, (void)events;
}

struct peer_signal *peer_signal_create(struct peer_loop *loop, void *info) {
    static ev_async keeper; // a loop without watchers would end at once
    ev_async_init(&keeper, stay);
    ev_async_start(loop->ev, &keeper);
    struct peer_signal *signal = malloc(sizeof *signal);
    signal->ev = loop->ev;
    ev_prepare_init(&signal->watcher, signalled);
    signal->watcher.data = info;
    return signal;
}

void peer_signal_send(struct peer_signal *signal) {
    ev_feed_event(signal->ev, &signal->watcher, EV_CUSTOM);
}

void peer_submit(struct peer_loop *loop, void (*function)(void *info), void *info) {
    if (queue_put(&loop->queue, function, info))
        ev_async_send(loop->ev, &loop->submitted);
}

void peer_accept_submissions(struct peer_loop *loop) {
    queue_init(&loop->queue);
    ev_async_init(&loop->submitted, drain);
    loop->submitted.data = &loop->queue;
    ev_async_start(loop->ev, &loop->submitted);
}

static void ready(struct ev_loop *ev, ev_io *io, int events) {
    (void)ev, (void)events;
    peer_calls.on_ready(io->data);
}

struct peer_watch *peer_watch_add(struct peer_loop *loop, int descriptor, void *info) {
    struct peer_watch *watch = malloc(sizeof *watch);
    ev_io_init(&watch->io, ready, descriptor, EV_READ);
    watch->io.data = info;
    ev_io_start(loop->ev, &watch->io);
    return watch;
}

static void fired(struct ev_loop *ev, ev_timer *timer, int events) {
    (void)ev, (void)events;
    peer_calls.on_timer(timer->data);
}

static double seconds(int64_t ns) {
    return (double)ns / 1e9;
}

struct peer_timer *peer_timer_start(struct peer_loop *loop, int64_t delay_ns, void *info) {
    struct peer_timer *timer = malloc(sizeof *timer);
    timer->ev = loop->ev;
    ev_timer_init(&timer->timer, fired, seconds(delay_ns), seconds(peer_calls.interval_ns));
    timer->timer.data = info;
    ev_timer_start(loop->ev, &timer->timer);
    return timer;
}

void peer_timer_move(struct peer_timer *timer, int64_t delay_ns) {
    timer->timer.repeat = seconds(delay_ns);
    ev_timer_again(timer->ev, &timer->timer);
}

void peer_timer_cancel(struct peer_timer *timer) {
    ev_timer_stop(timer->ev, &timer->timer);
    free(timer);
}
