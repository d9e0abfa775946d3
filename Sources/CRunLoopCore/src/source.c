// source.c — sources that are signalled by hand: created, signalled from anywhere, performed in passes; and what both kinds of
// source have in common.
//
// Signalling takes no lock, because signal handlers do it. A signal marks the source (the mark is the number of the signal, which
// orders the pass), then sees to it that every binding of the source is linked to its loop: on `incoming`, a stack that
// anybody pushes to, or on `pending`, the list that the loop's thread moves it to. A binding's signal state says who may link
// it: IDLE → CLAIMED (by the one signaller who wins) → LINKED. A signaller who finds LINKED is done: whoever unlinks
// the binding looks at the mark after that. One who finds CLAIMED can't know whether the claimant has pushed yet, so
// it asks the loop for a look at all its sources. The state carries an epoch, so that a claimant who was interrupted after
// his push can't mistake a later link for his own.

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "internal.h"

//===-- life ---------------------------------------------------------------------------------------------------------===//

static runloop_source *create(const runloop_context *context, int32_t order) {
    runloop_source *source = calloc(1, sizeof *source);
    if (!source)
        return NULL;
    atomic_flag_clear(&source->chain_busy);
    runloop__bindings_init(source);
    source->config = runloop__config_of(context, order);
    runloop__item_init(&source->item, ITEM_SOURCE, context);
    source->descriptor = -1;
    return source;
}

int runloop_source_create(const runloop_source_config *config, runloop_source **out) {
    if (!config || !out)
        return -EINVAL;
    runloop_source *source = create(&config->context, config->order);
    if (!source)
        return -ENOMEM;
    source->call.perform = config->perform;
    source->schedule = config->schedule;
    source->cancel = config->cancel;
    source->equal = config->equal;
    *out = source;
    return 0;
}

/// An eventfd, timerfd or the like: it has no file type, and reading it can't block the loop.
static bool is_counter(int descriptor) {
    struct stat status;
    int flags = fcntl(descriptor, F_GETFL);
    return fstat(descriptor, &status) == 0 && (status.st_mode & S_IFMT) == 0 && flags >= 0 && (flags & O_NONBLOCK);
}

bool runloop__source_may_ask_for(runloop_readiness events) {
    enum { ALL_EVENTS = RUNLOOP_READABLE | RUNLOOP_PRIORITY | RUNLOOP_WRITABLE | RUNLOOP_ERROR | RUNLOOP_HANG_UP };
    return events && !(events & ~(uint32_t)ALL_EVENTS);
}

int runloop_descriptor_source_create(const runloop_descriptor_config *config, runloop_source **out) {
    if (!config || !out || config->descriptor < -1 || !runloop__source_may_ask_for(config->events))
        return -EINVAL;
    if (config->counter && config->descriptor >= 0 && !is_counter(config->descriptor))
        return -EINVAL;
    runloop_source *source = create(&config->context, config->order);
    if (!source)
        return -ENOMEM;
    source->is_descriptor = true;
    source->is_counter = config->counter;
    source->descriptor = config->descriptor;
    atomic_init(&source->events, config->events);
    source->call.ready = config->ready;
    source->equal = config->equal;
    *out = source;
    return 0;
}

runloop_source *runloop_source_retain(runloop_source *source) {
    if (source)
        runloop__item_retain(&source->item);
    return source;
}

void runloop_source_release(runloop_source *source) {
    if (source)
        runloop__item_release(&source->item);
}

void runloop__source_destroy(runloop_source *source) {
    runloop__bindings_free(source);
    runloop__item_release_context(&source->item);
    free(source);
}

//===-- signalling ---------------------------------------------------------------------------------------------------===//

enum { SIGNAL_IDLE, SIGNAL_CLAIMED, SIGNAL_LINKED, SIGNAL_STATES = 3, SIGNAL_EPOCH = 4 };

// Numbers the signals of all sources, since a pass orders equal sources by their first signal, wherever that was made. The upper
// bits come from a counter that all threads share. A loop's own thread, signalling a source that is in no other loop, need
// not touch that counter: it takes the counter's value as it stands and tells its own signals apart by the lower bits. A
// signal that comes after another one, by whatever thread, still has the greater number, where the two are ever compared.
enum { OWN_SIGNAL_BITS = 20 };
static _Atomic uint64_t last_signal;

/// Adds one in a way that a signal handler on the same thread can't come between; other threads don't touch the number.
static uint64_t count_on_this_thread(_Atomic uint64_t *number) {
#ifdef __x86_64__
    uint64_t before = 1;
    __asm__ volatile("xaddq %0, %1" : "+r"(before), "+m"(*number) : : "memory");
    return before;
#else
    return atomic_fetch_add_explicit(number, 1, memory_order_relaxed);
#endif
}

