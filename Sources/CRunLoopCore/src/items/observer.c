// observer.c — observers: made, listed in the order in which they are notified, notified.
//
// A mode's observers are a sorted array, guarded by the loop's lock. A notification first notes whom it will reach, since the call-outs
// may add observers and remove some: those that are removed from then on are still notified, unless they become invalid, and those that
// are added are not (R94).

#include "items/items.h"

static runloop_observer *observer_of(struct attached *attached) {
    return LIST_ENTRY(attached, runloop_observer, attached);
}

//===-- in modes -----------------------------------------------------------------------------------------------------===//

HOLDS_LOCK static void note_activities(struct mode *mode) {
    runloop_activity observed = 0;
    for (uint32_t i = 0; i < mode->observer_count; i++)
        observed |= mode->observers[i]->activities;
    atomic_store_explicit(&mode->observed, observed, memory_order_release);
}

HOLDS_LOCK static int insert(runloop *loop, struct attachment *attachment, struct membership *membership) {
    (void)loop;
    (void)attachment;
    struct mode *mode = membership->mode;
    if (mode->observer_count == mode->observer_capacity) {
        runloop_observer **observers =
            grow_array(mode->observers, &mode->observer_capacity, sizeof(runloop_observer *));
        if (!observers)
            return -ENOMEM;
        mode->observers = observers;
    }
    uint32_t place = mode->observer_count++;
    for (; place > 0 && mode->observers[place - 1]->attached.item.order > membership->item->order; place--)
        mode->observers[place] = mode->observers[place - 1];
    runloop_observer *observer = LIST_ENTRY(membership->item, runloop_observer, attached.item);
    mode->observers[place] = observer;
    runloop_activity observed = atomic_load_explicit(&mode->observed, memory_order_relaxed);
    atomic_store_explicit(&mode->observed, observed | observer->activities, memory_order_release);
    return 0;
}

HOLDS_LOCK static void extract(runloop *loop, struct attachment *attachment, struct membership *membership) {
    struct mode *mode = membership->mode;
    struct attached *attached = LIST_ENTRY(attachment, struct attached, attachment);
    uint32_t place = 0;
    while (mode->observers[place] != observer_of(attached))
        place++;
    for (mode->observer_count--; place < mode->observer_count; place++)
        mode->observers[place] = mode->observers[place + 1];
    note_activities(mode);
    runloop__callouts_keep(loop, attached);
}

static void destroy(struct item *item) {
    free(LIST_ENTRY(item, runloop_observer, attached.item));
}

static const struct item_class observer_class = {
    .kind = ITEM_OBSERVER, .insert = insert, .extract = extract, .destroy = destroy};

//===-- notifying ----------------------------------------------------------------------------------------------------===//

/// The call-out is over.
HOLDS_LOCK static void finish(runloop *loop, runloop_observer *observer, uint32_t index) {
    struct attached *attached = &observer->attached;
    runloop *owner = runloop__callout_return(loop, index);
    struct pending_release pending = {0};
    if (!observer->repeats)
        pending = runloop__invalidate_locked(owner, attached);
    runloop__callout_end(loop, owner, attached, pending);
}

void runloop__observers_notify(runloop *loop, struct mode *mode, runloop_activity activity) {
    loop_lock(loop);
    uint32_t first = loop->callout_count;
    for (uint32_t i = 0; i < mode->observer_count; i++) {
        if (mode->observers[i]->activities & activity)
            callout_push(loop, &mode->observers[i]->attached);
    }
    uint32_t end = loop->callout_count;
    for (uint32_t i = first; i < end && !is_from_parent_process(loop); i++) {
        // One whose call-out runs now, around this notification, is not notified (R96).
        if (!runloop__callout_begin(loop, i))
            continue;
        runloop_observer *observer = observer_of(loop->callouts[i].attached);
        loop_unlock(loop);
        if (observer->observe)
            TRACED(RUNLOOP_TRACE_OBSERVER, observer, activity,
                   runloop__IS_CALLING_OUT_TO_AN_OBSERVER(observer->observe, observer, activity,
                                                          item_info(&observer->attached.item)));
        loop_lock(loop);
        finish(loop, observer, i);
    }
    if (!is_from_parent_process(loop))
        runloop__callouts_drop(loop, first);
    loop_unlock(loop);
}

//===-- life ---------------------------------------------------------------------------------------------------------===//

int runloop_observer_create(const runloop_observer_config *config, runloop_observer **out) {
    if (!config || !out)
        return -EINVAL;
    runloop_observer *observer = calloc(1, sizeof *observer);
    if (!observer)
        return -ENOMEM;
    runloop__item_init(&observer->attached.item, &observer_class, &config->context, config->order);
    observer->observe = config->observe;
    observer->activities = config->activities;
    observer->repeats = config->repeats;
    *out = observer;
    return 0;
}

void runloop__observer_share(runloop_observer *observer, void *object) {
    struct item *item = &observer->attached.item;
    item->info[0] = object;
    atomic_store_explicit(&item->state, item_state(item) | ITEM_SHARED, memory_order_relaxed);
}

runloop_observer *runloop_observer_retain(runloop_observer *observer) {
    if (observer)
        item_retain(&observer->attached.item);
    return observer;
}

void runloop_observer_release(runloop_observer *observer) {
    if (observer)
        item_release(&observer->attached.item);
}

int runloop_add_observer(runloop *loop, runloop_observer *observer, const char *mode) {
    return runloop__attached_add(loop, observer ? &observer->attached : NULL, mode);
}

int runloop_remove_observer(runloop *loop, runloop_observer *observer, const char *mode) {
    return runloop__attached_remove(loop, observer ? &observer->attached : NULL, mode);
}

bool runloop_contains_observer(runloop *loop, runloop_observer *observer, const char *mode) {
    return runloop__attached_contains(loop, observer ? &observer->attached : NULL, mode);
}

void runloop_observer_invalidate(runloop_observer *observer) {
    runloop__attached_invalidate(observer ? &observer->attached : NULL);
}

bool runloop_observer_is_valid(runloop_observer *observer) {
    return observer && item_is_valid(&observer->attached.item);
}

runloop_activity runloop_observer_get_activities(runloop_observer *observer) {
    return observer ? observer->activities : 0;
}

int32_t runloop_observer_get_order(runloop_observer *observer) {
    return observer ? observer->attached.item.order : 0;
}

bool runloop_observer_repeats(runloop_observer *observer) {
    return observer && observer->repeats;
}

void runloop_observer_set_name(runloop_observer *observer, const char *name, uint32_t line) {
    if (observer)
        item_set_name(&observer->attached.item, name, line);
}

const char *runloop_observer_get_name(runloop_observer *observer, uint32_t *line) {
    return observer ? item_name(&observer->attached.item, line) : NULL;
}

void *runloop_observer_get_info(runloop_observer *observer) {
    return runloop_observer_is_valid(observer) ? observer->attached.item.info[0] : NULL;
}
