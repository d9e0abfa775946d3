// registration.c — a descriptor in a loop: one entry of the poller's set, shared by all sources on it, whatever their modes.
//
// A descriptor is registered for all that its sources want in any mode. What is reported for other modes than the running one is ready.c's
// business, which may mask the registration, down to what the running mode wants.
//
// What a wait reports carries a descriptor and a generation. A wait may be under way while other threads add and remove registrations: what
// it reports is looked up under the lock, and a report of an earlier generation is dropped.
//
// What epoll knows ends with the *file*, not with its descriptor. If that was closed before its sources were removed, a duplicate
// elsewhere keeps the entry of the set alive, and nothing can remove it any more. Such an entry is stale; when it is reported, or when
// there are many, the whole set is made anew. A number that comes back to the set may stand for another file by then.

#ifdef __linux__
#include "items/items.h"

//===-- what sources want --------------------------------------------------------------------------------------------===//

HOLDS_LOCK static const struct source_attachment *next_of(const struct source_attachment *place) {
    return place->next_registered;
}

uint32_t runloop__registration_asked(const struct registration *registration, const struct mode *mode) {
    uint32_t mask = 0;
    const struct source_attachment *place = registration->sources;
    for (; place != registration->retired; place = next_of(place)) {
        if (!mode || membership_find(&place->attachment, mode))
            mask |= events_of(place->source);
    }
    return mask;
}

/// Of what is reported, that for which the source is to be called. One that asks for nothing is paused.
static inline uint32_t concern(uint32_t events, const runloop_source *source) {
    uint32_t wanted = events_of(source);
    return wanted ? events & (wanted | UNASKED) : 0;
}

/// Apart from one that joins just now.
HOLDS_LOCK static bool has_counter(const struct registration *registration, const struct source_attachment *joining) {
    const struct source_attachment *place = registration->sources;
    while (place != registration->retired && (place == joining || !place->source->is_counter))
        place = next_of(place);
    return place != registration->retired;
}

//===-- the poller's set ---------------------------------------------------------------------------------------------===//

/// The set is to be made anew.
HOLDS_LOCK static void note_stale(runloop *loop) {
    loop->registrations.set_is_stale = true;
    news_note(loop);
}

/// What was reported of a file is over; a signal and a deadline are the source's own.
HOLDS_LOCK static void keep_reasons(runloop *loop, struct news *news, uint32_t kept) {
    kept |= news->reasons & OWN_REASONS;
    if (news->reasons && !kept)
        ready_remove(loop, news);
    else if (kept)
        news->reasons = kept | (news->reasons & IS_ASIDE);
}

/// The number was closed, or stands for another file, which the sources have not asked for: all but one that joins just now.
HOLDS_LOCK static COLD void retire_sources(runloop *loop, struct registration *registration,
                                           struct source_attachment *joining) {
    registration->in_set = false;
    registration->registered = 0;
    struct source_attachment *retired = registration->sources;
    if (joining) {
        struct source_attachment **link = &registration->sources;
        while (*link != joining)
            link = &(*link)->next_registered;
        *link = joining->next_registered;
        retired = registration->sources;
        joining->next_registered = retired;
        registration->sources = joining;
    }
    registration->retired = retired;
    for (struct source_attachment *place = retired; place; place = place->next_registered)
        keep_reasons(loop, &place->news, 0);
    // Reported by the loop's thread, without the lock: standard error may be a pipe that is full.
    if (retired)
        loop->registrations.closed = registration->descriptor + 1;
    note_stale(loop);
}

HOLDS_LOCK static int control(runloop *loop, const struct registration *registration, int operation, uint32_t mask) {
    // A call-out may have forked, and the parent goes on with the set.
    if (is_from_parent_process(loop))
        return 0;
    uint64_t tag = (uint64_t)registration->generation << 32 | (uint32_t)registration->descriptor;
    return runloop__poller_watch(&loop->poller, operation, registration->descriptor, tag, mask);
}