static uint64_t number_signal(runloop_source *source) {
    const uint64_t mask = (UINT64_C(1) << OWN_SIGNAL_BITS) - 1;
    runloop *loop = runloop__thread_loop();
    if (loop && atomic_load(&source->first.loop) == loop && !atomic_load(&source->first.next)) {
        uint64_t shared = atomic_load(&last_signal);
        uint64_t own = count_on_this_thread(&loop->own_signals) & mask;
        if (own != 0)
            return shared << OWN_SIGNAL_BITS | own;
    }
    return (atomic_fetch_add(&last_signal, 1) + 1) << OWN_SIGNAL_BITS;
}

/// HOLDS: loop. The binding has come off the lists; if a signal was made meanwhile it goes back.
static void unlink_signal(runloop *loop, struct binding *binding) {
    list_remove(&binding->pending);
    uint32_t state = atomic_load(&binding->signal_state);
    uint32_t idle = (state & ~(uint32_t)SIGNAL_STATES) + SIGNAL_EPOCH;
    atomic_store(&binding->signal_state, idle);
    if (atomic_load(&binding->source->signalled) && binding->modes.count > 0 &&
        atomic_compare_exchange_strong(&binding->signal_state, &idle, idle | SIGNAL_LINKED))
        list_append(&loop->pending, &binding->pending);
}

static void link_signal(struct binding *binding, void *unused) {
    (void)unused;
    runloop *loop = atomic_load(&binding->loop);
    uint32_t state = atomic_load(&binding->signal_state);
    do {
        if (state & SIGNAL_LINKED)
            return;
        if (state & SIGNAL_CLAIMED) {
            atomic_store(&loop->rescan, true);
            return;
        }
    } while (!atomic_compare_exchange_weak(&binding->signal_state, &state, state | SIGNAL_CLAIMED));
    struct binding *head = atomic_load(&loop->incoming);
    do
        binding->next_incoming = head;
    while (!atomic_compare_exchange_weak(&loop->incoming, &head, binding));
    uint32_t claimed = state | SIGNAL_CLAIMED;
    atomic_compare_exchange_strong(&binding->signal_state, &claimed, state | SIGNAL_LINKED);
}

int runloop_source_signal(runloop_source *source) {
    if (!source)
        return -EINVAL;
    if (!runloop__item_is_valid(&source->item))
        return 0;
    uint64_t unmarked = 0;
    if (atomic_load(&source->signalled) == 0)
        atomic_compare_exchange_strong(&source->signalled, &unmarked, number_signal(source));
    if (source->is_descriptor)
        return 0;
    // Linked already, and in one loop only: nothing left to do.
    if (!(atomic_load(&source->first.signal_state) & SIGNAL_LINKED) || atomic_load(&source->first.next))
        runloop__bindings_each(source, link_signal, NULL);
    return 0;
}

bool runloop_source_is_signalled(runloop_source *source) {
    return source && runloop__item_is_valid(&source->item) && atomic_load(&source->signalled) != 0;
}

void runloop__source_queue_if_signalled(struct binding *binding) {
    // Partner of the signaller, who marks before he reads the chain: the chain was published before this look.
    if (!binding->source->is_descriptor && atomic_load(&binding->source->signalled))
        link_signal(binding, NULL);
}

/// HOLDS: loop. Moves what has been signalled to the list of the loop's thread, oldest first.
static void take_incoming(runloop *loop) {
    if (!atomic_load(&loop->incoming))
        return;
    // Announced before the stack is emptied: a pass that looks without the lock finds one or the other, for the exchange publishes
    // what comes before it to whoever finds the stack empty.
    atomic_store_explicit(&loop->has_pending, true, memory_order_release);
    struct binding *binding = atomic_exchange(&loop->incoming, NULL);
    struct list *end = &loop->pending;
    while (binding) {
        // Read before the state changes: from then on a signaller may link it again.
        struct binding *next = binding->next_incoming;
        uint32_t epoch = atomic_load(&binding->signal_state) & ~(uint32_t)SIGNAL_STATES;
        atomic_store_explicit(&binding->signal_state, epoch | SIGNAL_LINKED, memory_order_release);
        list_insert_before(end, &binding->pending);
        end = &binding->pending;
        binding = next;
    }
}

void runloop__source_forget_signal(struct binding *binding) {
    runloop *loop = atomic_load(&binding->loop);
    runloop__lock(loop);
    take_incoming(loop);
    list_remove(&binding->pending);
    runloop__unlock(loop);
}

