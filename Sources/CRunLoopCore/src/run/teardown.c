// teardown.c — the end of a loop, on its ending thread (R8–R10), and what is freed with its last reference.

#ifdef __linux__
#include "run/run.h"

void runloop__abandon_callouts(runloop *loop) {
    loop->run = NULL;
    loop->asks_clock = false;
    runloop__this_thread.source_callouts = 0;
    runloop__this_thread.is_tracing = false;
    for (struct run *outer; loop->hosted; loop->hosted = outer) {
        outer = loop->hosted->outer_hosted;
        free(loop->hosted);
    }
    atomic_store(&loop->current_mode, NULL);
    wake_leave(&loop->wake, 0);
    atomic_store(&loop->sleeping_in, NULL);
    loop->tasks.floor = 0;
    loop->tasks.end_ns = RUNLOOP_NEVER;
    loop->main_queue.depth = 0;
    loop_lock(loop);
    runloop__callouts_unwind(loop);
    loop_unlock(loop);
    while (loop->collected_count > 0)
        collected_drop(loop, --loop->collected_count);
}

/// One item out of one mode, or out of the common items. Items that end with the loop become invalid.
HOLDS_LOCK static void detach(runloop *loop, struct attachment *attachment, struct membership *membership) {
    struct item *item = membership->item;
    item_retain(item);
    bool was_last = runloop__membership_remove(loop, attachment, membership);
    loop_unlock(loop);
    if (was_last)
        item_release(item);
    if (item_state(item) & ITEM_ENDS_WITH_LOOP)
        runloop__attached_invalidate(LIST_ENTRY(item, struct attached, item));
    item_release(item);
    loop_lock(loop);
}

static void detach_common_items(runloop *loop) {
    loop_lock(loop);
    while (!list_is_empty(&loop->common_items)) {
        struct membership *common = &LIST_ENTRY(loop->common_items.next, struct common_membership, in_set)->membership;
        struct item *item = common->item;
        if (!item_is_source(item))
            detach(loop, &LIST_ENTRY(item, struct attached, item)->attachment, common);
        else // one that was removed from each of its modes: the others are gone
            detach(loop, &runloop__source_find(LIST_ENTRY(item, runloop_source, item), loop)->attachment, common);
    }
    loop_unlock(loop);
}

static void detach_items(runloop *loop, struct mode *mode) {
    loop_lock(loop);
    while (heap_count(&mode->timers) > 0) {
        struct membership *membership = mode->timers.entries[0].membership;
        detach(loop, &LIST_ENTRY(membership->item, struct attached, item)->attachment, membership);
    }
    while (mode->observer_count > 0) {
        struct attachment *attachment = &mode->observers[0]->attached.attachment;
        detach(loop, attachment, membership_find(attachment, mode));
    }
    loop_unlock(loop);
}

/// Is what the loop has been given lost, because nobody ran it? Not if its first run was stopped in advance.
static bool was_forgotten(runloop *loop) {
    if (runloop__has_run(loop) || atomic_load(&loop->latched_stop) || !runloop__diagnostic_is_due(RUNLOOP__NEVER_RUN))
        return false;
    for (struct mode *mode = atomic_load(&loop->modes); mode; mode = atomic_load(&mode->next)) {
        if (mode_has_items(mode))
            return true;
    }
    return false;
}

void runloop__teardown(runloop *loop) {
    runloop__abandon_callouts(loop);
    if (was_forgotten(loop))
        runloop__diagnostic_write(
            RUNLOOP__NEVER_RUN,
            "A thread has ended with timers or sources in its run loop, which was never run, so they never "
            "happened. Whoever adds an item to a loop must also run that loop, or see to it that somebody does.");
    atomic_store(&loop->is_finished, true);
    // An item may own the clock that the program gave the loop.
    loop_lock(loop);
    loop->clock = (runloop_clock){0};
    loop_unlock(loop);
    runloop__sources_leave(loop);
    detach_common_items(loop);
    for (struct mode *mode = atomic_load(&loop->modes); mode; mode = atomic_load(&mode->next))
        detach_items(loop, mode);
    runloop__tasks_close(loop);
    runloop__await_owner_readers();
    runloop__associations_end(loop);
}

UNCHECKED static void close_loop(runloop *loop) {
    runloop__tasks_close(loop);
    runloop__registrations_free(loop);
    runloop__signal_tree_free(&loop->signals);
    runloop__associations_free(loop);
}

static __attribute__((constructor)) void set_up(void) {
    runloop__loop_closed = close_loop;
}
#endif // __linux__
