// source_equality.c — which source in a mode equals another one (R60).
//
// `equal` is user code, and no user code runs under the loop's lock. So it is asked about a snapshot of the mode's sources, and asked again
// if the mode has other sources by then.

#ifdef __linux__
#include <pthread.h>

#include "items/items.h"

static bool callbacks_agree(const runloop_source *a, const runloop_source *b) {
    return is_descriptor_source(a) ? a->ready == b->ready : a->perform == b->perform;
}

static bool is_comparable(const runloop_source *a, const runloop_source *b) {
    return a != b && a->equal == b->equal && a->item.order == b->item.order &&
           item_kind(&a->item) == item_kind(&b->item) && callbacks_agree(a, b) &&
           item_is_valid(&a->item) == item_is_valid(&b->item);
}

/// The sources of the mode that can be compared with this one.
HOLDS_LOCK static void find_comparable(runloop *loop, runloop_source *source, struct mode *mode,
                                       struct snapshot *found) {
    // By identity alone: nobody else can be equal, and nothing need be searched.
    if (!source->equal)
        return;
    if (mode == &loop->common) {
        LIST_EACH(node, &loop->common_items) {
            struct item *item = LIST_ENTRY(node, struct common_membership, in_set)->membership.item;
            if (item_is_source(item) && is_comparable(source, LIST_ENTRY(item, runloop_source, item)))
                snapshot_add(found, item);
        }
        return;
    }
    LIST_EACH(node, &loop->sources) {
        struct source_attachment *place = LIST_ENTRY(node, struct source_attachment, in_loop);
        if (membership_find(&place->attachment, mode) && is_comparable(source, place->source))
            snapshot_add(found, &place->source->item);
    }
}

/// Retained, or NULL.
static runloop_source *first_equal(runloop_source *source, const struct snapshot *candidates) {
    for (uint32_t i = 0; i < candidates->count; i++) {
        runloop_source *other = LIST_ENTRY(candidates->items[i], runloop_source, item);
        if (runloop__IS_CALLING_OUT_TO_A_SOURCE_EQUAL(source->equal, source->item.info[0], other->item.info[0]))
            return runloop_source_retain(other);
    }
    return NULL;
}

/// Releases the candidates, also if `equal` ends the thread.
static COLD runloop_source *find_equal(runloop_source *source, struct snapshot *candidates) {
    runloop_source *equal;
    pthread_cleanup_push(snapshot_release, candidates);
    equal = first_equal(source, candidates);
    pthread_cleanup_pop(true);
    return equal;
}

UNCHECKED int runloop__source_lock_and_compare(runloop *loop, runloop_source *source, struct mode *mode,
                                               runloop_source **stored) {
    *stored = source;
    for (;;) {
        struct snapshot found = {0};
        loop_lock(loop);
        if (mode)
            find_comparable(loop, source, mode, &found);
        if (found.count == 0 && !found.is_incomplete)
            return 0;
        const uint64_t *changes = mode == &loop->common ? &loop->common_changes : &mode->source_changes;
        uint64_t before = *changes;
        loop_unlock(loop);
        if (found.is_incomplete) {
            snapshot_release(&found);
            return -ENOMEM;
        }
        runloop_source *equal = find_equal(source, &found);
        loop_lock(loop);
        if (*changes == before) {
            *stored = equal ? equal : source;
            return 0;
        }
        loop_unlock(loop);
        runloop_source_release(equal);
    }
}
#endif // __linux__
