// timer_dispatch.c — due timers fire: collected in order, each looked at again before its call-out, dated anew after it (R74–R85).

#ifdef __linux__
#include "items/items.h"

static runloop_timer *timer_of(const struct item *item) {
    return LIST_ENTRY(item, runloop_timer, attached.item);
}

/// The entry at `position` is due. Its children are due no earlier, so only the due part of the heap is visited. True if a deadline is there.
HOLDS_LOCK static bool collect_due(runloop *loop, const struct heap *heap, uint32_t position, int64_t now_ns) {
    const struct heap_entry *entry = &heap->entries[position];
    bool any_deadline = item_is_source(entry->membership->item);
    if (!any_deadline && !collect_item(loop, entry->membership->item, entry->key, entry->membership->serial))
        return false;
    for (uint32_t child = position * 4 + 1; child <= position * 4 + 4 && child < heap_count(heap); child++) {
        if (heap->entries[child].key <= now_ns)
            any_deadline |= collect_due(loop, heap, child, now_ns);
    }
    return any_deadline;
}

/// How many whole intervals lie between two instants; they may be further apart than an int64_t can say.
static uint64_t intervals_between(int64_t from_ns, int64_t to_ns, int64_t interval_ns) {
    return to_ns <= from_ns ? 0 : ((uint64_t)to_ns - (uint64_t)from_ns) / (uint64_t)interval_ns;
}

/// The first instant of the fire schedule after `now_ns`: one division, however many were missed.
static int64_t next_on_schedule(int64_t due_ns, int64_t now_ns, int64_t interval_ns) {
    if (interval_ns == RUNLOOP_FOREVER)
        return RUNLOOP_NEVER;
    if (now_ns < due_ns)
        return saturating_add(due_ns, interval_ns);
    uint64_t into = ((uint64_t)now_ns - (uint64_t)due_ns) % (uint64_t)interval_ns;
    return saturating_add(now_ns, interval_ns - (int64_t)into);
}

//===-- one call-out -------------------------------------------------------------------------------------------------===//

struct firing {
    runloop_timer *timer;
    int64_t due_ns, start_ns;
};

/// Looks again at a collected timer. False: it is not to fire any more.
HOLDS_LOCK static bool begin(runloop *loop, struct firing *firing, int64_t dispatch_ns) {
    runloop_timer *timer = firing->timer;
    firing->due_ns = atomic_load_explicit(&timer->due_ns, memory_order_relaxed);
    firing->start_ns = dispatch_ns;
    // The clock is read only where it can decide: which instants were missed, or a date that moved during the dispatch.
    struct repeating_timer *repeating = repeating_timer_of(timer);
    if (repeating || firing->due_ns > dispatch_ns)
        firing->start_ns = loop_now(loop);
    if (is_from_parent_process(loop) ||
        atomic_load_explicit(&timer->attached.attachment.loop, memory_order_acquire) != loop ||
        firing->due_ns > firing->start_ns || !callouts_reserve(loop, 1))
        return false;
    *loop->callouts_top++ = (struct callout){.attached = &timer->attached};
    if (!callout_begin(loop))
        return false;
    item_class(&timer->attached.item)->called(loop, &timer->attached.attachment);
    if (repeating) {
        uint64_t missed =
            repeating->unreported + intervals_between(firing->due_ns, firing->start_ns, repeating->interval_ns);
        atomic_store_explicit(&repeating->missed, missed, memory_order_relaxed);
    }
    return true;
}

/// The next date of a timer that repeats.
HOLDS_LOCK static void schedule_next(runloop *loop, const struct firing *firing) {
    runloop_timer *timer = firing->timer;
    struct repeating_timer *repeating = repeating_timer_of(timer);
    if (item_state(&timer->attached.item) & ITEM_REDATED)
        return; // its own date wins (R82)
    int64_t end_ns = loop_now(loop), interval_ns = repeating->interval_ns;
    repeating->unreported = intervals_between(firing->due_ns, end_ns, interval_ns) -
                            intervals_between(firing->due_ns, firing->start_ns, interval_ns);
    int64_t next_ns = next_on_schedule(firing->due_ns, end_ns, interval_ns);
    atomic_store_explicit(&timer->due_ns, next_ns, memory_order_release);
}

/// The call-out is over. Takes over the reference of the collected entry.
HOLDS_LOCK static void finish(runloop *loop, const struct firing *firing) {
    struct attached *attached = &firing->timer->attached;
    pending_release pending;
    runloop *owner = callout_return(loop, attached, &pending);
    if (!repeating_timer_of(firing->timer))
        pending += runloop__invalidate_locked(owner, attached);
    else if (item_is_valid(&attached->item))
        schedule_next(loop, firing);
    pending += callout_end(attached);
    item_class(&attached->item)->called(owner, &attached->attachment);
    callout_release(loop, owner, attached, pending + 1);
}

//===-- the dispatch -------------------------------------------------------------------------------------------------===//

bool runloop__timers_dispatch(runloop *loop, struct mode *mode) {
    uint32_t base = loop->collected_count;
    int64_t dispatch_ns = loop_now(loop);
    bool any = false;
    loop_lock(loop);
    // Deadlines between the timers have their turn after these.
    if (timers_are_due(loop, mode, dispatch_ns) && collect_due(loop, &mode->timers, 0, dispatch_ns))
        runloop__deadlines_pass(loop, mode, dispatch_ns);
    collected_sort(loop, base);
    for (uint32_t i = base; i < loop->collected_count; i++) {
        struct firing firing = {.timer = timer_of(loop->collected[i].item)};
        if (begin(loop, &firing, dispatch_ns)) {
            loop_unlock(loop);
            any = true;
            if (firing.timer->fire)
                TRACED(RUNLOOP_TRACE_TIMER, firing.timer, loop->clock.now != NULL,
                       runloop__IS_CALLING_OUT_TO_A_TIMER(firing.timer->fire, firing.timer,
                                                          item_info(&firing.timer->attached.item)));
            loop_lock(loop);
            loop->collected[i].item = NULL;
            finish(loop, &firing);
        } else {
            loop_unlock(loop);
            collected_drop(loop, i);
            loop_lock(loop);
        }
    }
    loop_unlock(loop);
    loop->collected_count = base;
    if (any)
        loop->timers_served_last = true;
    return any;
}
#endif // __linux__
