// common.c — a mode is declared common: all common items join it (R16, R17).

#ifdef __linux__
#include <pthread.h>

#include "items/items.h"

static struct attachment *attachment_of(struct item *item) {
    return &LIST_ENTRY(item, struct attached, item)->attachment;
}

/// The common items that are to join the mode, in the order in which they became common.
HOLDS_LOCK static void find_items(runloop *loop, const struct mode *mode, struct snapshot *items) {
    LIST_EACH(node, &loop->common_items) {
        struct item *item = LIST_ENTRY(node, struct common_membership, in_set)->membership.item;
        if (item_is_source(item) || !membership_find(attachment_of(item), mode))
            snapshot_add(items, item);
    }
}

/// Timers and observers have no callbacks to run, so they join under the lock, all or none.
HOLDS_LOCK static int join_attached(runloop *loop, struct mode *mode, const struct snapshot *items) {
    int error = 0;
    uint32_t passed = 0;
    for (; !error && passed < items->count; passed++) {
        struct item *item = items->items[passed];
        error = item_is_source(item) ? 0 : runloop__membership_add(loop, attachment_of(item), item, mode);
    }
    // Roll back all but the failed one. Each still has another mode.
    for (; error && passed > 1; passed--) {
        struct item *item = items->items[passed - 2];
        if (!item_is_source(item))
            runloop__membership_remove(loop, attachment_of(item), membership_find(attachment_of(item), mode));
    }
    return error;
}

/// `*declared`: NULL if the mode was common before. `items`: what it has as common items from now on.
HOLDS_LOCK static int declare(runloop *loop, const char *name, struct mode **declared, struct snapshot *items) {
    if (atomic_load(&loop->is_finished))
        return -ESHUTDOWN;
    struct mode *mode = mode_find(loop, name), *made = NULL;
    if (mode && atomic_load(&mode->is_common))
        return 0;
    if (!mode && !(mode = made = runloop__mode_new(name)))
        return -ENOMEM;
    find_items(loop, mode, items);
    int error = items->is_incomplete ? -ENOMEM : join_attached(loop, mode, items);
    if (error && made)
        runloop__mode_free(made);
    if (error)
        return error;
    if (made)
        mode_adopt(loop, made);
    atomic_store(&mode->is_common, true);
    *declared = mode;
    return 0;
}

/// Without the lock. Sources join one at a time, since their `schedule` runs unlocked. One that becomes common meanwhile joins by
/// itself, and one for which memory runs out is missing.
static int join_sources(runloop *loop, struct mode *mode, const struct snapshot *items) {
    int error = 0;
    for (uint32_t i = 0; i < items->count; i++) {
        struct item *item = items->items[i];
        if (item_is_source(item) &&
            runloop__source_join_common(loop, LIST_ENTRY(item, runloop_source, item), mode) == -ENOMEM)
            error = -ENOMEM;
    }
    return error;
}

/// A `schedule` may end the thread.
static COLD int join_sources_and_release(runloop *loop, struct mode *mode, struct snapshot *items) {
    int error;
    pthread_cleanup_push(snapshot_release, items);
    error = join_sources(loop, mode, items);
    pthread_cleanup_pop(true);
    return error;
}

int runloop_add_common_mode(runloop *loop, const char *name) {
    int error = loop_check(loop);
    if (error)
        return error;
    if (!name)
        return -EINVAL;
    if (is_common_name(name))
        return 0;
    struct mode *mode = NULL;
    struct snapshot items = {0};
    loop_lock(loop);
    error = declare(loop, name, &mode, &items);
    loop_unlock(loop);
    if (mode)
        return join_sources_and_release(loop, mode, &items);
    snapshot_release(&items);
    return error;
}
#endif // __linux__
