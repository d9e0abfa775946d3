// libevent.c — libevent.

#include <event2/event.h>
#include <event2/event_struct.h>
#include <event2/thread.h>

#include "queue.h"

const struct peer_traits peer_traits = {
    .name = "libevent",
    .version = event_get_version,
    .has = PEER_WAKES | PEER_SIGNALS | PEER_SUBMITS | PEER_WATCHES | PEER_TIMERS | PEER_POLLS | PEER_REPEATS,
};

struct peer_loop {
    struct event_base *base;
    struct queue queue;
    struct event submitted;
};

/// Every handle is an event.
struct peer_wake {
    struct event event;
};

struct peer_signal {
    struct event event;
};

struct peer_watch {
    struct event event;
};

struct peer_timer {
    struct event event;
};

/// libevent uses locks only in programs that request them before the first loop: here the workloads with several threads.
void peer_prepare_threads(void) {
    evthread_use_pthreads();
}

struct peer_loop *peer_open(void) {
    struct peer_loop *loop = calloc(1, sizeof *loop);
    struct event_config *config = event_config_new();
    // Timers follow the coarse clock of the kernel, unless a program requests, and pays for, the precise one.
    if (getenv("BENCH_PRECISE"))
        event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER);
    loop->base = event_base_new_with_config(config);
    event_config_free(config);
    bench_check(loop->base, "event_base_new");
    return loop;
}

void peer_close(struct peer_loop *loop) {
    event_base_free(loop->base);
    free(loop);
}

void peer_run(struct peer_loop *loop, int64_t limit_ns) {
    (void)limit_ns;
    event_base_loop(loop->base, EVLOOP_NO_EXIT_ON_EMPTY);
}

void peer_stop(struct peer_loop *loop) {
    event_base_loopbreak(loop->base);
}

void peer_poll(struct peer_loop *loop) {
    event_base_loop(loop->base, EVLOOP_NONBLOCK | EVLOOP_NO_EXIT_ON_EMPTY);
}

static void woken(evutil_socket_t descriptor, short what, void *info) {
    (void)descriptor, (void)what;
    peer_calls.on_wake(info);
}

struct peer_wake *peer_wake_create(struct peer_loop *loop, void *info) {
    struct peer_wake *wake = calloc(1, sizeof *wake);
    event_assign(&wake->event, loop->base, -1, EV_PERSIST, woken, info);
    return wake;
}

void peer_wake_send(struct peer_wake *wake) {
    event_active(&wake->event, EV_READ, 0);
}

static void signalled(evutil_socket_t descriptor, short what, void *info) {
    (void)descriptor, (void)what;
    peer_calls.on_signal(info);
}

struct peer_signal *peer_signal_create(struct peer_loop *loop, void *info) {
    struct peer_signal *signal = calloc(1, sizeof *signal);
    event_assign(&signal->event, loop->base, -1, EV_PERSIST, signalled, info);
    return signal;
}

void peer_signal_send(struct peer_signal *signal) {
    event_active(&signal->event, EV_READ, 0);
}

static void drain(evutil_socket_t descriptor, short what, void *info) {
    (void)descriptor, (void)what;
    queue_drain(info);
}

void peer_accept_submissions(struct peer_loop *loop) {
    queue_init(&loop->queue);
    event_assign(&loop->submitted, loop->base, -1, EV_PERSIST, drain, &loop->queue);
}

void peer_submit(struct peer_loop *loop, void (*function)(void *info), void *info) {
    if (queue_put(&loop->queue, function, info))
        event_active(&loop->submitted, EV_READ, 0);
}

static void ready(evutil_socket_t descriptor, short what, void *info) {
    (void)descriptor, (void)what;
    peer_calls.on_ready(info);
}

struct peer_watch *peer_watch_add(struct peer_loop *loop, int descriptor, void *info) {
    struct peer_watch *watch = calloc(1, sizeof *watch);
    event_assign(&watch->event, loop->base, descriptor, EV_READ | EV_PERSIST, ready, info);
    bench_check(event_add(&watch->event, NULL) == 0, "event_add");
    return watch;
}

static void fired(evutil_socket_t descriptor, short what, void *info) {
    (void)descriptor, (void)what;
    peer_calls.on_timer(info);
}

static struct timeval interval(int64_t ns) {
    return (struct timeval){ns / 1000000000, (ns % 1000000000 + 999) / 1000};
}

struct peer_timer *peer_timer_start(struct peer_loop *loop, int64_t delay_ns, void *info) {
    struct peer_timer *timer = malloc(sizeof *timer);
    struct timeval delay = interval(delay_ns);
    event_assign(&timer->event, loop->base, -1, peer_calls.interval_ns ? EV_PERSIST : 0, fired, info);
    event_add(&timer->event, &delay);
    return timer;
}

void peer_timer_move(struct peer_timer *timer, int64_t delay_ns) {
    struct timeval delay = interval(delay_ns);
    event_add(&timer->event, &delay);
}

void peer_timer_cancel(struct peer_timer *timer) {
    event_del(&timer->event);
    free(timer);
}
