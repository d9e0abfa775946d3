// descriptor_source.c — sources that are driven by a descriptor: made, in modes, called when it is ready.

#include <sys/syscall.h>
#include <unistd.h>

#include "items/items.h"

//===-- in modes -----------------------------------------------------------------------------------------------------===//

HOLDS_LOCK static int watch(runloop *loop, struct source_attachment *place, bool is_first_mode) {
    int descriptor = descriptor_source_of(place->source)->descriptor;
    if (is_first_mode)
        return runloop__registration_join(loop, place);
    struct registration *registration = registration_find(loop, descriptor);
    // The mode may be the one that a mask leaves out.
    return registration->is_masked ? runloop__registration_unmask(loop, registration) : 0;
}

HOLDS_LOCK static int insert(runloop *loop, struct attachment *attachment, struct membership *membership) {
    struct source_attachment *place = source_attachment_of(attachment);
    // Partner of runloop_source_invalidate: the attachment is in the chain by now, so one of the two sees the other.
    if (!item_is_valid(membership->item))
        return -EINVAL;
    membership->serial = ++loop->serial;
    if (descriptor_source_of(place->source)->descriptor >= 0) {
        int error = watch(loop, place, !source_has_other_mode(loop, place, membership));
        if (error)
            return error;
        count_change(&membership->mode->watched_count, 1);
    }
    source_joined(loop, place, membership->mode);
    return 0;
}

HOLDS_LOCK static void extract(runloop *loop, struct attachment *attachment, struct membership *membership) {
    struct source_attachment *place = source_attachment_of(attachment);
    if (descriptor_source_of(place->source)->descriptor >= 0) {
        count_change(&membership->mode->watched_count, -1);
        if (!source_has_other_mode(loop, place, membership))
            runloop__registration_leave(loop, place);
    }
    source_leaves(loop, place, membership);
}

static void destroy(struct item *item) {
    struct descriptor_source *source = LIST_ENTRY(item, struct descriptor_source, source.item);
    runloop__source_clear(&source->source);
    free(source);
}

static const struct item_class descriptor_source_class = {
    .kind = ITEM_DESCRIPTOR_SOURCE, .insert = insert, .extract = extract, .destroy = destroy};

//===-- life ---------------------------------------------------------------------------------------------------------===//

static bool may_ask_for(runloop_readiness events) {
    enum { ALL_EVENTS = RUNLOOP_READABLE | RUNLOOP_PRIORITY | RUNLOOP_WRITABLE | RUNLOOP_ERROR | RUNLOOP_HANG_UP };
    return events && !(events & ~(uint32_t)ALL_EVENTS);
}

/// As epoll is asked: it has a bit of its own for "the peer has shut down its half".
static uint16_t asked(runloop_readiness events) {
    return (uint16_t)(events | (events & RUNLOOP_HANG_UP ? (uint32_t)EPOLLRDHUP : 0));
}

int runloop_descriptor_source_create(const runloop_descriptor_config *config, runloop_source **out) {
    if (!config || !out || config->descriptor < -1 || !may_ask_for(config->events))
        return -EINVAL;
    if (config->counter && config->descriptor >= 0 && !runloop__is_counter(config->descriptor))
        return -EINVAL;
    struct descriptor_source *source = calloc(1, sizeof *source);
    if (!source)
        return -ENOMEM;
    runloop__source_init(&source->source, &descriptor_source_class, &config->context, config->order, config->equal);
    source->ready = config->ready;
    source->descriptor = config->descriptor;
    source->is_counter = config->counter;
    atomic_init(&source->events, asked(config->events));
    *out = &source->source;
    return 0;
}

//===-- asking for other conditions (R149) ---------------------------------------------------------------------------===//

HOLDS_LOCK static void update(runloop *loop, struct source_attachment *place, void *error) {
    struct registration *registration =
        place->attachment.memberships ? registration_find(loop, descriptor_source_of(place->source)->descriptor) : NULL;
    int result = registration ? runloop__registration_update(loop, registration) : 0;
    if (result)
        *(int *)error = result;
}

int runloop_source_set_events(runloop_source *source, runloop_readiness events) {
    if (!source || !is_descriptor_source(source) || descriptor_source_of(source)->is_counter ||
        (events && !may_ask_for(events)) || !item_is_valid(&source->item))
        return -EINVAL;
    // Each loop asks for what the source says by then, so the last word counts, whoever comes last to a loop.
    _Atomic(uint16_t) *word = &descriptor_source_of(source)->events;
    uint16_t now = asked(events), former = atomic_exchange(word, now);
    int error = 0, ignored;
    runloop__source_each_loop(source, update, &error);
    // Taken back, unless another thread has asked for something else since.
    if (error && atomic_compare_exchange_strong(word, &now, former))
        runloop__source_each_loop(source, update, &ignored);
    return error;
}

