// fire.c — due timers fire: collected in order, each looked at again before its call-out, dated anew after it (R74–R85).

#include "internal.h"

bool runloop__timers_are_due(struct mode *mode, int64_t now_ns) {
    return mode->timers.count > 0 && mode->timers.entries[0].key <= now_ns;
}

/// HOLDS: loop. Children are due no earlier than their parent, so only the due part of the heap is visited.
static void collect_due(runloop *loop, const struct heap *heap, uint32_t position, int64_t now_ns) {
    if (position >= heap->count || heap->entries[position].key > now_ns)
        return;
    if (!runloop__collect(loop, &heap->entries[position].timer->item))
        return;
    for (uint32_t child = position * 4 + 1; child <= position * 4 + 4; child++)
        collect_due(loop, heap, child, now_ns);
}

static int64_t due_of(const runloop_timer *timer) {
    return atomic_load_explicit(&timer->due_ns, memory_order_relaxed);
}

static bool precedes(const void *a, const void *b) {
    const runloop_timer *left = a, *right = b;
    int64_t left_ns = due_of(left), right_ns = due_of(right);
    return left_ns != right_ns ? left_ns < right_ns : runloop__timer_precedes(left, right);
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

/// Looks again at a collected timer and takes it out of its heaps for the call-out. False: not (any more) to be fired.
static bool begin(struct run *run, runloop_timer *timer, int64_t pass_ns, int64_t *due_ns, int64_t *start_ns) {
    runloop *loop = run->loop;
    runloop__lock(loop);
    *due_ns = due_of(timer);
    *start_ns = pass_ns;
    // Reading the clock is only worth it where it can decide: which instants were missed, or a date moved during the pass.
    if (timer->interval_ns > 0 || *due_ns > pass_ns)
        *start_ns = runloop_now_ns();
    bool fires = !runloop__is_inherited(loop) && atomic_load(&timer->owner) == loop && *due_ns <= *start_ns &&
                 runloop__item_begin_firing(&timer->item);
    if (fires) {
        runloop__timer_leave_heaps(timer);
        list_append(&loop->firing, &timer->firing);
        timer->redated = false;
        if (timer->interval_ns > 0) {
            uint64_t missed = timer->unreported + intervals_between(*due_ns, *start_ns, timer->interval_ns);
            atomic_store_explicit(&timer->missed, missed, memory_order_relaxed);
        }
    }
    runloop__unlock(loop);
    return fires;
}

/// HOLDS: the owner. The next date of a timer that repeats.
static void date_anew(runloop_timer *timer, int64_t due_ns, int64_t start_ns) {
    if (timer->redated)
        return; // its own date wins (R82)
    int64_t end_ns = runloop_now_ns();
    timer->unreported =
        intervals_between(due_ns, end_ns, timer->interval_ns) - intervals_between(due_ns, start_ns, timer->interval_ns);
    atomic_store_explicit(&timer->due_ns, next_on_grid(due_ns, end_ns, timer->interval_ns), memory_order_release);
}

/// Takes the timer off the list of firing ones and returns with its owner locked. The call-out may have moved it to another loop
/// (R86), which may fire it as soon as it is no longer firing here: so the list comes first.
static runloop *stop_firing(runloop *loop, runloop_timer *timer) {
    runloop *owner = runloop__lock_owner(&timer->owner);
    if (owner != loop) {
        runloop__unlock_owner(&timer->owner, owner);
        runloop__lock(loop);
        list_remove(&timer->firing);
        runloop__unlock(loop);
        return runloop__lock_owner(&timer->owner);
    }
    list_remove(&timer->firing);
    return owner;
}

static void end(struct run *run, runloop_timer *timer, int64_t due_ns, int64_t start_ns) {
    if (timer->interval_ns == 0)
        runloop_timer_invalidate(timer);
    runloop *owner = stop_firing(run->loop, timer);
    if (runloop__item_is_valid(&timer->item) && timer->interval_ns > 0)
        date_anew(timer, due_ns, start_ns);
    bool releases = runloop__item_clear_firing(&timer->item);
    if (owner)
        runloop__timer_enter_heaps(owner, timer);
    runloop__unlock_owner(&timer->owner, owner);
    if (releases)
        runloop__item_release_context(&timer->item);
}

bool runloop__timers_fire(struct run *run) {
    runloop *loop = run->loop;
    uint32_t base = loop->collected_count;
    int64_t pass_ns = runloop_now_ns();
    runloop__lock(loop);
    collect_due(loop, &run->mode->timers, 0, pass_ns);
    runloop__collected_sort(loop, base, precedes);
    runloop__unlock(loop);

    bool any = false;
    uint64_t instants = 0;
    int64_t last_ns = 0;
    for (uint32_t i = base; i < loop->collected_count; i++) {
        runloop_timer *timer = (runloop_timer *)(void *)loop->collected[i];
        int64_t due_ns, start_ns;
        if (begin(run, timer, pass_ns, &due_ns, &start_ns)) {
            instants += !any || due_ns != last_ns;
            last_ns = due_ns;
            any = true;
            runloop__IS_CALLING_OUT_TO_A_TIMER(timer);
            end(run, timer, due_ns, start_ns);
        }
        runloop__collected_drop(loop, i);
    }
    loop->collected_count = base;
    if (any) {
        loop->timers_served_last = true;
        atomic_fetch_add_explicit(&loop->wakeups_saved, instants - 1 + !run->timer_ended_wait, memory_order_relaxed);
    }
    return any;
}
