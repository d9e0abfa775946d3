// collected.c — the items that call-outs are about to reach: a stack that nested runs share, so that collecting costs no
// allocation once it has grown. Entries are retained; a thread that ends during a call-out leaves them for teardown.

#include "model/model.h"

static bool reserve(runloop *loop, uint32_t needed) {
    if (needed <= loop->collected_capacity)
        return true;
    uint32_t capacity = needed + needed / 2 + 16;
    struct collected *entries = realloc(loop->collected, capacity * sizeof *entries);
    if (!entries)
        return false;
    loop->collected = entries;
    loop->collected_capacity = capacity;
    return true;
}

bool runloop__collected_grow(runloop *loop) {
    return reserve(loop, loop->collected_count + 1);
}

typedef bool (*tie_break)(const void *, const void *);

static inline bool goes_before(const struct collected *a, const struct collected *b, tie_break precedes) {
    if (a->key != b->key)
        return a->key < b->key;
    return precedes && precedes(a->item, b->item);
}

static void insertion_sort(struct collected *entries, uint32_t count, tie_break precedes) {
    for (uint32_t i = 1; i < count; i++) {
        struct collected entry = entries[i];
        uint32_t place = i;
        for (; place > 0 && goes_before(&entry, &entries[place - 1], precedes); place--)
            entries[place] = entries[place - 1];
        entries[place] = entry;
    }
}

enum { RUN_LENGTH = 16 };

void runloop__collected_sort(runloop *loop, uint32_t base, tie_break precedes) {
    uint32_t count = loop->collected_count - base;
    if (count < 2)
        return;
    if (count <= RUN_LENGTH || !reserve(loop, loop->collected_count + count)) {
        insertion_sort(loop->collected + base, count, precedes);
        return;
    }
    // Merges sorted runs back and forth between the entries and the free space above them: stable, n log n.
    struct collected *from = loop->collected + base, *to = from + count;
    for (uint32_t i = 0; i < count; i += RUN_LENGTH)
        insertion_sort(from + i, count - i < RUN_LENGTH ? count - i : RUN_LENGTH, precedes);
    for (uint32_t width = RUN_LENGTH; width < count; width *= 2) {
        for (uint32_t start = 0; start < count; start += 2 * width) {
            uint32_t middle = start + width < count ? start + width : count;
            uint32_t end = middle + width < count ? middle + width : count;
            for (uint32_t left = start, right = middle, out = start; out < end; out++) {
                bool take_right = left == middle || (right < end && goes_before(&from[right], &from[left], precedes));
                to[out] = take_right ? from[right++] : from[left++];
            }
        }
        struct collected *swap = from;
        from = to;
        to = swap;
    }
    if (from != loop->collected + base)
        memcpy(loop->collected + base, from, count * sizeof *from);
}
