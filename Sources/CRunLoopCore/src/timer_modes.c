// timer_modes.c — timers come into modes and leave them, by hand, by being invalidated, or while they fire.
//
// A timer is in one loop at a time, its owner, whose lock guards it; in no loop its owner word does (loop.c). Its state, too, is
// written by nobody else, so it needs no read-modify-write. In each of its modes it has a place in the mode's heap, except while
// it fires.

#include "heap.h"

//===-- its modes: the first in the timer, further ones beside it ----------------------------------------------------===//

struct mode *runloop__timer_mode(const runloop_timer *timer, uint32_t index) {
    if (index == 0)
        return timer->mode;
    struct further_modes *further = runloop__timer_further(timer);
    return further && index <= further->count ? further->modes[index - 1].mode : NULL;
}

/// HOLDS: loop. Room for so many modes beside the first.
static RUNLOOP__COLD int reserve_further(runloop_timer *timer, uint32_t needed) {
    int error = runloop__timer_ensure_extras(timer);
    struct timer_extras *extras = runloop__timer_extras(timer);
    if (error || (error = runloop__further_reserve(&extras->further, needed)))
        return error;
    atomic_store_explicit(&timer->extras, (uintptr_t)extras | TIMER_HAS_FURTHER, memory_order_release);
    return 0;
}

/// HOLDS: loop. Room for so many more timers. Firing ones are members without a place in the heap, to which they must be able to return.
static inline int reserve(struct mode *mode, uint32_t timers) {
    uint32_t outside = atomic_load_explicit(&mode->timer_count, memory_order_relaxed) - mode->timers.count;
    return heap_reserve(&mode->timers, outside + timers);
}

int runloop__timer_prepare(runloop_timer *timer, struct mode *mode, uint32_t modes, uint32_t timers) {
    struct further_modes *further = runloop__timer_further(timer);
    uint32_t beside = (further ? further->count : 0) + modes - !timer->mode;
    int error = beside > 0 ? reserve_further(timer, beside) : 0;
    return error ? error : reserve(mode, timers);
}

static inline void join(runloop_timer *timer, struct mode *mode) {
    if (!timer->mode) {
        timer->mode = mode;
        timer->position = HEAP_NOWHERE;
    } else {
        struct further_modes *further = runloop__timer_further(timer);
        further->modes[further->count++] = (struct membership){.mode = mode, .position = HEAP_NOWHERE};
    }
}

static inline void part(runloop_timer *timer, struct mode *mode) {
    struct further_modes *further = runloop__timer_further(timer);
    if (!further || further->count == 0) {
        timer->mode = NULL;
        return;
    }
    // The last one takes its place.
    uint32_t *position = runloop__timer_position(timer, mode);
    struct membership last = further->modes[--further->count];
    if (position == &timer->position) {
        timer->mode = last.mode;
        timer->position = last.position;
    } else {
        *LIST_ENTRY(position, struct membership, position) = last;
    }
}

/// HOLDS: loop. In no mode and no common set.
static inline bool is_homeless(const runloop_timer *timer) {
    return !timer->mode && !runloop__timer_common(timer);
}

//===-- heaps --------------------------------------------------------------------------------------------------------===//

void runloop__timers_free(struct mode *mode) {
    if (mode->timers.entries)
        free(mode->timers.entries - HEAP_LEAD);
    mode->timers = (struct heap){0};
}

void runloop__timers_trim_large(struct mode *mode) {
    // Firing ones are to find their room again.
    heap_trim(&mode->timers, atomic_load_explicit(&mode->timer_count, memory_order_relaxed));
}

int64_t runloop__timers_latest(struct mode *mode) {
    return heap_latest(&mode->timers, mode->tolerant_count > 0);
}

/// A sleeper in the mode wakes by the timer descriptor, which anybody may bring forward; where that fails, it looks itself.
static inline void rearm_sleeper(runloop *loop, struct mode *mode) {
    if (loop->sleeping_in != mode)
        return;
    int64_t latest_ns = runloop__timers_latest(mode);
    if (latest_ns < loop->armed_ns && runloop__portset_arm(loop, latest_ns))
        runloop__wake_kick(loop);
}

static bool is_tolerant(runloop_timer *timer) {
    return runloop__timer_state(timer) & ITEM_TOLERANT;
}