/// The set's own number may be that of another set by now, which knows none of ours: then only a new set can report anything.
HOLDS_LOCK static COLD bool set_is_lost(runloop *loop) {
    bool is_lost = !poller_is_own(&loop->poller);
    if (is_lost)
        note_stale(loop);
    return is_lost;
}

/// A number that comes back to the set may be that of another file, of which no byte is to be read as a counter's.
HOLDS_LOCK static bool is_no_counter(const struct registration *registration) {
    return !registration->in_set && registration->was_in_set && !runloop__is_counter(registration->descriptor);
}

HOLDS_LOCK static int watch(runloop *loop, struct registration *registration, uint32_t mask,
                            struct source_attachment *joining) {
    if (joining && joining->source->is_counter && is_no_counter(registration))
        return -EBADF;
    int error = registration->in_set ? control(loop, registration, EPOLL_CTL_MOD, mask) : 0;
    if (error == -ENOENT && set_is_lost(loop)) {
        registration->registered = (uint16_t)mask;
        return 0;
    }
    // The number was closed and stands for another file now: by what the set knows of it, or by what a counter is not.
    if (error == -ENOENT || (has_counter(registration, joining) && is_no_counter(registration))) {
        retire_sources(loop, registration, joining);
        if (!joining)
            return -EBADF;
        // One that is paused asks for nothing yet.
        if (!(mask = events_of(joining->source)))
            return 0;
    }
    if (!registration->in_set)
        error = control(loop, registration, EPOLL_CTL_ADD, mask);
    // The number stands again for a file that nobody could take out of the set: that entry becomes this registration's. What else may be
    // watched under a number that sources come with is the main queue.
    const struct main_queue *queue = &loop->main_queue;
    if (error == -EEXIST && !(queue->is_watched && queue->descriptor == registration->descriptor))
        error = control(loop, registration, EPOLL_CTL_MOD, mask);
    if (error)
        return error;
    registration->in_set = registration->was_in_set = true;
    registration->registered = (uint16_t)mask;
    return 0;
}

/// Asks epoll for all that the sources want.
HOLDS_LOCK static int unmask(runloop *loop, struct registration *registration, struct source_attachment *joining) {
    uint32_t mask = runloop__registration_asked(registration, NULL);
    int error = mask ? watch(loop, registration, mask, joining) : 0;
    if (error)
        return error;
    list_remove(&registration->masked);
    return 0;
}

int runloop__registration_unmask(runloop *loop, struct registration *registration) {
    return unmask(loop, registration, NULL);
}

/// Out of the set, where even an empty mask reports hang-ups. Negative errno if the descriptor was closed.
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
    if (!registration_is_masked(registration))
        list_append(&loop->registrations.masked, &registration->masked);
    // The descriptor was closed: only a new set is without it.
    if (error) {
        registration->registered = 0;
        registration->in_set = false;
        note_stale(loop);
    }
}

HOLDS_LOCK static int update_mask(runloop *loop, struct registration *registration) {
    uint32_t mask = runloop__registration_asked(registration, NULL);
    if (mask && (!registration->in_set || registration->registered != mask))
        return runloop__registration_unmask(loop, registration);
    if (!mask && registration->in_set && take_out(loop, registration))
        note_stale(loop);
    return 0;
}

HOLDS_LOCK static bool is_retired(const struct registration *registration, const struct source_attachment *place) {
    const struct source_attachment *retired = registration->retired;
    while (retired && retired != place)
        retired = next_of(retired);
    return retired;
}

int runloop__registration_update(runloop *loop, struct source_attachment *place) {
    struct news *news = &place->news;
    struct registration *registration = registration_find(loop, place->source->descriptor);
    // What it asks for of a file that has the number now, it does not get.
    int error = is_retired(registration, place) && events_of(place->source) ? -EBADF : update_mask(loop, registration);
    // What the source does not ask for now may be over when it does again: the kernel will say.
    keep_reasons(loop, news, concern(news->reasons, place->source));
    return error;
}

