// bridge.c — the configurations of items, filled in C, and the functions that the loop calls, which call Go's.
#include "bridge.h"

#include "_cgo_export.h"

static void fire(runloop_timer *timer, void *info) {
    (void)timer;
    goCall((uintptr_t)info, 0);
}

static void perform(runloop_source *source, void *info) {
    (void)source;
    goCall((uintptr_t)info, 0);
}

static void ready(runloop_source *source, runloop_readiness events, void *info) {
    (void)source;
    goCall((uintptr_t)info, events);
}

static void observe(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer;
    goCall((uintptr_t)info, activity);
}

static void perform_post(void *info) {
    goCallAndDelete((uintptr_t)info);
}

static void release(void *info) {
    goDelete((uintptr_t)info);
}

static runloop_context context_of(uintptr_t handle) {
    return (runloop_context){.info = (void *)handle, .release = release};
}

/// The instant so far from now, or never.
static int64_t from_now(int64_t after_ns) {
    int64_t now_ns = runloop_now_ns();
    return after_ns > RUNLOOP_NEVER - now_ns ? RUNLOOP_NEVER : now_ns + after_ns;
}

int bridge_timer_create(uintptr_t handle, int64_t after_ns, int64_t interval_ns, int64_t tolerance_ns, int32_t order,
                        runloop_timer **out) {
    runloop_timer_config config = {.context = context_of(handle),
                                   .order = order,
                                   .fire_ns = from_now(after_ns),
                                   .interval_ns = interval_ns,
                                   .tolerance_ns = tolerance_ns,
                                   .fire = fire};
    return runloop_timer_create(&config, out);
}

int bridge_source_create(uintptr_t handle, int32_t order, runloop_source **out) {
    runloop_source_config config = {.context = context_of(handle), .order = order, .perform = perform};
    return runloop_source_create(&config, out);
}

int bridge_descriptor_source_create(uintptr_t handle, int descriptor, runloop_readiness events, int32_t order,
                                    runloop_source **out) {
    runloop_descriptor_config config = {
        .context = context_of(handle), .order = order, .descriptor = descriptor, .events = events, .ready = ready};
    return runloop_descriptor_source_create(&config, out);
}

int bridge_observer_create(uintptr_t handle, runloop_activity activities, bool repeats, int32_t order,
                           runloop_observer **out) {
    runloop_observer_config config = {.context = context_of(handle),
                                      .order = order,
                                      .activities = activities,
                                      .repeats = repeats,
                                      .observe = observe};
    return runloop_observer_create(&config, out);
}

int bridge_post(runloop *loop, const char *mode, uintptr_t handle, bool wakes) {
    return (wakes ? runloop_post : runloop_perform)(loop, mode, perform_post, (void *)handle, release);
}

int bridge_timer_set_fire_after(runloop_timer *timer, int64_t after_ns) {
    return runloop_timer_set_fire_date(timer, from_now(after_ns));
}

int64_t bridge_timer_get_remaining(runloop_timer *timer) {
    int64_t date_ns = runloop_timer_get_fire_date(timer);
    return date_ns == RUNLOOP_NEVER ? RUNLOOP_FOREVER : date_ns - runloop_now_ns();
}
