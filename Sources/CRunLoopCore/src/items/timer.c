// timer.c — timers: made, dated, and kept in the heaps of their modes. Firing is timer_dispatch.c's.
//
// In each of its modes a timer has a place in the mode's heap, by its due instant. During its call-out it stays there, but counts as never
// due.

#ifdef __linux__
#include "items/items.h"
#include "model/heap.h"

//===-- the heaps ----------------------------------------------------------------------------------------------------===//

static runloop_timer *timer_of(const struct attachment *attachment) {
    return LIST_ENTRY(attachment, runloop_timer, attached.attachment);
}

static int64_t key_of(const runloop_timer *timer) {
    return item_state(&timer->attached.item) & ITEM_CALLED ? RUNLOOP_NEVER
                                                           : atomic_load_explicit(&timer->due_ns, memory_order_relaxed);
}

/// A sleeper in the mode wakes by the timer descriptor, which anybody may bring forward; if that fails, it looks itself.
HOLDS_LOCK static COLD void rearm_sleeper(runloop *loop, struct mode *mode) {
    if (!loop_sleeps_in(loop, mode))
        return;
    int64_t latest_ns = runloop__timers_latest(mode);
    if (latest_ns < loop->armed_ns && loop_arm(loop, latest_ns))
        loop_kick(loop);
}

HOLDS_LOCK static inline void timers_changed(runloop *loop, struct mode *mode) {
    if (loop_may_sleep(loop))
        rearm_sleeper(loop, mode);
}

/// A key of the mode's heap is new, and has this tolerance.
HOLDS_LOCK static inline void note_window(struct mode *mode, int64_t key, int64_t tolerance_ns) {
    if (mode->tolerant_count == 0)
        return;
    int64_t end_ns = saturating_add(key, tolerance_ns);
    if (end_ns < mode->window_end_ns)
        mode->window_end_ns = end_ns;
}

static int64_t tolerance_of(const runloop_timer *timer) {
    return atomic_load_explicit(&timer->tolerance_ns, memory_order_relaxed);
}

/// A timer with this tolerance joins the mode (1) or leaves it (-1).
HOLDS_LOCK static inline void count_tolerance(struct mode *mode, int64_t tolerance_ns, int change) {
    if (tolerance_ns == 0)
        return;
    if (mode->tolerant_count == 0)
        mode->window_end_ns = INT64_MIN; // not kept until now
    mode->tolerant_count += (uint32_t)change;
}

HOLDS_LOCK static int insert(runloop *loop, struct attachment *attachment, struct membership *membership) {
    runloop_timer *timer = timer_of(attachment);
    struct mode *mode = membership->mode;
    // All memberships of a timer have the number with which it joined the loop.
    const struct membership *other = attachment->memberships == membership ? membership->next : attachment->memberships;
    membership->serial = other ? other->serial : ++loop->serial;
    int64_t key = key_of(timer);
    if (heap_push(&mode->timers, key, membership))
        return -ENOMEM;
    count_tolerance(mode, tolerance_of(timer), 1);
    note_window(mode, key, tolerance_of(timer));
    timers_changed(loop, mode);
    return 0;
}

HOLDS_LOCK static void extract(runloop *loop, struct attachment *attachment, struct membership *membership) {
    struct mode *mode = membership->mode;
    heap_remove(&mode->timers, membership);
    count_tolerance(mode, tolerance_of(timer_of(attachment)), -1);
    loop_mode_left(loop, mode);
}

/// Its key has changed, in all its modes.
HOLDS_LOCK static void rekey(runloop *owner, struct attachment *attachment) {
    // A call-out may have forked: another thread may have been in the middle of a change of inherited heaps.
    if (owner && is_from_parent_process(owner))
        return;
    int64_t key = key_of(timer_of(attachment));
    struct membership *membership = owner ? memberships_in_modes(owner, attachment) : NULL;
    for (; membership; membership = membership->next) {
        heap_change_key(&membership->mode->timers, membership, key);
        note_window(membership->mode, key, tolerance_of(timer_of(attachment)));
        timers_changed(owner, membership->mode);
    }
}

static enum slab_class slab_class_of(bool repeats) {
    return repeats ? SLAB_REPEATING_TIMER : SLAB_TIMER;
}

static void destroy(struct item *item) {
    runloop__slab_free(slab_class_of(item_state(item) & ITEM_REPEATS), item);
}

static const struct item_class timer_class = {
    .kind = ITEM_TIMER, .insert = insert, .extract = extract, .called = rekey, .destroy = destroy};