static inline void enter_heap(runloop *loop, runloop_timer *timer, struct mode *mode) {
    // Room was made when the timer joined the mode, and stays while it fires: see the count of timers in `prepare`.
    heap_push(&mode->timers, mode, timer);
    mode->tolerant_count += is_tolerant(timer);
    rearm_sleeper(loop, mode);
}

static inline void leave_heap(runloop_timer *timer, struct mode *mode, uint32_t *place) {
    uint32_t position = *place;
    *place = HEAP_NOWHERE;
    heap_remove(&mode->timers, mode, position);
    mode->tolerant_count -= is_tolerant(timer);
}

void runloop__timer_moved(runloop *loop, runloop_timer *timer) {
    struct mode *mode;
    for (uint32_t i = 0; (mode = runloop__timer_mode(timer, i)); i++) {
        heap_moved(&mode->timers, mode, *runloop__timer_position(timer, mode));
        rearm_sleeper(loop, mode);
    }
}

void runloop__timer_became_tolerant(runloop *loop, runloop_timer *timer, int change) {
    struct mode *mode;
    for (uint32_t i = 0; (mode = runloop__timer_mode(timer, i)); i++) {
        mode->tolerant_count += (uint32_t)change;
        rearm_sleeper(loop, mode);
    }
}

//===-- into and out of modes ----------------------------------------------------------------------------------------===//

/// HOLDS: loop.
static void number(runloop *loop, runloop_timer *timer) {
    uint64_t serial = ++loop->serial;
    timer->serial_low = (uint32_t)serial;
    timer->item.serial_high = (uint16_t)(serial >> 32);
}

static inline void enter_mode(runloop *loop, runloop_timer *timer, struct mode *mode) {
    runloop__count(&mode->timer_count, 1);
    runloop__item_retain(&timer->item);
    if (!(runloop__timer_state(timer) & ITEM_FIRING))
        enter_heap(loop, timer, mode);
}

static void insert(runloop *loop, runloop_timer *timer, struct mode *mode) {
    if (is_homeless(timer))
        number(loop, timer);
    join(timer, mode);
    enter_mode(loop, timer, mode);
}

static RUNLOOP__COLD int add_guest(runloop *loop, runloop_timer *timer) {
    if (loop->guest_count == loop->guest_capacity) {
        uint32_t capacity = 2 * loop->guest_capacity + 4;
        runloop_timer **guests = realloc(loop->guests, capacity * sizeof(runloop_timer *));
        if (!guests)
            return -ENOMEM;
        loop->guests = guests;
        loop->guest_capacity = capacity;
    }
    loop->guests[loop->guest_count++] = timer;
    return 0;
}

static RUNLOOP__COLD void remove_guest(runloop *loop, runloop_timer *timer) {
    for (uint32_t i = 0; i < loop->guest_count; i++) {
        if (loop->guests[i] == timer)
            loop->guests[i] = loop->guests[--loop->guest_count];
    }
}

/// HOLDS: loop. It is a guest no longer: it goes, or its call-out has ended.
static inline void end_visit(runloop *loop, runloop_timer *timer) {
    if (loop->guest_count > 0)
        remove_guest(loop, timer);
}

static inline void leave_owner(runloop_timer *timer) {
    if (!is_homeless(timer))
        return;
    end_visit(atomic_load_explicit(&timer->owner, memory_order_relaxed), timer);
    atomic_store_explicit(&timer->owner, NULL, memory_order_release);
}

static inline void leave_mode(runloop *loop, runloop_timer *timer, struct mode *mode, uint32_t *position) {
    if (*position != HEAP_NOWHERE)
        leave_heap(timer, mode, position);
    runloop__count(&mode->timer_count, -1);
    runloop__mode_left(loop, mode);
}

static void extract(runloop *loop, runloop_timer *timer, struct mode *mode) {
    leave_mode(loop, timer, mode, runloop__timer_position(timer, mode));
    part(timer, mode);
}

void runloop__timer_insert(runloop *loop, runloop_timer *timer, struct mode *mode) {
    insert(loop, timer, mode);
}

void runloop__timer_leave_owner(runloop_timer *timer) {
    leave_owner(timer);
}

