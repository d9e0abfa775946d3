// signals.c — signals of sources: given from anywhere, taken by the loop, and performed in the order of the sources.
//
// A signal marks the source with its number, which gives the source its place in line, and then sets the source's bit in the tree of each
// loop that it is in (signal_tree.c). The loop takes the bits. A marked source that is signalled by hand goes into the heap of every mode
// of the loop that it is in, so that an iteration looks only at what waits for its own mode; one with a descriptor is news like any
// other of its (ready.c). Performing clears the mark. Heaps of other modes and loops may still have the source then: without a mark it is
// passed over.

#ifdef __linux__
#include "items/items.h"
#include "model/heap.h"

static bool is_signalled(const runloop_source *source) {
    return atomic_load(&source->mark) != 0 && item_is_valid(&source->item);
}

static runloop_source *source_of(struct item *item) {
    return LIST_ENTRY(item, runloop_source, item);
}

//===-- signalling ---------------------------------------------------------------------------------------------------===//

/// Numbers the signals of all sources.
static _Atomic uint64_t last_signal;

/// A mark that is set is written again, with the value it has. The loop exchanges it before it performs: so either the call-out sees
/// what the signaller wrote before the signal, or the signaller finds no mark, and a further call-out follows.
static void set_mark(runloop_source *source) {
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
    set_mark(source);
    for (struct source_attachment *place = &source->first; place; place = atomic_load(&place->next)) {
        uintptr_t cell = atomic_load(&place->cell);
        if (cell)
            runloop__signal_tree_set(cell);
    }
    loop_leave_to_host();
    return 0;
}

bool runloop_source_is_signalled(runloop_source *source) {
    return source && is_signalled(source);
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
    uint64_t mark = atomic_load(&place->source->mark);
    if (mark && is_descriptor_source(place->source)) {
        ready_add(loop, &place->news, RUNLOOP_SIGNALLED);
        return;
    }
    struct membership *membership = mark ? memberships_in_modes(loop, &place->attachment) : NULL;
    for (; membership; membership = membership->next) {
        membership->serial = mark;
        // A former signal's place is not this one's, unless it is alone.
        if (membership->position == 0 && heap_count(&membership->mode->signalled) == 1)
            continue;
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
        if (is_signalled(source_of(first->item)))
            return true;
        heap_remove(&mode->signalled, first);
    }
    return false;
}

bool runloop__signals_any(runloop *loop, struct mode *mode) {
    return signals_may_wait(loop, mode) && (take_signals(loop, mode) || loop->signals.ran_short);
}

/// Those that wait now, or the first of them. They stay in the heap until their turn, for runs nested in the call-outs.
HOLDS_LOCK static inline void collect(runloop *loop, struct mode *mode, bool only_first) {
    const struct heap *heap = &mode->signalled;
    if (!take_signals(loop, mode))
        return;
    uint32_t i = 0, count = only_first ? 1 : heap_count(heap);
    do {
        struct membership *membership = heap->entries[i].membership;
        // One without a mark was performed elsewhere: signalled again during this dispatch, it has to wait for the next.
        if (i == 0 || is_signalled(source_of(membership->item)))
            collect_item(loop, membership->item, heap->entries[i].key, membership->serial);
    } while (++i < count);
}

INLINE bool perform(runloop_source *source) {
    if (!atomic_exchange(&source->mark, 0) || !item_is_valid(&source->item))
        return false;
    if (source->perform)
        TRACED(RUNLOOP_TRACE_SIGNALLED, source, 0,
               runloop__IS_CALLING_OUT_TO_A_SIGNALLED_SOURCE(source->perform, source, item_info(&source->item)));
    return true;
}

bool runloop__signals_dispatch(runloop *loop, struct mode *mode, bool only_first) {
    uint32_t base = loop->collected_count;
    bool performed = false, any;
    do {
        loop_lock(loop);
        collect(loop, mode, only_first);
        loop_unlock(loop);
        any = loop->collected_count > base;
        collected_sort(loop, base);
        for (uint32_t i = base; i < loop->collected_count; i++) {
            if (i == base || !is_from_parent_process(loop))
                performed |= perform(source_of(loop->collected[i].item));
            collected_drop(loop, i);
        }
        loop->collected_count = base;
        // If the first does not perform, another loop performed it at the same moment, which does not count.
    } while (only_first && any && !performed && !is_from_parent_process(loop));
    return performed;
}
#endif // __linux__
