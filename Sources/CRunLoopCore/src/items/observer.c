// observer.c — observers: made, listed in the order in which they are notified, notified.
//
// A mode's observers are a sorted array, guarded by the loop's lock. A notification walks the array that it found, without the lock. So
// while an array is walked, an addition copies it and retires it, and a removal only notes which notifications had begun by then: these
// still notify the observer, later ones do not (R94). The last walk to end frees what was retired and drops what was removed. Until then
// the array has a reference to each of its observers.

#include "items/items.h"

//===-- arrays -------------------------------------------------------------------------------------------------------===//

static runloop_observer *observer_of(const struct item *item) {
    return LIST_ENTRY(item, runloop_observer, attached.item);
}

/// A copy with space for more. A retired array keeps what was removed from it; one that is replaced passes it on, to be dropped.
static struct observer_array *copy_array(const struct observer_array *former, bool is_retired) {
    uint32_t count = former ? former->count : 0, capacity = count + count / 2 + 2;
    struct observer_array *array = malloc(sizeof *array + capacity * sizeof array->entries[0]);
    if (!array)
        return NULL;
    *array = (struct observer_array){.capacity = capacity, .has_removed = former && !is_retired && former->has_removed};
    for (uint32_t i = 0; i < count; i++) {
        if (!is_retired || !former->entries[i].removed)
            array->entries[array->count++] = former->entries[i];
    }
    return array;
}

/// HOLDS: loop. The mode's array, with space for one more, and walked by nobody. NULL when memory ran out.
static struct observer_array *changeable_array(runloop *loop, struct mode *mode) {
    struct observer_array *array = mode->observers;
    bool is_walked = array && array->walks > 0;
    if (array && !is_walked && array->count < array->capacity)
        return array;
    struct observer_array *changed = copy_array(array, is_walked);
    if (!changed)
        return NULL;
    if (is_walked) {
        for (uint32_t i = 0; i < changed->count; i++)
            item_retain(&changed->entries[i].observer->attached.item);
        array->next_retired = loop->retired;
        loop->retired = array;
    } else {
        free(array);
    }
    return mode->observers = changed;
}

static void remove_entry(struct observer_array *array, uint32_t place) {
    array->count--;
    memmove(&array->entries[place], &array->entries[place + 1], (array->count - place) * sizeof array->entries[0]);
}

/// HOLDS: loop.
static void note_activities(struct mode *mode) {
    runloop_activity observed = 0;
    for (uint32_t i = 0; i < mode->observers->count; i++) {
        if (!mode->observers->entries[i].removed)
            observed |= mode->observers->entries[i].observer->activities;
    }
    atomic_store_explicit(&mode->observed, observed, memory_order_release);
}

/// Not under the lock.
static void free_array(struct observer_array *array) {
    for (uint32_t i = 0; i < array->count; i++)
        item_release(&array->entries[i].observer->attached.item);
    free(array);
}

/// HOLDS: loop. Takes one removed observer out of the array, or returns NULL.
static runloop_observer *take_removed(struct observer_array *array) {
    for (uint32_t i = 0; array->has_removed && i < array->count; i++) {
        runloop_observer *observer = array->entries[i].observer;
        if (array->entries[i].removed) {
            remove_entry(array, i);
            return observer;
        }
    }
    array->has_removed = false;
    return NULL;
}

/// HOLDS: loop, but lets go of it to release. Drops what was removed from the mode while its array was walked.
static void drop_removed(runloop *loop, struct mode *mode) {
    runloop_observer *removed;
    while (mode->observers && mode->observers->walks == 0 && (removed = take_removed(mode->observers))) {
        loop_unlock(loop);
        item_release(&removed->attached.item);
        loop_lock(loop);
    }
}

/// HOLDS: loop, but lets go of it to release. The last walk of the mode's array, or of a former one, is over.
static void end_walks(runloop *loop, struct mode *mode, struct observer_array *array) {
    if (array == mode->observers) {
        drop_removed(loop, mode);
        return;
    }
    struct observer_array **link = &loop->retired;
    while (*link != array)
        link = &(*link)->next_retired;
    *link = array->next_retired;
    loop_unlock(loop);
    free_array(array);
    loop_lock(loop);
}

