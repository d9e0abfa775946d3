// sdevent.c — sd-event. Other threads can't use it safely, so its wake handle is an eventfd.

#include <sys/eventfd.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "queue.h"

static const char *version(void) {
    return PEER_VERSION;
}

const struct peer_traits peer_traits = {
    .name = "sdevent",
    .version = version,
    .has = PEER_WAKES | PEER_SIGNALS | PEER_SUBMITS | PEER_WATCHES | PEER_TIMERS | PEER_POLLS | PEER_TOLERATES,
};

struct peer_loop {
    sd_event *event;
    bool is_stopped;
    struct queue queue;
    int submitted;
};

struct peer_wake {
    int descriptor;
    void *info;
};

struct peer_loop *peer_open(void) {
    struct peer_loop *loop = calloc(1, sizeof *loop);
    bench_check(sd_event_new(&loop->event) >= 0, "sd_event_new");
    return loop;
}

void peer_close(struct peer_loop *loop) {
    sd_event_unref(loop->event);
    free(loop);
}

/// sd_event_loop can't run again after it ended, so this is its body.
void peer_run(struct peer_loop *loop, int64_t limit_ns) {
    (void)limit_ns;
    for (loop->is_stopped = false; !loop->is_stopped;)
        bench_check(sd_event_run(loop->event, UINT64_MAX) >= 0, "sd_event_run");
}

void peer_stop(struct peer_loop *loop) {
    loop->is_stopped = true;
}

void peer_poll(struct peer_loop *loop) {
    sd_event_run(loop->event, 0);
}

static void bump(int descriptor) {
    uint64_t one = 1;
    bench_check(write(descriptor, &one, sizeof one) == sizeof one, "write");
}

static void clear(int descriptor) {
    uint64_t counter;
    bench_check(read(descriptor, &counter, sizeof counter) == sizeof counter, "read");
}

static int woken(sd_event_source *source, int descriptor, uint32_t events, void *info) {
    (void)source, (void)events;
    clear(descriptor);
    peer_calls.on_wake(info);
    return 0;
}

struct peer_wake *peer_wake_create(struct peer_loop *loop, void *info) {
    struct peer_wake *wake = malloc(sizeof *wake);
    wake->descriptor = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    sd_event_add_io(loop->event, NULL, wake->descriptor, EPOLLIN, woken, info);
    return wake;
}

void peer_wake_send(struct peer_wake *wake) {
    bump(wake->descriptor);
}

static int signalled(sd_event_source *source, void *info) {
    (void)source;
    peer_calls.on_signal(info);
    return 0;
}

struct peer_signal *peer_signal_create(struct peer_loop *loop, void *info) {
    sd_event_source *source = NULL;
    bench_check(sd_event_add_defer(loop->event, &source, signalled, info) >= 0, "sd_event_add_defer");
    sd_event_source_set_enabled(source, SD_EVENT_OFF);
    return (struct peer_signal *)source;
}

void peer_signal_send(struct peer_signal *signal) {
    sd_event_source_set_enabled((sd_event_source *)signal, SD_EVENT_ONESHOT);
}

static int drain(sd_event_source *source, int descriptor, uint32_t events, void *info) {
    (void)source, (void)events;
    clear(descriptor);
    queue_drain(info);
    return 0;
}

void peer_accept_submissions(struct peer_loop *loop) {
    queue_init(&loop->queue);
    loop->submitted = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    sd_event_add_io(loop->event, NULL, loop->submitted, EPOLLIN, drain, &loop->queue);
}

void peer_submit(struct peer_loop *loop, void (*function)(void *info), void *info) {
    if (queue_put(&loop->queue, function, info))
        bump(loop->submitted);
}

static int ready(sd_event_source *source, int descriptor, uint32_t events, void *info) {
    (void)source, (void)descriptor, (void)events;
    peer_calls.on_ready(info);
    return 0;
}

struct peer_watch *peer_watch_add(struct peer_loop *loop, int descriptor, void *info) {
    sd_event_source *source = NULL;
    bench_check(sd_event_add_io(loop->event, &source, descriptor, EPOLLIN, ready, info) >= 0, "sd_event_add_io");
    return (struct peer_watch *)source;
}

static int fired(sd_event_source *source, uint64_t time_us, void *info) {
    (void)source, (void)time_us;
    peer_calls.on_timer(info);
    return 0;
}

static uint64_t after(int64_t delay_ns) {
    return (uint64_t)(bench_now_ns() + delay_ns + 999) / 1000;
}

struct peer_timer *peer_timer_start(struct peer_loop *loop, int64_t delay_ns, void *info) {
    sd_event_source *source = NULL;
    uint64_t accuracy_us = peer_calls.tolerance_ns ? (uint64_t)peer_calls.tolerance_ns / 1000 : 1;
    sd_event_add_time(loop->event, &source, CLOCK_MONOTONIC, after(delay_ns), accuracy_us, fired, info);
    return (struct peer_timer *)source;
}

void peer_timer_move(struct peer_timer *timer, int64_t delay_ns) {
    sd_event_source_set_time((sd_event_source *)timer, after(delay_ns));
    sd_event_source_set_enabled((sd_event_source *)timer, SD_EVENT_ONESHOT);
}

void peer_timer_cancel(struct peer_timer *timer) {
    sd_event_source_unref((sd_event_source *)timer);
}
