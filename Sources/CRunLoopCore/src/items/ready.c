// ready.c — what a loop is to serve: the sources that have a reason to be called, in the order in which it came, those of other modes aside.
//
// Whatever brings news of a source, its descriptor or a signal, adds a reason to the source's attachment, which is put at the end of the
// list with its first one (ready_add). Serving takes it out, and calls the source with all its reasons. So of each attachment, and of the
// main queue, holds: it is in a list exactly if it has a reason; the lists belong to the loop's lock; nothing that the latest mode wants is
// aside.
//
// A turn serves what had its first reason when the turn began, as the serial says that each first reason gets: what comes later, in one of the
// turn's own call-outs for instance, waits for the next iteration (R71). A turn has a scope: the sources of one descriptor, which are called
// one after the other (R73); sources that are called together, which come to the front of the list then, by order; or all, in a pass.
//
// Modes are kept apart in user space. What the running mode does not want is set aside when it is met. If that mode is about to sleep,
// the descriptor is masked besides, down to what the mode wants, since epoll would report it again and again. When another mode runs, it
// takes back what it wants, before what was reported since. So a mode pays once for what others have to do, and nothing as long as the
// modes agree.

#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>

#include "items/items.h"

//===-- other modes' news --------------------------------------------------------------------------------------------===//

static struct source_attachment *place_of(struct list *node) {
    return LIST_ENTRY(node, struct source_attachment, news.link);
}

HOLDS_LOCK static bool is_wanted(const struct source_attachment *place, const struct mode *mode) {
    return membership_find(&place->attachment, mode);
}

/// False if the kernel refuses what it may grant the next time; not so if the descriptor was closed, or its number stands for another file.
HOLDS_LOCK static bool unmask(runloop *loop, struct registration *registration) {
    int error = runloop__registration_unmask(loop, registration);
    return !error || error == -EBADF || error == -EPERM;
}

HOLDS_LOCK static void move_aside(struct list *list, struct source_attachment *place) {
    list_remove(&place->news.link);
    list_append(list, &place->news.link);
    place->news.reasons |= IS_ASIDE;
}

HOLDS_LOCK static void bring_back(struct list *position, struct source_attachment *place) {
    list_remove(&place->news.link);
    list_insert_before(position, &place->news.link);
    place->news.reasons &= ~(uint32_t)IS_ASIDE;
}

HOLDS_LOCK static void bring_back_wanted(runloop *loop, struct list *list, const struct mode *mode) {
    for (struct list *node = list->previous, *previous; node != list; node = previous) {
        previous = node->previous;
        if (is_wanted(place_of(node), mode))
            bring_back(loop->ready.waiting.next, place_of(node));
    }
}

/// Before anything is set aside for another mode than the latest.
HOLDS_LOCK static void turn_to(runloop *loop, const struct mode *mode) {
    if (loop->ready.mode == mode)
        return;
    bring_back_wanted(loop, &loop->ready.unwanted, mode);
    bring_back_wanted(loop, &loop->ready.aside, mode);
    bool are_unmasked = true;
    struct list *masked = &loop->registrations.masked;
    for (struct list *node = masked->next, *next; node != masked; node = next) {
        next = node->next;
        struct registration *registration = LIST_ENTRY(node, struct registration, masked);
        if (runloop__registration_asked(registration, mode))
            are_unmasked &= unmask(loop, registration);
    }
    loop->ready.mode = are_unmasked ? mode : NULL;
}

int runloop__ready_join(runloop *loop, struct source_attachment *place) {
    struct registration *registration = registration_find(loop, place->source->descriptor);
    int error =
        registration && registration_is_masked(registration) ? runloop__registration_unmask(loop, registration) : 0;
    if (!error && (place->news.reasons & IS_ASIDE))
        bring_back(&loop->ready.waiting, place);
    news_note(loop);
    return error;
}

void runloop__ready_prepare(runloop *loop, struct mode *mode, bool may_sleep) {
    turn_to(loop, mode);
    for (struct list *node; may_sleep && (node = list_take_first(&loop->ready.unwanted));) {
        struct registration *registration = registration_find(loop, place_of(node)->source->descriptor);
        if (registration && registration->in_set)
            runloop__registration_mask(loop, registration, mode);
        list_append(&loop->ready.aside, node);
    }
    runloop__registrations_restore(loop);
    news_note(loop);
}

//===-- selecting ----------------------------------------------------------------------------------------------------===//

/// What of the list's front the mode doesn't want goes aside, and what was aside may come back, before all others.
HOLDS_LOCK static COLD void set_aside(runloop *loop, struct source_attachment *place, const struct mode *mode) {
    turn_to(loop, mode);
    move_aside(&loop->ready.unwanted, place);
    news_note(loop);
}

HOLDS_LOCK INLINE struct news *first(runloop *loop, const struct mode *mode, bool with_main_queue) {
    const struct list *waiting = &loop->ready.waiting;
    for (struct list *node = waiting->next; node != waiting;) {
        struct news *news = LIST_ENTRY(node, struct news, link);
        if (news == &loop->main_queue.news) {
            if (with_main_queue)
                return news;
            node = node->next;
        } else {
            if (is_wanted(place_of(node), mode))
                return news;
            set_aside(loop, place_of(node), mode);
            node = waiting->next;
        }
    }
    return NULL;
}