void runloop__observers_clean_up(runloop *loop) {
    loop_lock(loop);
    for (struct mode *mode = atomic_load(&loop->modes); mode; mode = atomic_load(&mode->next)) {
        if (mode->observers)
            mode->observers->walks = 0;
        drop_removed(loop, mode);
    }
    for (struct observer_array *array; (array = loop->retired);) {
        loop->retired = array->next_retired;
        loop_unlock(loop);
        free_array(array);
        loop_lock(loop);
    }
    loop_unlock(loop);
}

//===-- in modes -----------------------------------------------------------------------------------------------------===//

static int insert(runloop *loop, struct attachment *attachment, struct membership *membership) {
    (void)attachment;
    runloop_observer *observer = observer_of(membership->item);
    struct mode *mode = membership->mode;
    struct observer_array *array = changeable_array(loop, mode);
    if (!array)
        return -ENOMEM;
    uint32_t place = array->count;
    while (place > 0 && array->entries[place - 1].observer->attached.item.order > membership->item->order)
        place--;
    memmove(&array->entries[place + 1], &array->entries[place], (array->count - place) * sizeof array->entries[0]);
    array->entries[place] = (struct observer_entry){.observer = observer};
    array->count++;
    item_retain(membership->item);
    runloop_activity observed = atomic_load_explicit(&mode->observed, memory_order_relaxed);
    atomic_store_explicit(&mode->observed, observed | observer->activities, memory_order_release);
    return 0;
}

static void extract(runloop *loop, struct attachment *attachment, struct membership *membership) {
    (void)attachment;
    struct observer_array *array = membership->mode->observers;
    uint32_t place = 0;
    while (array->entries[place].observer != observer_of(membership->item) || array->entries[place].removed)
        place++;
    if (array->walks > 0) {
        array->entries[place].removed = loop->notifications;
        array->has_removed = true;
    } else {
        remove_entry(array, place);
        item_release(membership->item); // never the last: the membership has one
    }
    note_activities(membership->mode);
}

static void destroy(struct item *item) {
    free(observer_of(item));
}

static const struct item_class observer_class = {
    .kind = ITEM_OBSERVER, .insert = insert, .extract = extract, .destroy = destroy};

//===-- notifying ----------------------------------------------------------------------------------------------------===//

/// HOLDS: loop; again when it returns. The call-out is over.
static void finish(runloop *loop, runloop_observer *observer) {
    struct attached *attached = &observer->attached;
    runloop *owner = runloop__callout_return(loop, attached);
    struct pending_release pending = {0};
    if (!observer->repeats)
        pending = runloop__invalidate_locked(owner, attached);
    pending.context |= runloop__callout_end(owner, attached);
    if (owner == loop && !pending.context && !pending.references)
        return;
    if (owner == loop)
        loop_unlock(loop);
    else
        unlock_owner(&attached->attachment.loop, owner);
    runloop__release_pending(attached, pending);
    loop_lock(loop);
}

void runloop__observers_notify(runloop *loop, struct mode *mode, runloop_activity activity) {
    loop_lock(loop);
    uint64_t number = ++loop->notifications;
    struct observer_array *array = mode->observers;
    if (!array) {
        loop_unlock(loop);
        return;
    }
    array->walks++;
    for (uint32_t i = 0; i < array->count && !is_from_parent_process(loop); i++) {
        struct observer_entry entry = array->entries[i];
        bool is_notified = (entry.observer->activities & activity) && (!entry.removed || entry.removed >= number);
        // One whose call-out runs now, around this notification, is not notified (R96).
        if (!is_notified || !runloop__callout_begin(loop, &entry.observer->attached))
            continue;
        loop_unlock(loop);
        if (entry.observer->observe)
            runloop__IS_CALLING_OUT_TO_AN_OBSERVER(entry.observer->observe, entry.observer, activity,
                                                   item_info(&entry.observer->attached.item));
        loop_lock(loop);
        finish(loop, entry.observer);
    }
    if (!is_from_parent_process(loop) && --array->walks == 0)
        end_walks(loop, mode, array);
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

void *runloop_observer_get_info(runloop_observer *observer) {
    return runloop_observer_is_valid(observer) ? observer->attached.item.info[0] : NULL;
}
