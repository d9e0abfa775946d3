// guest.h — a guest that records what is asked of it, and fails the test if check or cancel doesn't follow each prepare exactly once.
#ifndef RUNLOOP_TEST_GUEST_H
#define RUNLOOP_TEST_GUEST_H

#include "items.h"
#include "runloop_foreign.h"

enum { GUEST_DESCRIPTORS = 8 };

struct guest {
    struct pollfd wants[GUEST_DESCRIPTORS];
    int count;
    int64_t deadline_ns; ///< RUNLOOP_NEVER if it has none; 0 at once.
    bool is_traced;
    bool takes; ///< dispatch reads the descriptors' eventfds.
    void (*in_prepare)(struct guest *), (*in_check)(struct guest *), (*in_cancel)(struct guest *),
        (*in_dispatch)(struct guest *);

    runloop_foreign_source *source;
    bool is_prepared;
    short revents[GUEST_DESCRIPTORS]; ///< At the last check.
    int prepares, checks, cancels, dispatches, releases;
};

static void guest_calls(struct guest *guest, const char *word, void (*body)(struct guest *)) {
    if (guest->is_traced)
        trace(word);
    if (body)
        body(guest);
}

static int guest_prepare(runloop_foreign_source *source, struct pollfd *descriptors, int capacity, int64_t *deadline_ns,
                         void *info) {
    struct guest *guest = info;
    (void)source;
    EXPECT(!guest->is_prepared);
    EXPECT_EQ(*deadline_ns, RUNLOOP_NEVER);
    guest->prepares++;
    guest_calls(guest, "prepare", guest->in_prepare);
    guest->is_prepared = true;
    memcpy(descriptors, guest->wants,
           sizeof *descriptors * (size_t)(guest->count < capacity ? guest->count : capacity));
    *deadline_ns = guest->deadline_ns;
    return guest->count;
}

static bool guest_check(runloop_foreign_source *source, struct pollfd *descriptors, int count, void *info) {
    struct guest *guest = info;
    (void)source;
    EXPECT(guest->is_prepared);
    EXPECT_EQ(count, guest->count);
    guest->is_prepared = false;
    guest->checks++;
    for (int i = 0; i < count; i++)
        guest->revents[i] = descriptors[i].revents;
    guest_calls(guest, "check", guest->in_check);
    return true;
}

static void guest_cancel(runloop_foreign_source *source, void *info) {
    struct guest *guest = info;
    (void)source;
    EXPECT(guest->is_prepared);
    guest->is_prepared = false;
    guest->cancels++;
    guest_calls(guest, "cancel", guest->in_cancel);
}

static void guest_dispatch(runloop_foreign_source *source, void *info) {
    struct guest *guest = info;
    (void)source;
    EXPECT(!guest->is_prepared);
    guest->dispatches++;
    for (int i = 0; guest->takes && i < guest->count; i++)
        take(guest->wants[i].fd);
    guest_calls(guest, "dispatch", guest->in_dispatch);
}

static void guest_release(void *info) {
    struct guest *guest = info;
    EXPECT(!guest->is_prepared);
    guest->releases++;
}

/// Its source, with one reference.
static inline void guest_create(struct guest *guest, bool nests) {
    runloop_foreign_source_config config = {.context = {.info = guest, .release = guest_release},
                                            .nests = nests,
                                            .prepare = guest_prepare,
                                            .check = guest_check,
                                            .cancel = guest_cancel,
                                            .dispatch = guest_dispatch};
    REQUIRE(runloop_foreign_source_create(&config, &guest->source) == 0);
}

static inline void guest_add(struct guest *guest, const char *mode) {
    REQUIRE(runloop_add_foreign_source(runloop_current(), guest->source, mode) == 0);
}

/// In the loop of the calling thread, which has the only reference. It waits for an eventfd, or for nothing if that is -1.
static inline void guest_begin(struct guest *guest, int descriptor) {
    if (descriptor >= 0)
        guest->wants[guest->count++] = (struct pollfd){.fd = descriptor, .events = POLLIN};
    if (guest->deadline_ns == 0)
        guest->deadline_ns = RUNLOOP_NEVER;
    guest_create(guest, false);
    guest_add(guest, MODE);
    runloop_foreign_source_release(guest->source);
}

/// Nothing is owed to it, and it is freed.
static inline void guest_end(struct guest *guest) {
    EXPECT_EQ(runloop_foreign_source_invalidate(guest->source), 0);
    EXPECT_EQ(guest->releases, 1);
    EXPECT_EQ(guest->prepares, guest->checks + guest->cancels);
}

#endif // RUNLOOP_TEST_GUEST_H
