// timer.c — timers: created, added to modes, moved, removed, invalidated. Firing is fire.c's.
//
// A timer is in one loop at a time, its owner, whose lock guards it; in no loop its owner word does (loop.c). In each of its modes
// it has a place in the mode's heap, except while it fires.

#include "internal.h"

//===-- life ---------------------------------------------------------------------------------------------------------===//

static int64_t capped_tolerance(int64_t tolerance_ns, int64_t interval_ns) {
    if (tolerance_ns <= 0)
        return 0;
    return interval_ns > 0 && tolerance_ns > interval_ns / 2 ? interval_ns / 2 : tolerance_ns;
}

int runloop_timer_create(const runloop_timer_config *config, runloop_timer **out) {
    if (!config || !out)
        return -EINVAL;
    runloop_timer *timer = calloc(1, sizeof *timer);
    if (!timer)
        return -ENOMEM;
    runloop__item_init(&timer->item, ITEM_TIMER, config->order, &config->context);
    timer->fire = config->fire;
    atomic_init(&timer->due_ns, config->fire_ns);
    timer->interval_ns = config->interval_ns > 0 ? config->interval_ns : 0;
    atomic_init(&timer->tolerance_ns, capped_tolerance(config->tolerance_ns, timer->interval_ns));
    list_init(&timer->firing);
    *out = timer;
    return 0;
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
    runloop__memberships_free(&timer->modes);
    if (runloop__item_is_valid(&timer->item))
        runloop__item_release_context(&timer->item);
    free(timer);
}

bool runloop__timer_precedes(const runloop_timer *a, const runloop_timer *b) {
    return a->item.order != b->item.order ? a->item.order < b->item.order : a->serial < b->serial;
}

//===-- heaps --------------------------------------------------------------------------------------------------------===//

int64_t runloop__timers_latest(struct mode *mode) {
    return runloop__heap_latest(&mode->timers, mode->tolerant_count > 0);
}

/// A sleeper in the mode wakes by the timer descriptor, which anybody may bring forward; where that fails, it looks itself.
static void rearm_sleeper(runloop *loop, struct mode *mode) {
    if (loop->sleeping_in != mode)
        return;
    int64_t latest_ns = runloop__timers_latest(mode);
    if (latest_ns < loop->armed_ns && runloop__portset_arm(loop, latest_ns))
        runloop__wake_kick(loop);
}

static bool is_tolerant(runloop_timer *timer) {
    return atomic_load_explicit(&timer->tolerance_ns, memory_order_relaxed) > 0;
}

static void enter_heap(runloop *loop, runloop_timer *timer, struct mode *mode) {
    // Room was made when the timer joined the mode, and stays while it fires: see the count of timers in `prepare`.
    runloop__heap_push(&mode->timers, mode, timer);
    mode->tolerant_count += is_tolerant(timer);
    rearm_sleeper(loop, mode);
}

static void leave_heap(runloop_timer *timer, struct membership *membership) {
    struct mode *mode = membership->mode;
    uint32_t position = membership->position;
    membership->position = HEAP_NOWHERE;
    runloop__heap_remove(&mode->timers, mode, position);
    mode->tolerant_count -= is_tolerant(timer);
}

void runloop__timer_enter_heaps(runloop *loop, runloop_timer *timer) {
    for (uint32_t i = 0; i < timer->modes.count; i++)
        enter_heap(loop, timer, runloop__membership_at(&timer->modes, i)->mode);
}

void runloop__timer_leave_heaps(runloop_timer *timer) {
    for (uint32_t i = 0; i < timer->modes.count; i++)
        leave_heap(timer, runloop__membership_at(&timer->modes, i));
}

//===-- into and out of modes ----------------------------------------------------------------------------------------===//

int runloop__timer_prepare(runloop_timer *timer, struct mode *mode, uint32_t modes, uint32_t timers) {
    // Firing timers are members without a place in the heap, to which they must be able to return.
    uint32_t outside = atomic_load(&mode->timer_count) - mode->timers.count;
    int error = runloop__memberships_reserve(&timer->modes, modes);
    return error ? error : runloop__heap_reserve(&mode->timers, outside + timers);
}

