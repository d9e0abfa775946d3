// timer.c — timers: what they are, and their dates. Most are in one mode and fire once: these are one block, and only others have
// extras. How they come into modes and leave them is timer_modes.c's, firing fire.c's.

#include "internal.h"

//===-- life ---------------------------------------------------------------------------------------------------------===//

static int64_t capped_tolerance(int64_t tolerance_ns, int64_t interval_ns) {
    if (tolerance_ns <= 0)
        return 0;
    return interval_ns > 0 && tolerance_ns > interval_ns / 2 ? interval_ns / 2 : tolerance_ns;
}

static RUNLOOP__COLD struct timer_extras *make_extras(const runloop_timer_config *config) {
    struct timer_extras *extras = runloop__block_new();
    if (extras) {
        int64_t interval_ns = config->interval_ns > 0 ? config->interval_ns : 0;
        *extras = (struct timer_extras){.config = runloop__config_of(&config->context, config->order),
                                        .interval_ns = interval_ns};
        atomic_init(&extras->tolerance_ns, capped_tolerance(config->tolerance_ns, interval_ns));
    }
    return extras;
}

static inline bool needs_extras(const runloop_timer_config *config) {
    return config->interval_ns > 0 || config->tolerance_ns > 0 || config->order || config->context.release ||
           config->context.describe;
}

/// HOLDS: the owner, or its word; or nobody else knows it yet.
static void note_extras(runloop_timer *timer, const struct timer_extras *extras) {
    unsigned state = runloop__timer_state(timer) & ~(unsigned)(ITEM_REPEATS | ITEM_TOLERANT | ITEM_RELEASES);
    state |= extras->interval_ns > 0 ? ITEM_REPEATS : 0;
    state |= extras->config.release ? ITEM_RELEASES : 0;
    state |= atomic_load_explicit(&extras->tolerance_ns, memory_order_relaxed) > 0 ? ITEM_TOLERANT : 0;
    runloop__timer_set_state(timer, state);
}

/// Of the configuration, what needs no extras.
static inline void init(runloop_timer *timer, const runloop_timer_config *config, struct timer_extras *extras) {
    runloop__item_init(&timer->item, ITEM_TIMER, &config->context);
    if (extras)
        note_extras(timer, extras);
    timer->fire = config->fire;
    atomic_init(&timer->owner, NULL);
    atomic_init(&timer->due_ns, config->fire_ns);
    atomic_init(&timer->extras, (uintptr_t)extras);
    timer->mode = NULL;
}

int runloop_timer_create(const runloop_timer_config *config, runloop_timer **out) {
    if (!config || !out)
        return -EINVAL;
    runloop_timer *timer = runloop__block_new();
    if (!timer)
        return -ENOMEM;
    struct timer_extras *extras = NULL;
    if (needs_extras(config) && !(extras = make_extras(config))) {
        runloop__block_free(timer);
        return -ENOMEM;
    }
    init(timer, config, extras);
    *out = timer;
    return 0;
}

static RUNLOOP__COLD struct timer_extras *make_extras_of_closure(int64_t tolerance_ns) {
    return make_extras(
        &(runloop_timer_config){.context.release = runloop__closure_config()->release, .tolerance_ns = tolerance_ns});
}

runloop_timer *runloop__timer_new_closure(const struct runloop__closure *closure, int64_t fire_ns,
                                          int64_t tolerance_ns) {
    runloop_timer *timer = runloop__closure_config() ? runloop__block_new() : NULL;
    if (!timer)
        return NULL;
    struct timer_extras *extras = NULL;
    if (tolerance_ns > 0 && !(extras = make_extras_of_closure(tolerance_ns))) {
        runloop__block_free(timer);
        return NULL;
    }
    const runloop_timer_config config = {.context.info = closure->captured,
                                         .fire_ns = fire_ns,
                                         .fire = (void (*)(runloop_timer *, void *))closure->function};
    init(timer, &config, extras);
    timer->item.is_closure = true;
    runloop__timer_set_state(timer, runloop__timer_state(timer) | ITEM_RELEASES);
    return timer;
}

runloop_timer *runloop_timer_retain(runloop_timer *timer) {
    if (timer)
        runloop__item_retain(&timer->item);
    return timer;
}

void runloop_timer_release(runloop_timer *timer) {
    if (timer)
        runloop__item_release(&timer->item);
}

void runloop__timer_destroy(runloop_timer *timer) {
    struct timer_extras *extras = runloop__timer_extras(timer);
    unsigned releases = ITEM_VALID | ITEM_RELEASES;
    if ((runloop__timer_state(timer) & releases) == releases)
        runloop__item_release_context(&timer->item);
    free(runloop__timer_further(timer));
    if (extras)
        runloop__block_free(extras);
    runloop__block_free(timer);
}

