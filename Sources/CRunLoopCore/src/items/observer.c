// observer.c — observers: made, listed in the order in which they are notified, notified.
//
// A mode's observers are a sorted array, guarded by the loop's lock. A notification first notes whom it will reach, since the call-outs
// may add observers and remove some: those that are removed from then on are still notified, unless they become invalid, and those that
// are added are not (R94).

#ifdef __linux__
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
    (void)attachment;
    struct mode *mode = membership->mode;
    // A notification that is not nested in another one never lacks memory.
    if (!callouts_reserve(loop, mode->observer_count + 1))
        return -ENOMEM;
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
    callouts_keep(loop, attached);
}

static void destroy(struct item *item) {
    free(LIST_ENTRY(item, runloop_observer, attached.item));
}

static const struct item_class observer_class = {
    .kind = ITEM_OBSERVER, .insert = insert, .extract = extract, .destroy = destroy};

//===-- notifying ----------------------------------------------------------------------------------------------------===//

/// Onto the stack of call-outs, so that the first is on top. How many: none when memory ran out.
HOLDS_LOCK static uint32_t push_all(runloop *loop, const struct mode *mode, runloop_activity activity) {
    if (!callouts_reserve(loop, mode->observer_count))
        return 0;
    struct callout *base = loop->callouts_top, *top = base;
    runloop_observer *const *observers = mode->observers;
    for (uint32_t i = mode->observer_count; i-- > 0;) {
        if (observers[i]->activities & activity)
            *top++ = (struct callout){.attached = &observers[i]->attached};
    }
    loop->callouts_top = top;
    return (uint32_t)(top - base);
}

/// The call-out is over.
HOLDS_LOCK static inline void finish(runloop *loop, runloop_observer *observer) {
    struct attached *attached = &observer->attached;
    pending_release pending;
    runloop *owner = callout_return(loop, attached, &pending);
    if (!observer->repeats)
        pending += runloop__invalidate_locked(owner, attached);
    callout_release(loop, owner, attached, pending + callout_end(attached));
}

void runloop__observers_notify(runloop *loop, struct mode *mode, runloop_activity activity) {
    loop_lock(loop);
    for (uint32_t left = push_all(loop, mode, activity); left > 0 && !is_from_parent_process(loop); left--) {
        // One whose call-out runs now, around this notification, is not notified (R96).
        struct attached *attached = callout_begin(loop);
        if (!attached)
            continue;
        runloop_observer *observer = observer_of(attached);
        loop_unlock(loop);
        if (observer->observe)
            TRACED(
                RUNLOOP_TRACE_OBSERVER, observer, activity,
                runloop__IS_CALLING_OUT_TO_AN_OBSERVER(observer->observe, observer, activity, attached->item.info[0]));
        // A call-out that forked also returns in the child, where the loop is not the thread's.
        loop_lock(loop);
        finish(loop, observer);
    }
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
#endif // __linux__
