// kernel_watch.c — what the kernel watches for an instance, and which entries are interested in it.

#ifdef __linux__
#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>

#include "files/instance.h"

enum { EVENT_KINDS = 12 };
_Static_assert(IN_ALL_EVENTS == (1 << EVENT_KINDS) - 1, "There is a count for each kind of event.");

/// What the kernel watches, with the entries that are interested in it, and their number for each kind of event.
struct kernel_watch {
    int wd;
    uint32_t events; ///< that the kernel was asked for
    uint32_t counts[EVENT_KINDS];
    struct list interests;
};

static int compare(const void *a, const void *b) {
    const struct kernel_watch *one = a, *other = b;
    return (one->wd > other->wd) - (one->wd < other->wd);
}

HOLDS_LOCK static struct kernel_watch *find(struct instance *instance, int wd) {
    const struct kernel_watch key = {.wd = wd};
    void *found = tfind(&key, &instance->kernel_watches, compare);
    return found ? *(struct kernel_watch **)found : NULL;
}

/// Finds or makes it. NULL: no memory.
HOLDS_LOCK static struct kernel_watch *get(struct instance *instance, int wd) {
    struct kernel_watch *watch = find(instance, wd);
    if (watch || !(watch = calloc(1, sizeof *watch)))
        return watch;
    watch->wd = wd;
    list_init(&watch->interests);
    if (tsearch(watch, &instance->kernel_watches, compare))
        return watch;
    free(watch);
    return NULL;
}

static int watch_descriptor(const struct instance *instance, int descriptor, uint32_t events) {
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    int wd = inotify_add_watch(instance->inotify, path, events);
    return wd < 0 ? -errno : wd;
}

/// The interest was one in its events, and is one in these.
HOLDS_LOCK static void change_events(struct interest *interest, uint32_t events) {
    for (int kind = 0; kind < EVENT_KINDS; kind++)
        interest->of->counts[kind] += (events >> kind & 1) - (interest->events >> kind & 1);
    interest->events = events;
}

HOLDS_LOCK static uint32_t needed(const struct kernel_watch *watch) {
    uint32_t events = 0;
    for (int kind = 0; kind < EVENT_KINDS; kind++)
        events |= (uint32_t)(watch->counts[kind] > 0) << kind;
    return events;
}

int runloop__interest_begin(struct instance *instance, struct interest *interest, int descriptor, uint32_t events) {
    ASSERT_HOLDS(&instance->lock.lock);
    int wd = watch_descriptor(instance, descriptor, events | IN_MASK_ADD);
    if (wd < 0)
        return wd;
    interest->of = get(instance, wd);
    if (!interest->of) {
        inotify_rm_watch(instance->inotify, wd);
        return -ENOMEM;
    }
    list_insert_before(&interest->of->interests, &interest->link);
    interest->events = 0;
    change_events(interest, events);
    interest->of->events |= events;
    return 0;
}

void runloop__interest_narrow(struct instance *instance, struct interest *interest, int descriptor, uint32_t events) {
    ASSERT_HOLDS(&instance->lock.lock);
    struct kernel_watch *watch = interest->of;
    if (!watch)
        return;
    change_events(interest, events);
    if (descriptor >= 0 && needed(watch) != watch->events && watch_descriptor(instance, descriptor, needed(watch)) >= 0)
        watch->events = needed(watch);
}

/// The kernel has ended it.
HOLDS_LOCK static void end(struct instance *instance, struct kernel_watch *watch) {
    while (!list_is_empty(&watch->interests)) {
        struct interest *interest = LIST_ENTRY(watch->interests.next, struct interest, link);
        list_remove(&interest->link);
        interest->of = NULL;
    }
    tdelete(watch, &instance->kernel_watches, compare);
    free(watch);
}

void runloop__interest_end(struct instance *instance, struct interest *interest) {
    ASSERT_HOLDS(&instance->lock.lock);
    struct kernel_watch *watch = interest->of;
    if (!watch || instance->is_over)
        return;
    change_events(interest, 0);
    list_remove(&interest->link);
    interest->of = NULL;
    if (list_is_empty(&watch->interests)) {
        inotify_rm_watch(instance->inotify, watch->wd);
        end(instance, watch);
    }
}

void runloop__instance_note(struct instance *instance, const struct inotify_event *event,
                            void (*concerns)(struct tree *tree, void *context), void *context) {
    ASSERT_HOLDS(&instance->lock.lock);
    struct kernel_watch *watch = find(instance, event->wd);
    if (!watch)
        return;
    for (struct list *link = watch->interests.next; link != &watch->interests; link = link->next) {
        struct interest *interest = LIST_ENTRY(link, struct interest, link);
        if (interest->note(interest, event, event->len ? event->name : ""))
            concerns(interest->tree, context);
    }
    if (event->mask & IN_IGNORED)
        end(instance, watch);
}
#endif // __linux__
