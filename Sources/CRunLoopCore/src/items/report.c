// report.c — what waits report of descriptors: noted, and handed out in the order in which it came.
//
// Modes are told apart in user space. When something is reported that the running mode does not want, the registration is set aside. If
// that mode is about to sleep, the registration is masked besides, down to what it wants, and taken out of the set if that is nothing,
// since epoll reports hang-ups even for an empty mask. When another mode runs, it looks at what was set aside or masked, and takes back
// what it wants. So a mode pays once for what others have to do, and costs nothing as long as the modes agree.
//
// What a wait reports carries a descriptor and a generation. A wait may be under way while other threads add and remove registrations: what
// it reports is looked up under the lock, and a report of an earlier generation is none.

#include "items/items.h"

//===-- reports ------------------------------------------------------------------------------------------------------===//

HOLDS_LOCK static void report(runloop *loop, struct registration *registration, uint32_t events) {
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
        struct registration *registration = is_main_queue ? main_queue : registration_find(loop, (int)(uint32_t)tag);
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

int runloop__registrations_poll(runloop *loop) {
    poller_event events[POLLER_BATCH];
    bool timer_expired;
    int count = runloop__poller_wait(&loop->poller, 0, events);
    if (count > 0) {
        loop_lock(loop);
        runloop__registrations_report(loop, events, count, &timer_expired);
        loop_unlock(loop);
    }
    return count;
}

//===-- other modes' registrations -----------------------------------------------------------------------------------===//

/// False if the kernel refuses what it may grant the next time; not so if the descriptor was closed, or its number stands for another file.
HOLDS_LOCK static bool unmask(runloop *loop, struct registration *registration) {
    int error = runloop__registration_unmask(loop, registration);
    return !error || error == -EBADF || error == -EPERM;
}

/// What was set aside is ready again, before what was reported since. The rest is watched again, or stays aside if it can't be.
HOLDS_LOCK static bool bring_back(runloop *loop, struct registration *registration) {
    struct registrations *all = &loop->registrations;
    list_remove(&registration->link);
    list_insert_before(registration->is_set_aside ? all->ready.next : &all->aside, &registration->link);
    registration->is_set_aside = false;
    return !registration->is_masked || unmask(loop, registration);
}

HOLDS_LOCK static bool bring_back_wanted(runloop *loop, struct list *list, const struct mode *mode) {
    bool are_back = true;
    for (struct list *node = list->previous, *previous; node != list; node = previous) {
        previous = node->previous;
        struct registration *registration = LIST_ENTRY(node, struct registration, link);
        if (runloop__registration_asked(registration, mode))
            are_back &= bring_back(loop, registration);
    }
    return are_back;
}

/// A masked registration lets through at least what the latest mode wants. So when another mode runs, and before anything is set
/// aside for it, what it wants is unmasked wherever it is. One that was reported while it was masked, and not served yet, is among
/// the ready ones: if it stayed masked there, it would be put aside once it is served, where the mode does not look again.
HOLDS_LOCK static void turn_to(runloop *loop, const struct mode *mode) {
    struct registrations *all = &loop->registrations;
    if (all->mode == mode)
        return;
    bool are_back = bring_back_wanted(loop, &all->unwanted, mode);
    are_back &= bring_back_wanted(loop, &all->aside, mode);
    for (struct list *node = all->ready.next; node != &all->ready; node = node->next) {
        struct registration *registration = LIST_ENTRY(node, struct registration, link);
        if (registration->is_masked && runloop__registration_asked(registration, mode))
            are_back &= unmask(loop, registration);
    }
    all->mode = are_back ? mode : NULL;
}

void runloop__registration_set_aside(runloop *loop, struct registration *registration, const struct mode *running) {
    struct registrations *all = &loop->registrations;
    turn_to(loop, running);
    list_remove(&registration->link);
    list_append(registration->in_set ? &all->unwanted : &all->aside, &registration->link);
    registration->is_set_aside = true;
    registrations_note(loop);
}

void runloop__registrations_prepare(runloop *loop, struct mode *mode, bool may_sleep) {
    struct registrations *all = &loop->registrations;
    turn_to(loop, mode);
    for (struct list *node; may_sleep && (node = list_take_first(&all->unwanted));) {
        runloop__registration_mask(loop, LIST_ENTRY(node, struct registration, link), mode);
        list_append(&all->aside, node);
    }
    runloop__registrations_restore(loop);
    registrations_note(loop);
}
