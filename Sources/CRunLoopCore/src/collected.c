// collected.c — the items that call-outs are about to reach: a stack that nested runs share, so that collecting costs no
// allocation once it has grown. Entries are retained; a thread that ends inside a call-out leaves them for teardown.

#include "internal.h"

static bool reserve(runloop *loop, uint32_t needed) {
    if (needed <= loop->collected_capacity)
        return true;
    uint32_t capacity = needed + needed / 2 + 16;
    struct item **items = realloc(loop->collected, capacity * sizeof(struct item *));
    if (!items)
        return false;
    loop->collected = items;
    loop->collected_capacity = capacity;
    return true;
}

bool runloop__collected_grow(runloop *loop) {
    return reserve(loop, loop->collected_count + 1);
}

static void insertion_sort(struct item **items, uint32_t count, bool (*precedes)(const void *, const void *)) {
    for (uint32_t i = 1; i < count; i++) {
        struct item *item = items[i];
        uint32_t place = i;
        for (; place > 0 && precedes(item, items[place - 1]); place--)
            items[place] = items[place - 1];
        items[place] = item;
    }
}

enum { RUN_LENGTH = 16 };

void runloop__collected_sort(runloop *loop, uint32_t base, bool (*precedes)(const void *, const void *)) {
    uint32_t count = loop->collected_count - base;
    if (count < 2)
        return;
    if (count <= RUN_LENGTH || !reserve(loop, loop->collected_count + count)) {
        insertion_sort(loop->collected + base, count, precedes);
        return;
    }
    // Merges sorted runs back and forth between the items and the free room above them: stable, n log n.
    struct item **from = loop->collected + base, **to = from + count;
    for (uint32_t i = 0; i < count; i += RUN_LENGTH)
        insertion_sort(from + i, count - i < RUN_LENGTH ? count - i : RUN_LENGTH, precedes);
    for (uint32_t width = RUN_LENGTH; width < count; width *= 2) {
        for (uint32_t start = 0; start < count; start += 2 * width) {
            uint32_t middle = start + width < count ? start + width : count;
            uint32_t end = middle + width < count ? middle + width : count;
            for (uint32_t left = start, right = middle, out = start; out < end; out++) {
                bool take_right = left == middle || (right < end && precedes(from[right], from[left]));
                to[out] = take_right ? from[right++] : from[left++];
            }
        }
        struct item **swap = from;
        from = to;
        to = swap;
    }
    if (from != loop->collected + base)
        memcpy(loop->collected + base, from, count * sizeof *from);
}
