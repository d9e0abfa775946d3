// source_modes.c — sources come into modes and leave them, with `schedule` and `cancel`.
//
// No callback runs under the loop's lock (rules R58–R60, R118). So operations on all common modes go one mode at a time: change, unlock,
// call, lock, and look again whether the source is still valid and still (or still not) a common item. If it isn't, whoever changed
// that goes on.
//
// A callback may end its thread. What an operation holds then is released by a cleanup handler (pthread_cleanup_push).

#ifdef __linux__
#include <pthread.h>

#include "items/items.h"

static void schedule(runloop_source *source, runloop *loop, struct mode *mode) {
    if (source->schedule)
        runloop__IS_CALLING_OUT_TO_A_SOURCE_SCHEDULE(source->schedule, source, loop, mode->name,
                                                     item_info(&source->item));
}

static void cancel(runloop_source *source, runloop *loop, struct mode *mode) {
    if (source->cancel)
        runloop__IS_CALLING_OUT_TO_A_SOURCE_SCHEDULE(source->cancel, source, loop, mode->name,
                                                     item_info(&source->item));
}

/// Of an operation that is over, or whose thread has ended in a callback.
static void release(void *source) {
    runloop_source_release(source);
}

/// Is it (still) to be in all common modes?
HOLDS_LOCK static bool is_common(runloop *loop, runloop_source *source) {
    struct source_attachment *place = runloop__source_find(source, loop);
    return place && common_find(loop, &place->attachment) && item_is_valid(&source->item);
}

/// 0, and then others can't free the source between the steps of an operation, until that releases it.
static int check_and_retain(runloop *loop, runloop_source *source, const char *name) {
    int error = loop_check(loop);
    if (!error && (!source || !name))
        error = -EINVAL;
    if (!error)
        item_retain(&source->item);
    return error;
}

//===-- removing -----------------------------------------------------------------------------------------------------===//

/// Calls `cancel` in between, without the lock.
HOLDS_LOCK static void leave_mode(runloop *loop, struct source_attachment *place, struct membership *membership) {
    struct mode *mode = membership->mode;
    bool was_last = runloop__membership_remove(loop, &place->attachment, membership);
    loop_unlock(loop);
    if (was_last)
        item_release(&place->source->item); // never the last: callers have one
    if (mode != &loop->common)
        cancel(place->source, loop, mode);
    loop_lock(loop);
}

HOLDS_LOCK static void leave_mode_named(runloop *loop, runloop_source *source, struct mode *mode) {
    struct source_attachment *place = runloop__source_find(source, loop);
    struct membership *membership = place && mode ? membership_find(&place->attachment, mode) : NULL;
    if (membership)
        leave_mode(loop, place, membership);
}

/// The source's membership in some common mode, or NULL.
HOLDS_LOCK static struct membership *in_any_common_mode(struct source_attachment *place) {
    struct membership *membership = place->attachment.memberships;
    while (membership && !atomic_load(&membership->mode->is_common))
        membership = membership->next;
    return membership;
}

/// The source ceases to be common and leaves the common modes: by its own list, since to look for it in each mode would be quadratic.
HOLDS_LOCK static void leave_common(runloop *loop, runloop_source *source) {
    struct source_attachment *place = runloop__source_find(source, loop);
    struct membership *membership = place ? common_find(loop, &place->attachment) : NULL;
    while (membership) {
        leave_mode(loop, place, membership);
        place = is_common(loop, source) ? NULL : runloop__source_find(source, loop);
        membership = place ? in_any_common_mode(place) : NULL;
    }
}

int runloop_remove_source(runloop *loop, runloop_source *source, const char *name) {
    int error = check_and_retain(loop, source, name);
    if (error)
        return error;
    pthread_cleanup_push(release, source);
    loop_lock(loop);
    if (is_common_name(name))
        leave_common(loop, source);
    else
        leave_mode_named(loop, source, mode_find(loop, name));
    loop_unlock(loop);
    pthread_cleanup_pop(true);
    return 0;
}

//===-- adding -------------------------------------------------------------------------------------------------------===//

/// What forbids an addition, whatever the mode.
HOLDS_LOCK static int refusal(runloop *loop, runloop_source *source) {
    if (atomic_load(&loop->is_finished))
        return -ESHUTDOWN;
    return item_is_valid(&source->item) ? 0 : -EINVAL;
}

/// Calls `schedule` in between, without the lock.
HOLDS_LOCK static int add_to_mode(runloop *loop, runloop_source *source, const char *name) {
    struct source_attachment *place = runloop__source_attach(source, loop);
    if (!place)
        return -ENOMEM;
    struct mode *mode = mode_find(loop, name);
    if (mode && membership_find(&place->attachment, mode))
        return 0;
    int error = runloop__membership_add_named(loop, &place->attachment, &source->item, name, &mode);
    attachment_settle(&place->attachment);
    if (error)
        return error;
    loop_unlock(loop);
    schedule(source, loop, mode);
    loop_lock(loop);
    return 0;
}

/// What an operation on all common modes knows of its source: memberships before `rest` are in modes that it has passed. That holds while
/// nothing else changes memberships in the loop.
struct passed {
    struct membership *rest;
    uint64_t changes;
};

