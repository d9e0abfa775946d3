// observer.c — observers: created, added, notified, invalidated.

#include "loop/loop.h"

struct __CFRunLoopObserver {
    struct cf_item item;
    runloop_observer *core; ///< constant; one reference as long as the object is referenced
    CFRunLoopObserverCallBack callout;
    CFRunLoopObserverContext context;
    CFOptionFlags activities;
    CFIndex order;
};

CFTypeID CFRunLoopObserverGetTypeID(void) {
    return CF_TYPE_OBSERVER;
}

//===-- life ---------------------------------------------------------------------------------------------------------===//

static void release_owner(struct __CFRunLoopObserver *observer) {
    if (cf__item_release(&observer->item))
        free(observer);
}

static void finalize(CFTypeRef object) {
    struct __CFRunLoopObserver *observer = (struct __CFRunLoopObserver *)(uintptr_t)object;
    runloop_observer_release(observer->core);
    release_owner(observer);
}

static void revive(CFTypeRef object) {
    struct __CFRunLoopObserver *observer = (struct __CFRunLoopObserver *)(uintptr_t)object;
    cf__item_retain(&observer->item);
    runloop_observer_retain(observer->core);
}

static const struct cf_class class = {.type = CF_TYPE_OBSERVER, .finalize = finalize, .revive = revive};

static void observe(runloop_observer *core, runloop_activity activity, void *object) {
    (void)core;
    CFRunLoopObserverRef observer = object;
    if (observer->callout)
        observer->callout(observer, activity, observer->context.info);
}

static void release_context(void *object) {
    CFRunLoopObserverRef observer = object;
    if (observer->context.release)
        observer->context.release(observer->context.info);
    release_owner(observer);
}

static char *describe_info(void *object) {
    CFRunLoopObserverRef observer = object;
    return cf__copy_info_description(observer->context.copyDescription, observer->context.info);
}

CFRunLoopObserverRef CFRunLoopObserverCreate(CFAllocatorRef allocator, CFOptionFlags activities, Boolean repeats,
                                             CFIndex order, CFRunLoopObserverCallBack callout,
                                             CFRunLoopObserverContext *context) {
    (void)allocator;
    struct __CFRunLoopObserver *observer = cf__new(&class, sizeof *observer);
    if (!observer)
        return NULL;
    cf__item_init(&observer->item);
    struct runloop_observer_config config = {.order = cf__order(order),
                                             .activities = (runloop_activity)activities,
                                             .repeats = repeats,
                                             .observe = observe,
                                             .context = {.info = observer, .release = release_context}};
    config.context.describe = context && context->copyDescription ? describe_info : NULL;
    if (runloop_observer_create(&config, &observer->core)) {
        free(observer);
        return NULL;
    }
    cf__item_retain(&observer->item);
    observer->callout = callout;
    observer->activities = activities;
    observer->order = order;
    if (context) {
        observer->context = *context;
        if (context->retain)
            observer->context.info = (void *)(uintptr_t)context->retain(context->info);
    }
    return observer;
}

//===-- in loops -----------------------------------------------------------------------------------------------------===//

void CFRunLoopAddObserver(CFRunLoopRef rl, CFRunLoopObserverRef observer, CFRunLoopMode mode) {
    runloop *core = cf__core_of_loop(rl);
    if (core && CF_IS(observer, CF_TYPE_OBSERVER))
        runloop_add_observer(core, observer->core, cf__mode_name(mode));
}

void CFRunLoopRemoveObserver(CFRunLoopRef rl, CFRunLoopObserverRef observer, CFRunLoopMode mode) {
    runloop *core = cf__core_of_loop(rl);
    if (core && CF_IS(observer, CF_TYPE_OBSERVER))
        runloop_remove_observer(core, observer->core, cf__mode_text(mode));
}

Boolean CFRunLoopContainsObserver(CFRunLoopRef rl, CFRunLoopObserverRef observer, CFRunLoopMode mode) {
    runloop *core = cf__core_of_loop(rl);
    return core && CF_IS(observer, CF_TYPE_OBSERVER) &&
           runloop_contains_observer(core, observer->core, cf__mode_text(mode));
}

void CFRunLoopObserverInvalidate(CFRunLoopObserverRef observer) {
    if (CF_IS(observer, CF_TYPE_OBSERVER))
        runloop_observer_invalidate(observer->core);
}

Boolean CFRunLoopObserverIsValid(CFRunLoopObserverRef observer) {
    return CF_IS(observer, CF_TYPE_OBSERVER) && runloop_observer_is_valid(observer->core);
}

//===-- getters ------------------------------------------------------------------------------------------------------===//

CFOptionFlags CFRunLoopObserverGetActivities(CFRunLoopObserverRef observer) {
    return CF_IS(observer, CF_TYPE_OBSERVER) ? observer->activities : 0;
}

Boolean CFRunLoopObserverDoesRepeat(CFRunLoopObserverRef observer) {
    return CF_IS(observer, CF_TYPE_OBSERVER) && runloop_observer_repeats(observer->core);
}

CFIndex CFRunLoopObserverGetOrder(CFRunLoopObserverRef observer) {
    return CF_IS(observer, CF_TYPE_OBSERVER) ? observer->order : 0;
}

void CFRunLoopObserverGetContext(CFRunLoopObserverRef observer, CFRunLoopObserverContext *context) {
    if (!CF_IS(observer, CF_TYPE_OBSERVER) || !context)
        return;
    *context = observer->context;
    if (!runloop_observer_is_valid(observer->core))
        context->info = NULL;
}
