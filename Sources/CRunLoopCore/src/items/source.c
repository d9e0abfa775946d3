// source.c — what both kinds of source share: their attachments to loops, which signal handlers may walk, and their getters.
//
// A source may be in many loops. Its attachments form a chain that only grows: the first is part of the source, and one that its loop
// does not need any more is taken by the next loop. So a handler may walk the chain at any time. Which loop has an attachment is said
// by its owner word, which is set by a compare-exchange and cleared under that loop's lock, at the latest when the loop's thread ends.

#ifdef __linux__
#include <pthread.h>

#include "items/items.h"

struct source_attachment *runloop__source_find(runloop_source *source, runloop *loop) {
    struct source_attachment *place = &source->first;
    while (place && atomic_load_explicit(&place->attachment.loop, memory_order_acquire) != loop)
        place = atomic_load(&place->next);
    return place;
}

static struct source_attachment *new_attachment(runloop_source *source, runloop *loop) {
    struct source_attachment *place = calloc(1, sizeof *place);
    if (!place)
        return NULL;
    source_place_init(place, source);
    atomic_init(&place->attachment.loop, loop);
    return place;
}

struct source_attachment *runloop__source_attach(runloop_source *source, runloop *loop) {
    ASSERT_LOCKED(loop);
    struct source_attachment *place = runloop__source_find(source, loop), *last = &source->first;
    if (place)
        return place;
    for (place = &source->first; place; last = place, place = atomic_load(&place->next)) {
        runloop *none = NULL;
        if (atomic_compare_exchange_strong(&place->attachment.loop, &none, loop))
            return place;
    }
    if (!(place = new_attachment(source, loop)))
        return NULL;
    for (struct source_attachment *next = NULL; !atomic_compare_exchange_strong(&last->next, &next, place); next = NULL)
        last = next;
    return place;
}

typedef void visit_function(runloop *loop, struct source_attachment *place, void *context);

static void visit_loop(runloop *loop, struct source_attachment *place, visit_function *visit, void *context) {
    if (is_from_parent_process(loop))
        return;
    loop_lock(loop);
    if (atomic_load(&place->attachment.loop) == loop)
        visit(loop, place, context);
    loop_unlock(loop);
}

static void release_loop(void *loop) {
    runloop_release(loop);
}

/// The visit may call out, which may end the thread.
static COLD void visit_and_release(runloop *loop, struct source_attachment *place, visit_function *visit,
                                   void *context) {
    pthread_cleanup_push(release_loop, loop);
    visit_loop(loop, place, visit, context);
    pthread_cleanup_pop(true);
}

void runloop__source_each_loop(runloop_source *source, visit_function *visit, void *context) {
    for (struct source_attachment *place = &source->first; place; place = atomic_load(&place->next)) {
        runloop *loop = atomic_load(&place->attachment.loop);
        bool is_own = loop && loop == runloop__thread_loop();
        if (!is_own && !(loop = runloop__reference_owner(&place->attachment.loop)))
            continue;
        if (is_own)
            visit_loop(loop, place, visit, context);
        else
            visit_and_release(loop, place, visit, context);
    }
}

runloop_source *runloop_source_retain(runloop_source *source) {
    if (source)
        item_retain(&source->item);
    return source;
}

void runloop_source_release(runloop_source *source) {
    if (source)
        item_release(&source->item);
}

bool runloop_source_is_valid(runloop_source *source) {
    return source && item_is_valid(&source->item);
}

int32_t runloop_source_get_order(runloop_source *source) {
    return source ? source->item.order : 0;
}

void runloop_source_set_name(runloop_source *source, const char *name, uint32_t line) {
    if (source)
        item_set_name(&source->item, name, line);
}

const char *runloop_source_get_name(runloop_source *source, uint32_t *line) {
    return source ? item_name(&source->item, line) : NULL;
}

void *runloop_source_get_info(runloop_source *source) {
    return source ? source->item.info[0] : NULL;
}

void *runloop_source_get_info_of(runloop_source *source, void (*callback)(void)) {
    if (!source || !callback)
        return NULL;
    bool is_made_with_it = is_descriptor_source(source) ? callback == (void (*)(void))source->ready
                                                        : callback == (void (*)(void))source->perform;
    return is_made_with_it ? source->item.info[0] : NULL;
}

int runloop_source_get_descriptor(runloop_source *source) {
    return source ? source->descriptor : -1;
}

runloop_readiness runloop_source_get_events(runloop_source *source) {
    return source ? events_of(source) & ~(uint32_t)EPOLLRDHUP : 0;
}
#endif // __linux__