bool runloop__ready_any(runloop *loop, const struct mode *mode, bool with_main_queue) {
    return first(loop, mode, with_main_queue);
}

/// Nobody but this source of the descriptor?
HOLDS_LOCK INLINE bool is_alone(const struct registration *registration, const struct source_attachment *place) {
    return !registration || (registration->sources == place && !place->next_registered);
}

/// Selects everything that has a reason now.
HOLDS_LOCK static void begin(runloop *loop, struct selection *selection, enum scope scope) {
    selection->scope = scope;
    selection->last = loop->ready.serial;
    selection->reasons = 0;
    selection->source = NULL;
    selection->descriptor = -1;
    selection->has_others = scope != OF_DESCRIPTOR;
}

INLINE bool is_together(const runloop *loop, struct list *node) {
    return node != &loop->main_queue.news.link && place_of(node)->source->is_together;
}

bool runloop__ready_any_together(runloop *loop) {
    LIST_EACH(node, &loop->ready.waiting) {
        if (is_together(loop, node))
            return true;
    }
    return false;
}

/// All that are called together come to the front, by order.
HOLDS_LOCK static void bring_together(runloop *loop, const struct mode *mode) {
    struct list *waiting = &loop->ready.waiting, *last = waiting;
    for (struct list *node = waiting->next, *next; node != waiting; node = next) {
        next = node->next;
        if (!is_together(loop, node) || !is_wanted(place_of(node), mode))
            continue;
        struct list *before = last;
        while (before != waiting && place_of(before)->source->item.order > place_of(node)->source->item.order)
            before = before->previous;
        list_remove(node);
        list_insert_before(before->next, node);
        last = before == last ? node : last;
    }
}

/// Is it this source's turn?
HOLDS_LOCK static bool has_turn(const struct source_attachment *place, const struct mode *mode,
                                const struct selection *selection) {
    return place->news.reasons && !is_later(&place->news, selection) && is_wanted(place, mode);
}

/// The next of the descriptor whose sources are being served.
HOLDS_LOCK static struct source_attachment *next_of_descriptor(runloop *loop, const struct mode *mode,
                                                               const struct selection *selection) {
    const struct registration *registration = registration_find(loop, selection->descriptor);
    struct source_attachment *place = registration ? registration->sources : NULL;
    while (place && !has_turn(place, mode, selection))
        place = place->next_registered;
    return place;
}

/// What the kernel said of a descriptor is over for its sources in other modes once it is served in one: the kernel will say so again.
HOLDS_LOCK static COLD void forget_others(runloop *loop, const struct registration *registration,
                                          const struct mode *mode) {
    for (struct source_attachment *place = registration->sources; place; place = place->next_registered) {
        if (!place->news.reasons || is_wanted(place, mode))
            continue;
        if (place->news.reasons & OWN_REASONS)
            place->news.reasons &= OWN_REASONS | IS_ASIDE;
        else
            ready_remove(loop, &place->news);
    }
}

/// The sources of the place's descriptor are called next. The first of them.
HOLDS_LOCK static struct source_attachment *turn_to_descriptor(runloop *loop, const struct mode *mode,
                                                               struct source_attachment *place,
                                                               struct selection *selection) {
    selection->descriptor = place->source->descriptor;
    selection->counter = COUNTER_UNREAD;
    const struct registration *registration = registration_find(loop, selection->descriptor);
    if (is_alone(registration, place))
        return place;
    selection->has_others = true;
    forget_others(loop, registration, mode);
    return next_of_descriptor(loop, mode, selection);
}

/// The next whose turn it is; others of the descriptor before those of another.
HOLDS_LOCK static struct source_attachment *next(runloop *loop, const struct mode *mode, struct selection *selection) {
    struct source_attachment *place = selection->descriptor >= 0 ? next_of_descriptor(loop, mode, selection) : NULL;
    if (place || (selection->scope == OF_DESCRIPTOR && selection->descriptor >= 0))
        return place;
    // A nested run may have set it aside.
    turn_to(loop, mode);
    LIST_EACH(node, &loop->ready.waiting) {
        const struct news *news = LIST_ENTRY(node, struct news, link);
        if (news == &loop->main_queue.news || !has_turn(place_of(node), mode, selection))
            continue;
        if (selection->scope == OF_ALL ||
            (selection->scope == OF_TOGETHER ? is_together(loop, node) : news->serial == selection->first))
            return turn_to_descriptor(loop, mode, place_of(node), selection);
    }
    return NULL;
}

/// Nothing may report this again, so the loop looks once more before it sleeps.
HOLDS_LOCK static COLD bool leave_for_later(runloop *loop) {
    wake_up(&loop->wake, &loop->poller);
    return false;
}

