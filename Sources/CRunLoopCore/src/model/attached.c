// attached.c — timers and observers come into modes and leave them, are called, and become invalid: what both kinds have in common.
//
// Both are in one loop at a time, their owner, whose lock guards them; in no loop another one does (owner.c). Their state is
// written by nobody else, so it needs no read-modify-write. The context is released exactly once and never during a call-out: by
// whoever invalidates the item if no call-out is running, else by the end of that call-out.

#ifdef __linux__
#include "model/attached.h"

static void release_pending(struct attached *attached, pending_release pending) {
    // The loop's reference, released last, keeps the item until then, if the caller has none.
    if (pending & PENDING_CONTEXT)
        runloop__item_release_context(&attached->item);
    for (pending &= PENDING_CONTEXT - 1; pending > 0; pending--)
        item_release(&attached->item);
}

//===-- adding -------------------------------------------------------------------------------------------------------===//

/// Also for an item that is common already: it comes back into the modes that it was removed from.
HOLDS_LOCK static int add_to_common_modes(runloop *loop, struct attached *attached) {
    struct attachment *attachment = &attached->attachment;
    struct membership *common = common_find(loop, attachment), *last = memberships_in_modes(loop, attachment);
    int error = common ? 0 : runloop__common_add(loop, attachment, &attached->item);
    for (struct mode *mode = NULL; !error && (mode = mode_next_common(loop, mode));) {
        // What joins here stands before `last`, and no mode is met twice.
        if (!membership_find_from(last, mode))
            error = runloop__membership_add(loop, attachment, &attached->item, mode);
    }
    // The caller has a reference, so what is taken back needs no release but that of the loop's.
    struct membership *added;
    while (error && (added = common ? common->next : attachment->memberships) != last) {
        if (runloop__membership_remove(loop, attachment, added)) {
            item_release(&attached->item);
            break;
        }
    }
    return error;
}

/// A common item that was removed from each of its modes one by one is in no mode but still common (R20). It may be added to another
/// loop (R86, R97), and ceases to be common for that.
static void leave_former_owner(struct attached *attached, runloop *destination) {
    runloop *loop = owner_of(attached);
    if (!loop || loop == destination)
        return;
    struct attachment *attachment = &attached->attachment;
    bool leaves = false;
    loop = lock_owner(&attachment->loop);
    if (loop && loop != destination && !is_from_parent_process(loop)) {
        leaves = common_find(loop, attachment) && !attachment->memberships->next &&
                 runloop__membership_remove(loop, attachment, attachment->memberships);
    }
    unlock_owner(&attachment->loop, loop);
    if (leaves)
        item_release(&attached->item);
}

int runloop__attached_add(runloop *loop, struct attached *attached, const char *name) {
    int error = loop_check(loop);
    if (error)
        return error;
    if (!attached || !name)
        return -EINVAL;
    // Asked before the item gives up anything in another loop, and again under the lock.
    if (!item_is_valid(&attached->item))
        return -EINVAL;
    if (atomic_load(&loop->is_finished))
        return -ESHUTDOWN;
    leave_former_owner(attached, loop);
    loop_lock(loop);
    error = atomic_load(&loop->is_finished) ? -ESHUTDOWN : runloop__take_ownership(&attached->attachment.loop, loop);
    if (!error) {
        // The pseudo-mode is never found.
        struct attachment *attachment = &attached->attachment;
        struct mode *mode = mode_find(loop, name);
        if (!(item_state(&attached->item) & ITEM_VALID))
            error = -EINVAL;
        else if (!mode && is_common_name(name))
            error = add_to_common_modes(loop, attached);
        else if (!mode || !membership_find(attachment, mode))
            error = runloop__membership_add_named(loop, attachment, &attached->item, name, &mode);
        // It has no owner already if all was taken back.
        if (owner_of(attached) == loop)
            attachment_settle(attachment);
    }
    loop_unlock(loop);
    return error;
}

//===-- removing and invalidating ------------------------------------------------------------------------------------===//

/// True if the item is in no mode any more.
HOLDS_LOCK static bool remove_from_common_modes(runloop *loop, struct attachment *attachment) {
    bool was_last = false;
    struct membership *membership = common_find(loop, attachment);
    for (struct membership *next; membership; membership = next) {
        next = membership->next;
        if (membership->mode == &loop->common || atomic_load(&membership->mode->is_common))
            was_last = runloop__membership_remove(loop, attachment, membership);
    }
    return was_last;
}

