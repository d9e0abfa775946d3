// changes.c — changes that are reported in one call.

#ifdef __linux__
#include "files/changes.h"

#include <stdlib.h>

static void free_texts(const runloop_change *change) {
    free((char *)change->path);
    free((char *)change->from);
}

static bool has_space(struct changes *changes) {
    if (changes->count < changes->capacity)
        return true;
    size_t capacity = changes->capacity ? changes->capacity * 2 : 16;
    runloop_change *items = realloc(changes->items, capacity * sizeof *items);
    if (!items)
        return false;
    changes->items = items;
    changes->capacity = capacity;
    return true;
}

void runloop__changes_add(struct changes *changes, const runloop_change *change) {
    bool has_texts = change->path && (change->from || change->kind != RUNLOOP_CHANGE_MOVED);
    if (has_texts && has_space(changes)) {
        changes->items[changes->count++] = *change;
        return;
    }
    changes->is_incomplete = true;
    free_texts(change);
}

void runloop__changes_empty(struct changes *changes) {
    for (size_t i = 0; i < changes->count; i++)
        free_texts(&changes->items[i]);
    free(changes->items);
    changes->items = NULL;
    changes->count = changes->capacity = 0;
    changes->is_incomplete = false;
}
#endif // __linux__
