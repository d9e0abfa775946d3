// registrations.c — the registrations of a loop, by descriptor.

#ifdef __linux__
#include <fcntl.h>

#include "items/items.h"

/// A place for the descriptor. The kernel hands out the lowest numbers, so there are about as many places as descriptors.
HOLDS_LOCK static int reserve_place(struct registrations *all, int descriptor) {
    if ((uint32_t)descriptor < all->capacity)
        return 0;
    // A number that stands for no file may be any.
    if (fcntl(descriptor, F_GETFD) < 0)
        return -errno;
    uint32_t capacity = (uint32_t)descriptor + (uint32_t)descriptor / 2 + 8;
    struct registration **places = calloc(capacity, sizeof(struct registration *));
    if (!places)
        return -ENOMEM;
    if (all->capacity > 0)
        memcpy(places, all->by_descriptor, all->capacity * sizeof(struct registration *));
    free(all->by_descriptor);
    all->by_descriptor = places;
    all->capacity = capacity;
    return 0;
}

int runloop__registration_make(runloop *loop, int descriptor, struct registration **out) {
    struct registrations *all = &loop->registrations;
    int error = reserve_place(all, descriptor);
    if (error)
        return error;
    struct registration *registration = calloc(1, sizeof *registration);
    if (!registration)
        return -ENOMEM;
    // Generation 0 is the main queue's.
    all->generation += all->generation == UINT32_MAX ? 2 : 1;
    registration->descriptor = descriptor;
    registration->generation = all->generation;
    list_init(&registration->masked);
    *out = all->by_descriptor[descriptor] = registration;
    return 0;
}

UNCHECKED void runloop__registrations_free(runloop *loop) {
    struct registrations *all = &loop->registrations;
    for (uint32_t i = 0; i < all->capacity; i++)
        free(all->by_descriptor[i]);
    free(all->by_descriptor);
    *all = (struct registrations){0};
}
#endif // __linux__
