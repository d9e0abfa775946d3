// common.c — the common modes: a set of modes that grows, a set of items that are in all of them, now and later (R16–R20).

#include "internal.h"

int runloop__common_enter(runloop *loop, struct item *item, struct common_item **place) {
    struct common_item *entry = malloc(sizeof *entry);
    if (!entry)
        return -ENOMEM;
    entry->item = item;
    runloop__item_retain(item);
    list_append(&loop->common_items, &entry->in_set);
    loop->common_changes++;
    *place = entry;
    return 0;
}

void runloop__common_leave(struct common_item **place) {
    list_remove(&(*place)->in_set);
    free(*place);
    *place = NULL;
}

struct mode *runloop__next_common_mode(runloop *loop, struct mode *mode) {
    mode = atomic_load(mode ? &mode->next : &loop->modes);
    while (mode && !atomic_load(&mode->is_common))
        mode = atomic_load(&mode->next);
    return mode;
}

struct common_item **runloop__common_place(runloop *loop, struct item *item) {
    if (item->kind == ITEM_OBSERVER)
        return &((runloop_observer *)(void *)item)->common;
    struct further_modes *further = item->kind == ITEM_SOURCE
                                        ? runloop__binding_find(SOURCE_OF(item), loop)->modes.further
                                        : runloop__timer_further((runloop_timer *)(void *)item);
    return further ? &further->common : NULL;
}

void runloop__common_clear(runloop *loop) {
    for (;;) {
        runloop__lock(loop);
        struct list *first = loop->common_items.next;
        struct item *item = NULL;
        if (first != &loop->common_items) {
            item = LIST_ENTRY(first, struct common_item, in_set)->item;
            runloop__common_leave(runloop__common_place(loop, item));
            if (item->kind == ITEM_TIMER)
                runloop__timer_leave_owner((runloop_timer *)(void *)item);
            else if (item->kind == ITEM_OBSERVER)
                runloop__observer_leave_owner((runloop_observer *)(void *)item);
        }
        runloop__unlock(loop);
        if (!item)
            return;
        runloop__item_release(item);
    }
}

// A common item that was removed from each of its modes one by one is in no mode but still in the set (R20). It may be added to
// another loop then (R86, R97), and gives up its place in the set for that.
static bool is_in_a_mode(const struct item *item) {
    return item->kind == ITEM_TIMER ? ((const runloop_timer *)(const void *)item)->mode != NULL
                                    : ((const runloop_observer *)(const void *)item)->modes.mode != NULL;
}

void runloop__common_leave_if_stranded(struct item *item, owner_word *owner, runloop *destination) {
    runloop *loop = atomic_load(owner);
    if (!loop || loop == destination)
        return;
    loop = runloop__lock_owner(owner);
    bool stranded = false;
    if (loop && loop != destination && !runloop__is_inherited(loop)) {
        struct common_item **place = runloop__common_place(loop, item);
        stranded = place && *place && !is_in_a_mode(item);
        if (stranded) {
            runloop__common_leave(place);
            if (item->kind == ITEM_TIMER)
                runloop__timer_leave_owner((runloop_timer *)(void *)item);
            else
                runloop__observer_leave_owner((runloop_observer *)(void *)item);
        }
    }
    runloop__unlock_owner(owner, loop);
    if (stranded)
        runloop__item_release(item);
}

//===-- declaring a mode common --------------------------------------------------------------------------------------===//

/// HOLDS: loop. Timers and observers have no callbacks to run: they join under the lock, all or none.
static int make_room(runloop *loop, struct mode *mode) {
    uint32_t timers = 0;
    LIST_EACH(node, &loop->common_items) {
        struct item *item = LIST_ENTRY(node, struct common_item, in_set)->item;
        if (item->kind == ITEM_TIMER && runloop__timer_prepare((runloop_timer *)(void *)item, mode, 1, ++timers))
            return -ENOMEM;
        if (item->kind == ITEM_SOURCE &&
            runloop__memberships_reserve(&runloop__binding_find(SOURCE_OF(item), loop)->modes, 1))
            return -ENOMEM;
    }
    return 0;
}