void runloop__timer_insert(runloop *loop, runloop_timer *timer, struct mode *mode) {
    if (timer->modes.count == 0 && !timer->common)
        timer->serial = ++loop->serial;
    runloop__memberships_add(&timer->modes, mode, HEAP_NOWHERE);
    runloop__count(&mode->timer_count, 1);
    runloop__mode_joined(mode);
    runloop__item_retain(&timer->item);
    if (!runloop__item_is_firing(&timer->item))
        enter_heap(loop, timer, mode);
}

void runloop__timer_leave_owner(runloop_timer *timer) {
    if (timer->modes.count == 0 && !timer->common)
        atomic_store_explicit(&timer->owner, NULL, memory_order_release);
}

void runloop__timer_extract(runloop *loop, runloop_timer *timer, struct mode *mode) {
    struct membership *membership = runloop__membership_of(&timer->modes, mode);
    if (membership->position != HEAP_NOWHERE)
        leave_heap(timer, membership);
    runloop__memberships_remove(&timer->modes, mode);
    runloop__count(&mode->timer_count, -1);
    runloop__mode_left(loop, mode);
}

/// HOLDS: loop. A mode that is found or made; all that can fail is done before anything changes.
static int add_to_mode(runloop *loop, runloop_timer *timer, const char *name) {
    struct mode *mode = runloop__find_mode(loop, name), *made = NULL;
    if (mode && runloop__membership_of(&timer->modes, mode))
        return 0;
    if (!mode && !(mode = made = runloop__new_mode(name)))
        return -ENOMEM;
    int error = runloop__timer_prepare(timer, mode, 1, 1);
    if (error) {
        free(mode == made ? made->timers.entries : NULL);
        free(made);
        return error;
    }
    if (made)
        runloop__adopt_mode(loop, made);
    runloop__timer_insert(loop, timer, mode);
    return 0;
}

/// HOLDS: loop. Again for an item that is common already: it comes back into the modes that it was removed from.
static int add_to_common(runloop *loop, runloop_timer *timer) {
    uint32_t modes = 0;
    for (struct mode *mode = NULL; (mode = runloop__next_common_mode(loop, mode));)
        modes++;
    for (struct mode *mode = NULL; (mode = runloop__next_common_mode(loop, mode));) {
        if (runloop__timer_prepare(timer, mode, modes, 1))
            return -ENOMEM;
    }
    if (!timer->common) {
        if (runloop__common_enter(loop, &timer->item, &timer->common))
            return -ENOMEM;
        if (timer->modes.count == 0)
            timer->serial = ++loop->serial;
    }
    for (struct mode *mode = NULL; (mode = runloop__next_common_mode(loop, mode));) {
        if (!runloop__membership_of(&timer->modes, mode))
            runloop__timer_insert(loop, timer, mode);
    }
    return 0;
}

int runloop_add_timer(runloop *loop, runloop_timer *timer, const char *name) {
    int error = runloop__check(loop);
    if (error)
        return error;
    if (!timer || !name)
        return -EINVAL;
    runloop__common_leave_if_stranded(&timer->item, &timer->owner, &timer->modes, &timer->common, loop);
    runloop__lock(loop);
    error = atomic_load(&loop->is_finished) ? -ESHUTDOWN : runloop__take_ownership(&timer->owner, loop);
    if (!error) {
        // Looked at after the ownership is taken: who invalidates clears the bit first and then asks for the owner.
        if (!runloop__item_is_valid(&timer->item))
            error = -EINVAL;
        else
            error = runloop__is_common_name(name) ? add_to_common(loop, timer) : add_to_mode(loop, timer, name);
        runloop__timer_leave_owner(timer);
    }
    runloop__unlock(loop);
    return error;
}

static void release_references(runloop_timer *timer, uint32_t count) {
    while (count-- > 0)
        runloop__item_release(&timer->item);
}

/// HOLDS: loop. How many references the caller has to release.
static uint32_t leave_common(runloop *loop, runloop_timer *timer) {
    if (!timer->common)
        return 0;
    uint32_t references = 1;
    runloop__common_leave(&timer->common);
    for (struct mode *mode = NULL; (mode = runloop__next_common_mode(loop, mode));) {
        if (runloop__membership_of(&timer->modes, mode)) {
            runloop__timer_extract(loop, timer, mode);
            references++;
        }
    }
    runloop__timer_leave_owner(timer);
    return references;
}

