// fire.c — due timers fire: collected in order, each looked at again before its call-out, dated anew after it (R74–R85).

#include "internal.h"

bool runloop__timers_are_due(struct mode *mode, int64_t now_ns) {
    return mode->timers.count > 0 && mode->timers.entries[0].key <= now_ns;
}

/// HOLDS: loop. The entry at `position` is due. Its children are due no earlier, so only the due part of the heap is visited.
static void gather_due(runloop *loop, const struct heap *heap, uint32_t position, int64_t now_ns) {
    struct item *item = &runloop__heap_timer(heap->entries[position])->item;
    if (!runloop__collect_unretained(loop, item, heap->entries[position].key))
        return;
    __builtin_prefetch(item, 1);
    for (uint32_t child = position * 4 + 1; child <= position * 4 + 4 && child < heap->count; child++) {
        if (heap->entries[child].key <= now_ns)
            gather_due(loop, heap, child, now_ns);
    }
}

/// HOLDS: loop. Retained after all are known: so what is not in the cache comes at the same time, not one by one.
static void collect_due(runloop *loop, const struct heap *heap, int64_t now_ns) {
    uint32_t base = loop->collected_count;
    if (heap->count > 0 && heap->entries[0].key <= now_ns)
        gather_due(loop, heap, 0, now_ns);
    for (uint32_t i = base; i < loop->collected_count; i++)
        runloop__item_retain(loop->collected[i].item);
}

static int64_t due_of(const runloop_timer *timer) {
    return atomic_load_explicit(&timer->due_ns, memory_order_relaxed);
}

/// HOLDS: loop; again when it returns. What the last reference keeps may be user code's.
static void drop_unlocked(runloop *loop, uint32_t index) {
    runloop__unlock(loop);
    runloop__collected_drop(loop, index);
    runloop__lock(loop);
}

static bool precedes(const void *a, const void *b) {
    return runloop__timer_precedes(a, b);
}

/// How many whole intervals lie between two instants; they may be further apart than int64_t tells.
static uint64_t intervals_between(int64_t from_ns, int64_t to_ns, int64_t interval_ns) {
    return to_ns <= from_ns ? 0 : ((uint64_t)to_ns - (uint64_t)from_ns) / (uint64_t)interval_ns;
}

/// The first instant of the grid after `now_ns`: one division, however many were missed.
static int64_t next_on_grid(int64_t due_ns, int64_t now_ns, int64_t interval_ns) {
    if (now_ns < due_ns)
        return runloop__saturating_add(due_ns, interval_ns);
    uint64_t into = ((uint64_t)now_ns - (uint64_t)due_ns) % (uint64_t)interval_ns;
    return runloop__saturating_add(now_ns, interval_ns - (int64_t)into);
}

//===-- one call-out -------------------------------------------------------------------------------------------------===//

struct firing {
    runloop_timer *timer;
    int64_t due_ns, start_ns;
};

/// HOLDS: loop. Looks again at a collected timer and takes it out of its heaps for the call-out. False: not (any more) to be fired.
static bool begin(runloop *loop, struct firing *firing, int64_t pass_ns) {
    runloop_timer *timer = firing->timer;
    bool repeats = runloop__timer_state(timer) & ITEM_REPEATS;
    firing->due_ns = due_of(timer);
    firing->start_ns = pass_ns;
    // Reading the clock is only worth it where it can decide: which instants were missed, or a date moved during the pass.
    if (repeats || firing->due_ns > pass_ns)
        firing->start_ns = runloop_now_ns();
    if (runloop__is_inherited(loop) || atomic_load_explicit(&timer->owner, memory_order_acquire) != loop ||
        firing->due_ns > firing->start_ns || !runloop__timer_begin_firing(loop, timer))
        return false;
    if (repeats) {
        struct timer_extras *extras = runloop__timer_extras(timer);
        uint64_t missed = extras->unreported + intervals_between(firing->due_ns, firing->start_ns, extras->interval_ns);
        atomic_store_explicit(&extras->missed, missed, memory_order_relaxed);
    }
    return true;
}

