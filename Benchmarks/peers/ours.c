// ours.c — RunLoopKit's C core. `ours` is linked only with libc; `ours-main` also with libdispatch, whose main queue its main loop
// serves; `ours-hosted` runs inside a loop that waits by epoll.

#include <errno.h>
#include <runloop.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "../bench.h"
#ifdef BENCH_DISPATCH
#include "main_queue.h"
#define NAME "ours-main"
#define SERVES PEER_MAIN_QUEUE
#elif defined BENCH_HOSTED
#define NAME "ours-hosted"
#define SERVES 0
#else
#define NAME "ours"
#define SERVES 0
#endif
#ifdef BENCH_HOSTED
#define RUNS 0
#else
#define RUNS (PEER_POLLS | PEER_LIMITS | PEER_MODES)
#endif

static const char *version(void) {
    return "working tree";
}

const struct peer_traits peer_traits = {
    .name = NAME,
    .version = version,
    .has = PEER_WAKES | PEER_SIGNALS | PEER_SUBMITS | PEER_WATCHES | PEER_TIMERS | PEER_TOLERATES | PEER_REPEATS |
           RUNS | SERVES,
};

/// The default mode by its interned name, which a client that cares about speed uses.
static const char *mode;

static runloop *ours(struct peer_loop *loop) {
    return (runloop *)loop;
}

struct peer_loop *peer_open(void) {
    mode = runloop_mode_name(RUNLOOP_DEFAULT_MODE);
    return (struct peer_loop *)runloop_current();
}

void peer_close(struct peer_loop *loop) {
    (void)loop; // It ends with its thread.
}

#ifdef BENCH_HOSTED
/// The host, with the budget of the adapters in Hosts.
void peer_run(struct peer_loop *loop, int64_t limit_ns) {
    (void)loop, (void)limit_ns;
    struct epoll_event event = {.events = EPOLLIN};
    int host = epoll_create1(EPOLL_CLOEXEC), result = runloop_hosted_begin(mode);
    epoll_ctl(host, EPOLL_CTL_ADD, runloop_hosted_descriptor(), &event);
    while (result == 0 || result == -EAGAIN) {
        epoll_wait(host, &event, 1, -1);
        result = runloop_hosted_iterate(1000000);
    }
    close(host);
}
#else
void peer_run(struct peer_loop *loop, int64_t limit_ns) {
    (void)loop;
    runloop_run_in_mode(mode, limit_ns, false);
}
#endif

void peer_stop(struct peer_loop *loop) {
    runloop_stop(ours(loop));
}

void peer_poll(struct peer_loop *loop) {
    (void)loop;
    runloop_run_in_mode(mode, 0, false);
}

//===-- sources ------------------------------------------------------------------------------------------------------===//

struct peer_wake {
    runloop *loop;
    runloop_source *source;
};

static void perform_wake(runloop_source *source, void *info) {
    (void)source;
    peer_calls.on_wake(info);
}

static void perform_signal(runloop_source *source, void *info) {
    (void)source;
    peer_calls.on_signal(info);
}

static runloop_source *add_source(runloop *loop, void (*perform)(runloop_source *, void *), void *info) {
    runloop_source_config config = {.context.info = info, .perform = perform};
    runloop_source *source = NULL;
    bench_check(runloop_source_create(&config, &source) == 0, "source");
    bench_check(runloop_add_source(loop, source, mode) == 0, "add source");
    return source;
}

struct peer_wake *peer_wake_create(struct peer_loop *loop, void *info) {
    struct peer_wake *wake = malloc(sizeof *wake);
    *wake = (struct peer_wake){ours(loop), add_source(ours(loop), perform_wake, info)};
    return wake;
}

void peer_wake_send(struct peer_wake *wake) {
    runloop_source_signal(wake->source);
    runloop_wake_up(wake->loop);
}

struct peer_signal *peer_signal_create(struct peer_loop *loop, void *info) {
    return (struct peer_signal *)add_source(ours(loop), perform_signal, info);
}