void runloop__source_forget_all_signals(runloop *loop) {
    runloop__lock(loop);
    take_incoming(loop);
    while (!list_is_empty(&loop->pending))
        unlink_signal(loop, LIST_ENTRY(loop->pending.next, struct binding, pending));
    runloop__unlock(loop);
}

//===-- the pass (R63) -----------------------------------------------------------------------------------------------===//

static bool is_due(struct binding *binding, struct mode *mode) {
    return atomic_load(&binding->source->signalled) && runloop__item_is_valid(&binding->source->item) &&
           runloop__membership_of(&binding->modes, mode);
}

/// HOLDS: loop. Calls `found` for each signalled source of the mode until it returns false. Part of its two callers.
static inline __attribute__((always_inline)) void each_due(runloop *loop, struct mode *mode,
                                                           bool (*found)(runloop *, runloop_source *, void *),
                                                           void *context) {
    take_incoming(loop);
    for (struct list *node = loop->pending.next, *next; node != &loop->pending; node = next) {
        next = node->next;
        struct binding *binding = LIST_ENTRY(node, struct binding, pending);
        if (is_due(binding, mode)) {
            if (!found(loop, binding->source, context))
                return;
        } else if (!atomic_load(&binding->source->signalled) || binding->modes.count == 0) {
            unlink_signal(loop, binding);
        }
    }
    atomic_store_explicit(&loop->has_pending, !list_is_empty(&loop->pending), memory_order_release);
    if (!atomic_load(&loop->rescan) || !atomic_exchange(&loop->rescan, false))
        return;
    LIST_EACH(node, &loop->bindings) {
        struct binding *binding = LIST_ENTRY(node, struct binding, in_loop);
        if ((atomic_load(&binding->signal_state) & SIGNAL_STATES) != SIGNAL_CLAIMED)
            continue;
        // Still half linked: others must look as well, in whatever mode it is due.
        atomic_store(&loop->rescan, true);
        if (is_due(binding, mode) && !found(loop, binding->source, context))
            return;
    }
}

static bool collect(runloop *loop, runloop_source *source, void *unused) {
    (void)unused;
    return runloop__collect(loop, &source->item);
}

static bool note(runloop *loop, runloop_source *source, void *any) {
    (void)loop, (void)source;
    *(bool *)any = true;
    return false;
}

bool runloop__source_any_signalled(runloop *loop, struct mode *mode) {
    bool any = false;
    if (runloop__source_may_be_signalled(loop))
        each_due(loop, mode, note, &any);
    return any;
}

static bool precedes(const void *a, const void *b) {
    const runloop_source *left = a, *right = b;
    if (left->config.order != right->config.order)
        return left->config.order < right->config.order;
    return atomic_load_explicit(&left->signalled, memory_order_relaxed) <
           atomic_load_explicit(&right->signalled, memory_order_relaxed);
}

bool runloop__source_pass(struct run *run) {
    runloop *loop = run->loop;
    runloop__lock(loop);
    uint32_t base = loop->collected_count;
    each_due(loop, run->mode, collect, NULL);
    runloop__unlock(loop);
    if (loop->collected_count - base > 1)
        runloop__collected_sort(loop, base, precedes);

    bool performed = false;
    for (uint32_t i = base; i < loop->collected_count; i++) {
        runloop_source *source = SOURCE_OF(loop->collected[i]);
        // With "return after a source" the rest stay signalled for later runs (R65).
        bool wanted = !(performed && run->returns_after_source) && !runloop__is_inherited(loop);
        if (wanted && atomic_exchange(&source->signalled, 0) && runloop__item_is_valid(&source->item)) {
            runloop__IS_CALLING_OUT_TO_A_SIGNALLED_SOURCE(source);
            performed = true;
        }
        runloop__collected_drop(loop, i);
    }
    loop->collected_count = base;
    return performed;
}

//===-- getters ------------------------------------------------------------------------------------------------------===//

bool runloop_source_is_valid(runloop_source *source) {
    return source && runloop__item_is_valid(&source->item);
}

int32_t runloop_source_get_order(runloop_source *source) {
    return source ? source->config.order : 0;
}

void *runloop_source_get_info(runloop_source *source) {
    return source ? source->item.info : NULL;
}

int runloop_source_get_descriptor(runloop_source *source) {
    return source ? source->descriptor : -1;
}

runloop_readiness runloop_source_get_events(runloop_source *source) {
    return source ? atomic_load(&source->events) : 0;
}