int runloop_remove_timer(runloop *loop, runloop_timer *timer, const char *name) {
    int error = runloop__check(loop);
    if (error)
        return error;
    if (!timer || !name)
        return -EINVAL;
    uint32_t references = 0;
    runloop__lock(loop);
    if (atomic_load(&timer->owner) == loop) {
        struct mode *mode = runloop__find_mode(loop, name);
        if (runloop__is_common_name(name)) {
            references = leave_common(loop, timer);
        } else if (mode && runloop__membership_of(&timer->modes, mode)) {
            runloop__timer_extract(loop, timer, mode);
            runloop__timer_leave_owner(timer);
            references = 1;
        }
    }
    runloop__unlock(loop);
    release_references(timer, references);
    return 0;
}

bool runloop_contains_timer(runloop *loop, runloop_timer *timer, const char *name) {
    if (runloop__check(loop) || !timer || !name)
        return false;
    runloop__lock(loop);
    bool contains = false;
    if (atomic_load(&timer->owner) == loop) {
        struct mode *mode = runloop__find_mode(loop, name);
        if (runloop__is_common_name(name))
            contains = timer->common && timer->modes.count > 0;
        else
            contains = mode && runloop__membership_of(&timer->modes, mode);
    }
    runloop__unlock(loop);
    return contains;
}

//===-- invalidating -------------------------------------------------------------------------------------------------===//

void runloop_timer_invalidate(runloop_timer *timer) {
    enum invalidation invalidation = timer ? runloop__item_invalidate(&timer->item) : INVALID_ALREADY;
    if (invalidation == INVALID_ALREADY)
        return;
    // The references of its modes, released last, keep the timer until then, if the caller has none.
    uint32_t references = 0;
    runloop *loop = runloop__lock_owner(&timer->owner);
    if (loop && !runloop__is_inherited(loop)) {
        references += timer->common != NULL;
        if (timer->common)
            runloop__common_leave(&timer->common);
        for (; timer->modes.count > 0; references++)
            runloop__timer_extract(loop, timer, runloop__membership_at(&timer->modes, 0)->mode);
        runloop__timer_leave_owner(timer);
    }
    runloop__unlock_owner(&timer->owner, loop);
    runloop__item_retire(&timer->item, invalidation);
    release_references(timer, references);
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
        timer->unreported = 0;
        timer->redated = runloop__item_is_firing(&timer->item);
        for (uint32_t i = 0; i < timer->modes.count; i++) {
            struct membership *membership = runloop__membership_at(&timer->modes, i);
            if (membership->position == HEAP_NOWHERE)
                continue;
            runloop__heap_moved(&membership->mode->timers, membership->mode, membership->position);
            rearm_sleeper(loop, membership->mode);
        }
    }
    runloop__unlock_owner(&timer->owner, loop);
    return error;
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
        bool was_tolerant = is_tolerant(timer);
        atomic_store(&timer->tolerance_ns, capped_tolerance(tolerance_ns, timer->interval_ns));
        for (uint32_t i = 0; i < timer->modes.count; i++) {
            struct membership *membership = runloop__membership_at(&timer->modes, i);
            if (membership->position == HEAP_NOWHERE)
                continue;
            membership->mode->tolerant_count += is_tolerant(timer) - was_tolerant;
            rearm_sleeper(loop, membership->mode);
        }
    }
    runloop__unlock_owner(&timer->owner, loop);
    return error;
}

//===-- getters ------------------------------------------------------------------------------------------------------===//

int64_t runloop_timer_get_fire_date(runloop_timer *timer) {
    return runloop_timer_is_valid(timer) ? atomic_load(&timer->due_ns) : RUNLOOP_NEVER;
}

int64_t runloop_timer_get_interval(runloop_timer *timer) {
    return timer ? timer->interval_ns : 0;
}

int32_t runloop_timer_get_order(runloop_timer *timer) {
    return timer ? timer->item.order : 0;
}

int64_t runloop_timer_get_tolerance(runloop_timer *timer) {
    return timer ? atomic_load(&timer->tolerance_ns) : 0;
}

uint64_t runloop_timer_get_missed(runloop_timer *timer) {
    return timer ? atomic_load(&timer->missed) : 0;
}

void *runloop_timer_get_info(runloop_timer *timer) {
    return runloop_timer_is_valid(timer) ? timer->item.context.info : NULL;
}
