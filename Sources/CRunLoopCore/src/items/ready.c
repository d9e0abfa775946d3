// ready.c — what a loop is to serve: sources of which there is news, in the order in which it came, and what of it is for other modes.
//
// Whatever brings news of a source, its descriptor or a signal, adds a reason to the source's attachment, which is put at the end of the
// list with its first one (ready_add). Serving takes it out, and calls the source with all its reasons. So of each attachment, and of the
// main queue, holds: it is in a list exactly if it has a reason; the lists belong to the loop's lock; nothing that the latest mode wants is
// aside.
//
// Sources of one descriptor are called in one iteration, one after the other (R73): when one of them is selected, all that have a reason
// are. What becomes ready in one of their call-outs is not selected, and waits for the next iteration (R71).
//
// So do sources that are called together, which come to the front of the list then, by order: when one of them is selected, all are.
//
// Modes are told apart in user space. What the running mode does not want is set aside when it is met. If that mode is about to sleep,
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

HOLDS_LOCK static bool shares_descriptor(runloop *loop, const struct source_attachment *place) {
    const struct registration *registration = registration_find(loop, place->source->descriptor);
    return registration && (registration->sources != place || place->next_registered);
}

/// What the kernel said of a descriptor is over for the sources of other modes once it is served in one: the kernel will say so again.
HOLDS_LOCK static void forget(runloop *loop, struct source_attachment *place) {
    if (place->news.reasons & OWN_REASONS)
        place->news.reasons &= OWN_REASONS | IS_ASIDE;
    else
        ready_remove(loop, &place->news);
}

HOLDS_LOCK static uint32_t next_number(runloop *loop) {
    return loop->ready.selections += loop->ready.selections == UINT32_MAX ? 2 : 1;
}

/// Nothing is selected until it is given the number.
HOLDS_LOCK static void begin(runloop *loop, struct selection *selection, bool is_of_all) {
    selection->number = is_of_all ? next_number(loop) : 0;
    selection->source = NULL;
    selection->reasons = 0;
    selection->descriptor = -1;
    selection->counter = COUNTER_UNREAD;
    selection->has_others = selection->is_of_all = is_of_all;
}

HOLDS_LOCK static void mark_descriptor(runloop *loop, const struct mode *mode, int descriptor, uint32_t number) {
    const struct registration *registration = registration_find(loop, descriptor);
    struct source_attachment *place = registration ? registration->sources : NULL;
    for (; place; place = place->next_registered) {
        if (place->news.reasons && is_wanted(place, mode))
            place->news.selection = number;
        else if (place->news.reasons)
            forget(loop, place);
    }
}

/// Selects the source and the others of its descriptor, to be found by the number.
HOLDS_LOCK static void mark(runloop *loop, const struct mode *mode, struct news *news, struct selection *selection) {
    begin(loop, selection, false);
    news->selection = selection->number = next_number(loop);
    if (news == &loop->main_queue.news)
        return;
    selection->descriptor = place_of(&news->link)->source->descriptor;
    mark_descriptor(loop, mode, selection->descriptor, selection->number);
}

static bool is_together(const runloop *loop, struct list *node) {
    return node != &loop->main_queue.news.link && place_of(node)->source->is_together;
}

/// All that are called together come to the front, by order, and are selected.
HOLDS_LOCK static void mark_together(runloop *loop, const struct mode *mode, struct selection *selection) {
    begin(loop, selection, true);
    struct list *waiting = &loop->ready.waiting, *last = waiting;
    for (struct list *node = waiting->next, *next; node != waiting; node = next) {
        next = node->next;
        if (!is_together(loop, node) || !is_wanted(place_of(node), mode))
            continue;
        place_of(node)->news.selection = selection->number;
        struct list *before = last;
        while (before != waiting && place_of(before)->source->item.order > place_of(node)->source->item.order)
            before = before->previous;
        list_remove(node);
        list_insert_before(before->next, node);
        last = before == last ? node : last;
    }
    // Last, as it may take others out of the list.
    for (struct list *node = waiting->next; last != waiting; node = node->next) {
        mark_descriptor(loop, mode, place_of(node)->source->descriptor, selection->number);
        if (node == last)
            break;
    }
}

bool runloop__ready_any_together(runloop *loop) {
    LIST_EACH(node, &loop->ready.waiting) {
        if (is_together(loop, node))
            return true;
    }
    return false;
}

