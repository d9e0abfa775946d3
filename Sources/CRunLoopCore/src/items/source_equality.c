// source_equality.c — which source in a mode equals another one (R60).
//
// `equal` is user code, and no user code runs under the loop's lock. So it is asked about a snapshot of the mode's sources, and asked again
// if the mode has other sources by then.

#include "items/items.h"

static bool callbacks_agree(const runloop_source *a, const runloop_source *b) {
    if (is_descriptor_source(a))
        return descriptor_source_of(a)->ready == descriptor_source_of(b)->ready;
    return signal_source_of(a)->perform == signal_source_of(b)->perform;
}

static bool is_comparable(const runloop_source *a, const runloop_source *b) {
    return a != b && a->equal == b->equal && a->item.order == b->item.order && a->item.class == b->item.class &&
           callbacks_agree(a, b) && item_is_valid(&a->item) == item_is_valid(&b->item);
}

/// Sources that can be compared with one: how many, and the first `capacity` of them, retained.
struct candidates {
    runloop_source **sources;
    uint32_t count, capacity;
};

static void compare(runloop_source *source, runloop_source *other, struct candidates *found) {
    // Another thread may invalidate sources meanwhile, so there may be other ones than when they were counted.
    if (!is_comparable(source, other) || (found->sources && found->count == found->capacity))
        return;
    if (found->sources) {
        item_retain(&other->item);
        found->sources[found->count] = other;
    }
    found->count++;
}

/// HOLDS: loop. The comparable sources of the mode; without memory for them, they are only counted.
static void find_comparable(runloop *loop, runloop_source *source, struct mode *mode, struct candidates *found) {
    found->count = 0;
    // By identity alone: nobody else can be equal, and nothing need be searched.
    if (!source->equal)
        return;
    if (mode == &loop->common) {
        LIST_EACH(node, &loop->common_items) {
            struct item *item = LIST_ENTRY(node, struct common_membership, in_set)->membership.item;
            if (item->class->kind <= ITEM_DESCRIPTOR_SOURCE)
                compare(source, LIST_ENTRY(item, runloop_source, item), found);
        }
        return;
    }
    LIST_EACH(node, &loop->sources) {
        struct source_attachment *place = LIST_ENTRY(node, struct source_attachment, in_loop);
        if (membership_find(&place->attachment, mode))
            compare(source, place->source, found);
    }
}

/// Asks each candidate, and releases all but the one that is equal, if there is one.
static runloop_source *first_equal(runloop_source *source, const struct candidates *candidates) {
    runloop_source *equal = NULL;
    for (uint32_t i = 0; i < candidates->count; i++) {
        runloop_source *other = candidates->sources[i];
        if (!equal && source->equal(source->item.info[0], other->item.info[0]))
            equal = other;
        else
            item_release(&other->item);
    }
    return equal;
}

int runloop__source_lock_and_compare(runloop *loop, runloop_source *source, struct mode *mode,
                                     runloop_source **stored) {
    *stored = source;
    loop_lock(loop);
    for (;;) {
        struct candidates found = {0};
        if (mode)
            find_comparable(loop, source, mode, &found);
        if (found.count == 0)
            return 0;
        const uint64_t *changes = mode == &loop->common ? &loop->common_changes : &mode->source_changes;
        uint64_t before = *changes;
        found.capacity = found.count;
        found.sources = calloc(found.count, sizeof(runloop_source *));
        if (found.sources)
            find_comparable(loop, source, mode, &found);
        loop_unlock(loop);
        if (!found.sources)
            return -ENOMEM;
        runloop_source *equal = first_equal(source, &found);
        free(found.sources);
        loop_lock(loop);
        if (*changes == before) {
            *stored = equal ? equal : source;
            return 0;
        }
        loop_unlock(loop);
        if (equal)
            item_release(&equal->item);
        loop_lock(loop);
    }
}
