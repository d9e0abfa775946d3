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

static void init(runloop_source *source, const runloop_context *context, int descriptor, uint8_t state) {
    source->first.modes.descriptor = descriptor;
    runloop__item_init(&source->item, ITEM_SOURCE, context);
    atomic_init(&source->item.state, ITEM_VALID | state);
}

static void init_extras(struct source_extras *extras, const runloop_context *context, int32_t order,
                        bool (*equal)(const void *info, const void *other_info)) {
    extras->config = runloop__config_of(context, order);
    extras->equal = equal;
}

static struct portless_source *create_portless(void) {
    struct portless_source *portless = calloc(1, sizeof *portless);
    if (portless) {
        runloop__signals_init(&portless->signals);
        atomic_init(&portless->source.first.extras, &portless->extras);
    }
    return portless;
}

int runloop_source_create(const runloop_source_config *config, runloop_source **out) {
    if (!config || !out)
        return -EINVAL;
    struct portless_source *portless = create_portless();
    if (!portless)
        return -ENOMEM;
    init_extras(&portless->extras, &config->context, config->order, config->equal);
    portless->schedule = config->schedule;
    portless->cancel = config->cancel;
    portless->source.call.perform = config->perform;
    init(&portless->source, &config->context, -1, 0);
    *out = &portless->source;
    return 0;
}