//===-- tolerance (R91) ----------------------------------------------------------------------------------------------===//

// The wake-up is due when the first window closes: at the least sum of a due instant and a tolerance. It is searched for in the heap: a
// timer that is due after the best instant found can't improve it, and neither can those below it. So the search visits the timers that
// the wake-up will fire, and few others.
//
// The result is kept in `window_end_ns`, and lowered by each timer that joins or moves. After a timer has left, it may be too low,
// which does no harm as long as the first timer is due before it and is fired by the wake-up.

static void search(const struct heap *heap, uint32_t position, int64_t *best_ns) {
    if (position >= heap_count(heap) || heap->entries[position].key >= *best_ns)
        return;
    struct item *item = heap->entries[position].membership->item;
    int64_t tolerance_ns = item_is_source(item) ? 0 : tolerance_of(LIST_ENTRY(item, runloop_timer, attached.item));
    int64_t end_ns = saturating_add(heap->entries[position].key, tolerance_ns);
    if (end_ns < *best_ns)
        *best_ns = end_ns;
    for (uint32_t child = position * 4 + 1; child <= position * 4 + 4; child++)
        search(heap, child, best_ns);
}

int64_t runloop__timers_latest(struct mode *mode) {
    if (heap_count(&mode->timers) == 0)
        return RUNLOOP_NEVER;
    int64_t first_ns = mode->timers.entries[0].key;
    if (mode->tolerant_count == 0)
        return first_ns;
    if (mode->window_end_ns <= first_ns) {
        mode->window_end_ns = RUNLOOP_NEVER;
        search(&mode->timers, 0, &mode->window_end_ns);
    }
    return mode->window_end_ns;
}

//===-- deadlines of sources (R152) ----------------------------------------------------------------------------------===//

// A source with a deadline has a place in the heaps of its modes, like a timer. When it is due that is news, for which the source is called
// in turn with what else is ready, and the places are lost once no timer is due before them. That it has passed stays with the source until
// its call, as a signal does: if it leaves the loop before its turn, it is called in the next one; of several loops, the first calls it.

HOLDS_LOCK static int place_in(struct membership *membership, int64_t due_ns) {
    struct heap *heap = &membership->mode->timers;
    if (membership->position == NOWHERE)
        return due_ns == RUNLOOP_NEVER ? 0 : heap_push(heap, due_ns, membership);
    if (due_ns == RUNLOOP_NEVER)
        heap_remove(heap, membership);
    else
        heap_change_key(heap, membership, due_ns);
    return 0;
}

int runloop__deadline_place(runloop *loop, struct source_attachment *place) {
    int64_t due_ns = atomic_load(&place->source->due_ns);
    // It passed in another loop, or before the source left this one.
    if (due_ns == DEADLINE_PASSED && !(place->news.reasons & RUNLOOP_DUE)) {
        ready_add(loop, &place->news, RUNLOOP_DUE);
        if (loop_may_sleep(loop))
            loop_kick(loop);
    }
    // A deadline on the ready list needs no heap entry.
    if (place->news.reasons & RUNLOOP_DUE)
        due_ns = RUNLOOP_NEVER;
    struct membership *membership =
        is_descriptor_source(place->source) ? memberships_in_modes(loop, &place->attachment) : NULL;
    int error = 0;
    for (; membership; membership = membership->next) {
        int result = place_in(membership, due_ns);
        error = result ? result : error;
        note_window(membership->mode, due_ns, 0);
        timers_changed(loop, membership->mode);
    }
    return error;
}

/// Another loop may have found it before, or a thread set another one, whose place in the heap follows.
HOLDS_LOCK static void note_if_due(runloop *loop, runloop_source *source, int64_t now_ns) {
    int64_t due_ns = atomic_load(&source->due_ns);
    if (due_ns <= now_ns && atomic_compare_exchange_strong(&source->due_ns, &due_ns, DEADLINE_PASSED))
        ready_add(loop, &runloop__source_find(source, loop)->news, RUNLOOP_DUE);
}

/// Those that are due, from `position` down, are news. The heap stays as it is.
HOLDS_LOCK static void tell_deadlines(runloop *loop, const struct heap *heap, uint32_t position, int64_t now_ns) {
    if (position >= heap_count(heap) || heap->entries[position].key > now_ns)
        return;
    struct item *item = heap->entries[position].membership->item;
    if (item_is_source(item))
        note_if_due(loop, LIST_ENTRY(item, runloop_source, item), now_ns);
    for (uint32_t child = position * 4 + 1; child <= position * 4 + 4; child++)
        tell_deadlines(loop, heap, child, now_ns);
}

