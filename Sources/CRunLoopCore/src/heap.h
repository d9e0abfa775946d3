// heap.h — the timers of a mode: a 4-ary min-heap by due instant. The key stands beside the pointer, so that sifting
// rarely touches a timer; a timer remembers its place, so that removal needs no search. All of it is guarded by the loop's lock.
#ifndef RUNLOOP_HEAP_H
#define RUNLOOP_HEAP_H

#include "internal.h"

// The four children of an entry stand on one cache line: entry 1 begins one, and so does every group after it.
enum { HEAP_LEAD = 3, HEAP_ENTRIES_PER_LINE = 4 };

/// Other memory for the entries, with room for `capacity`: -ENOMEM, and all is as it was.
static RUNLOOP__COLD int heap_move(struct heap *heap, uint32_t capacity) {
    size_t lines = ((size_t)capacity + HEAP_LEAD) / HEAP_ENTRIES_PER_LINE + 1;
    struct heap_entry *memory = aligned_alloc(64, lines * HEAP_ENTRIES_PER_LINE * sizeof *memory);
    if (!memory)
        return -ENOMEM;
    if (heap->entries) {
        memcpy(memory + HEAP_LEAD, heap->entries, heap->count * sizeof *memory);
        free(heap->entries - HEAP_LEAD);
    }
    heap->entries = memory + HEAP_LEAD;
    heap->capacity = capacity;
    return 0;
}

static RUNLOOP__COLD int heap_grow(struct heap *heap, uint32_t needed) {
    uint32_t capacity = heap->capacity + heap->capacity / 2 + 8;
    return heap_move(heap, capacity < needed ? needed : capacity);
}

/// Room for so many more: -ENOMEM.
static inline int heap_reserve(struct heap *heap, uint32_t additional) {
    uint32_t needed = heap->count + additional;
    return needed <= heap->capacity ? 0 : heap_grow(heap, needed);
}

// A burst of timers gives its memory back, but only when none has followed for a while: to ask for so much again costs more than
// to add the timers.
enum { HEAP_SPARSE_WAITS = 64 };

static inline void heap_trim(struct heap *heap, uint32_t needed) {
    bool is_sparse = needed < heap->capacity / 4;
    heap->sparse_waits = is_sparse ? heap->sparse_waits + 1 : 0;
    if (heap->sparse_waits >= HEAP_SPARSE_WAITS && !heap_move(heap, needed < HEAP_KEPT / 2 ? HEAP_KEPT : 2 * needed))
        heap->sparse_waits = 0;
}

static RUNLOOP__COLD bool heap_breaks_tie(struct heap_entry a, struct heap_entry b) {
    return runloop__timer_precedes(runloop__heap_timer(a), runloop__heap_timer(b));
}

static inline bool heap_entry_precedes(const struct heap_entry *a, const struct heap_entry *b) {
    return a->key != b->key ? a->key < b->key : heap_breaks_tie(*a, *b);
}

static RUNLOOP__COLD void heap_note_place(struct heap_entry entry, const struct mode *mode, uint32_t position) {
    *runloop__timer_position(runloop__heap_timer(entry), mode) = position;
}

static inline void heap_place(struct heap_entry *entries, const struct mode *mode, uint32_t position,
                              struct heap_entry entry) {
    entries[position] = entry;
    // Nothing is read off a timer in its first mode: it may not be in the cache, and a store doesn't wait for it as a look would.
    if (entry.timer & HEAP_ENTRY_IS_FURTHER)
        heap_note_place(entry, mode, position);
    else
        runloop__heap_timer(entry)->position = position;
}

static __attribute__((noinline, unused)) void heap_sift_up(struct heap *heap, struct mode *mode, uint32_t position,
                                                           struct heap_entry entry) {
    struct heap_entry *entries = heap->entries;
    while (position > 0) {
        uint32_t parent = (position - 1) / 4;
        if (!heap_entry_precedes(&entry, &entries[parent]))
            break;
        heap_place(entries, mode, position, entries[parent]);
        position = parent;
    }
    heap_place(entries, mode, position, entry);
}

/// The least of the entries from `child` to `end`, one at a time.
static RUNLOOP__COLD uint32_t heap_least_among(const struct heap *heap, uint32_t child, uint32_t end) {
    uint32_t least = child;
    while (++child < end) {
        if (heap_entry_precedes(&heap->entries[child], &heap->entries[least]))
            least = child;
    }
    return least;
}

