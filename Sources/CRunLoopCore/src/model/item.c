// item.c — what sources, timers and observers share: references, validity, the context's life.

#ifdef __linux__
#include "model/model.h"

/// Of language bindings whose objects are items' info: constant once the first of them is made.
static void (*retain_object)(void *object), (*release_object)(void *object);

void runloop__set_object_hooks(void (*retain)(void *object), void (*release)(void *object)) {
    retain_object = retain;
    release_object = release;
}

_Atomic(const struct item_class *) runloop__item_classes[4];

void runloop__item_init(struct item *item, const struct item_class *class, const runloop_context *context,
                        int32_t order) {
    atomic_init(&item->references, 1);
    atomic_init(&item->state, ITEM_VALID | (uint32_t) class->kind << ITEM_KIND_SHIFT);
    // Once for each kind: a store for each item would keep a line of memory moving between all threads that make items.
    if (atomic_load_explicit(&runloop__item_classes[class->kind], memory_order_relaxed) != class)
        atomic_store_explicit(&runloop__item_classes[class->kind], class, memory_order_release);
    item->info[0] = context->retain ? context->retain(context->info) : context->info;
    item->release = context->release;
    item->describe = context->describe;
    item->order = order;
    item_set_name(item, NULL, 0);
}

void runloop__item_notify_object(struct item *item, bool is_shared) {
    (is_shared ? retain_object : release_object)(item->info[0]);
}

void runloop__item_release_context(struct item *item) {
    if (item->release)
        runloop__IS_CALLING_OUT_TO_A_CONTEXT_RELEASE(item->release, item_info(item));
}

#if defined(RUNLOOP_DEBUG) && !defined(RUNLOOP_SLAB_IS_MALLOC)
/// Debug builds keep items for a while after their last release, so that a use after that is noticed.
static void free_item(struct item *item) {
    enum { KEPT = 64 };
    static struct item *kept[KEPT];
    static uint32_t next;
    static struct process_lock lock;
    process_lock(&lock);
    struct item *oldest = kept[next];
    kept[next] = item;
    next = (next + 1) % KEPT;
    process_unlock(&lock);
    if (oldest)
        item_class(oldest)->destroy(oldest);
}
#else
static void free_item(struct item *item) {
    item_class(item)->destroy(item);
}
#endif

void runloop__item_destroy(struct item *item) {
    ASSERT_NOT_LOCKED();
    // A source keeps its context as long as it lives, the others as long as they are valid.
    if (item_is_source(item) || (item_state(item) & ITEM_VALID))
        runloop__item_release_context(item);
    atomic_store_explicit(&item->references, 0, memory_order_relaxed);
    free_item(item);
}
#endif // __linux__
