// raw_heap.h — the timers of the hand-written loop: a heap with four children per node and the key beside the pointer; a timer
// stores its position. One malloc per timer.
#ifndef RAW_HEAP_H
#define RAW_HEAP_H

#include "../bench.h"

struct peer_timer {
    struct peer_loop *loop;
    void *info;
    int64_t deadline_ns;
    size_t place; ///< position in the heap, from 1; 0: not in it
};

struct raw_entry {
    int64_t key_ns;
    struct peer_timer *timer;
};

/// Entry 0 is unused.
struct raw_heap {
    struct raw_entry *entries;
    size_t count;
    size_t capacity;
};

static inline void raw_heap_put(struct raw_heap *heap, size_t place, struct raw_entry entry) {
    heap->entries[place] = entry;
    entry.timer->place = place;
}

static inline void raw_heap_up(struct raw_heap *heap, size_t place, struct raw_entry entry) {
    while (place > 1) {
        size_t parent = (place + 2) / 4;
        if (heap->entries[parent].key_ns <= entry.key_ns)
            break;
        raw_heap_put(heap, place, heap->entries[parent]);
        place = parent;
    }
    raw_heap_put(heap, place, entry);
}

static inline void raw_heap_down(struct raw_heap *heap, size_t place, struct raw_entry entry) {
    for (;;) {
        size_t child = place * 4 - 2, last = child + 3, least = child;
        if (child > heap->count)
            break;
        if (last > heap->count)
            last = heap->count;
        for (size_t other = child + 1; other <= last; other++)
            if (heap->entries[other].key_ns < heap->entries[least].key_ns)
                least = other;
        if (heap->entries[least].key_ns >= entry.key_ns)
            break;
        raw_heap_put(heap, place, heap->entries[least]);
        place = least;
    }
    raw_heap_put(heap, place, entry);
}

static inline void raw_heap_place(struct raw_heap *heap, size_t place, struct raw_entry entry) {
    if (place > 1 && heap->entries[(place + 2) / 4].key_ns > entry.key_ns)
        raw_heap_up(heap, place, entry);
    else
        raw_heap_down(heap, place, entry);
}

static inline void raw_heap_add(struct raw_heap *heap, struct peer_timer *timer) {
    if (heap->count + 1 >= heap->capacity) {
        heap->capacity = heap->capacity ? 2 * heap->capacity : 64;
        heap->entries = realloc(heap->entries, heap->capacity * sizeof *heap->entries);
        bench_check(heap->entries, "heap");
    }
    raw_heap_up(heap, ++heap->count, (struct raw_entry){timer->deadline_ns, timer});
}

static inline void raw_heap_remove(struct raw_heap *heap, struct peer_timer *timer) {
    size_t place = timer->place;
    struct raw_entry last = heap->entries[heap->count--];
    timer->place = 0;
    if (last.timer != timer)
        raw_heap_place(heap, place, last);
}

#endif