/// A descriptor that was closed, or stands for another file, stays out, and what is in the set is. Anything else may be over the next time.
static bool may_be_granted(int error) {
    return error && error != -EBADF && error != -EPERM && error != -EEXIST;
}

HOLDS_LOCK static void put_back(runloop *loop, struct registration *registration) {
    if (registration->in_set || !registration->registered)
        return;
    int error = watch(loop, registration, registration->registered, NULL);
    if (may_be_granted(error))
        loop->registrations.some_are_left_out = true;
}

HOLDS_LOCK static void put_all_back(runloop *loop, bool set_is_new) {
    struct registrations *all = &loop->registrations;
    const struct main_queue *queue = &loop->main_queue;
    int error = queue->is_watched ? runloop__poller_watch(&loop->poller, EPOLL_CTL_ADD, queue->descriptor,
                                                          (uint32_t)queue->descriptor, EPOLLIN | EPOLLET)
                                  : 0;
    all->some_are_left_out = may_be_granted(error);
    for (uint32_t i = 0; i < all->capacity; i++) {
        struct registration *registration = all->by_descriptor[i];
        if (registration) {
            registration->in_set &= !set_is_new;
            put_back(loop, registration);
        }
    }
}

/// The old set still knows which numbers stand for other files by now; the new one would take those.
HOLDS_LOCK static void retire_closed(runloop *loop) {
    const struct registrations *all = &loop->registrations;
    for (uint32_t i = 0; i < all->capacity; i++) {
        struct registration *registration = all->by_descriptor[i];
        if (registration && registration->in_set &&
            control(loop, registration, EPOLL_CTL_MOD, registration->registered) == -ENOENT) {
            if (set_is_lost(loop))
                return;
            retire_sources(loop, registration, NULL);
        }
    }
}

/// Makes the set anew, with all that is in it but the stale entries. When descriptors have run out it is tried again later.
HOLDS_LOCK static void rebuild(runloop *loop) {
    struct registrations *all = &loop->registrations;
    retire_closed(loop);
    int error = runloop__poller_reopen(&loop->poller);
    // Its timer may be gone, or out of the set.
    loop->armed_ns = RUNLOOP_NEVER;
    if (error)
        return;
    all->set_is_stale = false;
    all->stale_count = 0;
    put_all_back(loop, true);
}

void runloop__registrations_restore(runloop *loop) {
    if (loop->registrations.set_is_stale)
        rebuild(loop);
    else if (loop->registrations.some_are_left_out)
        put_all_back(loop, false);
}

//===-- reports ------------------------------------------------------------------------------------------------------===//

/// A descriptor that was closed without removing its source is reported as long as a duplicate of it is open. Asking the kernel about
/// the number at each event would cost every program a system call for the sake of a broken one; asking now and then ends it.
HOLDS_LOCK static COLD bool is_dead(runloop *loop, struct registration *registration) {
    if (!registration->in_set || !control(loop, registration, EPOLL_CTL_MOD, registration->registered) ||
        set_is_lost(loop))
        return false;
    retire_sources(loop, registration, NULL);
    return true;
}

bool runloop_source_is_lost(runloop_source *source, runloop *loop) {
    if (!source || !is_descriptor_source(source) || loop_check(loop))
        return false;
    loop_lock(loop);
    const struct source_attachment *place = runloop__source_find(source, loop);
    struct registration *registration = place ? registration_find(loop, source->descriptor) : NULL;
    bool is_lost = registration && (is_dead(loop, registration) || is_retired(registration, place));
    bool is_news = loop->registrations.closed;
    loop_unlock(loop);
    // The loop's thread writes the diagnostic.
    if (is_news)
        runloop_wake_up(loop);
    return is_lost;
}

HOLDS_LOCK static COLD void put_aside_again(runloop *loop, struct source_attachment *place) {
    list_remove(&place->news.link);
    list_append(&loop->ready.unwanted, &place->news.link);
    news_note(loop);
}

