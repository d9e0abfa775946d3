// collected.c — the items that call-outs are about to reach: a stack that nested runs share, so that collecting costs no
// allocation once it has grown. Entries are retained; a thread that ends during a call-out leaves them for teardown.

#ifdef __linux__
#include "model/collected.h"

static inline bool goes_before(const struct collected *a, const struct collected *b) {
    if (a->key != b->key)
        return a->key < b->key;
    return a->item->order != b->item->order ? a->item->order < b->item->order : a->serial < b->serial;
}

/// Puts an entry into the heap, whose root goes last, below a free place. That is passed down to the bottom first, since most entries
/// come from there.
static void sift(struct collected *entries, uint32_t place, uint32_t count, struct collected entry) {
    uint32_t top = place;
    for (uint32_t child; (child = 2 * place + 1) < count; place = child) {
        if (child + 1 < count && goes_before(&entries[child], &entries[child + 1]))
            child++;
        entries[place] = entries[child];
    }
    for (uint32_t parent; place > top && goes_before(&entries[parent = (place - 1) / 2], &entry); place = parent)
        entries[place] = entries[parent];
    entries[place] = entry;
}

void runloop__collected_sort(struct collected *entries, uint32_t count) {
    for (uint32_t place = count / 2; place-- > 0;)
        sift(entries, place, count, entries[place]);
    while (count-- > 1) {
        struct collected entry = entries[count];
        entries[count] = entries[0];
        sift(entries, 0, count, entry);
    }
}
#endif // __linux__