//===-- dispatch -----------------------------------------------------------------------------------------------------===//

// A descriptor that was closed without removing its source is reported as long as a duplicate of it is open. Asking the kernel about the
// number at each event would cost every program a system call for the sake of a broken one; asking now and then ends it.
enum { REPORTS_BETWEEN_CHECKS = 64 };

/// The 8-byte counter of a descriptor: false if somebody else has taken it.
static bool take_counter(int descriptor) {
    uint64_t counter;
    return syscall(SYS_read, descriptor, &counter, sizeof counter) == (long)sizeof counter;
}

/// What of it the source is called for. One that asks for nothing is paused.
static inline uint32_t concern(uint32_t ready, const runloop_source *source) {
    uint32_t events = events_of(source);
    return events ? ready & (events | UNASKED) : 0;
}

/// One that joined the mode after the selection was not there when the wait selected the descriptor: it waits for the next
/// report.
HOLDS_LOCK static inline bool is_wanted_by(const struct source_attachment *place, const struct mode *mode,
                                           uint32_t ready, uint64_t serial) {
    const struct membership *membership = membership_find(&place->attachment, mode);
    return membership && membership->serial <= serial && concern(ready, place->source);
}

bool runloop__descriptor_collect(runloop *loop, struct mode *mode, struct registration *registration, uint64_t serial,
                                 struct descriptor_dispatch *dispatch) {
    bool needs_counter = false;
    int descriptor = registration->descriptor;
    dispatch->base = loop->collected_count;
    dispatch->ready = registration->ready;
    for (struct source_attachment *place = registration->sources; place; place = place->next_registered) {
        if (is_wanted_by(place, mode, dispatch->ready, serial) && collect_item(loop, &place->source->item, 0, 0))
            needs_counter |= descriptor_source_of(place->source)->is_counter;
    }
    if (loop->collected_count == dispatch->base)
        return false;
    bool is_dead =
        registration->reports % REPORTS_BETWEEN_CHECKS == 0 && runloop__registration_is_dead(loop, registration);
    if (is_dead)
        dispatch->ready = 0;
    runloop__registration_unready(loop, registration);
    loop->timers_served_last = false;
    dispatch->was_counted = !needs_counter || is_dead || take_counter(descriptor);
    return true;
}

bool runloop__descriptor_collect_selected(runloop *loop, struct mode *mode, const struct selection *selection,
                                          struct descriptor_dispatch *dispatch) {
    loop_lock(loop);
    // A nested run may have served it since, or all its sources may be gone.
    struct registration *registration = registration_find(loop, selection->descriptor);
    bool stands = registration && registration->generation == selection->generation && registration->is_selected;
    bool any = stands && runloop__descriptor_collect(loop, mode, registration, selection->serial, dispatch);
    // What its sources have joined since is reported again.
    if (stands && !any)
        runloop__registration_unready(loop, registration);
    loop_unlock(loop);
    return any;
}

static bool is_still_there(runloop *loop, struct mode *mode, runloop_source *source) {
    // An earlier call may have forked: another thread may have been in the middle of changing the source's modes.
    if (is_from_parent_process(loop))
        return false;
    loop_lock(loop);
    struct source_attachment *place = runloop__source_find(source, loop);
    bool is_there = place && membership_find(&place->attachment, mode);
    loop_unlock(loop);
    return is_there && item_is_valid(&source->item);
}

/// False if it is not to be called any more.
static bool call(const struct descriptor_dispatch *dispatch, runloop_source *source) {
    struct descriptor_source *called = descriptor_source_of(source);
    // An earlier source of the descriptor may have changed what this one asks for.
    uint32_t events = concern(dispatch->ready, source);
    if (!events || (called->is_counter && !dispatch->was_counted))
        return false;
    if (events & EPOLLRDHUP)
        events = (events & ~(uint32_t)EPOLLRDHUP) | RUNLOOP_HANG_UP;
    if (called->ready)
        TRACED(RUNLOOP_TRACE_DESCRIPTOR, source, events,
               runloop__IS_CALLING_OUT_TO_A_DESCRIPTOR_SOURCE(called->ready, source, events, item_info(&source->item)));
    return true;
}

bool runloop__descriptor_dispatch(runloop *loop, struct mode *mode, const struct descriptor_dispatch *dispatch) {
    bool called = false;
    for (uint32_t i = dispatch->base; i < loop->collected_count; i++) {
        runloop_source *source = LIST_ENTRY(loop->collected[i].item, runloop_source, item);
        if (i == dispatch->base || is_still_there(loop, mode, source))
            called |= call(dispatch, source);
        collected_drop(loop, i);
    }
    loop->collected_count = dispatch->base;
    return called;
}