void runloop__timer_extract(runloop *loop, runloop_timer *timer, struct mode *mode) {
    extract(loop, timer, mode);
}

/// HOLDS: loop. As most are: it is in no mode, and the mode is there.
static inline int add_to_first_mode(runloop *loop, runloop_timer *timer, struct mode *mode) {
    int error = reserve(mode, 1);
    if (error)
        return error;
    number(loop, timer);
    timer->mode = mode;
    timer->position = HEAP_NOWHERE;
    enter_mode(loop, timer, mode);
    return 0;
}

/// HOLDS: loop. A mode that is found (or NULL) or made; all that can fail is done before anything changes.
static RUNLOOP__COLD int add_to_mode(runloop *loop, runloop_timer *timer, struct mode *mode, const char *name) {
    struct mode *made = NULL;
    if (mode && runloop__timer_position(timer, mode))
        return 0;
    if (!mode && !(mode = made = runloop__new_mode(name)))
        return -ENOMEM;
    int error = runloop__timer_prepare(timer, mode, 1, 1);
    if (error) {
        if (made)
            runloop__timers_free(made);
        free(made);
        return error;
    }
    if (made)
        runloop__adopt_mode(loop, made);
    insert(loop, timer, mode);
    return 0;
}

/// HOLDS: loop. Again for an item that is common already: it comes back into the modes that it was removed from.
static RUNLOOP__COLD int add_to_common(runloop *loop, runloop_timer *timer) {
    uint32_t modes = 0;
    for (struct mode *mode = NULL; (mode = runloop__next_common_mode(loop, mode));)
        modes++;
    for (struct mode *mode = NULL; (mode = runloop__next_common_mode(loop, mode));) {
        if (runloop__timer_prepare(timer, mode, modes, 1))
            return -ENOMEM;
    }
    if (!runloop__timer_common(timer)) {
        bool was_homeless = is_homeless(timer);
        if (reserve_further(timer, 0) ||
            runloop__common_enter(loop, &timer->item, &runloop__timer_further(timer)->common))
            return -ENOMEM;
        if (was_homeless)
            number(loop, timer);
    }
    for (struct mode *mode = NULL; (mode = runloop__next_common_mode(loop, mode));) {
        if (!runloop__timer_position(timer, mode))
            insert(loop, timer, mode);
    }
    return 0;
}

__attribute__((flatten)) int runloop_add_timer(runloop *loop, runloop_timer *timer, const char *name) {
    int error = runloop__check(loop);
    if (error)
        return error;
    if (!timer || !name)
        return -EINVAL;
    if (atomic_load(&timer->owner))
        runloop__common_leave_if_stranded(&timer->item, &timer->owner, loop);
    runloop__lock(loop);
    error = atomic_load(&loop->is_finished) ? -ESHUTDOWN : runloop__take_ownership(&timer->owner, loop);
    if (!error) {
        // The pseudo-mode is never found.
        struct mode *mode = runloop__find_mode(loop, name);
        unsigned state = runloop__timer_state(timer);
        if (!(state & ITEM_VALID))
            error = -EINVAL;
        else if ((state & ITEM_FIRING) && is_homeless(timer) && add_guest(loop, timer))
            error = -ENOMEM;
        else if (mode && !timer->mode && !runloop__timer_further(timer))
            error = add_to_first_mode(loop, timer, mode);
        else if (!mode && runloop__is_common_name(name))
            error = add_to_common(loop, timer);
        else
            error = add_to_mode(loop, timer, mode, name);
        leave_owner(timer);
    }
    runloop__unlock(loop);
    return error;
}

static inline void release_references(runloop_timer *timer, uint32_t count) {
    while (count-- > 0)
        runloop__item_release(&timer->item);
}

/// HOLDS: loop. How many references the caller has to release.
static uint32_t leave_common(runloop *loop, runloop_timer *timer) {
    if (!runloop__timer_common(timer))
        return 0;
    uint32_t references = 1;
    runloop__common_leave(&runloop__timer_further(timer)->common);
    for (struct mode *mode = NULL; (mode = runloop__next_common_mode(loop, mode));) {
        if (runloop__timer_position(timer, mode)) {
            extract(loop, timer, mode);
            references++;
        }
    }
    leave_owner(timer);
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
        } else if (mode && runloop__timer_position(timer, mode)) {
            extract(loop, timer, mode);
            leave_owner(timer);
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
            contains = runloop__timer_common(timer) && timer->mode;
        else
            contains = mode && runloop__timer_position(timer, mode);
    }
    runloop__unlock(loop);
    return contains;
}

