// heap.c — the timers of a mode: a 4-ary min-heap by due instant. The key stands beside the pointer, so that sifting
// rarely touches a timer; a timer's membership remembers its place, so that removal needs no search.

#include "internal.h"

int runloop__heap_reserve(struct heap *heap, uint32_t additional) {
    uint32_t needed = heap->count + additional;
    if (needed <= heap->capacity)
        return 0;
    uint32_t capacity = heap->capacity + heap->capacity / 2 + 8;
    if (capacity < needed)
        capacity = needed;
    struct heap_entry *entries = realloc(heap->entries, capacity * sizeof *entries);
    if (!entries)
        return -ENOMEM;
    heap->entries = entries;
    heap->capacity = capacity;
    return 0;
}

static bool precedes(const struct heap_entry *a, const struct heap_entry *b) {
    return a->key != b->key ? a->key < b->key : runloop__timer_precedes(a->timer, b->timer);
}

static void place(struct heap *heap, struct mode *mode, uint32_t position, struct heap_entry entry) {
    heap->entries[position] = entry;
    runloop__membership_of(&entry.timer->modes, mode)->position = position;
}

static uint32_t sift_up(struct heap *heap, struct mode *mode, uint32_t position, struct heap_entry entry) {
    while (position > 0) {
        uint32_t parent = (position - 1) / 4;
        if (!precedes(&entry, &heap->entries[parent]))
            break;
        place(heap, mode, position, heap->entries[parent]);
        position = parent;
    }
    return position;
}

static uint32_t sift_down(struct heap *heap, struct mode *mode, uint32_t position, struct heap_entry entry) {
    for (;;) {
        uint32_t child = position * 4 + 1;
        if (child >= heap->count)
            return position;
        uint32_t end = child + 4 < heap->count ? child + 4 : heap->count, least = child;
        while (++child < end) {
            if (precedes(&heap->entries[child], &heap->entries[least]))
                least = child;
        }
        if (!precedes(&heap->entries[least], &entry))
            return position;
        place(heap, mode, position, heap->entries[least]);
        position = least;
    }
}

void runloop__heap_push(struct heap *heap, struct mode *mode, runloop_timer *timer) {
    int64_t due_ns = atomic_load_explicit(&timer->due_ns, memory_order_relaxed);
    struct heap_entry entry = {.key = due_ns, .timer = timer};
    uint32_t position = heap->count++;
    place(heap, mode, sift_up(heap, mode, position, entry), entry);
}

static void settle(struct heap *heap, struct mode *mode, uint32_t position, struct heap_entry entry) {
    uint32_t risen = sift_up(heap, mode, position, entry);
    place(heap, mode, risen == position ? sift_down(heap, mode, position, entry) : risen, entry);
}

void runloop__heap_remove(struct heap *heap, struct mode *mode, uint32_t position) {
    struct heap_entry last = heap->entries[--heap->count];
    if (position < heap->count)
        settle(heap, mode, position, last);
    // A burst of timers gives its memory back; half is kept, so that a few timers coming and going cost nothing.
    if (heap->capacity > 1024 && heap->count < heap->capacity / 4) {
        struct heap_entry *entries = realloc(heap->entries, heap->capacity / 2 * sizeof *entries);
        if (entries) {
            heap->entries = entries;
            heap->capacity /= 2;
        }
    }
}

void runloop__heap_moved(struct heap *heap, struct mode *mode, uint32_t position) {
    struct heap_entry entry = heap->entries[position];
    entry.key = atomic_load_explicit(&entry.timer->due_ns, memory_order_relaxed);
    settle(heap, mode, position, entry);
}

// With tolerances the earliest latest date is not at the root, but every timer's latest date is at least its due date, so
// subtrees that are due after the best found can't improve it. When the search has visited its share, it answers with the
// earliest due date it did not look behind: never too late, at worst one wake-up not spared.
enum { LATEST_VISITS = 64 };

struct latest_search {
    const struct heap *heap;
    int64_t best_ns;
    unsigned visits;
};

static void search_latest(struct latest_search *search, uint32_t position) {
    if (position >= search->heap->count)
        return;
    const struct heap_entry *entry = &search->heap->entries[position];
    if (entry->key >= search->best_ns)
        return;
    if (search->visits++ >= LATEST_VISITS) {
        search->best_ns = entry->key;
        return;
    }
    int64_t tolerance_ns = atomic_load_explicit(&entry->timer->tolerance_ns, memory_order_relaxed);
    int64_t latest_ns = runloop__saturating_add(entry->key, tolerance_ns);
    if (latest_ns < search->best_ns)
        search->best_ns = latest_ns;
    for (uint32_t child = position * 4 + 1; child <= position * 4 + 4; child++)
        search_latest(search, child);
}

int64_t runloop__heap_latest(const struct heap *heap, bool tolerant) {
    if (heap->count == 0)
        return RUNLOOP_NEVER;
    if (!tolerant)
        return heap->entries[0].key;
    struct latest_search search = {.heap = heap, .best_ns = RUNLOOP_NEVER};
    search_latest(&search, 0);
    return search.best_ns;
}
