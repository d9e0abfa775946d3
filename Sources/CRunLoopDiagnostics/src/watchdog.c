// watchdog.c — the loop's half of the watchdog: a heartbeat, and iterations without a sleep.

#ifdef __linux__
#include "attendant.h"
#include "followed.h"
#include "stack.h"

struct watchdog {
    struct follower follower;
    struct watch *watch; ///< loop's thread; NULL: stopped
};

//===-- the heartbeat ------------------------------------------------------------------------------------------------===//

static void beat(struct watch *watch, bool is_busy, int64_t now_ns) {
    int64_t before = atomic_load_explicit(&watch->beat, memory_order_relaxed);
    // Sequentially consistent, as in watch.c: either this thread sees that it is awaited, or the attendant sees the new beat.
    atomic_store(&watch->beat, now_ns * 2 + (is_busy ? BEAT_IS_BUSY : 0));
    if (atomic_load(&watch->awaited) != before)
        return;
    atomic_store(&watch->ended_ns, now_ns);
    atomic_compare_exchange_strong(&watch->awaited, &before, 0);
}

//===-- spins --------------------------------------------------------------------------------------------------------===//

/// Since the last sleep, or since it is watched.
static int64_t iterations_of(const struct watch *watch) {
    return counted_get(&watch->activity->awake_iterations) - watch->unwatched_iterations;
}

static void count_call(struct spin *spin, const struct callout *callout) {
    enum { MOST = sizeof spin->items / sizeof *spin->items };
    int place = 0;
    while (place < spin->count &&
           (spin->items[place].callout.object != callout->object || spin->items[place].callout.kind != callout->kind))
        place++;
    spin->calls++;
    if (place == MOST)
        return;
    struct spin_item *item = &spin->items[place];
    if (place == spin->count) {
        bool has_descriptor = callout->kind == RUNLOOP_CALLOUT_DESCRIPTOR_SOURCE;
        item->callout = *callout;
        item->descriptor = has_descriptor ? runloop_source_get_descriptor((void *)(uintptr_t)callout->object) : -1;
        item->calls = 0;
        spin->count++;
    }
    item->calls++;
    for (; place > 0 && item->calls > item[-1].calls; place--, item--) {
        struct spin_item greater = *item;
        *item = item[-1];
        item[-1] = greater;
    }
}

/// Shares are counted when half of the limit has passed, so that they cost a loop that sleeps nothing. Observers serve nothing.
static void count_callout(struct watch *watch, const struct moment *moment) {
    if (moment->point == RUNLOOP_TRACE_MAIN_QUEUE)
        atomic_fetch_add(&watch->queue_served, 1);
    bool may_spin = watch->config.spin_limit && iterations_of(watch) >= watch->config.spin_limit / 2;
    if (may_spin && moment->callout && moment->point != RUNLOOP_TRACE_OBSERVER)
        count_call(&watch->spin, moment->callout);
}

static void end_spin(struct watch *watch) {
    watch->unwatched_iterations = 0;
    watch->spin.count = 0;
    watch->spin.calls = 0;
}

/// If the last one is still being reported, the loop's thread does not wait for that.
static void count_iteration(struct watch *watch, int64_t now_ns) {
    if (iterations_of(watch) != watch->config.spin_limit ||
        atomic_load_explicit(&watch->has_spun, memory_order_acquire))
        return;
    watch->found = watch->spin;
    watch->found.iterations = (uint64_t)counted_get(&watch->activity->awake_iterations);
    watch->found.duration_ns = now_ns - counted_get(&watch->activity->awake_since_ns);
    atomic_store_explicit(&watch->has_spun, true, memory_order_release);
}

//===-- following ----------------------------------------------------------------------------------------------------===//

static void begin_run(struct watch *watch, int64_t now_ns) {
    beat(watch, true, now_ns);
    if (watch->activity->run_depth == 1)
        end_spin(watch);
}

static void follow(struct follower *follower, const struct moment *moment) {
    struct watch *watch = ((struct watchdog *)follower)->watch;
    switch (moment->point) {
    case RUNLOOP_TRACE_RUN_BEGIN: begin_run(watch, moment->now_ns); break;
    case RUNLOOP_TRACE_RUN_END: beat(watch, watch->activity->run_depth > 0, moment->now_ns); break;
    case RUNLOOP_TRACE_ITERATION:
        beat(watch, true, moment->now_ns);
        count_iteration(watch, moment->now_ns);
        break;
    case RUNLOOP_TRACE_SLEEP:
        beat(watch, false, moment->now_ns);
        end_spin(watch);
        break;
    case RUNLOOP_TRACE_WAKE: beat(watch, true, moment->now_ns); break;
    case RUNLOOP_TRACE_TASKS:
    case RUNLOOP_TRACE_RETURN: break;
    default: count_callout(watch, moment); break;
    }
}

/// The attendant frees it, and calls the handler's release.
static void leave_watch(struct follower *follower) {
    struct watchdog *watchdog = (struct watchdog *)follower;
    if (!watchdog->watch)
        return;
    atomic_store(&watchdog->watch->is_stopped, true);
    watchdog->watch = NULL;
    attendant_wake();
}

/// Four looks at less than that would be a load.
static const int64_t shortest_limit_ns = 10000000;

static int check(const runloop_watchdog_config *config) {
    bool has_limit = config && (config->limit_ns || config->spin_limit);
    bool is_in_range = has_limit && (config->limit_ns == 0 || config->limit_ns >= shortest_limit_ns);
    return is_in_range ? 0 : -EINVAL;
}

static struct watch *make_watch(const runloop_watchdog_config *config, struct activity *activity) {
    struct watch *watch = calloc(1, sizeof *watch);
    if (!watch)
        return NULL;
    watch->loop = runloop_retain(runloop_current());
    watch->activity = activity;
    activity_retain(activity);
    watch->config = *config;
    watch->unwatched_iterations = counted_get(&activity->awake_iterations);
    return watch;
}

static void prepare(struct follower *follower) {
    follower->trace = follow;
    follower->free = leave_watch;
}

int runloop_watchdog_start(const runloop_watchdog_config *config) {
    struct follower *follower;
    int error = check(config);
    if (error || (error = followed_start(ROLE_WATCHDOG, sizeof(struct watchdog), prepare, &follower)))
        return error;
    struct watchdog *watchdog = (struct watchdog *)follower;
    if (watchdog->watch)
        return -EBUSY;
    struct watch *watch = NULL;
    error = config->limit_ns && !config->omits_stack ? stack_prepare(config->signal) : 0;
    // The usual signal is the program's.
    bool is_signal_taken = error == -EBUSY && config->signal == 0;
    if (error && !is_signal_taken)
        goto failed;
    error = -ENOMEM;
    if (!(watch = make_watch(config, follower->activity)) || (error = attendant_engage()))
        goto failed;
    if (is_signal_taken)
        watch->config.signal = -1;
    watchdog->watch = watch;
    follower->is_active = true;
    attendant_give_watch(watch);
    return 0;
failed:
    if (watch) {
        runloop_release(watch->loop);
        activity_release(watch->activity);
    }
    free(watch);
    followed_stop(ROLE_WATCHDOG);
    return error;
}

void runloop_watchdog_stop(void) {
    struct follower *follower = followed_stop(ROLE_WATCHDOG);
    if (follower)
        leave_watch(follower);
}
#endif // __linux__