//===-- invalidating -------------------------------------------------------------------------------------------------===//

/// HOLDS: owner. How many references the caller has to release.
static RUNLOOP__COLD uint32_t leave_all(runloop *owner, runloop_timer *timer) {
    uint32_t references = runloop__timer_common(timer) != NULL;
    if (references)
        runloop__common_leave(&runloop__timer_further(timer)->common);
    for (; timer->mode; references++)
        extract(owner, timer, timer->mode);
    return references;
}

struct timer_remains runloop__timer_bury(runloop *owner, runloop_timer *timer) {
    struct timer_remains remains = {0};
    unsigned state = runloop__timer_state(timer);
    if (!(state & ITEM_VALID))
        return remains;
    // While its call-out runs the context stays; who ends that sees the bit.
    runloop__timer_set_state(timer, (state & ~(unsigned)ITEM_VALID) | (state & ITEM_FIRING ? ITEM_RETIRED : 0));
    remains.context = (state & (ITEM_FIRING | ITEM_RELEASES)) == ITEM_RELEASES;
    if (!owner || runloop__is_inherited(owner))
        return remains;
    if (runloop__timer_further(timer)) {
        remains.references = leave_all(owner, timer);
    } else if (timer->mode) {
        leave_mode(owner, timer, timer->mode, &timer->position);
        timer->mode = NULL;
        remains.references = 1;
    }
    leave_owner(timer);
    return remains;
}

void runloop__timer_release_remains(runloop_timer *timer, struct timer_remains remains) {
    // The references of its modes, released last, keep the timer until then, if the caller has none.
    if (remains.context)
        runloop__item_release_context(&timer->item);
    release_references(timer, remains.references);
}

__attribute__((flatten)) void runloop_timer_invalidate(runloop_timer *timer) {
    if (!timer || !runloop__item_is_valid(&timer->item))
        return;
    runloop *loop = runloop__lock_owner(&timer->owner);
    struct timer_remains remains = runloop__timer_bury(loop, timer);
    runloop__unlock_owner(&timer->owner, loop);
    runloop__timer_release_remains(timer, remains);
}

//===-- firing -------------------------------------------------------------------------------------------------------===//

static bool reserve_firing(runloop *loop) {
    if (loop->firing_count < loop->firing_capacity)
        return true;
    uint32_t capacity = 2 * loop->firing_capacity + 4;
    runloop_timer **firing = realloc(loop->firing, capacity * sizeof(runloop_timer *));
    if (!firing)
        return false;
    loop->firing = firing;
    loop->firing_capacity = capacity;
    return true;
}

bool runloop__timer_begin_firing(runloop *loop, runloop_timer *timer) {
    unsigned state = runloop__timer_state(timer);
    if (!(state & ITEM_VALID) || (state & ITEM_FIRING) || !reserve_firing(loop))
        return false;
    runloop__timer_set_state(timer, (state | ITEM_FIRING) & ~(unsigned)ITEM_REDATED);
    loop->firing[loop->firing_count++] = timer;
    struct mode *mode;
    for (uint32_t i = 0; (mode = runloop__timer_mode(timer, i)); i++)
        leave_heap(timer, mode, runloop__timer_position(timer, mode));
    return true;
}

bool runloop__timer_end_firing(runloop *owner, runloop_timer *timer) {
    unsigned state = runloop__timer_state(timer);
    runloop__timer_set_state(timer, state & ~(unsigned)(ITEM_FIRING | ITEM_RETIRED));
    // The call-out may have forked: another thread may have been in the middle of a change of inherited heaps.
    if (owner && !runloop__is_inherited(owner)) {
        end_visit(owner, timer);
        struct mode *mode;
        for (uint32_t i = 0; (mode = runloop__timer_mode(timer, i)); i++)
            enter_heap(owner, timer, mode);
    }
    return (state & (ITEM_RETIRED | ITEM_RELEASES)) == (ITEM_RETIRED | ITEM_RELEASES);
}
