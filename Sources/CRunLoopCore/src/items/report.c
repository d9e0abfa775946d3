// report.c — what waits report of descriptors: noted, and handed out in the order in which it came.
//
// Modes are told apart in user space. When something is reported that the running mode does not want, the registration is set aside: it
// goes on the list of each mode that wants it, which looks there before its next wait. If the running mode is about to sleep, the
// registration is masked besides, down to what this mode wants, and taken out of the set if that is nothing, since epoll reports
// hang-ups even for an empty mask. So a mode pays once for what others have to do, and costs nothing as long as the modes agree.
//
// What a wait reports carries a descriptor and a generation. A wait may be under way while other threads add and remove registrations: what
// it reports is looked up under the lock, and a report of an earlier generation is none.

#include "items/items.h"

//===-- reports ------------------------------------------------------------------------------------------------------===//

static void report(runloop *loop, struct registration *registration, uint32_t events) {
    if (!registration->ready || registration->is_set_aside) {
        registration->is_set_aside = false;
        registration->reports += !registration->ready;
        list_remove(&registration->link);
        list_append(&loop->registrations.ready, &registration->link);
    }
    registration->ready |= (uint16_t)events;
}

void runloop__registrations_report(runloop *loop, const poller_event *events, int count, bool *timer_expired) {
    struct registration *main_queue = loop->main_queue.registration;
    if (count < 0)
        registrations_note_stale(loop);
    for (int i = 0; i < count; i++) {
        uint64_t tag = events[i].data.u64;
        if (tag == TAG_TIMER) {
            loop->armed_ns = RUNLOOP_NEVER;
            *timer_expired = true;
            continue;
        }
        if (tag == TAG_WAKER)
            continue;
        bool is_main_queue = main_queue && tag >> 32 == 0;
        struct registration *registration =
            is_main_queue ? main_queue : runloop__registration_find(loop, (int)(uint32_t)tag);
        if (registration && (is_main_queue || registration->generation == tag >> 32)) {
            // What was fetched before another thread asked for less is left out.
            uint32_t reported = is_main_queue ? EPOLLIN : events[i].events & (registration->registered | UNASKED);
            if (reported)
                report(loop, registration, reported);
        } else if (loop->registrations.stale_count > 0) {
            registrations_note_stale(loop);
        }
    }
    registrations_note(loop);
}

//===-- other modes' registrations -----------------------------------------------------------------------------------===//

static void note_set_aside(struct mode *mode) {
    bool any = mode->set_aside.count > 0 || mode->set_aside.overflowed;
    atomic_store_explicit(&mode->has_set_aside, any, memory_order_relaxed);
}

static void append_membership(struct membership *membership) {
    struct membership_list *list = &membership->mode->set_aside;
    if (list->count == list->capacity) {
        uint32_t capacity = 2 * list->capacity + 8;
        struct membership **items = realloc(list->items, capacity * sizeof(struct membership *));
        list->overflowed |= !items;
        list->items = items ? items : list->items;
        list->capacity = items ? capacity : list->capacity;
    }
    if (list->count < list->capacity) {
        membership->position = list->count;
        list->items[list->count++] = membership;
    }
    note_set_aside(membership->mode);
}

void runloop__membership_forget(struct membership *membership) {
    struct membership_list *list = &membership->mode->set_aside;
    if (membership->position == NOWHERE)
        return;
    // The last one takes its place.
    struct membership *last = list->items[--list->count];
    list->items[membership->position] = last;
    last->position = membership->position;
    membership->position = NOWHERE;
    note_set_aside(membership->mode);
}

void runloop__registration_set_aside(runloop *loop, struct registration *registration, const struct mode *running) {
    list_remove(&registration->link);
    registration->is_set_aside = true;
    if (registration->in_set)
        list_append(&loop->registrations.unwanted, &registration->link);
    // Also for modes that want something else of it: they have to undo a mask.
    for (struct source_attachment *place = registration->newest; place; place = place->next_registered) {
        struct membership *membership = place->attachment.memberships;
        for (; membership; membership = membership->next) {
            if (membership->mode != &loop->common && membership->mode != running && membership->position == NOWHERE)
                append_membership(membership);
        }
    }
    registrations_note(loop);
}

/// What was set aside for the mode is ready again, before what was reported since.
static void bring_back(runloop *loop, struct registration *registration) {
    if (registration->is_set_aside) {
        registration->is_set_aside = false;
        list_remove(&registration->link);
        list_insert_before(loop->registrations.ready.next, &registration->link);
    }
    if (registration->is_masked)
        runloop__registration_unmask(loop, registration);
}

static void bring_all_back(runloop *loop, struct mode *mode) {
    struct membership_list *list = &mode->set_aside;
    while (list->count > 0) {
        struct membership *membership = list->items[list->count - 1];
        runloop__membership_forget(membership);
        const struct runloop_source *source = LIST_ENTRY(membership->item, struct runloop_source, item);
        bring_back(loop, runloop__registration_find(loop, descriptor_source_of(source)->descriptor));
    }
    if (list->overflowed) {
        struct registrations *all = &loop->registrations;
        for (uint32_t i = 0; i < all->bucket_count; i++) {
            for (struct registration *registration = all->buckets[i]; registration; registration = registration->next)
                bring_back(loop, registration);
        }
        list->overflowed = false;
    }
    note_set_aside(mode);
    registrations_note(loop);
}

void runloop__registrations_prepare(runloop *loop, struct mode *mode, bool may_sleep) {
    struct registrations *all = &loop->registrations;
    if (atomic_load_explicit(&mode->has_set_aside, memory_order_relaxed))
        bring_all_back(loop, mode);
    while (may_sleep && !list_is_empty(&all->unwanted))
        runloop__registration_mask(loop, LIST_ENTRY(list_take_first(&all->unwanted), struct registration, link), mode);
    runloop__registrations_restore(loop);
    registrations_note(loop);
}
