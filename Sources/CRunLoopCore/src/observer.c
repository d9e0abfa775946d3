// observer.c — observers: created, added to modes, told, removed, invalidated.
//
// A mode's observers are an immutable sorted list, replaced whole when it changes, so that telling them takes no lock and needs no
// snapshot (R94). Who may free a replaced list: the loop's thread counts its rounds in `observing` before it loads a list;
// who replaces one publishes the new list and looks at `observing` after that, all sequentially consistent. If it finds none, no
// round can hold the old list; otherwise the last round to end frees it.

#include "internal.h"

//===-- life ---------------------------------------------------------------------------------------------------------===//

int runloop_observer_create(const runloop_observer_config *config, runloop_observer **out) {
    if (!config || !out)
        return -EINVAL;
    runloop_observer *observer = calloc(1, sizeof *observer);
    if (!observer)
        return -ENOMEM;
    observer->config = runloop__config_of(&config->context, config->order);
    runloop__item_init(&observer->item, ITEM_OBSERVER, &config->context);
    observer->observe = config->observe;
    observer->activities = config->activities;
    observer->repeats = config->repeats;
    *out = observer;
    return 0;
}

runloop_observer *runloop_observer_retain(runloop_observer *observer) {
    if (observer)
        runloop__item_retain(&observer->item);
    return observer;
}

void runloop_observer_release(runloop_observer *observer) {
    if (observer)
        runloop__item_release(&observer->item);
}

void runloop__observer_destroy(runloop_observer *observer) {
    runloop__memberships_free(&observer->modes);
    if (runloop__item_is_valid(&observer->item))
        runloop__item_release_context(&observer->item);
    free(observer);
}

//===-- lists --------------------------------------------------------------------------------------------------------===//

enum { REMOVED_MARK = 1 };

runloop_observer *runloop__observer_at(struct observer_array *array, uint32_t index) {
    uintptr_t entry = atomic_load_explicit(&array->items[index], memory_order_acquire);
    return entry & REMOVED_MARK ? NULL : (runloop_observer *)entry;
}

static struct observer_array *list_of(struct mode *mode) {
    return atomic_load_explicit(&mode->observers, memory_order_relaxed);
}

static void append(struct observer_array *array, runloop_observer *observer) {
    runloop__item_retain(&observer->item);
    atomic_init(&array->items[array->count++], (uintptr_t)observer);
}

/// A list with `added` in its place and without `removed`. NULL when memory ran out.
static struct observer_array *copy(struct observer_array *old, runloop_observer *added,
                                   const runloop_observer *removed) {
    uint32_t room = (old ? old->count : 0) + 1;
    struct observer_array *array = malloc(sizeof *array + room * sizeof array->items[0]);
    if (!array)
        return NULL;
    array->count = 0;
    for (uint32_t i = 0; old && i < old->count; i++) {
        runloop_observer *observer = runloop__observer_at(old, i);
        if (!observer || observer == removed)
            continue;
        if (added && observer->config.order > added->config.order) {
            append(array, added);
            added = NULL;
        }
        append(array, observer);
    }
    if (added)
        append(array, added);
    return array;
}

static void publish(runloop *loop, struct mode *mode, struct observer_array *array) {
    runloop_activity observed = 0;
    for (uint32_t i = 0; array && i < array->count; i++) {
        runloop_observer *observer = runloop__observer_at(array, i);
        observed |= observer ? observer->activities : 0;
    }
    struct observer_array *old = atomic_exchange(&mode->observers, array);
    atomic_store(&mode->observed, observed);
    if (old && old != array) {
        old->next_retired = atomic_load(&loop->retired);
        atomic_store(&loop->retired, old);
    }
}

static void free_list(struct observer_array *array) {
    for (uint32_t i = 0; i < array->count; i++) {
        uintptr_t entry = atomic_load(&array->items[i]);
        runloop__item_release(&((runloop_observer *)(entry & ~(uintptr_t)REMOVED_MARK))->item);
    }
    free(array);
}

void runloop__observers_collect(runloop *loop) {
    if (!atomic_load(&loop->retired) || atomic_load(&loop->observing))
        return;
    struct observer_array *unused = NULL;
    runloop__lock(loop);
    if (!atomic_load(&loop->observing))
        unused = atomic_exchange(&loop->retired, NULL);
    runloop__unlock(loop);
    while (unused) {
        struct observer_array *next = unused->next_retired;
        free_list(unused);
        unused = next;
    }
}

