// memberships.c — the modes that an item is in. Guarded by the lock of the item's loop, like the modes themselves.

#include "internal.h"

int runloop__further_reserve(struct further_modes **further, uint32_t needed) {
    if (*further && needed <= (*further)->capacity)
        return 0;
    uint32_t capacity = needed + needed / 2;
    struct further_modes *larger = realloc(*further, sizeof *larger + capacity * sizeof larger->modes[0]);
    if (!larger)
        return -ENOMEM;
    if (!*further)
        *larger = (struct further_modes){0};
    larger->capacity = capacity;
    *further = larger;
    return 0;
}

uint32_t *runloop__further_position(struct further_modes *further, const struct mode *mode) {
    for (uint32_t i = 0; i < further->count; i++) {
        if (further->modes[i].mode == mode)
            return &further->modes[i].position;
    }
    return NULL;
}

int runloop__memberships_reserve(struct memberships *list, uint32_t additional) {
    uint32_t needed = runloop__memberships_count(list) + additional;
    return needed <= 1 ? 0 : runloop__further_reserve(&list->further, needed - 1);
}

void runloop__memberships_add(struct memberships *list, struct mode *mode, uint32_t position) {
    if (!list->mode) {
        list->mode = mode;
        list->position = position;
    } else {
        list->further->modes[list->further->count++] = (struct membership){.mode = mode, .position = position};
    }
}

void runloop__memberships_remove(struct memberships *list, const struct mode *mode) {
    uint32_t *position = runloop__position_in(list, mode);
    if (!position)
        return;
    struct further_modes *further = list->further;
    if (!further || further->count == 0) {
        list->mode = NULL;
        return;
    }
    // The last one takes its place.
    struct membership last = further->modes[--further->count];
    if (position == &list->position) {
        list->mode = last.mode;
        list->position = last.position;
    } else {
        *LIST_ENTRY(position, struct membership, position) = last;
    }
}

void runloop__memberships_free(struct memberships *list) {
    free(list->further);
    list->further = NULL;
    list->mode = NULL;
}