HOLDS_LOCK static struct source_attachment *find_in(struct list *list, uint32_t number) {
    LIST_EACH(node, list) {
        if (LIST_ENTRY(node, struct news, link)->selection == number)
            return place_of(node);
    }
    return NULL;
}

HOLDS_LOCK static struct source_attachment *find_of_descriptor(runloop *loop, const struct selection *selection) {
    struct registration *registration = registration_find(loop, selection->descriptor);
    struct source_attachment *place = registration ? registration->sources : NULL;
    while (place && place->news.selection != selection->number)
        place = place->next_registered;
    return place;
}

/// The first that was selected and is still to be served; others of the descriptor before those of another.
HOLDS_LOCK static struct source_attachment *find(runloop *loop, struct selection *selection) {
    if (selection->descriptor >= 0) {
        struct source_attachment *place = find_of_descriptor(loop, selection);
        if (place || !selection->is_of_all)
            return place;
    }
    struct list *lists[] = {&loop->ready.waiting, &loop->ready.unwanted, &loop->ready.aside};
    struct source_attachment *place = NULL;
    for (size_t i = 0; i < sizeof lists / sizeof *lists && !place; i++)
        place = find_in(lists[i], selection->number);
    selection->descriptor = place ? place->source->descriptor : -1;
    selection->counter = COUNTER_UNREAD;
    // The first of its descriptor is called first.
    struct source_attachment *ranked = selection->descriptor >= 0 ? find_of_descriptor(loop, selection) : NULL;
    return ranked ? ranked : place;
}

/// Of what stays in its list nobody may tell again, so the loop does not sleep before it has looked once more.
HOLDS_LOCK static COLD bool leave_for_later(runloop *loop) {
    wake_up(&loop->wake, &loop->poller);
    return false;
}

/// Takes it out of its list, retained. False when memory ran out: it stays there.
HOLDS_LOCK INLINE bool take(runloop *loop, const struct mode *mode, struct source_attachment *place,
                            struct selection *selection) {
    bool is_shared = shares_descriptor(loop, place);
    // It may be of a selection that was not served to its end.
    if (is_shared && (selection->number == 0 || place->news.selection != selection->number)) {
        mark(loop, mode, &place->news, selection);
        place = find_of_descriptor(loop, selection);
    }
    if (!collect_item(loop, &place->source->item, 0, 0))
        return leave_for_later(loop);
    selection->has_others |= is_shared;
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
    bool is_main_queue = news == &loop->main_queue.news;
    selection->kind = is_main_queue ? SELECTED_MAIN_QUEUE : SELECTED_SOURCE;
    if (!is_main_queue && !(how & SERVED_LATER) && !is_together(loop, &news->link)) {
        begin(loop, selection, false);
        return take(loop, mode, LIST_ENTRY(news, struct source_attachment, news), selection);
    }
    if (is_together(loop, &news->link))
        mark_together(loop, mode, selection);
    else
        mark(loop, mode, news, selection);
    selection->reasons = news->reasons;
    return true;
}

void runloop__ready_select_all(runloop *loop, const struct mode *mode, bool with_main_queue,
                               struct selection *selection) {
    struct news *queue = &loop->main_queue.news;
    selection->kind = SELECTED_SOURCE;
    mark_together(loop, mode, selection);
    // What is forgotten for other modes leaves the list, and `node` stays in it.
    LIST_EACH(node, &loop->ready.waiting) {
        struct news *news = LIST_ENTRY(node, struct news, link);
        if (news == queue || !is_wanted(place_of(node), mode))
            continue;
        news->selection = selection->number;
        mark_descriptor(loop, mode, place_of(node)->source->descriptor, selection->number);
    }
    if (with_main_queue && queue->reasons) {
        selection->kind = SELECTED_MAIN_QUEUE;
        queue->selection = next_number(loop);
    }
}

void runloop__ready_select_main_queue(runloop *loop, const struct mode *mode, struct selection *selection) {
    selection->kind = SELECTED_MAIN_QUEUE;
    ready_add(loop, &loop->main_queue.news, RUNLOOP_READABLE);
    mark(loop, mode, &loop->main_queue.news, selection);
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

/// The next of the same selection.
static bool take_next(runloop *loop, const struct mode *mode, struct selection *selection) {
    if (is_from_parent_process(loop))
        return false;
    loop_lock(loop);
    struct source_attachment *place;
    // One that has left the mode since keeps its reasons for others.
    while ((place = find(loop, selection)) && !is_wanted(place, mode))
        place->news.selection = 0;
    bool is_taken = place && take(loop, mode, place, selection);
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
