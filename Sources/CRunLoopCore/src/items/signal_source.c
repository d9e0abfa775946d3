// signal_source.c — sources that are signalled by hand: made, signalled from anywhere, performed by the loop.
//
// A signal marks the source with its number, which gives the source its place in line, and then sets the source's bit in the tree of each
// loop that it is in (signal_tree.c). The loop takes the bits and puts each marked source into the heap of every mode of the loop that it
// is in; so an iteration looks only at what waits for its own mode. Performing clears the mark. Heaps of other modes and loops may
// still have the source then: without a mark it is passed over.

#include "items/items.h"
#include "model/heap.h"

static struct signal_source *of_attachment(const struct source_attachment *attachment) {
    return signal_source_of(attachment->source);
}

static bool is_signalled(struct signal_source *source) {
    return atomic_load(&source->mark) != 0 && item_is_valid(&source->source.item);
}

//===-- in modes -----------------------------------------------------------------------------------------------------===//

static void remove_from_heap(struct membership *membership) {
    if (membership->position != NOWHERE)
        heap_remove(&membership->mode->signalled, membership);
}

HOLDS_LOCK static int insert(runloop *loop, struct attachment *attachment, struct membership *membership) {
    struct source_attachment *place = source_attachment_of(attachment);
    // Partner of runloop_source_invalidate: the attachment is in the chain by now, so one of the two sees the other.
    if (!item_is_valid(membership->item))
        return -EINVAL;
    if (!atomic_load(&place->cell)) {
        uintptr_t cell = runloop__signal_tree_add(&loop->signals, place);
        if (!cell)
            return -ENOMEM;
        atomic_store(&place->cell, cell);
    }
    // Partner of the signaller, which marks before it reads the cell.
    if (atomic_load(&of_attachment(place)->mark))
        runloop__signal_tree_set(atomic_load(&place->cell));
    source_joined(loop, place, membership->mode);
    return 0;
}

HOLDS_LOCK static void extract(runloop *loop, struct attachment *attachment, struct membership *membership) {
    struct source_attachment *place = source_attachment_of(attachment);
    remove_from_heap(membership);
    if (!source_has_other_mode(loop, place, membership)) {
        runloop__signal_tree_remove(atomic_load(&place->cell));
        atomic_store(&place->cell, 0);
    }
    source_leaves(loop, place, membership);
}

static void destroy(struct item *item) {
    struct signal_source *source = LIST_ENTRY(item, struct signal_source, source.item);
    runloop__source_clear(&source->source);
    free(source);
}

static const struct item_class signal_source_class = {
    .kind = ITEM_SIGNAL_SOURCE, .insert = insert, .extract = extract, .destroy = destroy};

int runloop_source_create(const runloop_source_config *config, runloop_source **out) {
    if (!config || !out)
        return -EINVAL;
    struct signal_source *source = calloc(1, sizeof *source);
    if (!source)
        return -ENOMEM;
    runloop__source_init(&source->source, &signal_source_class, &config->context, config->order, config->equal);
    source->perform = config->perform;
    source->schedule = config->schedule;
    source->cancel = config->cancel;
    *out = &source->source;
    return 0;
}

//===-- signalling ---------------------------------------------------------------------------------------------------===//

/// Numbers the signals of all sources.
static _Atomic uint64_t last_signal;

/// A mark that is set is written again, with the value it has. The loop exchanges it before it performs: so either the call-out sees
/// what the signaller wrote before the signal, or the signaller finds no mark, and a further call-out follows.
static void set_mark(struct signal_source *source) {
    uint64_t seen = atomic_load(&source->mark), number = 0;
    do {
        if (seen == 0 && number == 0)
            number = atomic_fetch_add(&last_signal, 1) + 1;
    } while (!atomic_compare_exchange_weak(&source->mark, &seen, seen ? seen : number));
}

int runloop_source_signal(runloop_source *source) {
    if (!source)
        return -EINVAL;
    if (!item_is_valid(&source->item))
        return 0;
    if (is_descriptor_source(source)) {
        atomic_fetch_or(&source->item.state, ITEM_SIGNALLED);
        return 0;
    }
    set_mark(signal_source_of(source));
    for (struct source_attachment *place = &source->first; place; place = atomic_load(&place->next)) {
        uintptr_t cell = atomic_load(&place->cell);
        if (cell)
            runloop__signal_tree_set(cell);
    }
    return 0;
}