void runloop__observers_free(struct mode *mode) {
    if (list_of(mode))
        free_list(list_of(mode));
}

//===-- into and out of modes ----------------------------------------------------------------------------------------===//

int runloop__observer_insert(runloop *loop, runloop_observer *observer, struct mode *mode) {
    if (runloop__memberships_reserve(&observer->modes, 1))
        return -ENOMEM;
    struct observer_array *array = copy(list_of(mode), observer, NULL);
    if (!array)
        return -ENOMEM;
    runloop__memberships_add(&observer->modes, mode, 0);
    runloop__item_retain(&observer->item);
    publish(loop, mode, array);
    return 0;
}

void runloop__observer_leave_owner(runloop_observer *observer) {
    if (!observer->modes.mode && !observer->common)
        atomic_store_explicit(&observer->owner, NULL, memory_order_release);
}

void runloop__observer_extract(runloop *loop, runloop_observer *observer, struct mode *mode) {
    struct observer_array *old = list_of(mode), *array = NULL;
    runloop__memberships_remove(&observer->modes, mode);
    if (old->count > 1 && !(array = copy(old, NULL, observer))) {
        // Removal must not fail. Marked in place it is passed over, and goes when the list is next replaced.
        for (uint32_t i = 0; i < old->count; i++) {
            if (runloop__observer_at(old, i) == observer)
                atomic_store(&old->items[i], (uintptr_t)observer | REMOVED_MARK);
        }
        array = old;
    }
    publish(loop, mode, array);
}

static int add_to_mode(runloop *loop, runloop_observer *observer, const char *name) {
    struct mode *mode = runloop__find_mode(loop, name), *made = NULL;
    if (mode && runloop__is_member(&observer->modes, mode))
        return 0;
    if (!mode && !(mode = made = runloop__new_mode(name)))
        return -ENOMEM;
    int error = runloop__observer_insert(loop, observer, mode);
    if (error)
        free(made);
    else if (made)
        runloop__adopt_mode(loop, made);
    return error;
}

/// HOLDS: loop. Again for an item that is common already: it comes back into the modes that it was removed from.
static int add_to_common(runloop *loop, runloop_observer *observer) {
    bool enters = !observer->common;
    if (enters && runloop__common_enter(loop, &observer->item, &observer->common))
        return -ENOMEM;
    uint32_t before = runloop__memberships_count(&observer->modes);
    int error = 0;
    for (struct mode *mode = NULL; !error && (mode = runloop__next_common_mode(loop, mode));) {
        if (!runloop__is_member(&observer->modes, mode))
            error = runloop__observer_insert(loop, observer, mode);
    }
    if (!error)
        return 0;
    // Out of memory half-way: what was joined in this call are the last memberships. None of the references that go is the last
    // one: the caller has one.
    while (runloop__memberships_count(&observer->modes) > before) {
        uint32_t last = runloop__memberships_count(&observer->modes) - 1;
        runloop__observer_extract(loop, observer, runloop__mode_at(&observer->modes, last));
        runloop__item_release(&observer->item);
    }
    if (enters) {
        runloop__common_leave(&observer->common);
        runloop__item_release(&observer->item);
    }
    return error;
}

int runloop_add_observer(runloop *loop, runloop_observer *observer, const char *name) {
    int error = runloop__check(loop);
    if (error)
        return error;
    if (!observer || !name)
        return -EINVAL;
    runloop__common_leave_if_stranded(&observer->item, &observer->owner, loop);
    runloop__lock(loop);
    error = atomic_load(&loop->is_finished) ? -ESHUTDOWN : runloop__take_ownership(&observer->owner, loop);
    if (!error) {
        // Looked at after the ownership is taken: who invalidates clears the bit first and then asks for the owner.
        if (!runloop__item_is_valid(&observer->item))
            error = -EINVAL;
        else
            error = runloop__is_common_name(name) ? add_to_common(loop, observer) : add_to_mode(loop, observer, name);
        runloop__observer_leave_owner(observer);
    }
    runloop__unlock(loop);
    runloop__observers_collect(loop);
    return error;
}

static void release_references(runloop_observer *observer, uint32_t count) {
    while (count-- > 0)
        runloop__item_release(&observer->item);
}

/// HOLDS: loop. How many references the caller has to release.
static uint32_t leave_common(runloop *loop, runloop_observer *observer) {
    if (!observer->common)
        return 0;
    uint32_t references = 1;
    runloop__common_leave(&observer->common);
    for (struct mode *mode = NULL; (mode = runloop__next_common_mode(loop, mode));) {
        if (runloop__is_member(&observer->modes, mode)) {
            runloop__observer_extract(loop, observer, mode);
            references++;
        }
    }
    runloop__observer_leave_owner(observer);
    return references;
}