/// The least of an entry's children. Which of four keys is least can't be predicted, so it is found without a branch; that two that were
/// compared are equal is rare, and then all are looked at again.
static inline uint32_t heap_least_child(const struct heap *heap, uint32_t child) {
    if (child + 4 > heap->count)
        return heap_least_among(heap, child, heap->count);
    const struct heap_entry *four = &heap->entries[child];
    int64_t key_0 = four[0].key, key_1 = four[1].key, key_2 = four[2].key, key_3 = four[3].key;
    uint32_t left = child + (key_1 < key_0), right = child + 2 + (key_3 < key_2);
    int64_t left_key = key_1 < key_0 ? key_1 : key_0, right_key = key_3 < key_2 ? key_3 : key_2;
    if ((key_0 == key_1) | (key_2 == key_3) | (left_key == right_key))
        return heap_least_among(heap, child, child + 4);
    uint32_t is_right = right_key < left_key; // as a sum, since a choice is made a branch by some compilers
    return left + is_right * (right - left);
}

static inline void heap_sift_down(struct heap *heap, struct mode *mode, uint32_t position, struct heap_entry entry) {
    struct heap_entry *entries = heap->entries;
    for (uint32_t child; (child = position * 4 + 1) < heap->count;) {
        uint32_t least = heap_least_child(heap, child);
        if (!heap_entry_precedes(&entries[least], &entry))
            break;
        heap_place(entries, mode, position, entries[least]);
        position = least;
    }
    heap_place(entries, mode, position, entry);
}

static __attribute__((noinline, unused)) void heap_settle(struct heap *heap, struct mode *mode, uint32_t position,
                                                          struct heap_entry entry) {
    if (position > 0 && heap_entry_precedes(&entry, &heap->entries[(position - 1) / 4]))
        heap_sift_up(heap, mode, position, entry);
    else
        heap_sift_down(heap, mode, position, entry);
}

static inline void heap_push(struct heap *heap, struct mode *mode, runloop_timer *timer) {
    int64_t due_ns = atomic_load_explicit(&timer->due_ns, memory_order_relaxed);
    struct heap_entry entry = {.key = due_ns, .timer = (uintptr_t)timer | (timer->mode != mode)};
    heap_sift_up(heap, mode, heap->count++, entry);
}

static inline void heap_remove(struct heap *heap, struct mode *mode, uint32_t position) {
    struct heap_entry last = heap->entries[--heap->count];
    if (position < heap->count)
        heap_settle(heap, mode, position, last);
    // The next removal will move the last one now.
    if (heap->count > 0)
        __builtin_prefetch(runloop__heap_timer(heap->entries[heap->count - 1]), 1);
}

static inline void heap_moved(struct heap *heap, struct mode *mode, uint32_t position) {
    struct heap_entry entry = heap->entries[position];
    entry.key = atomic_load_explicit(&runloop__heap_timer(entry)->due_ns, memory_order_relaxed);
    heap_settle(heap, mode, position, entry);
}

// With tolerances the earliest latest date is not at the root, but every timer's latest date is at least its due date, so
// subtrees that are due after the best found can't improve it. When the search has visited its share, it answers with the
// earliest due date it did not look behind: never too late, at worst one wake-up not spared.
enum { HEAP_LATEST_VISITS = 64 };

struct heap_search {
    const struct heap *heap;
    int64_t best_ns;
    unsigned visits;
};

static void heap_search_latest(struct heap_search *search, uint32_t position) {
    if (position >= search->heap->count)
        return;
    const struct heap_entry *entry = &search->heap->entries[position];
    if (entry->key >= search->best_ns)
        return;
    if (search->visits++ >= HEAP_LATEST_VISITS) {
        search->best_ns = entry->key;
        return;
    }
    int64_t tolerance_ns = runloop__timer_tolerance(runloop__heap_timer(*entry));
    int64_t latest_ns = runloop__saturating_add(entry->key, tolerance_ns);
    if (latest_ns < search->best_ns)
        search->best_ns = latest_ns;
    for (uint32_t child = position * 4 + 1; child <= position * 4 + 4; child++)
        heap_search_latest(search, child);
}

static inline int64_t heap_latest(const struct heap *heap, bool tolerant) {
    if (heap->count == 0)
        return RUNLOOP_NEVER;
    if (!tolerant)
        return heap->entries[0].key;
    struct heap_search search = {.heap = heap, .best_ns = RUNLOOP_NEVER};
    heap_search_latest(&search, 0);
    return search.best_ns;
}

#endif // RUNLOOP_HEAP_H