static void join_timers(runloop *loop, struct mode *mode) {
    LIST_EACH(node, &loop->common_items) {
        struct item *item = LIST_ENTRY(node, struct common_item, in_set)->item;
        runloop_timer *timer = (runloop_timer *)(void *)item;
        if (item->kind == ITEM_TIMER && !runloop__timer_position(timer, mode))
            runloop__timer_insert(loop, timer, mode);
    }
}

static void take_back_observers(runloop *loop, struct mode *mode, const struct list *end) {
    for (struct list *node = loop->common_items.next; node != end; node = node->next) {
        struct item *item = LIST_ENTRY(node, struct common_item, in_set)->item;
        runloop_observer *observer = (runloop_observer *)(void *)item;
        if (item->kind == ITEM_OBSERVER && observer->joined_with_mode == mode) {
            runloop__observer_extract(loop, observer, mode);
            runloop__item_release(item); // not the last reference: the set has one
        }
    }
}

static int join_observers(runloop *loop, struct mode *mode) {
    LIST_EACH(node, &loop->common_items) {
        struct item *item = LIST_ENTRY(node, struct common_item, in_set)->item;
        if (item->kind != ITEM_OBSERVER)
            continue;
        runloop_observer *observer = (runloop_observer *)(void *)item;
        bool joins = !runloop__is_member(&observer->modes, mode);
        observer->joined_with_mode = joins ? mode : NULL;
        if (joins && runloop__observer_insert(loop, observer, mode)) {
            take_back_observers(loop, mode, node);
            return -ENOMEM;
        }
    }
    return 0;
}

/// The sources, one at a time, since their `schedule` runs unlocked and may change the set: those that are in the set and not yet
/// in the mode, until there are none. A source that the mode refuses (an equal one is there, memory ran out) is passed over.
static void join_sources(runloop *loop, struct mode *mode) {
    uint64_t tried = 0;
    for (;;) {
        runloop__lock(loop);
        runloop_source *source = NULL;
        uint64_t index = 0;
        LIST_EACH(node, &loop->common_items) {
            struct item *item = LIST_ENTRY(node, struct common_item, in_set)->item;
            if (item->kind != ITEM_SOURCE || index++ < tried)
                continue;
            struct binding *binding = runloop__binding_find(SOURCE_OF(item), loop);
            if (!runloop__is_member(&binding->modes, mode)) {
                source = SOURCE_OF(item);
                break;
            }
        }
        if (source)
            runloop__item_retain(&source->item);
        runloop__unlock(loop);
        if (!source)
            return;
        if (runloop__source_join_common(loop, source, mode) != 1)
            tried = index;
        runloop__item_release(&source->item);
    }
}

/// HOLDS: loop.
static int declare(runloop *loop, const char *name, struct mode **declared) {
    if (atomic_load(&loop->is_finished))
        return -ESHUTDOWN;
    struct mode *mode = runloop__make_mode(loop, name);
    if (!mode)
        return -ENOMEM;
    if (atomic_load(&mode->is_common))
        return 0;
    if (make_room(loop, mode) || join_observers(loop, mode))
        return -ENOMEM;
    join_timers(loop, mode);
    atomic_store(&mode->is_common, true);
    *declared = mode;
    return 0;
}

int runloop_add_common_mode(runloop *loop, const char *name) {
    int error = runloop__check(loop);
    if (error)
        return error;
    if (!name)
        return -EINVAL;
    if (runloop__is_common_name(name))
        return 0;
    struct mode *declared = NULL;
    runloop__lock(loop);
    error = declare(loop, name, &declared);
    runloop__unlock(loop);
    if (declared)
        join_sources(loop, declared);
    runloop__observers_collect(loop);
    return error;
}