/// Takes it out of its list, retained. False when memory ran out: it stays there.
HOLDS_LOCK INLINE bool take(runloop *loop, struct source_attachment *place, struct selection *selection) {
    if (!collect_item(loop, &place->source->item, 0, 0))
        return leave_for_later(loop);
    selection->source = place->source;
    selection->reasons = place->news.reasons & ~(uint32_t)IS_ASIDE;
    ready_remove(loop, &place->news);
    loop->timers_served_last = false;
    return true;
}

bool runloop__ready_select(runloop *loop, const struct mode *mode, uint32_t how, struct selection *selection) {
    struct news *news = first(loop, mode, how & WITH_MAIN_QUEUE);
    if (!news)
        return false;
    if (news == &loop->main_queue.news) {
        begin(loop, selection, OF_DESCRIPTOR);
        selection->kind = SELECTED_MAIN_QUEUE;
        selection->reasons = news->reasons;
        return true;
    }
    struct source_attachment *place = place_of(&news->link);
    enum scope scope = place->source->is_together ? OF_TOGETHER : OF_DESCRIPTOR;
    bool is_served_now = scope == OF_DESCRIPTOR && !(how & SERVED_LATER);
    selection->kind = SELECTED_SOURCE;
    if (is_served_now && is_alone(registration_find(loop, place->source->descriptor), place)) {
        // A turn of one, which needs no bounds.
        selection->counter = COUNTER_UNREAD;
        selection->has_others = false;
        return take(loop, place, selection);
    }
    begin(loop, selection, scope);
    selection->first = news->serial;
    selection->reasons = news->reasons;
    if (scope == OF_TOGETHER)
        bring_together(loop, mode);
    return !is_served_now || take(loop, turn_to_descriptor(loop, mode, place, selection), selection);
}

void runloop__ready_select_all(runloop *loop, const struct mode *mode, bool with_main_queue,
                               struct selection *selection) {
    begin(loop, selection, OF_ALL);
    selection->kind = with_main_queue && loop->main_queue.news.reasons ? SELECTED_MAIN_QUEUE : SELECTED_SOURCE;
    bring_together(loop, mode);
}

void runloop__ready_select_main_queue(runloop *loop, struct selection *selection) {
    ready_add(loop, &loop->main_queue.news, RUNLOOP_READABLE);
    begin(loop, selection, OF_DESCRIPTOR);
    selection->kind = SELECTED_MAIN_QUEUE;
    selection->reasons = RUNLOOP_READABLE;
}

//===-- serving ------------------------------------------------------------------------------------------------------===//

/// The 8-byte counter of a descriptor: false if somebody else has taken it.
static bool take_counter(int descriptor) {
    uint64_t counter;
    return syscall(SYS_read, descriptor, &counter, sizeof counter) == (long)sizeof counter;
}

static uint32_t reasons_of(struct selection *selection) {
    runloop_source *source = selection->source;
    uint32_t reasons = selection->reasons;
    // Another loop may have called it for the signal, or for the deadline, which may have been moved.
    if ((reasons & RUNLOOP_SIGNALLED) && !atomic_exchange(&source->mark, 0))
        reasons &= ~(uint32_t)RUNLOOP_SIGNALLED;
    int64_t due_ns = DEADLINE_PASSED;
    if ((reasons & RUNLOOP_DUE) && !atomic_compare_exchange_strong(&source->due_ns, &due_ns, RUNLOOP_NEVER))
        reasons &= ~(uint32_t)RUNLOOP_DUE;
    if (source->is_counter && (reasons & ~OWN_REASONS)) {
        if (selection->counter == COUNTER_UNREAD)
            selection->counter = take_counter(source->descriptor) ? COUNTER_READ : COUNTER_EMPTY;
        if (selection->counter == COUNTER_EMPTY)
            reasons &= OWN_REASONS;
    }
    if (reasons & EPOLLRDHUP)
        reasons = (reasons & ~(uint32_t)EPOLLRDHUP) | RUNLOOP_HANG_UP;
    return reasons;
}

/// The next of the same turn.
static bool take_next(runloop *loop, const struct mode *mode, struct selection *selection) {
    if (is_from_parent_process(loop))
        return false;
    loop_lock(loop);
    struct source_attachment *place = next(loop, mode, selection);
    bool is_taken = place && take(loop, place, selection);
    loop_unlock(loop);
    return is_taken;
}

bool runloop__ready_serve(runloop *loop, const struct mode *mode, struct selection *selection) {
    bool any = false;
    if (!selection->source && !take_next(loop, mode, selection))
        return false;
    do {
        runloop_source *source = selection->source;
        uint32_t reasons = reasons_of(selection);
        if (reasons && source->ready)
            TRACED(RUNLOOP_TRACE_DESCRIPTOR, source, reasons,
                   runloop__IS_CALLING_OUT_TO_A_DESCRIPTOR_SOURCE(source->ready, source, reasons,
                                                                  item_info(&source->item)));
        any |= reasons != 0;
        collected_drop(loop, --loop->collected_count);
    } while (selection->has_others && take_next(loop, mode, selection));
    return any;
}
#endif // __linux__
