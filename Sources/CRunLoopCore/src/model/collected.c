// collected.c — the items that call-outs are about to reach: a stack that nested runs share, so that collecting costs no
// allocation once it has grown. Entries are retained; a thread that ends during a call-out leaves them for teardown.

#include "model/model.h"

static bool goes_before(const struct collected *a, const struct collected *b) {
    if (a->key != b->key)
        return a->key < b->key;
    return a->item->order != b->item->order ? a->item->order < b->item->order : a->serial < b->serial;
}

static void swap(struct collected *a, struct collected *b) {
    struct collected entry = *a;
    *a = *b;
    *b = entry;
}

/// Restores the heap, whose root goes last, below one entry.
static void sift_down(struct collected *entries, uint32_t place, uint32_t count) {
    for (uint32_t child; (child = 2 * place + 1) < count; place = child) {
        if (child + 1 < count && goes_before(&entries[child], &entries[child + 1]))
            child++;
        if (!goes_before(&entries[place], &entries[child]))
            return;
        swap(&entries[place], &entries[child]);
    }
}

void runloop__collected_sort(struct collected *entries, uint32_t count) {
    for (uint32_t place = count / 2; place-- > 0;)
        sift_down(entries, place, count);
    while (count-- > 1) {
        swap(&entries[0], &entries[count]);
        sift_down(entries, 0, count);
    }
}
