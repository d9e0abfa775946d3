// inspect.c — what others ask to see of a loop: its items, and what it does.

#ifdef __linux__
#include <limits.h>
#include <pthread.h>

#include "items/items.h"

_Static_assert(RUNLOOP_ITEM_SIGNALLED_SOURCE == (int)ITEM_SIGNAL_SOURCE &&
                   RUNLOOP_ITEM_DESCRIPTOR_SOURCE == (int)ITEM_DESCRIPTOR_SOURCE &&
                   RUNLOOP_ITEM_TIMER == (int)ITEM_TIMER && RUNLOOP_ITEM_OBSERVER == (int)ITEM_OBSERVER,
               "The public kinds are those of the items.");
_Static_assert(offsetof(runloop_source, item) == 0 && offsetof(runloop_timer, attached.item) == 0 &&
                   offsetof(runloop_observer, attached.item) == 0,
               "The address of an item is that of its object.");

HOLDS_LOCK static void take_items(runloop *loop, struct mode *mode, struct snapshot *items) {
    LIST_EACH(node, &loop->sources) {
        struct source_attachment *place = LIST_ENTRY(node, struct source_attachment, in_loop);
        if (membership_find(&place->attachment, mode))
            snapshot_add(items, &place->source->item);
    }
    for (uint32_t i = 0; i < heap_count(&mode->timers); i++) {
        struct item *item = mode->timers.entries[i].membership->item;
        if (item_kind(item) == ITEM_TIMER)
            snapshot_add(items, item);
    }
    for (uint32_t i = 0; i < mode->observer_count; i++)
        snapshot_add(items, &mode->observers[i]->attached.item);
}

int runloop_visit_items(runloop *loop, const char *name,
                        void (*visit)(void *context, runloop_item_kind kind, void *item), void *context) {
    int error = name && visit ? loop_check(loop) : -EINVAL;
    if (error)
        return error;
    struct mode *mode = mode_find(loop, name);
    if (!mode)
        return 0;
    struct snapshot items = {0};
    loop_lock(loop);
    take_items(loop, mode, &items);
    loop_unlock(loop);
    // The visitor may end the thread.
    pthread_cleanup_push(snapshot_release, &items);
    for (uint32_t i = 0; i < items.count && !items.is_incomplete; i++)
        runloop__IS_CALLING_OUT_TO_A_VISITOR(visit, context, (runloop_item_kind)item_kind(items.items[i]),
                                             items.items[i]);
    pthread_cleanup_pop(true);
    return items.is_incomplete ? -ENOMEM : items.count > INT_MAX ? INT_MAX : (int)items.count;
}

int runloop_set_tracer(const runloop_tracer *tracer) {
    if (tracer && !tracer->trace)
        return -EINVAL;
    runloop *loop = runloop_current();
    if (!loop)
        return runloop__this_thread.error;
    if (atomic_load_explicit(&loop->is_finished, memory_order_relaxed))
        return -ESHUTDOWN;
    runloop__this_thread.tracer = tracer ? *tracer : (runloop_tracer){0};
    atomic_store_explicit(&loop->posted_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&loop->times_posts, tracer, memory_order_relaxed);
    return 0;
}

runloop_tracer runloop_get_tracer(void) {
    return runloop__this_thread.tracer;
}
#endif // __linux__
