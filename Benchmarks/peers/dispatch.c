// dispatch.c — libdispatch. It has no loop: a serial queue stands for one, and a run waits for a semaphore while the library's
// threads do the work.

#include <dispatch/dispatch.h>
#include <semaphore.h>

#include "../bench.h"

static const char *version(void) {
    return PEER_VERSION;
}

const struct peer_traits peer_traits = {
    .name = "dispatch",
    .version = version,
    .has = PEER_WAKES | PEER_SIGNALS | PEER_SUBMITS | PEER_WATCHES | PEER_TIMERS | PEER_TOLERATES | PEER_REPEATS,
    .has_own_threads = true,
};

struct peer_loop {
    dispatch_queue_t queue;
    sem_t stopped;
};

struct peer_wake {
    dispatch_queue_t queue;
    void *info;
};

struct peer_signal {
    dispatch_queue_t queue;
    void *info;
};

struct peer_loop *peer_open(void) {
    struct peer_loop *loop = malloc(sizeof *loop);
    loop->queue = dispatch_queue_create("bench", NULL);
    sem_init(&loop->stopped, 0, 0);
    return loop;
}

void peer_close(struct peer_loop *loop) {
    dispatch_release(loop->queue);
    free(loop);
}

void peer_run(struct peer_loop *loop, int64_t limit_ns) {
    (void)limit_ns;
    while (sem_wait(&loop->stopped))
        continue; // interrupted
}

void peer_stop(struct peer_loop *loop) {
    sem_post(&loop->stopped);
}

static void woken(void *info) {
    struct peer_wake *wake = info;
    peer_calls.on_wake(wake->info);
}

struct peer_wake *peer_wake_create(struct peer_loop *loop, void *info) {
    struct peer_wake *wake = malloc(sizeof *wake);
    *wake = (struct peer_wake){loop->queue, info};
    return wake;
}

void peer_wake_send(struct peer_wake *wake) {
    dispatch_async_f(wake->queue, wake, woken);
}

static void signalled(void *info) {
    struct peer_signal *signal = info;
    peer_calls.on_signal(signal->info);
}

struct peer_signal *peer_signal_create(struct peer_loop *loop, void *info) {
    struct peer_signal *signal = malloc(sizeof *signal);
    *signal = (struct peer_signal){loop->queue, info};
    return signal;
}

void peer_signal_send(struct peer_signal *signal) {
    dispatch_async_f(signal->queue, signal, signalled);
}

void peer_submit(struct peer_loop *loop, void (*function)(void *info), void *info) {
    dispatch_async_f(loop->queue, info, function);
}

static void ready(void *info) {
    peer_calls.on_ready(info);
}

struct peer_watch *peer_watch_add(struct peer_loop *loop, int descriptor, void *info) {
    dispatch_source_t source = dispatch_source_create(DISPATCH_SOURCE_TYPE_READ, (uintptr_t)descriptor, 0, loop->queue);
    dispatch_set_context(source, info);
    dispatch_source_set_event_handler_f(source, ready);
    dispatch_resume(source);
    return (struct peer_watch *)source;
}

static void fire(void *info) {
    peer_calls.on_timer(info);
}

static void set_timer(dispatch_source_t source, int64_t delay_ns) {
    uint64_t interval = peer_calls.interval_ns ? (uint64_t)peer_calls.interval_ns : DISPATCH_TIME_FOREVER;
    dispatch_source_set_timer(source, dispatch_time(DISPATCH_TIME_NOW, delay_ns), interval,
                              (uint64_t)peer_calls.tolerance_ns);
}

struct peer_timer *peer_timer_start(struct peer_loop *loop, int64_t delay_ns, void *info) {
    dispatch_source_t source = dispatch_source_create(DISPATCH_SOURCE_TYPE_TIMER, 0, 0, loop->queue);
    dispatch_set_context(source, info);
    dispatch_source_set_event_handler_f(source, fire);
    set_timer(source, delay_ns);
    dispatch_resume(source);
    return (struct peer_timer *)source;
}

void peer_timer_move(struct peer_timer *timer, int64_t delay_ns) {
    set_timer((dispatch_source_t)timer, delay_ns);
}

void peer_timer_cancel(struct peer_timer *timer) {
    dispatch_source_cancel((dispatch_source_t)timer);
    dispatch_release((dispatch_source_t)timer);
}

static void nothing(void *info) {
    (void)info;
}

/// Cancelled sources end on their queue.
void peer_reap(struct peer_loop *loop) {
    dispatch_sync_f(loop->queue, NULL, nothing);
}