void peer_signal_send(struct peer_signal *signal) {
    runloop_source_signal((runloop_source *)signal);
}

void peer_submit(struct peer_loop *loop, void (*function)(void *info), void *info) {
    runloop_post(ours(loop), mode, function, info, NULL);
}

static void ready(runloop_source *source, runloop_readiness events, void *info) {
    (void)source, (void)events;
    peer_calls.on_ready(info);
}

struct peer_watch *peer_watch_add(struct peer_loop *loop, int descriptor, void *info) {
    runloop_descriptor_config config = {
        .context.info = info, .descriptor = descriptor, .events = RUNLOOP_READABLE, .ready = ready};
    runloop_source *source = NULL;
    bench_check(runloop_descriptor_source_create(&config, &source) == 0, "descriptor source");
    bench_check(runloop_add_source(ours(loop), source, mode) == 0, "add descriptor source");
    return (struct peer_watch *)source;
}

//===-- timers -------------------------------------------------------------------------------------------------------===//

static void fire(runloop_timer *timer, void *info) {
    (void)timer;
    peer_calls.on_timer(info);
}

struct peer_timer *peer_timer_start(struct peer_loop *loop, int64_t delay_ns, void *info) {
    runloop_timer_config config = {
        .context.info = info,
        .fire_ns = runloop_now_ns() + delay_ns,
        .interval_ns = peer_calls.interval_ns,
        .tolerance_ns = peer_calls.tolerance_ns,
        .fire = fire,
    };
    runloop_timer *timer = NULL;
    bench_check(runloop_timer_create(&config, &timer) == 0, "timer");
    runloop_add_timer(ours(loop), timer, mode);
    return (struct peer_timer *)timer;
}

void peer_timer_move(struct peer_timer *timer, int64_t delay_ns) {
    runloop_timer_set_fire_date((runloop_timer *)timer, runloop_now_ns() + delay_ns);
}

void peer_timer_cancel(struct peer_timer *timer) {
    runloop_timer_invalidate((runloop_timer *)timer);
    runloop_timer_release((runloop_timer *)timer);
}

//===-- modes --------------------------------------------------------------------------------------------------------===//

static void observe(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer, (void)activity;
    ((void (*)(void))(uintptr_t)info)();
}

void peer_observe_all(struct peer_loop *loop, void (*function)(void)) {
    runloop_observer_config config = {.context.info = (void *)(uintptr_t)function,
                                      .activities = RUNLOOP_ACTIVITY_ALL,
                                      .repeats = true,
                                      .observe = observe};
    runloop_observer *observer = NULL;
    bench_check(runloop_observer_create(&config, &observer) == 0, "observer");
    bench_check(runloop_add_observer(ours(loop), observer, mode) == 0, "add observer");
}

void peer_add_modes(struct peer_loop *loop, unsigned count, bool are_common) {
    static const runloop_source_config config;
    for (unsigned i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "mode %u", i);
        runloop_source *source = NULL;
        bench_check(runloop_source_create(&config, &source) == 0, "source");
        bench_check(runloop_add_source(ours(loop), source, name) == 0, "add source");
        if (are_common)
            bench_check(runloop_add_common_mode(ours(loop), name) == 0, "common mode");
    }
}

void peer_add_remove_common(struct peer_loop *loop) {
    static runloop_source *source;
    if (!source) {
        static const runloop_source_config config;
        bench_check(runloop_source_create(&config, &source) == 0, "source");
    }
    runloop_add_source(ours(loop), source, RUNLOOP_COMMON_MODES);
    runloop_remove_source(ours(loop), source, RUNLOOP_COMMON_MODES);
}

void peer_run_inner(struct peer_loop *loop) {
    static const char *inner;
    if (!inner) {
        inner = runloop_mode_name("mode 0");
        peer_add_modes(loop, 1, false);
    }
    runloop_run_in_mode(inner, 0, false);
}