static int join_common(runloop *loop, runloop_source *source, struct mode *mode, struct passed *passed) {
    int error = 0;
    loop_lock(loop);
    struct source_attachment *place = runloop__source_find(source, loop);
    bool is_known = passed && passed->changes == loop->membership_changes;
    bool joins = refusal(loop, source) == 0 && is_common(loop, source) &&
                 !membership_find_from(is_known ? passed->rest : place->attachment.memberships, mode);
    if (joins) {
        error = runloop__membership_add(loop, &place->attachment, &source->item, mode);
        if (is_known)
            passed->changes = loop->membership_changes;
    }
    loop_unlock(loop);
    if (joins && !error)
        schedule(source, loop, mode);
    return error ? error : joins;
}

int runloop__source_join_common(runloop *loop, runloop_source *source, struct mode *mode) {
    return join_common(loop, source, mode, NULL);
}

/// Rolls back the memberships added so far, with `cancel`. False if something else has changed memberships in the loop, and nobody knows any more
/// which modes these are.
HOLDS_LOCK static bool leave_joined(runloop *loop, runloop_source *source, struct passed *passed) {
    struct source_attachment *place = runloop__source_find(source, loop);
    struct membership *common = place ? common_find(loop, &place->attachment) : NULL;
    while (common && passed->changes == loop->membership_changes && common->next != passed->rest) {
        passed->changes++;
        leave_mode(loop, place, common->next);
    }
    return common && passed->changes == loop->membership_changes;
}

/// Calls `schedule` in between, without the lock. Also for a source that is common already: it comes back into the modes that it
/// was removed from.
HOLDS_LOCK static int add_to_common_modes(runloop *loop, runloop_source *source) {
    struct source_attachment *place = runloop__source_attach(source, loop);
    if (!place)
        return -ENOMEM;
    bool becomes_common = !common_find(loop, &place->attachment);
    int error = becomes_common ? runloop__common_add(loop, &place->attachment, &source->item) : 0;
    attachment_settle(&place->attachment);
    // Partner of runloop_source_invalidate, as for a single mode.
    if (!error && !item_is_valid(&source->item))
        error = -EINVAL;
    struct membership *common = common_find(loop, &place->attachment);
    struct passed passed = {.rest = common ? common->next : NULL, .changes = loop->membership_changes};
    // Modes that become common meanwhile join it themselves.
    for (struct mode *mode = NULL; !error && (mode = mode_next_common(loop, mode));) {
        loop_unlock(loop);
        int joined = join_common(loop, source, mode, &passed);
        error = joined < 0 ? joined : 0;
        loop_lock(loop);
        if (!is_common(loop, source))
            return 0;
    }
    if (error && leave_joined(loop, source, &passed)) {
        if (becomes_common)
            leave_mode(loop, place, place->attachment.memberships);
    } else if (error && becomes_common) {
        leave_common(loop, source);
    }
    return error;
}

int runloop_add_source(runloop *loop, runloop_source *source, const char *name) {
    int error = check_and_retain(loop, source, name);
    if (error)
        return error;
    pthread_cleanup_push(release, source);
    loop_lock(loop);
    error = refusal(loop, source);
    if (!error)
        error = is_common_name(name) ? add_to_common_modes(loop, source) : add_to_mode(loop, source, name);
    loop_unlock(loop);
    pthread_cleanup_pop(true);
    return error;
}

//===-- asking -------------------------------------------------------------------------------------------------------===//

bool runloop_contains_source(runloop *loop, runloop_source *source, const char *name) {
    if (loop_check(loop) || !source || !name)
        return false;
    loop_lock(loop);
    struct source_attachment *place = runloop__source_find(source, loop);
    struct mode *mode = is_common_name(name) ? &loop->common : mode_find(loop, name);
    bool contains = place && mode && membership_find(&place->attachment, mode);
    loop_unlock(loop);
    return contains;
}

//===-- leaving a loop -----------------------------------------------------------------------------------------------===//

/// Calls `cancel` in between, without the lock.
HOLDS_LOCK static void leave_loop(runloop *loop, struct source_attachment *place, void *unused) {
    (void)unused;
    while (atomic_load(&place->attachment.loop) == loop && place->attachment.memberships)
        leave_mode(loop, place, place->attachment.memberships);
}

static void tell_invalidated(void *invalidated) {
    runloop_source *source = invalidated;
    if (source->invalidated)
        runloop__IS_CALLING_OUT_TO_A_SOURCE_INVALIDATED(source->invalidated, source, item_info(&source->item));
}

void runloop_source_invalidate(runloop_source *source) {
    // The bit goes first: an addition under way looks at it after it has published its attachment.
    if (!source || !(atomic_fetch_and(&source->item.state, ~(uint32_t)ITEM_VALID) & ITEM_VALID))
        return;
    item_retain(&source->item);
    pthread_cleanup_push(release, source);
    // A `cancel` may end the thread.
    pthread_cleanup_push(tell_invalidated, source);
    atomic_store(&source->mark, 0);
    runloop__source_each_loop(source, leave_loop, NULL);
    pthread_cleanup_pop(true);
    pthread_cleanup_pop(true);
}

/// The first source of a loop that ends. Its `cancel` may end the thread.
HOLDS_LOCK static void leave_first(runloop *loop) {
    struct source_attachment *place = LIST_ENTRY(loop->sources.next, struct source_attachment, in_loop);
    item_retain(&place->source->item);
    pthread_cleanup_push(release, place->source);
    leave_loop(loop, place, NULL);
    loop_unlock(loop);
    pthread_cleanup_pop(true);
    loop_lock(loop);
}

void runloop__sources_leave(runloop *loop) {
    loop_lock(loop);
    while (!list_is_empty(&loop->sources))
        leave_first(loop);
    loop_unlock(loop);
}
#endif // __linux__
