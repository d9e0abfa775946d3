// common.c — a mode is declared common: all common items join it (R16, R17).

#include "items/items.h"

static bool is_source(const struct item *item) {
    return item->class->kind <= ITEM_DESCRIPTOR_SOURCE;
}

static struct attached *attached_of(struct item *item) {
    return LIST_ENTRY(item, struct attached, item);
}

static struct item *item_at(struct list *node) {
    return LIST_ENTRY(node, struct common_membership, in_set)->membership.item;
}

/// HOLDS: loop. The timers and observers that are not in the mode yet, in the order in which they became common.
static int items_to_join(runloop *loop, struct mode *mode, struct attached ***items, size_t *count) {
    size_t found = 0;
    *count = 0;
    LIST_EACH(node, &loop->common_items)
    found += !is_source(item_at(node));
    *items = found ? calloc(found, sizeof(struct attached *)) : NULL;
    if (found && !*items)
        return -ENOMEM;
    LIST_EACH(node, &loop->common_items) {
        struct item *item = item_at(node);
        if (!is_source(item) && !membership_find(&attached_of(item)->attachment, mode))
            (*items)[(*count)++] = attached_of(item);
    }
    return 0;
}

/// HOLDS: loop. Timers and observers have no callbacks to run, so they join under the lock, all or none.
static int join_attached(runloop *loop, struct mode *mode) {
    struct attached **items;
    size_t count, joined = 0;
    int error = items_to_join(loop, mode, &items, &count);
    for (; !error && joined < count; joined++)
        error = runloop__membership_add(loop, &items[joined]->attachment, &items[joined]->item, mode);
    if (error && joined > 0) {
        // The last one did not join. No reference that goes is the last: the common items have one.
        for (joined--; joined > 0; joined--) {
            struct attached *attached = items[joined - 1];
            runloop__membership_remove(loop, &attached->attachment, membership_find(&attached->attachment, mode));
            item_release(&attached->item);
        }
    }
    free(items);
    return error;
}

/// HOLDS: loop. The common sources, retained, in the order in which they became common.
static int common_sources(runloop *loop, runloop_source ***sources, size_t *count) {
    size_t found = 0;
    LIST_EACH(node, &loop->common_items)
    found += is_source(item_at(node));
    *count = 0;
    *sources = found ? calloc(found, sizeof(runloop_source *)) : NULL;
    if (found && !*sources)
        return -ENOMEM;
    LIST_EACH(node, &loop->common_items) {
        if (!is_source(item_at(node)))
            continue;
        item_retain(item_at(node));
        (*sources)[(*count)++] = LIST_ENTRY(item_at(node), runloop_source, item);
    }
    return 0;
}

struct declaration {
    struct mode *mode; ///< NULL: it was common before
    runloop_source **sources;
    size_t count;
};

/// HOLDS: loop.
static int declare(runloop *loop, const char *name, struct declaration *declaration) {
    if (atomic_load(&loop->is_finished))
        return -ESHUTDOWN;
    struct mode *mode = mode_find(loop, name), *made = NULL;
    if (mode && atomic_load(&mode->is_common))
        return 0;
    if (!mode && !(mode = made = runloop__mode_new(name)))
        return -ENOMEM;
    int error = common_sources(loop, &declaration->sources, &declaration->count);
    if (!error)
        error = join_attached(loop, mode);
    if (error && made)
        runloop__mode_free(made);
    if (error)
        return error;
    if (made)
        mode_adopt(loop, made);
    atomic_store(&mode->is_common, true);
    declaration->mode = mode;
    return 0;
}

int runloop_add_common_mode(runloop *loop, const char *name) {
    int error = loop_check(loop);
    if (error)
        return error;
    if (!name)
        return -EINVAL;
    if (is_common_name(name))
        return 0;
    struct declaration declaration = {0};
    loop_lock(loop);
    error = declare(loop, name, &declaration);
    loop_unlock(loop);
    // Sources join one at a time, since their `schedule` runs unlocked. One that the mode refuses (an equal one is there) is passed
    // over, one that becomes common meanwhile joins by itself, and one for which memory runs out is missing.
    for (size_t i = 0; i < declaration.count; i++) {
        int joined = declaration.mode ? runloop__source_join_common(loop, declaration.sources[i], declaration.mode) : 0;
        if (joined == -ENOMEM)
            error = joined;
        item_release(&declaration.sources[i]->item);
    }
    free(declaration.sources);
    return error;
}
