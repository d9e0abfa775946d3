// mode_state.c — what a mode has to say of its items, to any thread that asks.

#ifdef __linux__
#include "items/items.h"

bool runloop_mode_is_empty(runloop *loop, const char *name) {
    struct mode *mode = loop_check(loop) || !name ? NULL : mode_find(loop, name);
    if (!mode)
        return true;
    // The queue of tasks is for the loop's thread to look at.
    return runloop_is_current(loop) ? mode_is_empty(loop, mode) : !mode_has_items(mode);
}

int64_t runloop_next_fire_date(runloop *loop, const char *name) {
    struct mode *mode = loop_check(loop) || !name ? NULL : mode_find(loop, name);
    if (!mode)
        return RUNLOOP_NEVER;
    loop_lock(loop);
    int64_t earliest_ns = heap_count(&mode->timers) ? mode->timers.entries[0].key : RUNLOOP_NEVER;
    // In the heap, timers in a call-out are due never, but they still have their date (R81, R90).
    for (const struct callout *callout = loop->callouts; callout < loop->callouts_top; callout++) {
        struct attached *attached = callout->attached;
        if (item_kind(&attached->item) != ITEM_TIMER || atomic_load(&attached->attachment.loop) != loop ||
            !membership_find(&attached->attachment, mode))
            continue;
        int64_t due_ns = atomic_load(&LIST_ENTRY(attached, runloop_timer, attached)->due_ns);
        if (due_ns < earliest_ns)
            earliest_ns = due_ns;
    }
    loop_unlock(loop);
    return earliest_ns;
}
#endif // __linux__