/// HOLDS: the owner, or its word. The next date of a timer that repeats.
static void date_anew(const struct firing *firing, struct timer_extras *extras) {
    runloop_timer *timer = firing->timer;
    if (atomic_load_explicit(&timer->item.state, memory_order_relaxed) & ITEM_REDATED)
        return; // its own date wins (R82)
    int64_t end_ns = runloop_now_ns(), interval_ns = extras->interval_ns;
    extras->unreported = intervals_between(firing->due_ns, end_ns, interval_ns) -
                         intervals_between(firing->due_ns, firing->start_ns, interval_ns);
    atomic_store_explicit(&timer->due_ns, next_on_grid(firing->due_ns, end_ns, interval_ns), memory_order_release);
}

/// HOLDS: the owner, or its word. A timer that fires once is buried while it still counts as firing: so it goes into no heap again.
static struct timer_remains end(runloop *owner, const struct firing *firing) {
    struct timer_remains remains = {0};
    if (!(runloop__timer_state(firing->timer) & ITEM_REPEATS))
        remains = runloop__timer_bury(owner, firing->timer);
    else if (runloop__item_is_valid(&firing->timer->item))
        date_anew(firing, runloop__timer_extras(firing->timer));
    remains.context = runloop__timer_end_firing(owner, firing->timer);
    return remains;
}

/// The call-out may have moved the timer to another loop (R86), which may fire it as soon as it is no longer firing here: so this
/// loop's record of it goes first.
static void end_elsewhere(runloop *loop, const struct firing *firing) {
    runloop__unlock(loop);
    runloop *owner = runloop__lock_owner(&firing->timer->owner);
    struct timer_remains remains = end(owner, firing);
    runloop__unlock_owner(&firing->timer->owner, owner);
    runloop__timer_release_remains(firing->timer, remains);
    runloop__lock(loop);
}

/// HOLDS: loop; again when it returns. Lets go of what the call-out left, and of the collection's reference.
static void finish(runloop *loop, const struct firing *firing, uint32_t index) {
    runloop_timer *timer = firing->timer;
    loop->firing_count--;
    if (atomic_load_explicit(&timer->owner, memory_order_acquire) != loop) {
        end_elsewhere(loop, firing);
        drop_unlocked(loop, index);
        return;
    }
    struct timer_remains remains = end(loop, firing);
    // No user code can run where nothing is to be released but memory: a timer without a context, or one that its mode still holds.
    bool is_quiet = !(runloop__timer_state(timer) & ITEM_RELEASES) || (!remains.context && timer->mode);
    if (!is_quiet)
        runloop__unlock(loop);
    runloop__timer_release_remains(timer, remains);
    runloop__collected_drop(loop, index);
    if (!is_quiet)
        runloop__lock(loop);
}

//===-- the pass -----------------------------------------------------------------------------------------------------===//

bool runloop__timers_fire(struct run *run) {
    runloop *loop = run->loop;
    uint32_t base = loop->collected_count;
    int64_t pass_ns = runloop_now_ns(), last_ns = 0;
    bool any = false;
    uint64_t instants = 0;
    runloop__lock(loop);
    collect_due(loop, &run->mode->timers, pass_ns);
    if (loop->collected_count - base > 1)
        runloop__collected_sort(loop, base, precedes);
    for (uint32_t i = base; i < loop->collected_count; i++) {
        struct firing firing = {.timer = (runloop_timer *)(void *)loop->collected[i].item};
        if (!begin(loop, &firing, pass_ns)) {
            drop_unlocked(loop, i);
            continue;
        }
        instants += !any || firing.due_ns != last_ns;
        last_ns = firing.due_ns;
        any = true;
        runloop__unlock(loop);
        runloop__IS_CALLING_OUT_TO_A_TIMER(firing.timer);
        runloop__lock(loop);
        finish(loop, &firing, i);
    }
    runloop__unlock(loop);
    loop->collected_count = base;
    if (any) {
        loop->timers_served_last = true;
        uint64_t saved = atomic_load_explicit(&loop->wakeups_saved, memory_order_relaxed);
        atomic_store_explicit(&loop->wakeups_saved, saved + instants - 1 + !run->timer_ended_wait,
                              memory_order_relaxed);
    }
    return any;
}
