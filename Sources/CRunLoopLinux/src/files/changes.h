// changes.h — changes that are reported in one call. They own their texts.
#ifndef RUNLOOP_CHANGES_H
#define RUNLOOP_CHANGES_H

#include "runloop_watch.h"

struct changes {
    runloop_change *items;
    size_t count, capacity;
    bool is_incomplete; ///< memory ran out, and a change was left out
};

/// Appends a change, and takes over its texts, which are from malloc. Without a path, memory has run out.
void runloop__changes_add(struct changes *changes, const runloop_change *change);
void runloop__changes_empty(struct changes *changes);

#endif // RUNLOOP_CHANGES_H
