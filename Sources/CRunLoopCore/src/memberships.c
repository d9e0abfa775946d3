// memberships.c — the modes that an item is in. Guarded by the lock of the item's loop, like the modes themselves.

#include "internal.h"

int runloop__memberships_reserve(struct memberships *list, uint32_t additional) {
    uint32_t needed = list->count + additional;
    if (needed <= list->capacity + 1)
        return 0;
    uint32_t capacity = needed + needed / 2;
    struct membership *more = realloc(list->more, capacity * sizeof *more);
    if (!more)
        return -ENOMEM;
    list->more = more;
    list->capacity = capacity;
    return 0;
}

void runloop__memberships_add(struct memberships *list, struct mode *mode, uint32_t position) {
    *runloop__membership_at(list, list->count++) = (struct membership){.mode = mode, .position = position};
}

void runloop__memberships_remove(struct memberships *list, const struct mode *mode) {
    struct membership *membership = runloop__membership_of(list, mode);
    if (membership)
        *membership = *runloop__membership_at(list, --list->count);
}

void runloop__memberships_free(struct memberships *list) {
    free(list->more);
    list->more = NULL;
    list->count = list->capacity = 0;
}