bool runloop__deadlines_pass(runloop *loop, struct mode *mode, int64_t now_ns) {
    struct heap *heap = &mode->timers;
    tell_deadlines(loop, heap, 0, now_ns);
    // One behind a timer that is due has its place until that has fired.
    while (heap_count(heap) > 0 && heap->entries[0].key <= now_ns) {
        struct item *item = heap->entries[0].membership->item;
        if (!item_is_source(item))
            return true;
        // What a thread has set since, and that is due as well, would stay at the top.
        runloop_source *source = LIST_ENTRY(item, runloop_source, item);
        note_if_due(loop, source, now_ns);
        // Places that are there need no memory.
        runloop__deadline_place(loop, runloop__source_find(source, loop));
    }
    return false;
}

//===-- life ---------------------------------------------------------------------------------------------------------===//

static int64_t capped_tolerance(int64_t tolerance_ns, int64_t interval_ns) {
    if (tolerance_ns <= 0)
        return 0;
    return interval_ns > 0 && tolerance_ns > interval_ns / 2 ? interval_ns / 2 : tolerance_ns;
}

/// A flag that is constant once others see the timer.
static void set_flags(runloop_timer *timer, uint32_t flags) {
    atomic_store_explicit(&timer->attached.item.state, item_state(&timer->attached.item) | flags, memory_order_relaxed);
}

static runloop_timer *create(const runloop_timer_config *config) {
    bool repeats = config->interval_ns > 0;
    runloop_timer *timer = runloop__slab_new(slab_class_of(repeats));
    if (!timer)
        return NULL;
    runloop__item_init(&timer->attached.item, &timer_class, &config->context, config->order);
    atomic_init(&timer->attached.attachment.loop, NULL);
    timer->attached.attachment.memberships = NULL;
    timer->attached.attachment.first.mode = NULL;
    timer->fire = config->fire;
    atomic_init(&timer->due_ns, config->fire_ns);
    atomic_init(&timer->tolerance_ns, capped_tolerance(config->tolerance_ns, config->interval_ns));
    if (repeats) {
        set_flags(timer, ITEM_REPEATS);
        struct repeating_timer *repeating = repeating_timer_of(timer);
        repeating->interval_ns = config->interval_ns;
        atomic_init(&repeating->missed, 0);
        repeating->unreported = 0;
    }
    return timer;
}

int runloop_timer_create(const runloop_timer_config *config, runloop_timer **out) {
    if (!config || !out)
        return -EINVAL;
    runloop_timer *timer = create(config);
    if (!timer)
        return -ENOMEM;
    *out = timer;
    return 0;
}

runloop_timer *runloop__timer_new_pair(void *const info[2], int64_t fire_ns, int64_t tolerance_ns,
                                       void (*fire)(runloop_timer *, void *), void (*release)(void *)) {
    runloop_timer *timer = create(&(runloop_timer_config){.context = {.info = info[0], .release = release},
                                                          .fire_ns = fire_ns,
                                                          .tolerance_ns = tolerance_ns,
                                                          .fire = fire});
    if (timer) {
        timer->attached.item.info[1] = info[1];
        set_flags(timer, ITEM_PAIR | ITEM_ENDS_WITH_LOOP);
    }
    return timer;
}

void runloop__timer_share(runloop_timer *timer, void *object, void (*release)(void *)) {
    timer->attached.item.info[0] = object;
    timer->attached.item.release = release;
    set_flags(timer, ITEM_SHARED);
}

runloop_timer *runloop_timer_retain(runloop_timer *timer) {
    if (timer)
        item_retain(&timer->attached.item);
    return timer;
}

void runloop_timer_release(runloop_timer *timer) {
    if (timer)
        item_release(&timer->attached.item);
}

int runloop_add_timer(runloop *loop, runloop_timer *timer, const char *mode) {
    return runloop__attached_add(loop, timer ? &timer->attached : NULL, mode);
}

int runloop_remove_timer(runloop *loop, runloop_timer *timer, const char *mode) {
    return runloop__attached_remove(loop, timer ? &timer->attached : NULL, mode);
}

bool runloop_contains_timer(runloop *loop, runloop_timer *timer, const char *mode) {
    return runloop__attached_contains(loop, timer ? &timer->attached : NULL, mode);
}

void runloop_timer_invalidate(runloop_timer *timer) {
    runloop__attached_invalidate(timer ? &timer->attached : NULL);
}