/// One that is to stand on a port.
static runloop_source *create_on_port(const runloop_descriptor_config *config) {
    runloop_source *source = runloop__block_new();
    if (!source)
        return NULL;
    memset(source, 0, sizeof *source);
    const runloop_context *context = &config->context;
    if ((context->release || context->describe || config->order || config->equal) &&
        runloop__source_ensure_extras(source)) {
        runloop__block_free(source);
        return NULL;
    }
    return source;
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

uint16_t runloop__events_asked(runloop_readiness events) {
    return (uint16_t)(events | (events & RUNLOOP_HANG_UP ? (uint32_t)EPOLLRDHUP : 0));
}

int runloop_descriptor_source_create(const runloop_descriptor_config *config, runloop_source **out) {
    if (!config || !out || config->descriptor < -1 || !runloop__source_may_ask_for(config->events))
        return -EINVAL;
    if (config->counter && config->descriptor >= 0 && !is_counter(config->descriptor))
        return -EINVAL;
    struct portless_source *portless = config->descriptor < 0 ? create_portless() : NULL;
    runloop_source *source = portless ? &portless->source : config->descriptor < 0 ? NULL : create_on_port(config);
    if (!source)
        return -ENOMEM;
    if (runloop__source_extras(source))
        init_extras(runloop__source_extras(source), &config->context, config->order, config->equal);
    source->call.ready = config->ready;
    init(source, &config->context, config->descriptor, ITEM_DESCRIPTOR | (config->counter ? ITEM_COUNTER : 0));
    atomic_init(&source->item.events, runloop__events_asked(config->events));
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
    struct source_extras *extras = runloop__source_extras(source);
    if (runloop__source_descriptor(source) < 0) {
        free(runloop__portless(source));
        return;
    }
    if (extras)
        runloop__block_free(extras);
    runloop__block_free(source);
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

static uint64_t number_signal(struct portless_source *portless) {
    const uint64_t mask = (UINT64_C(1) << OWN_SIGNAL_BITS) - 1;
    runloop *loop = runloop__thread_loop();
    if (loop && atomic_load(&portless->source.first.loop) == loop && !atomic_load(&portless->extras.next)) {
        uint64_t shared = atomic_load(&last_signal);
        uint64_t own = count_on_this_thread(&loop->own_signals) & mask;
        if (own != 0)
            return shared << OWN_SIGNAL_BITS | own;
    }
    return (atomic_fetch_add(&last_signal, 1) + 1) << OWN_SIGNAL_BITS;
}

/// Of a signalled source.
static inline _Atomic uint64_t *mark_of(struct binding *binding) {
    return &runloop__portless(runloop__source_of(binding))->signalled;
}

/// HOLDS: loop. The binding has come off the lists; if a signal was made meanwhile it goes back.
static void unlink_signal(runloop *loop, struct binding *binding) {
    struct signals *signals = runloop__signals(binding);
    list_remove(&signals->pending);
    uint32_t state = atomic_load(&signals->state);
    uint32_t idle = (state & ~(uint32_t)SIGNAL_STATES) + SIGNAL_EPOCH;
    atomic_store(&signals->state, idle);
    if (atomic_load(mark_of(binding)) && binding->modes.mode &&
        atomic_compare_exchange_strong(&signals->state, &idle, idle | SIGNAL_LINKED))
        list_append(&loop->pending, &signals->pending);
}

static void link_signal(struct binding *binding, void *unused) {
    (void)unused;
    runloop *loop = atomic_load(&binding->loop);
    struct signals *signals = runloop__signals(binding);
    uint32_t state = atomic_load(&signals->state);
    do {
        if (state & SIGNAL_LINKED)
            return;
        if (state & SIGNAL_CLAIMED) {
            atomic_store(&loop->rescan, true);
            return;
        }
    } while (!atomic_compare_exchange_weak(&signals->state, &state, state | SIGNAL_CLAIMED));
    struct binding *head = atomic_load(&loop->incoming);
    do
        signals->next_incoming = head;
    while (!atomic_compare_exchange_weak(&loop->incoming, &head, binding));
    uint32_t claimed = state | SIGNAL_CLAIMED;
    atomic_compare_exchange_strong(&signals->state, &claimed, state | SIGNAL_LINKED);
}

int runloop_source_signal(runloop_source *source) {
    if (!source)
        return -EINVAL;
    if (!runloop__item_is_valid(&source->item))
        return 0;
    if (runloop__source_is(source, ITEM_DESCRIPTOR)) {
        atomic_fetch_or(&source->item.state, ITEM_MARKED);
        return 0;
    }
    struct portless_source *portless = runloop__portless(source);
    uint64_t unmarked = 0;
    if (atomic_load(&portless->signalled) == 0)
        atomic_compare_exchange_strong(&portless->signalled, &unmarked, number_signal(portless));
    // Linked already, and in one loop only: nothing left to do.
    if (!(atomic_load(&portless->signals.state) & SIGNAL_LINKED) || atomic_load(&portless->extras.next))
        runloop__bindings_each(source, link_signal, NULL);
    return 0;
}

bool runloop_source_is_signalled(runloop_source *source) {
    if (!source || !runloop__item_is_valid(&source->item))
        return false;
    return runloop__source_is(source, ITEM_DESCRIPTOR) ? runloop__source_is(source, ITEM_MARKED)
                                                       : atomic_load(&runloop__portless(source)->signalled) != 0;
}

void runloop__source_queue_if_signalled(struct binding *binding) {
    // Partner of the signaller, who marks before he reads the chain: the chain was published before this look.
    if (!runloop__source_is(runloop__source_of(binding), ITEM_DESCRIPTOR) && atomic_load(mark_of(binding)))
        link_signal(binding, NULL);
}

/// HOLDS: loop. Moves what has been signalled to the list of the loop's thread, oldest first.
static __attribute__((noinline)) void take_all_incoming(runloop *loop) {
    // Announced before the stack is emptied: a pass that looks without the lock finds one or the other, for the exchange publishes
    // what comes before it to whoever finds the stack empty.
    atomic_store_explicit(&loop->has_pending, true, memory_order_release);
    struct binding *binding = atomic_exchange(&loop->incoming, NULL);
    struct list *end = &loop->pending;
    while (binding) {
        // Read before the state changes: from then on a signaller may link it again.
        struct signals *signals = runloop__signals(binding);
        struct binding *next = signals->next_incoming;
        uint32_t epoch = atomic_load(&signals->state) & ~(uint32_t)SIGNAL_STATES;
        atomic_store_explicit(&signals->state, epoch | SIGNAL_LINKED, memory_order_release);
        list_insert_before(end, &signals->pending);
        end = &signals->pending;
        binding = next;
    }
}

static inline void take_incoming(runloop *loop) {
    if (atomic_load(&loop->incoming))
        take_all_incoming(loop);
}

void runloop__source_forget_signal(struct binding *binding) {
    runloop *loop = atomic_load(&binding->loop);
    runloop__lock(loop);
    take_incoming(loop);
    list_remove(&runloop__signals(binding)->pending);
    runloop__unlock(loop);
}

void runloop__source_forget_all_signals(runloop *loop) {
    runloop__lock(loop);
    take_incoming(loop);
    while (!list_is_empty(&loop->pending))
        unlink_signal(loop, runloop__binding_of(LIST_ENTRY(loop->pending.next, struct signals, pending)));
    runloop__unlock(loop);
}

//===-- the pass (R63) -----------------------------------------------------------------------------------------------===//

static inline __attribute__((always_inline)) bool is_due(struct binding *binding, runloop_source *source,
                                                         struct mode *mode) {
    return atomic_load(&runloop__portless(source)->signalled) && runloop__item_is_valid(&source->item) &&
           runloop__is_member(&binding->modes, mode);
}

/// HOLDS: loop. Calls `found` for each signalled source of the mode until it returns false. Part of its two callers.
static inline __attribute__((always_inline)) void each_due(runloop *loop, struct mode *mode,
                                                           bool (*found)(runloop *, runloop_source *, void *),
                                                           void *context) {
    take_incoming(loop);
    for (struct list *node = loop->pending.next, *next; node != &loop->pending; node = next) {
        next = node->next;
        struct binding *binding = runloop__binding_of(LIST_ENTRY(node, struct signals, pending));
        runloop_source *source = runloop__source_of(binding);
        if (is_due(binding, source, mode)) {
            if (!found(loop, source, context))
                return;
        } else if (!atomic_load(mark_of(binding)) || !binding->modes.mode) {
            unlink_signal(loop, binding);
        }
    }
    atomic_store_explicit(&loop->has_pending, !list_is_empty(&loop->pending), memory_order_release);
    if (!atomic_load(&loop->rescan) || !atomic_exchange(&loop->rescan, false))
        return;
    LIST_EACH(node, &loop->bindings) {
        struct signals *signals = LIST_ENTRY(node, struct signals, in_loop);
        struct binding *binding = runloop__binding_of(signals);
        if ((atomic_load(&signals->state) & SIGNAL_STATES) != SIGNAL_CLAIMED)
            continue;
        // Still half linked: others must look as well, in whatever mode it is due.
        atomic_store(&loop->rescan, true);
        runloop_source *source = runloop__source_of(binding);
        if (is_due(binding, source, mode) && !found(loop, source, context))
            return;
    }
}

static inline bool collect(runloop *loop, runloop_source *source, void *unused) {
    (void)unused;
    bool collected = runloop__collect_unretained(loop, &source->item, runloop__source_order(source));
    if (collected)
        runloop__source_hold(source);
    return collected;
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
    const struct portless_source *left = runloop__portless(a), *right = runloop__portless(b);
    return atomic_load_explicit(&left->signalled, memory_order_relaxed) <
           atomic_load_explicit(&right->signalled, memory_order_relaxed);
}

static inline bool perform(runloop_source *source) {
    if (!atomic_exchange(&runloop__portless(source)->signalled, 0) || !runloop__item_is_valid(&source->item))
        return false;
    runloop__IS_CALLING_OUT_TO_A_SIGNALLED_SOURCE(source);
    return true;
}

static __attribute__((noinline)) bool perform_many(struct run *run, uint32_t base) {
    runloop *loop = run->loop;
    runloop__collected_sort(loop, base, precedes);
    bool performed = false;
    for (uint32_t i = base; i < loop->collected_count; i++) {
        // With "return after a source" the rest stay signalled for later runs (R65).
        bool wanted = !(performed && run->returns_after_source) && !runloop__is_inherited(loop);
        if (wanted && perform(SOURCE_OF(loop->collected[i].item)))
            performed = true;
        runloop__collected_drop(loop, i);
    }
    loop->collected_count = base;
    return performed;
}

bool runloop__source_pass(struct run *run) {
    runloop *loop = run->loop;
    runloop__lock(loop);
    uint32_t base = loop->collected_count;
    each_due(loop, run->mode, collect, NULL);
    runloop__unlock(loop);
    if (loop->collected_count != base + 1)
        return perform_many(run, base);
    runloop_source *source = SOURCE_OF(loop->collected[base].item);
    bool performed = !runloop__is_inherited(loop) && perform(source);
    // Its entry goes before its reference: a release function may run the loop, or end the thread.
    loop->collected_count = base;
    runloop__source_let_go(source);
    return performed;
}

//===-- getters ------------------------------------------------------------------------------------------------------===//

bool runloop_source_is_valid(runloop_source *source) {
    return source && runloop__item_is_valid(&source->item);
}

int32_t runloop_source_get_order(runloop_source *source) {
    return source ? runloop__source_order(source) : 0;
}

void *runloop_source_get_info(runloop_source *source) {
    return source ? source->item.info : NULL;
}

int runloop_source_get_descriptor(runloop_source *source) {
    return source ? runloop__source_descriptor(source) : -1;
}

runloop_readiness runloop_source_get_events(runloop_source *source) {
    return source && runloop__source_is(source, ITEM_DESCRIPTOR) ? runloop__port_mask(source) & ~(uint32_t)EPOLLRDHUP
                                                                 : 0;
}
