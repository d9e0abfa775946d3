// source_class.c — what a source is: made in one of two ways, in modes of loops, asking for the conditions of its descriptor.

#ifdef __linux__
#include "items/items.h"
#include "model/heap.h"

//===-- in modes -----------------------------------------------------------------------------------------------------===//

/// The place in the loop's tree of signals, which the source keeps while it is in any mode.
HOLDS_LOCK static int take_cell(runloop *loop, struct source_attachment *place) {
    uintptr_t cell = runloop__signal_tree_add(&loop->signals, place);
    if (!cell)
        return -ENOMEM;
    atomic_store(&place->cell, cell);
    return 0;
}

HOLDS_LOCK static void give_cell(struct source_attachment *place) {
    runloop__signal_tree_remove(atomic_load(&place->cell));
    atomic_store(&place->cell, 0);
}

/// It is in no other mode yet.
HOLDS_LOCK static int begin(runloop *loop, struct source_attachment *place) {
    int error = take_cell(loop, place);
    if (!error && place->source->descriptor >= 0 && (error = runloop__registration_join(loop, place)))
        give_cell(place);
    return error;
}

/// It is in no other mode any more.
HOLDS_LOCK static void finish(runloop *loop, struct source_attachment *place) {
    if (place->source->descriptor >= 0)
        runloop__registration_leave(loop, place);
    give_cell(place);
}

HOLDS_LOCK static int insert(runloop *loop, struct attachment *attachment, struct membership *membership) {
    struct source_attachment *place = source_attachment_of(attachment);
    runloop_source *source = place->source;
    // Partner of runloop_source_invalidate: the attachment is in the chain by now, so one of the two sees the other.
    if (!item_is_valid(membership->item))
        return -EINVAL;
    bool is_first = !source_has_other_mode(loop, place, membership);
    int error = is_first ? begin(loop, place) : runloop__ready_join(loop, place);
    if (!error && (error = runloop__deadline_place(loop, place))) {
        // Another mode's place is what there was no memory for.
        if (membership->position != NOWHERE)
            heap_remove(&membership->mode->timers, membership);
        if (is_first)
            finish(loop, place);
    }
    if (error)
        return error;
    // Partner of the signaller, which marks before it reads the cell.
    if (atomic_load(&source->mark)) {
        runloop__signal_tree_set(atomic_load(&place->cell));
        loop_leave_to_host();
    }
    if (source->descriptor >= 0)
        count_change(&membership->mode->watched_count, 1);
    count_change(&membership->mode->source_count, 1);
    if (is_first)
        list_append(&loop->sources, &place->in_loop);
    return 0;
}

HOLDS_LOCK static void extract(runloop *loop, struct attachment *attachment, struct membership *membership) {
    struct source_attachment *place = source_attachment_of(attachment);
    struct mode *mode = membership->mode;
    if (membership->position != NOWHERE)
        heap_remove(is_descriptor_source(place->source) ? &mode->timers : &mode->signalled, membership);
    if (!source_has_other_mode(loop, place, membership)) {
        ready_remove(loop, &place->news);
        finish(loop, place);
        list_remove(&place->in_loop);
    }
    if (place->source->descriptor >= 0)
        count_change(&mode->watched_count, -1);
    count_change(&mode->source_count, -1);
    loop_mode_left(loop, mode);
}

static void destroy(struct item *item) {
    runloop_source *source = LIST_ENTRY(item, runloop_source, item);
    for (struct source_attachment *place = atomic_load(&source->first.next), *next; place; place = next) {
        next = atomic_load(&place->next);
        free(place);
    }
    free(source);
}

static const struct item_class signal_class = {
    .kind = ITEM_SIGNAL_SOURCE, .insert = insert, .extract = extract, .destroy = destroy};
static const struct item_class descriptor_class = {
    .kind = ITEM_DESCRIPTOR_SOURCE, .insert = insert, .extract = extract, .destroy = destroy};

//===-- life ---------------------------------------------------------------------------------------------------------===//

static runloop_source *create(const struct item_class *class, const runloop_context *context, int32_t order) {
    runloop_source *source = calloc(1, sizeof *source);
    if (!source)
        return NULL;
    runloop__item_init(&source->item, class, context, order);
    source->descriptor = -1;
    atomic_init(&source->due_ns, RUNLOOP_NEVER);
    source_place_init(&source->first, source);
    return source;
}