int runloop__timer_ensure_extras(runloop_timer *timer) {
    if (runloop__timer_extras(timer))
        return 0;
    // Without extras there is no context to be released, but for that of an object.
    const runloop_timer_config nothing = {.context.release = runloop__item_config(&timer->item)->release};
    struct timer_extras *extras = make_extras(&nothing);
    atomic_store_explicit(&timer->extras, (uintptr_t)extras, memory_order_release);
    return extras ? 0 : -ENOMEM;
}

static int32_t order_of(const runloop_timer *timer) {
    return runloop__item_config(&timer->item)->order;
}

bool runloop__timer_precedes(const runloop_timer *a, const runloop_timer *b) {
    int32_t order_a = order_of(a), order_b = order_of(b);
    return order_a != order_b ? order_a < order_b : runloop__timer_serial(a) < runloop__timer_serial(b);
}

bool runloop_timer_is_valid(runloop_timer *timer) {
    return timer && runloop__item_is_valid(&timer->item);
}

//===-- dates --------------------------------------------------------------------------------------------------------===//

int runloop_timer_set_fire_date(runloop_timer *timer, int64_t fire_ns) {
    if (!timer)
        return -EINVAL;
    int error = 0;
    runloop *loop = runloop__lock_owner(&timer->owner);
    if (loop && runloop__is_inherited(loop)) {
        error = -ECHILD;
    } else if (!runloop__item_is_valid(&timer->item)) {
        error = -EINVAL;
    } else {
        atomic_store_explicit(&timer->due_ns, fire_ns, memory_order_release);
        if (runloop__timer_extras(timer))
            runloop__timer_extras(timer)->unreported = 0;
        if (runloop__item_is_firing(&timer->item))
            runloop__timer_set_state(timer, runloop__timer_state(timer) | ITEM_REDATED);
        else
            runloop__timer_moved(loop, timer);
    }
    runloop__unlock_owner(&timer->owner, loop);
    return error;
}

/// HOLDS: the owner, or its word.
static int change_tolerance(runloop *owner, runloop_timer *timer, int64_t tolerance_ns) {
    bool was_tolerant = runloop__timer_state(timer) & ITEM_TOLERANT;
    if (tolerance_ns <= 0 && !was_tolerant)
        return 0;
    int error = runloop__timer_ensure_extras(timer);
    if (error)
        return error;
    struct timer_extras *extras = runloop__timer_extras(timer);
    int64_t capped_ns = capped_tolerance(tolerance_ns, extras->interval_ns);
    atomic_store(&extras->tolerance_ns, capped_ns);
    note_extras(timer, extras);
    if (!runloop__item_is_firing(&timer->item))
        runloop__timer_became_tolerant(owner, timer, (capped_ns > 0) - was_tolerant);
    return 0;
}

int runloop_timer_set_tolerance(runloop_timer *timer, int64_t tolerance_ns) {
    if (!timer)
        return -EINVAL;
    int error = 0;
    runloop *loop = runloop__lock_owner(&timer->owner);
    if (loop && runloop__is_inherited(loop)) {
        error = -ECHILD;
    } else if (!runloop__item_is_valid(&timer->item)) {
        error = -EINVAL;
    } else {
        error = change_tolerance(loop, timer, tolerance_ns);
    }
    runloop__unlock_owner(&timer->owner, loop);
    return error;
}

//===-- getters ------------------------------------------------------------------------------------------------------===//

int64_t runloop_timer_get_fire_date(runloop_timer *timer) {
    return runloop_timer_is_valid(timer) ? atomic_load(&timer->due_ns) : RUNLOOP_NEVER;
}

int64_t runloop_timer_get_interval(runloop_timer *timer) {
    return timer ? runloop__timer_interval(timer) : 0;
}

int32_t runloop_timer_get_order(runloop_timer *timer) {
    return timer ? order_of(timer) : 0;
}

int64_t runloop_timer_get_tolerance(runloop_timer *timer) {
    return timer ? runloop__timer_tolerance(timer) : 0;
}

uint64_t runloop_timer_get_missed(runloop_timer *timer) {
    struct timer_extras *extras = timer ? runloop__timer_extras(timer) : NULL;
    return extras ? atomic_load(&extras->missed) : 0;
}

void *runloop_timer_get_info(runloop_timer *timer) {
    return runloop_timer_is_valid(timer) ? timer->item.info : NULL;
}
