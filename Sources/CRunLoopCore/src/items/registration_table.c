// registration_table.c — a loop's registrations, found by descriptor.

#include "items/items.h"

enum { BUCKETS_AT_FIRST = 8, REGISTRATIONS_PER_BUCKET = 2 };

static struct registration **bucket_of(struct registrations *all, int descriptor) {
    return &all->buckets[(uint32_t)descriptor & (all->bucket_count - 1)];
}

struct registration *runloop__registration_find(runloop *loop, int descriptor) {
    struct registrations *all = &loop->registrations;
    struct registration *registration = all->bucket_count ? *bucket_of(all, descriptor) : NULL;
    while (registration && registration->descriptor != descriptor)
        registration = registration->next;
    return registration;
}

static int grow_table(struct registrations *all) {
    if (all->count < all->bucket_count * REGISTRATIONS_PER_BUCKET)
        return 0;
    uint32_t former_count = all->bucket_count, count = former_count ? former_count * 2 : BUCKETS_AT_FIRST;
    struct registration **former = all->buckets, **buckets = calloc(count, sizeof(struct registration *));
    if (!buckets)
        return former_count ? 0 : -ENOMEM; // a full table is slower, not wrong
    all->buckets = buckets;
    all->bucket_count = count;
    for (uint32_t i = 0; i < former_count; i++) {
        for (struct registration *registration = former[i], *next; registration; registration = next) {
            next = registration->next;
            struct registration **bucket = bucket_of(all, registration->descriptor);
            registration->next = *bucket;
            *bucket = registration;
        }
    }
    free(former);
    return 0;
}

struct registration *runloop__registration_new(runloop *loop, int descriptor) {
    struct registrations *all = &loop->registrations;
    struct registration *registration = grow_table(all) ? NULL : calloc(1, sizeof *registration);
    if (!registration)
        return NULL;
    struct registration **bucket = bucket_of(all, descriptor);
    // Generation 0 is the main queue's.
    all->generation += all->generation == UINT32_MAX ? 2 : 1;
    *registration = (struct registration){.next = *bucket, .descriptor = descriptor, .generation = all->generation};
    list_init(&registration->link);
    *bucket = registration;
    all->count++;
    return registration;
}

void runloop__registration_free(runloop *loop, struct registration *registration) {
    struct registration **link = bucket_of(&loop->registrations, registration->descriptor);
    while (*link != registration)
        link = &(*link)->next;
    *link = registration->next;
    loop->registrations.count--;
    free(registration);
}

void runloop__registrations_free(runloop *loop) {
    struct registrations *all = &loop->registrations;
    for (uint32_t i = 0; i < all->bucket_count; i++) {
        for (struct registration *registration = all->buckets[i], *next; registration; registration = next) {
            next = registration->next;
            free(registration);
        }
    }
    free(all->buckets);
    *all = (struct registrations){0};
}