int runloop_source_create(const runloop_source_config *config, runloop_source **out) {
    if (!config || !out)
        return -EINVAL;
    runloop_source *source = create(&signal_class, &config->context, config->order);
    if (!source)
        return -ENOMEM;
    source->perform = config->perform;
    source->schedule = config->schedule;
    source->cancel = config->cancel;
    *out = source;
    return 0;
}

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
    runloop_source *source = create(&descriptor_class, &config->context, config->order);
    if (!source)
        return -ENOMEM;
    source->ready = config->ready;
    source->schedule = config->schedule;
    source->cancel = config->cancel;
    source->invalidated = config->invalidated;
    source->descriptor = config->descriptor;
    source->is_counter = config->counter;
    source->is_together = config->together;
    atomic_init(&source->events, asked(config->events));
    *out = source;
    return 0;
}

//===-- asking for other conditions (R149) ---------------------------------------------------------------------------===//

HOLDS_LOCK static void update(runloop *loop, struct source_attachment *place, void *error) {
    int result = list_is_empty(&place->in_loop) ? 0 : runloop__registration_update(loop, place);
    if (result)
        *(int *)error = result;
}

int runloop_source_set_events(runloop_source *source, runloop_readiness events) {
    if (!source || !is_descriptor_source(source) || source->is_counter ||
        (events && !(may_ask_for(events) && item_is_valid(&source->item))))
        return -EINVAL;
    // Each loop asks for what the source says by then, so the last word counts, whoever comes last to a loop.
    uint16_t now = asked(events), former = atomic_exchange(&source->events, now);
    int error = 0, ignored;
    if (source->descriptor >= 0)
        runloop__source_each_loop(source, update, &error);
    // Taken back, unless another thread has asked for something else since.
    if (error && atomic_compare_exchange_strong(&source->events, &now, former))
        runloop__source_each_loop(source, update, &ignored);
    return error;
}

//===-- waking the loops for it --------------------------------------------------------------------------------------===//

HOLDS_LOCK static void wake_loop(runloop *loop, struct source_attachment *place, void *unused) {
    (void)unused;
    if (!list_is_empty(&place->in_loop) && runloop_needs_wake_up(loop))
        runloop__wake_set(&loop->wake, &loop->poller, WAKE_RUNNING, WAKE_WOKEN);
}

int runloop_source_wake(runloop_source *source) {
    int error = runloop_source_signal(source);
    if (!error && item_is_valid(&source->item))
        runloop__source_each_loop(source, wake_loop, NULL);
    return error;
}

//===-- its deadline (R152) ------------------------------------------------------------------------------------------===//

HOLDS_LOCK static void move(runloop *loop, struct source_attachment *place, void *error) {
    // Withdraws a report of the old deadline that has not been delivered.
    uint32_t kept = place->news.reasons & ~(uint32_t)RUNLOOP_DUE;
    if (kept != place->news.reasons && !(kept & ~IS_ASIDE))
        ready_remove(loop, &place->news);
    else
        place->news.reasons = kept;
    int result = list_is_empty(&place->in_loop) ? 0 : runloop__deadline_place(loop, place);
    if (result)
        *(int *)error = result;
}

int runloop_source_set_deadline(runloop_source *source, int64_t instant_ns) {
    if (!source || !is_descriptor_source(source) || !item_is_valid(&source->item))
        return -EINVAL;
    int64_t former = atomic_exchange(&source->due_ns, instant_ns);
    int error = 0, ignored;
    runloop__source_each_loop(source, move, &error);
    // Taken back, unless another thread has set another one since.
    if (error && atomic_compare_exchange_strong(&source->due_ns, &instant_ns, former))
        runloop__source_each_loop(source, move, &ignored);
    return error;
}

int64_t runloop_source_get_deadline(runloop_source *source) {
    int64_t due_ns = source ? atomic_load(&source->due_ns) : RUNLOOP_NEVER;
    return due_ns == DEADLINE_PASSED ? RUNLOOP_NEVER : due_ns;
}
#endif // __linux__