bool runloop_source_is_signalled(runloop_source *source) {
    if (!source || !item_is_valid(&source->item))
        return false;
    return is_descriptor_source(source) ? (item_state(&source->item) & ITEM_SIGNALLED) != 0
                                        : atomic_load(&signal_source_of(source)->mark) != 0;
}

//===-- dispatch (R63) -----------------------------------------------------------------------------------------------===//

/// Memory may run out: then the bit is set again, and the next iteration will look.
HOLDS_LOCK static void wait_in_mode(runloop *loop, struct source_attachment *place, struct membership *membership) {
    if (heap_push(&membership->mode->signalled, membership->item->order, membership)) {
        loop->signals.ran_short = true;
        runloop__signal_tree_set(atomic_load(&place->cell));
    }
}

/// A source's bit was set: the source waits for each of its modes.
HOLDS_LOCK static inline void take_source(runloop *loop, struct source_attachment *place) {
    uint64_t mark = atomic_load(&of_attachment(place)->mark);
    struct membership *membership = mark ? memberships_in_modes(loop, &place->attachment) : NULL;
    for (; membership; membership = membership->next) {
        membership->serial = mark;
        // A former signal's place is not this one's.
        if (membership->position != NOWHERE)
            heap_change_key(&membership->mode->signalled, membership, membership->item->order);
        else
            wait_in_mode(loop, place, membership);
    }
}

/// The bits of a page, from the root down.
HOLDS_LOCK static void take_page(runloop *loop, struct signal_page *page) {
    for (uint64_t bits = signal_page_take(page); bits; bits &= bits - 1) {
        void *member = page->members[__builtin_ctzll(bits)];
        if (member && page->level > 0)
            take_page(loop, member);
        else if (member)
            take_source(loop, member);
    }
}

/// Takes the bits: does any source wait for the mode? Then the first of the heap does.
HOLDS_LOCK static bool take_signals(runloop *loop, struct mode *mode) {
    loop->signals.ran_short = false;
    struct signal_page *root = atomic_load_explicit(&loop->signals.root, memory_order_relaxed);
    if (root)
        take_page(loop, root);
    while (heap_count(&mode->signalled) > 0) {
        struct membership *first = mode->signalled.entries[0].membership;
        if (is_signalled(LIST_ENTRY(first->item, struct signal_source, source.item)))
            return true;
        remove_from_heap(first);
    }
    return false;
}

bool runloop__signals_any(runloop *loop, struct mode *mode) {
    return signals_may_wait(loop, mode) && (take_signals(loop, mode) || loop->signals.ran_short);
}

/// Those that wait now, or the first of them. They stay in the heap until their turn, for runs nested in the call-outs.
HOLDS_LOCK static void collect(runloop *loop, struct mode *mode, bool only_first) {
    const struct heap *heap = &mode->signalled;
    uint32_t count = !take_signals(loop, mode) ? 0 : only_first ? 1 : heap_count(heap);
    for (uint32_t i = 0; i < count; i++) {
        struct membership *membership = heap->entries[i].membership;
        // One without a mark was performed elsewhere: signalled again during this dispatch, it has to wait for the next.
        if (is_signalled(LIST_ENTRY(membership->item, struct signal_source, source.item)))
            collect_item(loop, membership->item, heap->entries[i].key, membership->serial);
    }
}

static bool perform(struct signal_source *source) {
    if (!atomic_exchange(&source->mark, 0) || !item_is_valid(&source->source.item))
        return false;
    if (source->perform)
        TRACED(RUNLOOP_TRACE_SIGNALLED, source, 0,
               runloop__IS_CALLING_OUT_TO_A_SIGNALLED_SOURCE(source->perform, &source->source,
                                                             item_info(&source->source.item)));
    return true;
}

bool runloop__signals_dispatch(runloop *loop, struct mode *mode, bool only_first) {
    uint32_t base = loop->collected_count;
    bool performed = false, any = true;
    while (any && !performed && !is_from_parent_process(loop)) {
        loop_lock(loop);
        collect(loop, mode, only_first);
        loop_unlock(loop);
        // If the first does not perform, another loop performed it at the same moment, which does not count.
        any = only_first && loop->collected_count > base;
        collected_sort(loop, base);
        for (uint32_t i = base; i < loop->collected_count; i++) {
            if (!is_from_parent_process(loop))
                performed |= perform(LIST_ENTRY(loop->collected[i].item, struct signal_source, source.item));
            collected_drop(loop, i);
        }
        loop->collected_count = base;
    }
    return performed;
}
