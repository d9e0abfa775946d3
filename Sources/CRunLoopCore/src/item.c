// item.c — what sources, timers and observers have in common: references, validity, the context's life.
//
// Who releases the context of an observer (exactly once, never during a call-out): `state` is one atomic word. The
// thread that invalidated the item sets the retired bit when it has taken the item out of its modes, and releases the
// context if the firing bit was not set then; otherwise the thread that clears the firing bit does, since it sees the
// retired bit. Both are read-modify-writes of the same word, so exactly one of the two sees the other. A timer's state is
// written with its owner locked only (timer.c), a source's context is released with its last reference.

#include "internal.h"

struct item_config runloop__config_of(const runloop_context *context, int32_t order) {
    return (struct item_config){.release = context->release, .describe = context->describe, .order = order};
}

//===-- objects of the overlay: constant once the first of them is made ----------------------------------------------===//

struct object_hooks runloop__object_hooks;

void runloop__set_object_hooks(void (*retain)(void *), void (*release)(void *), void (*end_timer)(void *),
                               runloop_function call_closure) {
    runloop__object_hooks.retain = retain;
    runloop__object_hooks.release = release;
    runloop__object_hooks.timer.release = end_timer;
    runloop__object_hooks.closure.release = release;
    atomic_store_explicit(&runloop__object_hooks.call_closure, call_closure, memory_order_release);
}

static void join_object(struct item *item, void *object, unsigned state) {
    item->info = object;
    state |= atomic_load_explicit(&item->state, memory_order_relaxed) | ITEM_OBJECT;
    atomic_store_explicit(&item->state, (uint8_t)state, memory_order_relaxed);
}

void runloop__timer_join_object(runloop_timer *timer, void *object) {
    join_object(&timer->item, object, ITEM_RELEASES);
    struct timer_extras *extras = runloop__timer_extras(timer);
    if (extras)
        extras->config.release = runloop__object_hooks.timer.release;
}

void runloop__observer_join_object(runloop_observer *observer, void *object) {
    join_object(&observer->item, object, 0);
}

void runloop__item_retain_object(struct item *item) {
    runloop__object_hooks.retain(item->info);
}

void runloop__item_release_object(struct item *item) {
    runloop__object_hooks.release(item->info);
}

//===-- contexts -----------------------------------------------------------------------------------------------------===//

const struct item_config *runloop__item_config(const struct item *item) {
    static const struct item_config none;
    switch (item->kind) {
    case ITEM_SOURCE: {
        const struct source_extras *extras = runloop__source_extras((const runloop_source *)(const void *)item);
        return extras ? &extras->config : &none;
    }
    case ITEM_OBSERVER: return &((const runloop_observer *)(const void *)item)->config;
    }
    const struct timer_extras *extras = runloop__timer_extras((const runloop_timer *)(const void *)item);
    if (extras)
        return &extras->config;
    if (item->is_closure)
        return &runloop__object_hooks.closure;
    return runloop__item_is_object(item) ? &runloop__object_hooks.timer : &none;
}

void runloop__item_destroy(struct item *item) {
    switch (item->kind) {
    case ITEM_SOURCE: runloop__source_destroy(SOURCE_OF(item)); break;
    case ITEM_TIMER: runloop__timer_destroy((runloop_timer *)(void *)item); break;
    case ITEM_OBSERVER: runloop__observer_destroy((runloop_observer *)(void *)item); break;
    }
}

enum invalidation runloop__item_invalidate(struct item *item) {
    uint8_t before = atomic_fetch_and(&item->state, (uint8_t)~ITEM_VALID);
    if (!(before & ITEM_VALID))
        return INVALID_ALREADY;
    return before & ITEM_FIRING ? INVALIDATED_WHILE_FIRING : INVALIDATED;
}

void runloop__item_release_context(struct item *item) {
    void (*release)(void *info) = runloop__item_config(item)->release;
    if (release)
        runloop__IS_CALLING_OUT_TO_A_CONTEXT_RELEASE(release, item->info);
}

void runloop__item_retire(struct item *item, enum invalidation invalidation) {
    // No call-out was under way and, being invalid, none can have begun since.
    if (invalidation == INVALIDATED || !(atomic_fetch_or(&item->state, ITEM_RETIRED) & ITEM_FIRING))
        runloop__item_release_context(item);
}

// One step, so that an invalidation comes either before it (no call-out) or after it (the context waits for the end).
bool runloop__item_begin_firing(struct item *item) {
    uint8_t state = atomic_load_explicit(&item->state, memory_order_relaxed);
    do {
        if (!(state & ITEM_VALID) || (state & ITEM_FIRING))
            return false;
    } while (!atomic_compare_exchange_weak(&item->state, &state, state | ITEM_FIRING));
    return true;
}

bool runloop__item_clear_firing(struct item *item) {
    uint8_t before = atomic_fetch_and(&item->state, (uint8_t)~ITEM_FIRING);
    return (before & ITEM_FIRING) && (before & ITEM_RETIRED);
}

void runloop__item_end_firing(struct item *item) {
    if (runloop__item_clear_firing(item))
        runloop__item_release_context(item);
}