bool runloop_timer_is_valid(runloop_timer *timer) {
    return timer && item_is_valid(&timer->attached.item);
}

//===-- dates --------------------------------------------------------------------------------------------------------===//

/// Locks the owner for a change. 0, or a negative errno if there is to be none; the caller unlocks in any case.
TAKES_LOCK static int lock_for_change(runloop_timer *timer, runloop **owner) {
    *owner = lock_owner(&timer->attached.attachment.loop);
    if (*owner && is_from_parent_process(*owner))
        return -ECHILD;
    return item_is_valid(&timer->attached.item) ? 0 : -EINVAL;
}

HOLDS_LOCK static void change_date(runloop *owner, runloop_timer *timer, int64_t fire_ns) {
    uint32_t state = item_state(&timer->attached.item);
    atomic_store_explicit(&timer->due_ns, fire_ns, memory_order_release);
    if (repeating_timer_of(timer))
        repeating_timer_of(timer)->unreported = 0;
    if (state & ITEM_CALLED)
        atomic_store_explicit(&timer->attached.item.state, state | ITEM_REDATED, memory_order_release);
    else
        rekey(owner, &timer->attached.attachment);
}

int runloop_timer_set_fire_date(runloop_timer *timer, int64_t fire_ns) {
    if (!timer)
        return -EINVAL;
    runloop *owner;
    int error = lock_for_change(timer, &owner);
    if (!error)
        change_date(owner, timer, fire_ns);
    unlock_owner(&timer->attached.attachment.loop, owner);
    return error;
}

int runloop__timer_set_delay(runloop_timer *timer, int64_t delay_ns) {
    runloop *owner;
    int error = lock_for_change(timer, &owner);
    if (!error)
        change_date(owner, timer, saturating_add(owner ? loop_now(owner) : monotonic_ns(), delay_ns));
    unlock_owner(&timer->attached.attachment.loop, owner);
    return error;
}

HOLDS_LOCK static void set_tolerance(runloop *owner, runloop_timer *timer, int64_t tolerance_ns) {
    int64_t former_ns = atomic_load(&timer->tolerance_ns), key = key_of(timer);
    atomic_store(&timer->tolerance_ns, tolerance_ns);
    struct membership *membership = owner ? memberships_in_modes(owner, &timer->attached.attachment) : NULL;
    for (; membership; membership = membership->next) {
        count_tolerance(membership->mode, former_ns, -1);
        count_tolerance(membership->mode, tolerance_ns, 1);
        note_window(membership->mode, key, tolerance_of(timer));
        timers_changed(owner, membership->mode);
    }
}

int runloop_timer_set_tolerance(runloop_timer *timer, int64_t tolerance_ns) {
    if (!timer)
        return -EINVAL;
    runloop *owner;
    int error = lock_for_change(timer, &owner);
    if (!error)
        set_tolerance(owner, timer, capped_tolerance(tolerance_ns, runloop_timer_get_interval(timer)));
    unlock_owner(&timer->attached.attachment.loop, owner);
    return error;
}

//===-- getters ------------------------------------------------------------------------------------------------------===//

int64_t runloop_timer_get_fire_date(runloop_timer *timer) {
    return runloop_timer_is_valid(timer) ? atomic_load(&timer->due_ns) : RUNLOOP_NEVER;
}

int64_t runloop_timer_get_interval(runloop_timer *timer) {
    struct repeating_timer *repeating = timer ? repeating_timer_of(timer) : NULL;
    return repeating ? repeating->interval_ns : 0;
}

int32_t runloop_timer_get_order(runloop_timer *timer) {
    return timer ? timer->attached.item.order : 0;
}

int64_t runloop_timer_get_tolerance(runloop_timer *timer) {
    return timer ? atomic_load(&timer->tolerance_ns) : 0;
}

uint64_t runloop_timer_get_missed(runloop_timer *timer) {
    struct repeating_timer *repeating = timer ? repeating_timer_of(timer) : NULL;
    return repeating ? atomic_load(&repeating->missed) : 0;
}

void runloop_timer_set_name(runloop_timer *timer, const char *name, uint32_t line) {
    if (timer)
        item_set_name(&timer->attached.item, name, line);
}

const char *runloop_timer_get_name(runloop_timer *timer, uint32_t *line) {
    return timer ? item_name(&timer->attached.item, line) : NULL;
}

void *runloop_timer_get_info(runloop_timer *timer) {
    return runloop_timer_is_valid(timer) ? timer->attached.item.info[0] : NULL;
}
#endif // __linux__
