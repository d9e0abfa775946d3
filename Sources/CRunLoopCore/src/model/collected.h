// collected.h — the items that call-outs are about to reach: a stack in the loop, of references.
#ifndef RUNLOOP_COLLECTED_H
#define RUNLOOP_COLLECTED_H

#include "model/model.h"

/// The thread; false when memory ran out, and the item stays for a later iteration. The entry is a reference.
static inline bool collect_item(runloop *loop, struct item *item, int64_t key, uint64_t serial) {
    if (loop->collected_count == loop->collected_capacity) {
        struct collected *collected = grow_array(loop->collected, &loop->collected_capacity, sizeof *collected);
        if (!collected)
            return false;
        loop->collected = collected;
    }
    item_retain(item);
    loop->collected[loop->collected_count++] = (struct collected){.item = item, .key = key, .serial = serial};
    return true;
}
/// Releases an entry's item. Unlocked.
static inline void collected_drop(runloop *loop, uint32_t index) {
    struct item *item = loop->collected[index].item;
    loop->collected[index].item = NULL;
    if (item)
        item_release(item);
}
void runloop__collected_sort(struct collected *entries, uint32_t count);
/// Puts the entries from `base` on into the order in which they are called.
static inline void collected_sort(runloop *loop, uint32_t base) {
    if (loop->collected_count > base + 1)
        runloop__collected_sort(loop->collected + base, loop->collected_count - base);
}

#endif // RUNLOOP_COLLECTED_H
