// heap.h — a mode's timers, or the sources whose signal waits for it: a min-heap with four children per node. The key stands beside the
// pointer, so that sifting rarely touches an item; a membership knows its place, so that removal needs no search. The loop's lock guards
// it.
#ifndef RUNLOOP_HEAP_H
#define RUNLOOP_HEAP_H

#include "model/model.h"

enum { HEAP_KEPT = 1024 };

static inline void heap_set_count(struct heap *heap, uint32_t count) {
    atomic_store_explicit(&heap->count, count, memory_order_release);
}

static inline void heap_free(struct heap *heap) {
    free(heap->entries);
    *heap = (struct heap){0};
}

/// A burst gives its memory back, but only if none has followed for a while: asking for so much again costs more than adding the items.
static inline void heap_trim(struct heap *heap) {
    enum { SPARSE_WAITS = 64 };
    bool is_sparse = heap->capacity > HEAP_KEPT && heap_count(heap) < heap->capacity / 4;
    heap->sparse_waits = is_sparse ? heap->sparse_waits + 1 : 0;
    if (heap->sparse_waits < SPARSE_WAITS)
        return;
    uint32_t capacity = heap_count(heap) < HEAP_KEPT / 2 ? HEAP_KEPT : 2 * heap_count(heap);
    struct heap_entry *entries = realloc(heap->entries, capacity * sizeof *entries);
    if (!entries)
        return;
    heap->entries = entries;
    heap->capacity = capacity;
    heap->sparse_waits = 0;
}

/// Of equal keys: the lower order, then the earlier serial.
static COLD bool heap_breaks_tie(const struct membership *a, const struct membership *b) {
    int32_t order_a = a->item->order, order_b = b->item->order;
    return order_a != order_b ? order_a < order_b : a->serial < b->serial;
}

static inline bool heap_precedes(const struct heap_entry *a, const struct heap_entry *b) {
    return a->key != b->key ? a->key < b->key : heap_breaks_tie(a->membership, b->membership);
}

static inline void heap_place(struct heap_entry *entries, uint32_t position, struct heap_entry entry) {
    entries[position] = entry;
    entry.membership->position = position;
}

static __attribute__((noinline, unused)) void heap_sift_up(struct heap *heap, uint32_t position,
                                                           struct heap_entry entry) {
    struct heap_entry *entries = heap->entries;
    while (position > 0) {
        uint32_t parent = (position - 1) / 4;
        if (!heap_precedes(&entry, &entries[parent]))
            break;
        heap_place(entries, position, entries[parent]);
        position = parent;
    }
    heap_place(entries, position, entry);
}

/// `child` is the first of up to four.
static inline uint32_t heap_least_child(const struct heap_entry *entries, uint32_t child, uint32_t count) {
    if (__builtin_expect(child + 3 < count, 1)) {
        uint32_t left = child + heap_precedes(&entries[child + 1], &entries[child]);
        uint32_t right = child + 2 + heap_precedes(&entries[child + 3], &entries[child + 2]);
        return heap_precedes(&entries[right], &entries[left]) ? right : left;
    }
    uint32_t least = child;
    while (++child < count) {
        if (heap_precedes(&entries[child], &entries[least]))
            least = child;
    }
    return least;
}

static inline void heap_sift_down(struct heap *heap, uint32_t position, struct heap_entry entry) {
    struct heap_entry *entries = heap->entries;
    uint32_t count = heap_count(heap);
    for (uint32_t child; (child = position * 4 + 1) < count;) {
        uint32_t least = heap_least_child(entries, child, count);
        if (!heap_precedes(&entries[least], &entry))
            break;
        heap_place(entries, position, entries[least]);
        position = least;
    }
    heap_place(entries, position, entry);
}

static __attribute__((noinline, unused)) void heap_settle(struct heap *heap, uint32_t position,
                                                          struct heap_entry entry) {
    if (position > 0 && heap_precedes(&entry, &heap->entries[(position - 1) / 4]))
        heap_sift_up(heap, position, entry);
    else
        heap_sift_down(heap, position, entry);
}

/// -ENOMEM.
static inline int heap_push(struct heap *heap, int64_t key, struct membership *membership) {
    uint32_t count = heap_count(heap);
    if (count == heap->capacity) {
        struct heap_entry *entries = grow_array(heap->entries, &heap->capacity, sizeof *entries);
        if (!entries)
            return -ENOMEM;
        heap->entries = entries;
    }
    heap_set_count(heap, count + 1);
    heap_sift_up(heap, count, (struct heap_entry){.key = key, .membership = membership});
    return 0;
}

static inline void heap_remove(struct heap *heap, struct membership *membership) {
    uint32_t position = membership->position;
    ASSERT(position < heap_count(heap) && heap->entries[position].membership == membership,
           "A heap lost an item's place.");
    membership->position = NOWHERE;
    uint32_t count = heap_count(heap) - 1;
    heap_set_count(heap, count);
    if (position < count)
        heap_settle(heap, position, heap->entries[count]);
}

static inline void heap_change_key(struct heap *heap, struct membership *membership, int64_t key) {
    heap_settle(heap, membership->position, (struct heap_entry){.key = key, .membership = membership});
}

#endif // RUNLOOP_HEAP_H