int runloop_remove_observer(runloop *loop, runloop_observer *observer, const char *name) {
    int error = runloop__check(loop);
    if (error)
        return error;
    if (!observer || !name)
        return -EINVAL;
    uint32_t references = 0;
    runloop__lock(loop);
    if (atomic_load(&observer->owner) == loop) {
        struct mode *mode = runloop__find_mode(loop, name);
        if (runloop__is_common_name(name)) {
            references = leave_common(loop, observer);
        } else if (mode && runloop__is_member(&observer->modes, mode)) {
            runloop__observer_extract(loop, observer, mode);
            runloop__observer_leave_owner(observer);
            references = 1;
        }
    }
    runloop__unlock(loop);
    release_references(observer, references);
    runloop__observers_collect(loop);
    return 0;
}

bool runloop_contains_observer(runloop *loop, runloop_observer *observer, const char *name) {
    if (runloop__check(loop) || !observer || !name)
        return false;
    runloop__lock(loop);
    bool contains = false;
    if (atomic_load(&observer->owner) == loop) {
        struct mode *mode = runloop__find_mode(loop, name);
        if (runloop__is_common_name(name))
            contains = observer->common != NULL;
        else
            contains = mode && runloop__is_member(&observer->modes, mode);
    }
    runloop__unlock(loop);
    return contains;
}

void runloop_observer_invalidate(runloop_observer *observer) {
    enum invalidation invalidation = observer ? runloop__item_invalidate(&observer->item) : INVALID_ALREADY;
    if (invalidation == INVALID_ALREADY)
        return;
    // The references of its modes, released last, keep the observer until then, if the caller has none.
    uint32_t references = 0;
    runloop *loop = runloop__lock_owner(&observer->owner);
    runloop *collects = NULL;
    if (loop && !runloop__is_inherited(loop)) {
        references += observer->common != NULL;
        if (observer->common)
            runloop__common_leave(&observer->common);
        for (; observer->modes.mode; references++)
            runloop__observer_extract(loop, observer, observer->modes.mode);
        runloop__observer_leave_owner(observer);
        collects = runloop_retain(loop);
    }
    runloop__unlock_owner(&observer->owner, loop);
    if (collects) {
        runloop__observers_collect(collects);
        runloop_release(collects);
    }
    runloop__item_retire(&observer->item, invalidation);
    release_references(observer, references);
}

bool runloop_observer_is_valid(runloop_observer *observer) {
    return observer && runloop__item_is_valid(&observer->item);
}

//===-- telling ------------------------------------------------------------------------------------------------------===//

static void tell(runloop_observer *observer, runloop_activity activity) {
    // One that is firing now, in a round around this one, was firing when this round began (R96).
    if (!runloop__item_begin_firing(&observer->item))
        return;
    runloop__IS_CALLING_OUT_TO_AN_OBSERVER(observer, activity);
    if (!observer->repeats)
        runloop_observer_invalidate(observer);
    runloop__item_end_firing(&observer->item);
}

void runloop__observe_round(struct run *run, runloop_activity activity) {
    runloop *loop = run->loop;
    uint32_t outer = atomic_load_explicit(&loop->observing, memory_order_relaxed);
    atomic_store(&loop->observing, outer + 1);
    struct observer_array *array = atomic_load(&run->mode->observers);
    for (uint32_t i = 0; array && i < array->count && !runloop__is_inherited(loop); i++) {
        runloop_observer *observer = runloop__observer_at(array, i);
        if (observer && (observer->activities & activity))
            tell(observer, activity);
    }
    atomic_store(&loop->observing, outer);
    if (outer == 0 && atomic_load_explicit(&loop->retired, memory_order_relaxed))
        runloop__observers_collect(loop);
}

//===-- getters ------------------------------------------------------------------------------------------------------===//

runloop_activity runloop_observer_get_activities(runloop_observer *observer) {
    return observer ? observer->activities : 0;
}

int32_t runloop_observer_get_order(runloop_observer *observer) {
    return observer ? observer->config.order : 0;
}

bool runloop_observer_repeats(runloop_observer *observer) {
    return observer && observer->repeats;
}

void *runloop_observer_get_info(runloop_observer *observer) {
    return runloop_observer_is_valid(observer) ? observer->item.info : NULL;
}
