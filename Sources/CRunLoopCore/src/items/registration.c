// registration.c — a descriptor in a loop: one entry of the poller's set, shared by all sources on it, whatever their modes.
//
// A descriptor is registered for all that its sources want in any mode. What is reported for other modes than the running one is report.c's
// business, which may mask the registration, down to what the running mode wants.
//
// What epoll knows ends with the *file*, not with its descriptor. If that was closed before its sources were removed, a duplicate
// elsewhere keeps the entry of the set alive, and nothing can remove it any more. Such an entry is stale; when it is reported, or when
// there are many, the whole set is made anew. A number that comes back to the set may stand for another file by then.

#include <fcntl.h>
#include <sys/stat.h>

#include "items/items.h"

//===-- what sources want --------------------------------------------------------------------------------------------===//

HOLDS_LOCK static const struct source_attachment *next_of(const struct source_attachment *place) {
    return place->next_registered;
}

uint32_t runloop__registration_asked(const struct registration *registration, const struct mode *mode) {
    uint32_t mask = 0;
    for (const struct source_attachment *place = registration->sources; place; place = next_of(place)) {
        if (!mode || membership_find(&place->attachment, mode))
            mask |= events_of(place->source);
    }
    return mask;
}

uint32_t runloop__registration_wanted(const struct registration *registration, const struct mode *mode) {
    uint32_t mask = runloop__registration_asked(registration, mode);
    return mask ? registration->ready & (mask | UNASKED) : 0;
}

bool runloop__is_counter(int descriptor) {
    // Such a file has no type, and must not block.
    struct stat status;
    int flags = fcntl(descriptor, F_GETFL);
    return fstat(descriptor, &status) == 0 && (status.st_mode & S_IFMT) == 0 && flags >= 0 && (flags & O_NONBLOCK);
}

HOLDS_LOCK static bool has_counter(const struct registration *registration) {
    const struct source_attachment *place = registration->sources;
    while (place && !descriptor_source_of(place->source)->is_counter)
        place = next_of(place);
    return place;
}

//===-- the poller's set ---------------------------------------------------------------------------------------------===//

HOLDS_LOCK static int control(runloop *loop, const struct registration *registration, int operation, uint32_t mask) {
    uint64_t tag = (uint64_t)registration->generation << 32 | (uint32_t)registration->descriptor;
    return runloop__poller_watch(&loop->poller, operation, registration->descriptor, tag, mask);
}

HOLDS_LOCK static int watch(runloop *loop, struct registration *registration, uint32_t mask) {
    // What comes back may be another file: no byte of that is to be read as a counter's.
    if (!registration->in_set && registration->was_in_set && has_counter(registration) &&
        !runloop__is_counter(registration->descriptor))
        return -EBADF;
    int error = control(loop, registration, registration->in_set ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, mask);
    if (error == -ENOENT && registration->in_set) {
        // The number was closed and stands for another file now.
        registrations_note_stale(loop);
        error = control(loop, registration, EPOLL_CTL_ADD, mask);
    }
    // The number stands again for a file that nobody could take out of the set: that entry becomes this registration's. What else may be
    // watched under a number that sources come with is the main queue.
    const struct registration *main_queue = loop->main_queue.registration;
    if (error == -EEXIST && !(main_queue && main_queue->descriptor == registration->descriptor))
        error = control(loop, registration, EPOLL_CTL_MOD, mask);
    if (error)
        return error;
    registration->in_set = registration->was_in_set = true;
    registration->registered = (uint16_t)mask;
    return 0;
}

/// Asks epoll for all that the sources want.
int runloop__registration_unmask(runloop *loop, struct registration *registration) {
    uint32_t mask = runloop__registration_asked(registration, NULL);
    int error = mask ? watch(loop, registration, mask) : 0;
    if (error)
        return error;
    registration->is_masked = false;
    if (!registration->ready)
        list_remove(&registration->link);
    return 0;
}

/// Out of the set, where even an empty mask would be told of hang-ups. Negative errno if the descriptor was closed.
HOLDS_LOCK static int take_out(runloop *loop, struct registration *registration) {
    registration->registered = 0;
    registration->in_set = false;
    return control(loop, registration, EPOLL_CTL_DEL, 0);
}

void runloop__registration_mask(runloop *loop, struct registration *registration, const struct mode *mode) {
    uint32_t mask = runloop__registration_asked(registration, mode);
    int error;
    if (mask) {
        error = registration->registered == mask ? 0 : control(loop, registration, EPOLL_CTL_MOD, mask);
        registration->registered = (uint16_t)mask;
    } else {
        error = take_out(loop, registration);
    }
    registration->is_masked = true;
    // The descriptor was closed: only a new set is without it.
    if (error) {
        registration->registered = 0;
        registration->in_set = false;
        registrations_note_stale(loop);
    }
}

