// attached.c — timers and observers come into modes and leave them, are called, and become invalid: what both kinds have in common.
//
// Both are in one loop at a time, their owner, whose lock guards them; in no loop their owner word does (owner.c). Their state is
// written by nobody else, so it needs no read-modify-write. The context is released exactly once and never during a call-out: by
// whoever invalidates the item if no call-out is running, else by the end of that call-out.

#include "model/model.h"

/// HOLDS: owner.
static void set_state(struct attached *attached, uint32_t state) {
    atomic_store_explicit(&attached->item.state, state, memory_order_release);
}

static runloop *owner_of(const struct attached *attached) {
    return atomic_load_explicit(&attached->attachment.loop, memory_order_acquire);
}

void runloop__leave_owner(struct attached *attached) {
    if (!attached->attachment.memberships)
        atomic_store_explicit(&attached->attachment.loop, NULL, memory_order_release);
}

void runloop__release_pending(struct attached *attached, struct pending_release pending) {
    // The references of its modes, released last, keep the item until then, if the caller has none.
    if (pending.context)
        runloop__item_release_context(&attached->item);
    while (pending.references-- > 0)
        item_release(&attached->item);
}

//===-- adding -------------------------------------------------------------------------------------------------------===//

static int add_to_mode(runloop *loop, struct attached *attached, struct mode *mode, const char *name) {
    if (mode)
        return membership_find(&attached->attachment, mode)
                   ? 0
                   : runloop__membership_add(loop, &attached->attachment, &attached->item, mode);
    if (!(mode = runloop__mode_new(name)))
        return -ENOMEM;
    int error = runloop__membership_add(loop, &attached->attachment, &attached->item, mode);
    if (error)
        runloop__mode_free(mode);
    else
        mode_adopt(loop, mode);
    return error;
}

/// HOLDS: loop. Takes back the memberships that were added after `last`. None of their references is the last: the caller has one.
static void take_back(runloop *loop, struct attached *attached, struct membership *last) {
    struct attachment *attachment = &attached->attachment;
    struct membership *common = common_find(loop, attachment), *membership;
    while ((membership = common ? common->next : attachment->memberships) != last) {
        runloop__membership_remove(loop, attachment, membership);
        item_release(&attached->item);
    }
}