int runloop__attached_remove(runloop *loop, struct attached *attached, const char *name) {
    int error = loop_check(loop);
    if (error)
        return error;
    if (!attached || !name)
        return -EINVAL;
    bool was_last = false;
    loop_lock(loop);
    if (owner_of(attached) == loop) {
        struct attachment *attachment = &attached->attachment;
        struct mode *mode = mode_find(loop, name);
        struct membership *membership = mode ? membership_find(attachment, mode) : NULL;
        if (membership)
            was_last = runloop__membership_remove(loop, attachment, membership);
        else if (!mode && is_common_name(name))
            was_last = remove_from_common_modes(loop, attachment);
    }
    loop_unlock(loop);
    if (was_last)
        item_release(&attached->item);
    return 0;
}

bool runloop__attached_contains(runloop *loop, struct attached *attached, const char *name) {
    if (loop_check(loop) || !attached || !name)
        return false;
    loop_lock(loop);
    bool contains = false;
    if (owner_of(attached) == loop) {
        struct mode *mode = mode_find(loop, name);
        struct membership *common = common_find(loop, &attached->attachment);
        if (mode)
            contains = membership_find(&attached->attachment, mode);
        else if (is_common_name(name)) // of timers R20 asks that they are in a mode
            contains = common && (common->next || item_kind(&attached->item) == ITEM_OBSERVER);
    }
    loop_unlock(loop);
    return contains;
}

pending_release runloop__invalidate_locked(runloop *owner, struct attached *attached) {
    uint32_t state = item_state(&attached->item);
    if (!(state & ITEM_VALID))
        return 0;
    attached_set_state(attached, (state & ~(uint32_t)ITEM_VALID) | (state & ITEM_CALLED ? ITEM_RELEASE_LATER : 0));
    pending_release pending = !(state & ITEM_CALLED) && attached->item.release ? PENDING_CONTEXT : 0;
    // Heaps and lists that were inherited may be in the middle of another thread's change.
    if (!owner || is_from_parent_process(owner))
        return pending;
    struct attachment *attachment = &attached->attachment;
    bool was_last = false;
    while (!was_last && attachment->memberships)
        was_last = runloop__membership_remove(owner, attachment, attachment->memberships);
    return pending + was_last;
}

void runloop__attached_invalidate(struct attached *attached) {
    if (!attached || !item_is_valid(&attached->item))
        return;
    runloop *owner = lock_owner(&attached->attachment.loop);
    pending_release pending = runloop__invalidate_locked(owner, attached);
    unlock_owner(&attached->attachment.loop, owner);
    release_pending(attached, pending);
}

//===-- call-outs ----------------------------------------------------------------------------------------------------===//

/// The call-out on top comes off the stack.
HOLDS_LOCK static void drop(runloop *loop) {
    struct callout callout = *--loop->callouts_top;
    if (callout.is_retained) {
        loop_unlock(loop);
        item_release(&callout.attached->item);
        loop_lock(loop);
    }
}

struct attached *runloop__callout_begin_otherwise(runloop *loop) {
    struct attached *attached = loop->callouts_top[-1].attached;
    bool begins = false;
    if (owner_of(attached) != loop) {
        loop_unlock(loop);
        runloop *owner = lock_owner(&attached->attachment.loop);
        uint32_t state = item_state(&attached->item);
        begins = (state & (ITEM_VALID | ITEM_CALLED)) == ITEM_VALID;
        if (begins)
            attached_set_state(attached, state | ITEM_CALLED);
        unlock_owner(&attached->attachment.loop, owner);
        loop_lock(loop);
    }
    // Meanwhile another thread may have moved the stack, to reserve memory for an observer.
    loop->callouts_top[-1].runs = begins;
    if (!begins)
        drop(loop);
    return begins ? attached : NULL;
}

void runloop__callout_release(runloop *loop, runloop *owner, struct attached *attached, pending_release pending) {
    if (owner == loop)
        loop_unlock(loop);
    else
        unlock_owner(&attached->attachment.loop, owner);
    release_pending(attached, pending);
    loop_lock(loop);
}

void runloop__callouts_unwind(runloop *loop) {
    while (loop->callouts_top > loop->callouts) {
        struct callout *callout = loop->callouts_top - 1;
        struct attached *attached = callout->attached;
        if (!callout->runs) {
            drop(loop);
            continue;
        }
        pending_release pending;
        runloop *owner = callout_return(loop, attached, &pending);
        pending += callout_end(attached);
        if (item_class(&attached->item)->called)
            item_class(&attached->item)->called(owner, &attached->attachment);
        callout_release(loop, owner, attached, pending);
    }
}
#endif // __linux__