int runloop__registration_update(runloop *loop, struct registration *registration) {
    uint32_t mask = runloop__registration_asked(registration, NULL);
    int error = 0;
    if (mask && (!registration->in_set || registration->registered != mask))
        error = runloop__registration_unmask(loop, registration);
    else if (!mask && registration->in_set && take_out(loop, registration))
        registrations_note_stale(loop);
    // What nobody asks for now may be over when somebody does again: the kernel will say.
    if (registration->ready && (!mask || !(registration->ready & (mask | UNASKED))))
        runloop__registration_unready(loop, registration);
    registration->ready &= (uint16_t)(mask | UNASKED);
    return error;
}

bool runloop__registration_is_dead(runloop *loop, struct registration *registration) {
    if (!registration->in_set || !control(loop, registration, EPOLL_CTL_MOD, registration->registered))
        return false;
    registration->in_set = false;
    registrations_note_stale(loop);
    return true;
}

HOLDS_LOCK static void put_back(runloop *loop, struct registration *registration) {
    if (registration->in_set || !registration->registered)
        return;
    int error = watch(loop, registration, registration->registered);
    // A descriptor that was closed, or stands for another file, stays out. Anything else may be over the next time.
    if (error && error != -EBADF && error != -EPERM)
        loop->registrations.some_are_left_out = true;
}

HOLDS_LOCK static void put_all_back(runloop *loop, bool set_is_new) {
    struct registrations *all = &loop->registrations;
    all->some_are_left_out = false;
    for (uint32_t i = 0; i < all->capacity; i++) {
        struct registration *registration = all->by_descriptor[i];
        if (registration) {
            registration->in_set &= !set_is_new;
            put_back(loop, registration);
        }
    }
}

/// Makes the set anew, with all that is in it but the stale entries. When descriptors have run out it is tried again later.
HOLDS_LOCK static void rebuild(runloop *loop) {
    struct registrations *all = &loop->registrations;
    struct registration *main_queue = loop->main_queue.registration;
    if (runloop__poller_reopen(&loop->poller))
        return;
    loop->armed_ns = RUNLOOP_NEVER;
    all->set_is_stale = false;
    all->stale_count = 0;
    put_all_back(loop, true);
    if (main_queue && main_queue->in_set)
        control(loop, main_queue, EPOLL_CTL_ADD, EPOLLIN | EPOLLET);
}

void runloop__registrations_restore(runloop *loop) {
    if (loop->registrations.set_is_stale)
        rebuild(loop);
    else if (loop->registrations.some_are_left_out)
        put_all_back(loop, false);
}

void runloop__registration_unready(runloop *loop, struct registration *registration) {
    list_remove(&registration->link);
    if (registration->is_masked)
        list_append(&loop->registrations.aside, &registration->link);
    registration->ready = 0;
    registration->is_selected = false;
    registration->is_set_aside = false;
    registrations_note(loop);
}

//===-- sources come and go ------------------------------------------------------------------------------------------===//

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

HOLDS_LOCK static int make(runloop *loop, int descriptor, struct registration **out) {
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
    list_init(&registration->link);
    *out = all->by_descriptor[descriptor] = registration;
    return 0;
}

HOLDS_LOCK static void unlink_source(struct registration *registration, struct source_attachment *place) {
    struct source_attachment **link = &registration->sources;
    while (*link != place)
        link = &(*link)->next_registered;
    *link = place->next_registered;
    place->next_registered = NULL;
}

HOLDS_LOCK static void discard(runloop *loop, struct registration *registration) {
    enum { STALE_BEFORE_REBUILD = 64 };
    registration->is_masked = false;
    runloop__registration_unready(loop, registration);
    if (registration->in_set && control(loop, registration, EPOLL_CTL_DEL, 0) &&
        ++loop->registrations.stale_count >= STALE_BEFORE_REBUILD)
        registrations_note_stale(loop);
    loop->registrations.by_descriptor[registration->descriptor] = NULL;
    free(registration);
}

int runloop__registration_join(runloop *loop, struct source_attachment *place) {
    int descriptor = descriptor_source_of(place->source)->descriptor;
    struct registration *registration = registration_find(loop, descriptor);
    int error = registration ? 0 : make(loop, descriptor, &registration);
    if (error)
        return error;
    struct source_attachment **link = &registration->sources;
    while (*link && (*link)->source->item.order <= place->source->item.order)
        link = &(*link)->next_registered;
    place->next_registered = *link;
    *link = place;
    // Asked even if the mask is the same: if the number was closed and opened anew, epoll doesn't know the new file yet.
    error = runloop__registration_unmask(loop, registration);
    if (error) {
        unlink_source(registration, place);
        if (!registration->sources)
            discard(loop, registration);
    }
    return error;
}

void runloop__registration_leave(runloop *loop, struct source_attachment *place) {
    struct registration *registration = registration_find(loop, descriptor_source_of(place->source)->descriptor);
    unlink_source(registration, place);
    if (registration->sources)
        runloop__registration_update(loop, registration);
    else
        discard(loop, registration);
}

UNCHECKED void runloop__registrations_free(runloop *loop) {
    struct registrations *all = &loop->registrations;
    for (uint32_t i = 0; i < all->capacity; i++)
        free(all->by_descriptor[i]);
    free(all->by_descriptor);
    *all = (struct registrations){0};
}