/// HOLDS: loop. Also for an item that is common already: it comes back into the modes that it was removed from.
static int add_to_common_modes(runloop *loop, struct attached *attached) {
    struct attachment *attachment = &attached->attachment;
    struct membership *common = common_find(loop, attachment);
    struct membership *last = common ? common->next : attachment->memberships;
    bool becomes_common = !common;
    if (becomes_common && runloop__common_add(loop, attachment, &attached->item))
        return -ENOMEM;
    uint64_t stamp = ++loop->stamp;
    for (struct membership *membership = last; membership; membership = membership->next)
        membership->mode->stamp = stamp;
    int error = 0;
    for (struct mode *mode = NULL; !error && (mode = mode_next_common(loop, mode));) {
        if (mode->stamp != stamp)
            error = runloop__membership_add(loop, attachment, &attached->item, mode);
    }
    if (error) {
        take_back(loop, attached, last);
        if (becomes_common) {
            runloop__membership_remove(loop, attachment, attachment->memberships);
            item_release(&attached->item);
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
        leaves = common_find(loop, attachment) && !attachment->memberships->next;
        if (leaves)
            runloop__membership_remove(loop, attachment, attachment->memberships);
        runloop__leave_owner(attached);
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
    error = atomic_load(&loop->is_finished) ? -ESHUTDOWN : take_ownership(&attached->attachment.loop, loop);
    if (!error) {
        // The pseudo-mode is never found.
        struct mode *mode = mode_find(loop, name);
        if (!(item_state(&attached->item) & ITEM_VALID))
            error = -EINVAL;
        else if (!mode && is_common_name(name))
            error = add_to_common_modes(loop, attached);
        else
            error = add_to_mode(loop, attached, mode, name);
        runloop__leave_owner(attached);
    }
    loop_unlock(loop);
    return error;
}

//===-- removing and invalidating ------------------------------------------------------------------------------------===//

/// HOLDS: loop. How many references the caller has to release.
static uint32_t remove_from_common_modes(runloop *loop, struct attached *attached) {
    struct attachment *attachment = &attached->attachment;
    if (!common_find(loop, attachment))
        return 0;
    uint32_t references = 0;
    for (struct membership *membership = attachment->memberships, *next; membership; membership = next) {
        next = membership->next;
        if (membership->mode == &loop->common || atomic_load(&membership->mode->is_common)) {
            runloop__membership_remove(loop, attachment, membership);
            references++;
        }
    }
    return references;
}

int runloop__attached_remove(runloop *loop, struct attached *attached, const char *name) {
    int error = loop_check(loop);
    if (error)
        return error;
    if (!attached || !name)
        return -EINVAL;
    uint32_t references = 0;
    loop_lock(loop);
    if (owner_of(attached) == loop) {
        struct mode *mode = mode_find(loop, name);
        struct membership *membership = mode ? membership_find(&attached->attachment, mode) : NULL;
        if (membership) {
            runloop__membership_remove(loop, &attached->attachment, membership);
            references = 1;
        } else if (!mode && is_common_name(name)) {
            references = remove_from_common_modes(loop, attached);
        }
        runloop__leave_owner(attached);
    }
    loop_unlock(loop);
    runloop__release_pending(attached, (struct pending_release){.references = references});
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
            contains = common && (common->next || attached->item.class->kind == ITEM_OBSERVER);
    }
    loop_unlock(loop);
    return contains;
}

struct pending_release runloop__invalidate_locked(runloop *owner, struct attached *attached) {
    struct pending_release pending = {0};
    uint32_t state = item_state(&attached->item);
    if (!(state & ITEM_VALID))
        return pending;
    set_state(attached, (state & ~(uint32_t)ITEM_VALID) | (state & ITEM_CALLED ? ITEM_RELEASE_LATER : 0));
    pending.context = !(state & ITEM_CALLED) && attached->item.release;
    // Heaps and lists that were inherited may be in the middle of another thread's change.
    if (!owner || is_from_parent_process(owner))
        return pending;
    struct attachment *attachment = &attached->attachment;
    for (; attachment->memberships; pending.references++)
        runloop__membership_remove(owner, attachment, attachment->memberships);
    runloop__leave_owner(attached);
    return pending;
}

void runloop__attached_invalidate(struct attached *attached) {
    if (!attached || !item_is_valid(&attached->item))
        return;
    runloop *owner = lock_owner(&attached->attachment.loop);
    struct pending_release pending = runloop__invalidate_locked(owner, attached);
    unlock_owner(&attached->attachment.loop, owner);
    runloop__release_pending(attached, pending);
}

//===-- call-outs ----------------------------------------------------------------------------------------------------===//

static bool reserve_callout(runloop *loop) {
    if (loop->callout_count < loop->callout_capacity)
        return true;
    uint32_t capacity = 2 * loop->callout_capacity + 4;
    struct attached **callouts = realloc(loop->callouts, capacity * sizeof(struct attached *));
    if (!callouts)
        return false;
    loop->callouts = callouts;
    loop->callout_capacity = capacity;
    return true;
}

/// HOLDS: owner.
static bool begin(runloop *owner, struct attached *attached) {
    uint32_t state = item_state(&attached->item);
    if (!(state & ITEM_VALID) || (state & ITEM_CALLED))
        return false;
    set_state(attached, (state | ITEM_CALLED) & ~(uint32_t)ITEM_REDATED);
    if (attached->item.class->called)
        attached->item.class->called(owner, &attached->attachment);
    return true;
}

bool runloop__callout_begin(runloop *loop, struct attached *attached) {
    ASSERT_LOCKED(loop);
    if (!reserve_callout(loop))
        return false;
    bool begins;
    if (owner_of(attached) == loop) {
        begins = begin(loop, attached);
    } else {
        loop_unlock(loop);
        runloop *owner = lock_owner(&attached->attachment.loop);
        begins = begin(owner, attached);
        unlock_owner(&attached->attachment.loop, owner);
        loop_lock(loop);
    }
    if (begins)
        loop->callouts[loop->callout_count++] = attached;
    return begins;
}

runloop *runloop__callout_return(runloop *loop, struct attached *attached) {
    ASSERT_LOCKED(loop);
    ASSERT(loop->callout_count > 0, "A call-out ended that had not begun.");
    loop->callout_count--;
    if (owner_of(attached) == loop)
        return loop;
    // The call-out moved the item to another loop, which may call it as soon as this loop's call-out has ended.
    loop_unlock(loop);
    return lock_owner(&attached->attachment.loop);
}

bool runloop__callout_end(runloop *owner, struct attached *attached) {
    uint32_t state = item_state(&attached->item);
    set_state(attached, state & ~(uint32_t)(ITEM_CALLED | ITEM_RELEASE_LATER));
    // The call-out may have forked: another thread may have been in the middle of a change of inherited heaps.
    if (owner && !is_from_parent_process(owner) && attached->item.class->called)
        attached->item.class->called(owner, &attached->attachment);
    return (state & ITEM_RELEASE_LATER) && attached->item.release;
}
