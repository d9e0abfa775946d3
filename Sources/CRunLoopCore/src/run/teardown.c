// teardown.c — the end of a loop, on its ending thread (R8–R10), and what is freed with its last reference.

#include "run/run.h"

/// HOLDS: loop; again when it returns. The latest call-out is over.
static void abandon_callout(runloop *loop) {
    struct attached *attached = loop->callouts[loop->callout_count - 1];
    runloop *owner = runloop__callout_return(loop, attached);
    struct pending_release pending = {.context = runloop__callout_end(owner, attached)};
    if (owner == loop)
        loop_unlock(loop);
    else
        unlock_owner(&attached->attachment.loop, owner);
    runloop__release_pending(attached, pending);
    loop_lock(loop);
}

void runloop__abandon_callouts(runloop *loop) {
    loop->run = NULL;
    for (struct run *outer; loop->hosted; loop->hosted = outer) {
        outer = loop->hosted->outer_hosted;
        free(loop->hosted);
    }
    loop->host_sleeps = false;
    atomic_store(&loop->current_mode, NULL);
    wake_leave(&loop->wake, 0, false);
    atomic_store(&loop->sleeping_in, NULL);
    loop->tasks.floor = 0;
    loop->tasks.end_ns = RUNLOOP_NEVER;
    loop->main_queue.depth = 0;
    loop_lock(loop);
    while (loop->callout_count > 0)
        abandon_callout(loop);
    loop_unlock(loop);
    while (loop->collected_count > 0)
        collected_drop(loop, --loop->collected_count);
}

/// One item out of one mode, or out of the common items. Items that end with the loop become invalid by that.
static void detach(runloop *loop, struct attached *attached, struct membership *membership) {
    bool ends = item_state(&attached->item) & ITEM_ENDS_WITH_LOOP;
    runloop__membership_remove(loop, &attached->attachment, membership);
    runloop__leave_owner(attached);
    loop_unlock(loop);
    if (ends)
        runloop__attached_invalidate(attached);
    item_release(&attached->item);
    loop_lock(loop);
}

static void detach_common_items(runloop *loop) {
    loop_lock(loop);
    while (!list_is_empty(&loop->common_items)) {
        struct membership *common = &LIST_ENTRY(loop->common_items.next, struct common_membership, in_set)->membership;
        struct item *item = common->item;
        if (item->class->kind > ITEM_DESCRIPTOR_SOURCE) {
            detach(loop, LIST_ENTRY(item, struct attached, item), common);
            continue;
        }
        // A common source that was removed from each of its modes: the others are gone.
        struct source_attachment *place = runloop__source_find(LIST_ENTRY(item, runloop_source, item), loop);
        runloop__membership_remove(loop, &place->attachment, common);
        runloop__source_settle(loop, place);
        loop_unlock(loop);
        item_release(item);
        loop_lock(loop);
    }
    loop_unlock(loop);
}

/// HOLDS: loop. NULL if the mode has none.
static runloop_observer *first_observer(const struct mode *mode) {
    for (uint32_t i = 0; mode->observers && i < mode->observers->count; i++) {
        if (!mode->observers->entries[i].removed)
            return mode->observers->entries[i].observer;
    }
    return NULL;
}

static void detach_items(runloop *loop, struct mode *mode) {
    loop_lock(loop);
    while (mode->timers.count > 0) {
        struct membership *membership = mode->timers.entries[0].membership;
        detach(loop, LIST_ENTRY(membership->item, struct attached, item), membership);
    }
    for (runloop_observer *observer; (observer = first_observer(mode));)
        detach(loop, &observer->attached, membership_find(&observer->attached.attachment, mode));
    loop_unlock(loop);
}

void runloop__teardown(runloop *loop) {
    runloop__abandon_callouts(loop);
    atomic_store(&loop->is_finished, true);
    runloop__sources_leave(loop);
    detach_common_items(loop);
    for (struct mode *mode = atomic_load(&loop->modes); mode; mode = atomic_load(&mode->next))
        detach_items(loop, mode);
    runloop__tasks_close(loop);
    runloop__observers_clean_up(loop);
    runloop__await_owner_readers();
    lock_end_bias(&loop->lock);
    runloop__associations_end(loop);
}

static void close_loop(runloop *loop) {
    runloop__tasks_close(loop);
    runloop__registrations_free(loop);
    free(loop->main_queue.registration);
    runloop__signal_tree_free(&loop->signals);
    runloop__associations_free(loop);
}

static __attribute__((constructor)) void set_up(void) {
    runloop__loop_closed = close_loop;
}