HOLDS_LOCK static inline void report(runloop *loop, struct registration *registration, uint32_t events) {
    enum { REPORTS_BETWEEN_CHECKS = 64 };
    // What was fetched before another thread asked for less is left out.
    events &= registration->registered | UNASKED;
    if (!events || (++registration->reports % REPORTS_BETWEEN_CHECKS == 0 && is_dead(loop, registration)))
        return;
    struct source_attachment *place = registration->sources;
    for (; place != registration->retired; place = place->next_registered) {
        uint32_t reasons = concern(events, place->source);
        if (reasons)
            ready_add(loop, &place->news, reasons);
        // It was masked for the mode, and something else has asked epoll again: that is masked anew before the next sleep.
        if (reasons && (place->news.reasons & IS_ASIDE))
            put_aside_again(loop, place);
    }
}

void runloop__registrations_report(runloop *loop, const poller_event *events, int count) {
    if (count < 0)
        note_stale(loop);
    for (int i = 0; i < count; i++) {
        uint64_t tag = events[i].data.u64;
        struct registration *registration = registration_find(loop, (int)(uint32_t)tag);
        if (registration && registration->generation == tag >> 32) {
            report(loop, registration, events[i].events);
        } else if (tag == TAG_TIMER) {
            loop->armed_ns = RUNLOOP_NEVER;
        } else if (tag >> 32 == 0) { // the main queue's
            runloop__main_queue_reported();
            ready_add(loop, &loop->main_queue.news, RUNLOOP_READABLE);
        } else if (tag != TAG_WAKER && loop->registrations.stale_count > 0) {
            note_stale(loop);
        }
    }
}

int runloop__registrations_poll(runloop *loop) {
    poller_event events[POLLER_BATCH];
    int count = runloop__poller_wait(&loop->poller, 0, events);
    if (count > 0) {
        loop_lock(loop);
        runloop__registrations_report(loop, events, count);
        loop_unlock(loop);
    }
    return count;
}

//===-- sources come and go ------------------------------------------------------------------------------------------===//

HOLDS_LOCK static void unlink_source(struct registration *registration, struct source_attachment *place) {
    struct source_attachment **link = &registration->sources;
    while (*link != place)
        link = &(*link)->next_registered;
    *link = place->next_registered;
    if (registration->retired == place)
        registration->retired = place->next_registered;
    place->next_registered = NULL;
}

HOLDS_LOCK static void discard(runloop *loop, struct registration *registration) {
    enum { STALE_BEFORE_REBUILD = 64 };
    list_remove(&registration->masked);
    if (registration->in_set && control(loop, registration, EPOLL_CTL_DEL, 0) &&
        ++loop->registrations.stale_count >= STALE_BEFORE_REBUILD)
        note_stale(loop);
    loop->registrations.by_descriptor[registration->descriptor] = NULL;
    free(registration);
}

int runloop__registration_join(runloop *loop, struct source_attachment *place) {
    int descriptor = place->source->descriptor;
    struct registration *registration = registration_find(loop, descriptor);
    int error = registration ? 0 : runloop__registration_make(loop, descriptor, &registration);
    if (error)
        return error;
    struct source_attachment **link = &registration->sources;
    while (*link != registration->retired && (*link)->source->item.order <= place->source->item.order)
        link = &(*link)->next_registered;
    place->next_registered = *link;
    *link = place;
    // Asked even if the mask is the same: if the number was closed and opened anew, epoll doesn't know the new file yet.
    error = unmask(loop, registration, place);
    if (error) {
        unlink_source(registration, place);
        if (!registration->sources)
            discard(loop, registration);
    }
    return error;
}

void runloop__registration_leave(runloop *loop, struct source_attachment *place) {
    struct registration *registration = registration_find(loop, place->source->descriptor);
    unlink_source(registration, place);
    if (registration->sources)
        update_mask(loop, registration);
    else
        discard(loop, registration);
}
#endif // __linux__
