// probe.c — a timer in each loop that the object is in, in the same modes, and if wanted an observer. An item of these kinds is in one loop
// at a time, and neither ends a run that waits for sources.

#ifdef __linux__
#include "base/probe.h"

#include <stdlib.h>

/// No date: each call sets that of the next.
#define LONG_INTERVAL_NS (INT64_C(1) << 60)

/// One loop that the object is in.
struct probed_loop {
    struct probed_loop *next;
    runloop *loop;
    /// How many of its modes.
    unsigned modes;
    /// NULL without memory; the timer also where the time is the program's.
    runloop_timer *timer;
    runloop_observer *observer;
};

/// The info of a timer: what it calls, and when again.
struct probe_state {
    const struct probe_kind *kind;
    void *info;
    int64_t pause_ns;
};

static void look(runloop_timer *timer, void *context) {
    struct probe_state *state = context;
    state->pause_ns = state->kind->look(state->info, state->pause_ns);
    if (state->pause_ns == 0) {
        runloop_timer_invalidate(timer);
        return;
    }
    runloop_timer_set_tolerance(timer, state->pause_ns / 4);
    runloop_timer_set_fire_date(timer, runloop_now_ns() + state->pause_ns);
}

static void free_state(void *context) {
    struct probe_state *state = context;
    if (state->kind->release)
        state->kind->release(state->info);
    free(state);
}

/// A loop whose clock is the program's would take the date for one of the program's.
static bool has_time_of_machine(runloop *loop) {
    int64_t before_ns = runloop_get_now_ns(NULL), instant_ns = runloop_get_now_ns(loop);
    return before_ns <= instant_ns && instant_ns <= runloop_get_now_ns(NULL);
}

static runloop_timer *make_timer(const struct probe_kind *kind, void *info, runloop *loop) {
    runloop_timer *timer = NULL;
    struct probe_state *state = has_time_of_machine(loop) ? malloc(sizeof *state) : NULL;
    if (!state)
        return NULL;
    *state = (struct probe_state){kind, kind->retain ? kind->retain(info) : info, kind->first_pause_ns};
    // The tolerance is for the timers of several objects, and of the program, to share their wake-ups.
    const runloop_timer_config config = {.context = {.info = state, .release = free_state},
                                         .fire_ns = runloop_get_now_ns(loop) + kind->first_pause_ns,
                                         .interval_ns = LONG_INTERVAL_NS,
                                         .tolerance_ns = kind->first_pause_ns / 4,
                                         .fire = look};
    if (runloop_timer_create(&config, &timer) == 0)
        return timer;
    free_state(state);
    return NULL;
}

static runloop_observer *make_observer(const struct probe_kind *kind) {
    const runloop_observer_config config = {
        .order = INT32_MAX, .activities = RUNLOOP_ACTIVITY_BEFORE_WAITING, .repeats = true, .observe = kind->observe};
    runloop_observer *observer = NULL;
    return kind->observe && runloop_observer_create(&config, &observer) == 0 ? observer : NULL;
}

static struct probed_loop *join_loop(const struct probe_kind *kind, void *info, runloop *loop) {
    struct probed_loop *probed = malloc(sizeof *probed);
    if (probed)
        *probed =
            (struct probed_loop){.loop = loop, .timer = make_timer(kind, info, loop), .observer = make_observer(kind)};
    return probed;
}

static void leave_loop(struct probed_loop *probed) {
    runloop_timer_invalidate(probed->timer);
    runloop_timer_release(probed->timer);
    runloop_observer_invalidate(probed->observer);
    runloop_observer_release(probed->observer);
    free(probed);
}

/// Where the probed of a loop is, or would be.
HOLDS_LOCK static struct probed_loop **place_of(struct probe *probe, const runloop *loop) {
    ASSERT_HOLDS(&probe->lock.lock);
    struct probed_loop **place = &probe->loops;
    while (*place && (*place)->loop != loop)
        place = &(*place)->next;
    return place;
}

void runloop__probe_enter(struct probe *probe, const struct probe_kind *kind, void *info, runloop *loop,
                          const char *mode) {
    steady_take(&probe->lock);
    struct probed_loop **place = place_of(probe, loop), *probed = *place;
    if (!probed)
        probed = *place = join_loop(kind, info, loop);
    if (probed) {
        probed->modes++;
        runloop_add_timer(loop, probed->timer, mode);
        runloop_add_observer(loop, probed->observer, mode);
    }
    steady_give(&probe->lock);
}

void runloop__probe_leave(struct probe *probe, runloop *loop, const char *mode) {
    steady_take(&probe->lock);
    struct probed_loop **place = place_of(probe, loop), *probed = *place;
    if (probed && --probed->modes > 0) {
        runloop_remove_timer(loop, probed->timer, mode);
        runloop_remove_observer(loop, probed->observer, mode);
    } else if (probed) {
        *place = probed->next;
        leave_loop(probed);
    }
    steady_give(&probe->lock);
}

void runloop__probe_end(struct probe *probe) {
    steady_take(&probe->lock);
    for (struct probed_loop *probed = probe->loops, *next; probed; probed = next) {
        next = probed->next;
        leave_loop(probed);
    }
    probe->loops = NULL;
    steady_give(&probe->lock);
}
#endif // __linux__
