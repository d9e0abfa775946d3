// internal.h — the structures of the core, who guards each field, and the few functions that cross rooms.
//
// Guards named at the fields:
//   lock       the loop's one lock; taken for a few instructions, never while user code runs
//   thread     only the loop's own thread touches it
//   atomic     see the comment at its room for the ordering and the partner
//   constant   written before the object is published, never after
//
// Locks are taken in this order: a loop's lock, then an item's owner word or a source's chain. Two loops' locks are never
// held together, and the registry's lock is never held with another.
#ifndef RUNLOOP_INTERNAL_H
#define RUNLOOP_INTERNAL_H

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "list.h"
#include "lock.h"
#include "runloop.h"

struct mode;
struct port;
struct run;
struct post;
struct binding;

#if defined(__GNUC__) && !defined(RUNLOOP_DYNAMIC_TLS)
#define FAST_TLS __attribute__((tls_model("initial-exec")))
#else
#define FAST_TLS
#endif

/// Rarely needed, and so not to make its caller larger.
#define RUNLOOP__COLD __attribute__((noinline, cold, unused))

//===-- blocks: recycled memory for what comes and goes by the million (block.c) -------------------------------------===//

#if defined(__has_feature)
#define RUNLOOP__HAS_SANITIZER (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RUNLOOP__HAS_SANITIZER 1
#else
#define RUNLOOP__HAS_SANITIZER 0
#endif
#if RUNLOOP__HAS_SANITIZER && !defined(RUNLOOP_BLOCKS_ARE_RECYCLED) && !defined(RUNLOOP_BLOCKS_ARE_ALLOCATIONS)
#define RUNLOOP_BLOCKS_ARE_ALLOCATIONS
#endif

enum { RUNLOOP__BLOCK_SIZE = 64 };

/// Any thread. A cache line of its own, uninitialised; NULL when memory ran out.
void *runloop__block_new(void);
/// Any thread, also another than the one that took it.
void runloop__block_free(void *block);

//===-- memberships: the modes that an item is in (memberships.c) ----------------------------------------------------===//

struct membership {
    struct mode *mode;
    /// Timers: the place in the mode's heap, or HEAP_NOWHERE while firing. Sources: when it was added to the mode.
    uint32_t position;
};

/// The first one is inline, since most items are in one mode.
struct memberships {
    struct membership first;
    struct membership *more;
    uint32_t count, capacity;
};

static inline struct membership *runloop__membership_at(struct memberships *list, uint32_t index) {
    return index == 0 ? &list->first : &list->more[index - 1];
}

static inline struct membership *runloop__membership_of(struct memberships *list, const struct mode *mode) {
    for (uint32_t i = 0; i < list->count; i++) {
        struct membership *membership = runloop__membership_at(list, i);
        if (membership->mode == mode)
            return membership;
    }
    return NULL;
}

/// Makes room for `additional` ones: adding that many can't fail afterwards. -ENOMEM.
int runloop__memberships_reserve(struct memberships *list, uint32_t additional);
void runloop__memberships_add(struct memberships *list, struct mode *mode, uint32_t position);
void runloop__memberships_remove(struct memberships *list, const struct mode *mode);
void runloop__memberships_free(struct memberships *list);

//===-- items: what sources, timers and observers have in common (item.c) --------------------------------------------===//

enum item_kind { ITEM_SOURCE, ITEM_TIMER, ITEM_OBSERVER };

enum {
    ITEM_VALID = 1,
    ITEM_FIRING = 2,  ///< Its call-out runs (timers, observers): the context is kept until it returns.
    ITEM_RETIRED = 4, ///< Invalidated and taken out of its modes: the context goes as soon as no call-out uses it.
    ITEM_REDATED = 8, ///< Timers: a date was set while it fired.
    ITEM_REPEATS = 16,
    ITEM_TOLERANT = 32,
    ITEM_RELEASES = 64, ///< Timers, these three: what their extras say, to be had without these.
};

struct item {
    _Atomic uint32_t references;
    _Atomic uint8_t state; ///< ITEM_ bits
    uint8_t kind;          ///< constant: an item_kind
    uint16_t serial_high;  ///< timers: the upper part of their serial; here, because here is room
    void *info;            ///< constant: the context's
};

/// What else there is of a context, and the order.
struct item_config {
    void (*release)(void *info);
    char *(*describe)(void *info);
    int32_t order;
};

/// References 1, valid; retains the context. `runloop__config_of` tells what of a context and an order is kept.
static inline void runloop__item_init(struct item *item, enum item_kind kind, const runloop_context *context) {
    atomic_init(&item->references, 1);
    atomic_init(&item->state, ITEM_VALID);
    item->kind = (uint8_t)kind;
    item->serial_high = 0;
    item->info = context->retain ? context->retain(context->info) : context->info;
}
struct item_config runloop__config_of(const runloop_context *context, int32_t order);
/// An item's own, or one of nothing.
const struct item_config *runloop__item_config(const struct item *item);
void runloop__item_destroy(struct item *item);

static inline void runloop__item_retain(struct item *item) {
    atomic_fetch_add_explicit(&item->references, 1, memory_order_relaxed);
}

static inline void runloop__item_release(struct item *item) {
    // A last owner needs no locked instruction: nobody else can be changing the count.
    if (atomic_load_explicit(&item->references, memory_order_acquire) == 1 ||
        atomic_fetch_sub_explicit(&item->references, 1, memory_order_acq_rel) == 1)
        runloop__item_destroy(item);
}

static inline bool runloop__item_is_valid(const struct item *item) {
    return atomic_load_explicit(&item->state, memory_order_seq_cst) & ITEM_VALID;
}

/// Clears the valid bit. One caller is told that it was he, and takes the item out of its modes.
enum invalidation { INVALID_ALREADY, INVALIDATED, INVALIDATED_WHILE_FIRING };
enum invalidation runloop__item_invalidate(struct item *item);
/// When he has done so: releases the context, unless a call-out still uses it.
void runloop__item_retire(struct item *item, enum invalidation invalidation);
/// Brackets a call-out. `begin` is false, and there is to be none, if the item is invalid or firing already. `end` releases
/// the context if the item was invalidated meanwhile.
bool runloop__item_begin_firing(struct item *item);
void runloop__item_end_firing(struct item *item);
/// The first half of `end`, for those who hold a lock meanwhile: true if the context is to be released.
bool runloop__item_clear_firing(struct item *item);
void runloop__item_release_context(struct item *item);
static inline bool runloop__item_is_firing(const struct item *item) {
    return atomic_load_explicit(&item->state, memory_order_acquire) & ITEM_FIRING;
}

/// For timers and observers, which are in one loop at a time: locks that loop, or, when the item is in none, the item's
/// owner word itself. Returns the loop or NULL. Safe against the loop's thread ending meanwhile. `loop.c`
typedef _Atomic(runloop *) owner_word;
runloop *runloop__lock_foreign_owner(owner_word *owner);
void runloop__unlock_foreign_owner(owner_word *owner, runloop *loop);
/// HOLDS: loop. Makes `loop` the owner: 0, or -EBUSY if another loop is.
int runloop__contend_for_ownership(owner_word *owner, runloop *loop);
static inline int runloop__take_ownership(owner_word *owner, runloop *loop) {
    runloop *expected = NULL;
    return atomic_compare_exchange_strong(owner, &expected, loop) || expected == loop
               ? 0
               : runloop__contend_for_ownership(owner, loop);
}

//===-- modes (mode.c) -----------------------------------------------------------------------------------------------===//

struct heap_entry {
    int64_t key; ///< the timer's due instant
    runloop_timer *timer;
};

struct heap {
    struct heap_entry *entries;
    uint32_t count, capacity;
};

#define HEAP_NOWHERE UINT32_MAX

/// An immutable list of observers, sorted; replaced whole when it changes (observer.c).
struct observer_array {
    struct observer_array *next_retired;
    uint32_t count;
    _Atomic(uintptr_t) items[]; ///< observers, retained; the low bit marks one that was removed when memory had run out
};

struct mode {
    _Atomic(struct mode *) next;       ///< append-only: read by anyone, appended under lock
    const char *name;                  ///< constant, from the table of names
    _Atomic bool is_common;            ///< written under lock, never goes back
    _Atomic bool stop_requested;       ///< remembered stop of this mode
    uint64_t source_changes;           ///< lock: counts sources that came or went (source_modes.c)
    _Atomic uint32_t item_count;       ///< sources and timers: what keeps it from being empty; written under lock
    _Atomic uint32_t descriptor_count; ///< sources with a descriptor; written under lock
    _Atomic uint32_t observed;         ///< activities that some observer wants; written under lock
    _Atomic(struct observer_array *) observers;
    struct heap timers;           ///< lock
    _Atomic uint32_t timer_count; ///< firing ones included; written under lock
    uint32_t tolerant_count;      ///< lock: timers with a tolerance in the heap
    uint64_t posts_scanned;       ///< thread: posts up to this number are known not to match …
    bool posts_scanned_as_common; ///< thread: … if the mode was (not) common then
};

struct mode *runloop__find_other_mode(runloop *loop, const char *name);
/// HOLDS: loop. Finds or makes; NULL when memory ran out. Never called for the pseudo-mode.
struct mode *runloop__make_mode(runloop *loop, const char *name);
/// A mode that is made but not yet the loop's: `adopt` it, or free() it. NULL when memory ran out.
struct mode *runloop__new_mode(const char *name);
/// HOLDS: loop.
void runloop__adopt_mode(runloop *loop, struct mode *mode);
bool runloop__is_common_name(const char *name);
/// Own thread. Rule R23, for a mode without sources and timers.
bool runloop__mode_without_items_is_empty(runloop *loop, struct mode *mode);
/// HOLDS: loop. Only holders of the lock write the count: a plain sum, stored whole for those who read without it.
static inline void runloop__count(_Atomic uint32_t *count, int change) {
    uint32_t sum = atomic_load_explicit(count, memory_order_relaxed) + (uint32_t)change;
    atomic_store_explicit(count, sum, memory_order_release);
}
/// HOLDS: loop. Counts a source or timer that joined or left; a sleeper in a mode left empty is told.
static inline void runloop__mode_joined(struct mode *mode) {
    runloop__count(&mode->item_count, 1);
}

//===-- sources (source.c, binding.c) and ports (port.c) -------------------------------------------------------------===//

/// A source in a loop. Made once for each pair and kept as long as the source, so that a signal handler may walk a source's
/// bindings without a lock (binding.c).
struct binding {
    runloop_source *source;
    struct memberships modes;       ///< lock
    struct list on_port;            ///< lock
    struct port *port;              ///< lock
    _Atomic(runloop *) loop;        ///< constant once published; holds its memory
    _Atomic uint32_t signal_state;  ///< atomic: SIGNAL_ states (source.c)
    struct list pending;            ///< lock
    struct binding *next_incoming;  ///< atomic: with loop->incoming
    _Atomic(struct binding *) next; ///< atomic: the source's chain
    struct binding *next_abandoned; ///< the source's chain_busy
    struct common_item *common;     ///< lock: its place in the common set, or NULL
    struct list in_loop;            ///< lock: loop->bindings while it has modes
};

/// What an event or a signal touches comes first.
struct runloop_source {
    struct item item;
    union {
        void (*perform)(runloop_source *source, void *info);
        void (*ready)(runloop_source *source, runloop_readiness events, void *info);
    } call;
    _Atomic runloop_readiness events; ///< set first, then applied under the lock of each loop (source_modes.c)
    int descriptor;
    bool is_descriptor, is_counter;
    _Atomic uint64_t signalled; ///< 0, or the number of its first signal since it last performed
    struct binding first;       ///< inline, since most sources are in one loop
    struct item_config config;  ///< constant
    bool (*equal)(const void *info, const void *other_info);
    void (*schedule)(runloop_source *source, runloop *loop, const char *mode, void *info);
    void (*cancel)(runloop_source *source, runloop *loop, const char *mode, void *info);
    atomic_flag chain_busy;    ///< guards changes of the chain
    _Atomic uint32_t walkers;  ///< who reads the chain beyond the first binding
    struct binding *abandoned; ///< chain_busy: cut off, not yet safe to free
};

#define SOURCE_OF(pointer) ((runloop_source *)(void *)(pointer))

void runloop__bindings_init(runloop_source *source);
/// Any thread, signal handlers included: visits every binding of the source.
void runloop__bindings_each(runloop_source *source, void (*visit)(struct binding *binding, void *context),
                            void *context);
/// HOLDS: loop. The source's binding to the loop, or NULL; `make` creates it (NULL when memory ran out).
struct binding *runloop__binding_find(runloop_source *source, runloop *loop);
struct binding *runloop__binding_make(runloop_source *source, runloop *loop);
/// Without any lock. Gives up bindings to loops that are no more.
void runloop__bindings_sweep(runloop_source *source);
void runloop__bindings_free(runloop_source *source);

/// Conditions that there are, and at least one.
bool runloop__source_may_ask_for(runloop_readiness events);
/// HOLDS: loop. The binding has joined a mode: a signal made before that counts.
void runloop__source_queue_if_signalled(struct binding *binding);
/// Without any lock. Unlinks the binding, or all, from the loop's signalled lists.
void runloop__source_forget_signal(struct binding *binding);
void runloop__source_forget_all_signals(runloop *loop);
/// Own thread. Performs what is signalled in the mode: true if any performed.
bool runloop__source_pass(struct run *run);
/// HOLDS: loop; own thread. Is a source of the mode signalled?
bool runloop__source_any_signalled(runloop *loop, struct mode *mode);
void runloop__source_destroy(runloop_source *source);

enum port_kind { PORT_DESCRIPTOR, PORT_MAIN_QUEUE };

/// A descriptor in a loop: one registration with epoll for all sources on it. All fields: lock.
struct port {
    enum port_kind kind;
    int descriptor;
    uint32_t ready;      ///< reported and not yet served
    uint32_t pins;       ///< runs that have chosen it and not yet served it
    struct list sources; ///< bindings
    struct list in_ready;
    uint64_t reports;    ///< counts reports, so that a run can tell "served meanwhile" from "still the one I chose"
    uint32_t registered; ///< what epoll was asked for; 0: not in the set
    bool in_set;
    bool is_zombie; ///< out of use, but epoll may still report it
    struct list narrowed;
    struct port *next; ///< in its bucket, or in the graveyard
};

/// HOLDS: loop. Joins / leaves the port of the source's descriptor. Negative errno of epoll_ctl.
int runloop__port_join(struct binding *binding);
void runloop__port_leave(struct binding *binding);
/// HOLDS: loop. A further mode or one less: what the port's sources want has changed.
int runloop__port_update(runloop *loop, struct port *port);
/// HOLDS: loop. One of the port's sources asks for something else.
int runloop__port_ask_anew(runloop *loop, struct port *port);
/// HOLDS: loop. Notes what a wait reported.
void runloop__port_report(runloop *loop, struct port *port, uint32_t events);
/// HOLDS: loop. Has a port been reported that the run can serve?
bool runloop__port_is_ready(struct run *run);
/// HOLDS: loop. Chooses the first one: into the hand, if observers are told before it is served, else its sources are collected.
/// False if there is none.
bool runloop__port_choose(struct run *run);
void runloop__port_take_in_hand(struct run *run, struct port *port);
/// HOLDS: loop. Before any wait: all that this mode wants must be able to end it.
void runloop__ports_prepare_wait(struct run *run);
/// HOLDS: loop. Before a wait that may sleep: nothing that this mode does not want may end it.
void runloop__ports_narrow(struct run *run);
void runloop__port_unpin(runloop *loop, struct port *port);
/// Own thread. Collects from the port the run has chosen, unless that was served meanwhile.
void runloop__port_serve(struct run *run);
/// Own thread. Calls what was collected: true if any was called.
bool runloop__port_call(struct run *run);
void runloop__ports_free_graveyard(runloop *loop);
void runloop__ports_free(runloop *loop);

//===-- the port set: epoll, eventfd, timerfd (portset.c) ------------------------------------------------------------===//

/// Opens epoll and eventfd. Negative errno.
int runloop__portset_open(runloop *loop);
/// HOLDS: loop; own thread. An epoll set with the wake-up and timer descriptors only, in place of the old one.
int runloop__portset_reopen(runloop *loop);
void runloop__portset_close(runloop *loop);
/// How many events one wait fetches. More than this gained nothing in measurements, one at a time cost 40 %.
enum { RUNLOOP__BATCH = 64 };

/// Own thread, without the lock. Waits until `timeout_ns` from now (0: polls, RUNLOOP_FOREVER: no limit) or until something
/// is ready, then notes all that is. `timer_expired` tells whether the timer descriptor was among it. How many events came:
/// 0 if the time is over, less if a signal interrupted the wait. If any came, returns with the loop locked.
int runloop__portset_wait(runloop *loop, int64_t timeout_ns, bool *timer_expired);
/// HOLDS: loop. Arms the timer descriptor, which is made when first needed. Negative errno.
int runloop__portset_arm(runloop *loop, int64_t fire_ns);
int runloop__portset_watch(runloop *loop, struct port *port, int operation, uint32_t events);
void runloop__portset_write_wake(runloop *loop);

//===-- the wake word (wake.c) ---------------------------------------------------------------------------------------===//

/// Announces that the loop is about to sleep: true if it must not, because a wake-up or stop came before.
bool runloop__wake_announce_sleep(runloop *loop);
/// After a wait, before another: true if a wake-up or stop has come; otherwise forgets kicks.
bool runloop__wake_was_woken(runloop *loop);
/// Makes a sleeper look again; no wake-up that anybody is told of.
void runloop__wake_kick(runloop *loop);

//===-- timers (timer.c, timer_modes.c, fire.c) -----------------------------------------------------------------------------===//

/// One cache line, for it is mostly alone that a timer is touched in a heap of many. All else is in `extras`.
struct runloop_timer {
    struct item item; ///< its state is written with the owner locked
    void (*fire)(runloop_timer *timer, void *info);
    owner_word owner;
    _Atomic int64_t due_ns;                ///< written with the owner locked
    _Atomic(struct timer_extras *) extras; ///< or NULL; set once, with the owner locked
    struct mode *mode;                     ///< owner: the first of its modes, or NULL
    uint32_t position;                     ///< owner: its place in that mode's heap, or HEAP_NOWHERE while firing
    uint32_t serial_low;                   ///< owner: with item.serial_high, when it joined its loop
};
_Static_assert(sizeof(struct runloop_timer) <= RUNLOOP__BLOCK_SIZE, "A timer is one block.");

/// What many timers do without.
struct timer_extras {
    struct item_config config;
    int64_t interval_ns;          ///< constant
    _Atomic int64_t tolerance_ns; ///< written with the owner locked
    _Atomic uint64_t missed;
    uint64_t unreported;           ///< owner: instants that passed during its last call-out
    struct further_modes *further; ///< owner
};
_Static_assert(sizeof(struct timer_extras) <= RUNLOOP__BLOCK_SIZE, "What else there is of a timer is one block, too.");

/// Of a timer that is in more than one mode, or in the common set.
struct further_modes {
    struct common_item *common; ///< its place in the common set, or NULL
    uint32_t count, capacity;
    struct membership modes[];
};

static inline struct timer_extras *runloop__timer_extras(const runloop_timer *timer) {
    return atomic_load_explicit(&timer->extras, memory_order_acquire);
}

static inline int64_t runloop__timer_interval(const runloop_timer *timer) {
    struct timer_extras *extras = runloop__timer_extras(timer);
    return extras ? extras->interval_ns : 0;
}

static inline int64_t runloop__timer_tolerance(const runloop_timer *timer) {
    struct timer_extras *extras = runloop__timer_extras(timer);
    return extras ? atomic_load_explicit(&extras->tolerance_ns, memory_order_relaxed) : 0;
}

static inline uint64_t runloop__timer_serial(const runloop_timer *timer) {
    return (uint64_t)timer->item.serial_high << 32 | timer->serial_low;
}

static inline struct further_modes *runloop__timer_further(const runloop_timer *timer) {
    struct timer_extras *extras = runloop__timer_extras(timer);
    return extras ? extras->further : NULL;
}

/// The order in which timers fire (R74 and ties).
bool runloop__timer_precedes(const runloop_timer *a, const runloop_timer *b);

/// HOLDS: loop. `prepare` makes room, so that the `insert` after it can't fail: -ENOMEM. Who extracts releases the mode's
/// reference afterwards, unlocked.
int runloop__timer_prepare(runloop_timer *timer, struct mode *mode, uint32_t modes, uint32_t timers);
void runloop__timer_insert(runloop *loop, runloop_timer *timer, struct mode *mode);
void runloop__timer_extract(runloop *loop, runloop_timer *timer, struct mode *mode);
/// HOLDS: loop. After extractions, as the last thing that is done to the timer: in no mode and no common set it has no owner, and
/// another loop may have it at once.
void runloop__timer_leave_owner(runloop_timer *timer);
/// HOLDS: owner. Its place in the mode's heap, or NULL if it is not in the mode.
static inline uint32_t *runloop__timer_position(runloop_timer *timer, const struct mode *mode) {
    if (timer->mode == mode)
        return &timer->position;
    struct further_modes *further = runloop__timer_further(timer);
    for (uint32_t i = 0; further && i < further->count; i++) {
        if (further->modes[i].mode == mode)
            return &further->modes[i].position;
    }
    return NULL;
}
/// HOLDS: owner. The modes it is in, one by one: `index` from 0, NULL at the end.
struct mode *runloop__timer_mode(const runloop_timer *timer, uint32_t index);
/// HOLDS: owner.
static inline struct common_item *runloop__timer_common(const runloop_timer *timer) {
    struct further_modes *further = runloop__timer_further(timer);
    return further ? further->common : NULL;
}

/// HOLDS: owner, or its word.
static inline unsigned runloop__timer_state(const runloop_timer *timer) {
    return atomic_load_explicit(&timer->item.state, memory_order_relaxed);
}
static inline void runloop__timer_set_state(runloop_timer *timer, unsigned state) {
    atomic_store_explicit(&timer->item.state, (uint8_t)state, memory_order_release);
}
/// HOLDS: the owner, or its word. -ENOMEM.
int runloop__timer_ensure_extras(runloop_timer *timer);
/// HOLDS: owner. Its date has changed, or whether it has a tolerance (by 1, 0 or -1); it is not firing.
void runloop__timer_moved(runloop *loop, runloop_timer *timer);
void runloop__timer_became_tolerant(runloop *loop, runloop_timer *timer, int change);

/// HOLDS: loop. A firing timer stands outside its modes' heaps. `begin` is false if it is not to fire.
bool runloop__timer_begin_firing(runloop *loop, runloop_timer *timer);
/// HOLDS: the owner, or its word. Back into the heaps; true if the context is to be released.
bool runloop__timer_end_firing(runloop *owner, runloop_timer *timer);
/// HOLDS: the owner, or its word. Ends the timer's validity; the caller releases the references, and the context if it is told so,
/// unlocked. None if it was invalid.
struct timer_remains {
    uint32_t references;
    bool context;
};
struct timer_remains runloop__timer_bury(runloop *owner, runloop_timer *timer);
void runloop__timer_release_remains(runloop_timer *timer, struct timer_remains remains);
/// Gives back the memory of an empty heap.
void runloop__timers_free(struct mode *mode);
/// HOLDS: loop; own thread. Is a timer of the mode due, at `now_ns`?
bool runloop__timers_are_due(struct mode *mode, int64_t now_ns);
/// HOLDS: loop. When a sleeper in the mode must wake for its timers.
int64_t runloop__timers_latest(struct mode *mode);
/// Own thread. Fires what is due in the run's mode: true if anything was.
bool runloop__timers_fire(struct run *run);
void runloop__timer_destroy(runloop_timer *timer);

//===-- observers (observer.c) ---------------------------------------------------------------------------------------===//

struct runloop_observer {
    struct item item;
    struct item_config config; ///< constant
    void (*observe)(runloop_observer *observer, runloop_activity activity, void *info);
    owner_word owner;
    runloop_activity activities;   ///< constant
    bool repeats;                  ///< constant
    struct common_item *common;    ///< owner: its place in the common set, or NULL
    struct memberships modes;      ///< owner
    struct mode *joined_with_mode; ///< owner: while a mode is being declared common (common.c)
};

/// HOLDS: loop. `insert`: -ENOMEM leaves all as it was. Who extracts releases the mode's reference afterwards, unlocked, then
/// calls `collect`, which frees the lists that were replaced and that nobody walks any more.
int runloop__observer_insert(runloop *loop, runloop_observer *observer, struct mode *mode);
void runloop__observer_extract(runloop *loop, runloop_observer *observer, struct mode *mode);
void runloop__observer_leave_owner(runloop_observer *observer);
void runloop__observers_collect(runloop *loop);
void runloop__observers_free(struct mode *mode);
/// HOLDS: loop, or in a round. NULL where one was removed.
runloop_observer *runloop__observer_at(struct observer_array *array, uint32_t index);
/// Own thread. Tells the mode's observers.
void runloop__observe_round(struct run *run, runloop_activity activity);
void runloop__observer_destroy(runloop_observer *observer);

//===-- common items (common.c) --------------------------------------------------------------------------------------===//

/// An item of a loop's common set, in order of addition. Holds a reference.
struct common_item {
    struct list in_set;
    struct item *item;
};

/// HOLDS: loop. -ENOMEM.
int runloop__common_enter(runloop *loop, struct item *item, struct common_item **place);
/// HOLDS: loop. The caller releases the set's reference afterwards, unlocked.
void runloop__common_leave(struct common_item **place);
/// HOLDS: loop. Where an item keeps its place in the set: NULL if it keeps none.
struct common_item **runloop__common_place(runloop *loop, struct item *item);
/// Without any lock. Before a timer or an observer is added to another loop.
void runloop__common_leave_if_stranded(struct item *item, owner_word *owner, runloop *destination);
/// Without the lock, at teardown: empties the set.
void runloop__common_clear(runloop *loop);
/// HOLDS: loop. The next common mode after `mode` (NULL: the first).
struct mode *runloop__next_common_mode(runloop *loop, struct mode *mode);
/// Without the lock. Adds a source to a mode because both are common: 1, 0 if it is there, has an equal there or is no longer common,
/// or a negative errno (source_modes.c).
int runloop__source_join_common(runloop *loop, runloop_source *source, struct mode *mode);

//===-- posts (perform.c) --------------------------------------------------------------------------------------------===//

/// Own thread.
void runloop__perform_batch(struct run *run);
bool runloop__perform_any_pending(runloop *loop, struct mode *mode);
/// Discards what will never run, and refuses what comes later.
void runloop__perform_close(runloop *loop);
#define POSTS_CLOSED ((struct post *)(uintptr_t)1)

//===-- call-outs (callout.c): the only place that calls user code on the loop's behalf ------------------------------===//

void runloop__IS_CALLING_OUT_TO_AN_OBSERVER(runloop_observer *observer, runloop_activity activity);
void runloop__IS_CALLING_OUT_TO_A_TIMER(runloop_timer *timer);
void runloop__IS_CALLING_OUT_TO_A_SIGNALLED_SOURCE(runloop_source *source);
void runloop__IS_CALLING_OUT_TO_A_DESCRIPTOR_SOURCE(runloop_source *source, runloop_readiness events);
void runloop__IS_CALLING_OUT_TO_A_PERFORMED_FUNCTION(runloop_function function, void *info);
void runloop__IS_SERVICING_THE_MAIN_DISPATCH_QUEUE(void (*drain)(void *));
void runloop__IS_CALLING_OUT_TO_A_SOURCE_SCHEDULE(runloop_source *source, runloop *loop, const char *mode);
void runloop__IS_CALLING_OUT_TO_A_SOURCE_CANCEL(runloop_source *source, runloop *loop, const char *mode);
void runloop__IS_CALLING_OUT_TO_A_CONTEXT_RELEASE(void (*release)(void *), void *info);

//===-- the main dispatch queue (dispatch_main.c) --------------------------------------------------------------------===//

/// Own thread. Can this loop serve the main queue now, were the mode common?
bool runloop__main_queue_is_available(runloop *loop);
/// Own thread. Registers the queue's descriptor if that is new: true if runs can serve it.
bool runloop__main_queue_watch(runloop *loop);
/// Own thread. Is it ready? Asks libdispatch's eventfd alone.
bool runloop__main_queue_look(struct run *run);
/// Own thread. True if it was ready and has been served.
bool runloop__main_queue_serve(struct run *run);
/// Own thread. Is a run that starts now nested in the queue's work, and is there still a note to write about what that leaves
/// waiting?
bool runloop__main_queue_is_left(runloop *loop);
/// In such a run, before and after waits: writes the note if it is time to. For how long to wait, so as not to miss that time.
int64_t runloop__main_queue_limit_wait(struct run *run, int64_t timeout_ns);

//===-- notes to the developer (note.c) ------------------------------------------------------------------------------===//

enum note { NOTE_MAIN_QUEUE_WAITS };

/// Is it enabled, and not yet written?
bool runloop__note_is_due(enum note note);
/// Writes it to standard error, unless that was done before or notes are off.
void runloop__note(enum note note);

//===-- objects of language bindings (associated.c) ------------------------------------------------------------------===//

struct association;
/// Own thread, as the last thing of its end. Releases the objects.
void runloop__associated_end(runloop *loop);
/// With the loop's memory.
void runloop__associated_free(runloop *loop);

//===-- the loop (loop.c) --------------------------------------------------------------------------------------------===//

struct runloop {
    _Atomic uint32_t references;           ///< of clients, of the thread, of calls under way: descriptors stay open
    _Atomic uint32_t holds;                ///< of bindings, and one for all references: memory stays
    uint32_t fork_generation;              ///< constant
    bool is_main;                          ///< constant
    _Atomic bool is_finished;              ///< its thread is ending or has ended: additions are refused
    _Atomic bool is_torn_down;             ///< … and nothing is in it any more
    int epoll_descriptor, wake_descriptor; ///< constant until the last reference goes
    int timer_descriptor;                  ///< lock; -1 until a timer needs it

    _Atomic uint32_t wake_word;         ///< wake.c
    _Atomic bool accepts_wakeups;       ///< written by thread (wake.c)
    _Atomic bool latched_stop;          ///< wake.c
    _Atomic(const char *) current_mode; ///< written by thread
    struct run *run;                    ///< thread: the innermost active run
    _Atomic bool is_fetching;           ///< a wait may hold pointers to ports (portset.c)

    struct lock lock;
    _Atomic(struct mode *) modes;      ///< append-only
    _Atomic(struct mode *) *last_mode; ///< lock
    struct list common_items;          ///< lock
    uint64_t common_changes;           ///< lock: counts items that entered or left the common set
    struct list bindings;              ///< lock: sources that are in some mode
    uint64_t serial;                   ///< lock: numbers additions, from 1

    _Atomic(struct binding *) incoming; ///< atomic: signalled, not yet seen by the thread (source.c)
    struct list pending;                ///< lock: seen, not yet performed
    _Atomic bool has_pending;           ///< written under lock
    _Atomic uint64_t own_signals;       ///< thread: how often it signalled its own sources (source.c)
    _Atomic bool rescan;                ///< atomic: a signal found its binding half linked

    struct port **buckets; ///< lock: ports by descriptor
    uint32_t bucket_count, port_count;
    struct list ready_ports, narrowed_ports; ///< lock
    _Atomic bool ports_need_a_look;          ///< set under lock: the lists above or the graveyard may not be empty
    struct mode *narrowed_for;               ///< lock: the mode that the narrowed ports suit
    struct port *graveyard;                  ///< lock: freed when no wait can hold them
    uint32_t zombie_count;                   ///< lock
    bool epoll_is_stale;                     ///< lock: the set holds registrations that nobody can remove
    struct port main_queue_port;             ///< lock
    unsigned main_queue_depth;               ///< thread: inside so many main-queue batches
    bool main_queue_is_taken;                ///< thread: its counter was read, and is yet to be served
    int64_t main_queue_left_ns;              ///< thread: since when work waits for a nested run; 0: none is known to

    struct mode *sleeping_in; ///< lock: the mode it sleeps in
    int64_t armed_ns;         ///< lock: when the timer descriptor will expire
    runloop_timer **firing;   ///< lock: timers whose call-outs run, the innermost last
    uint32_t firing_count, firing_capacity;
    bool timers_served_last; ///< thread
    _Atomic int64_t spin_limit_ns;
    struct spin {
        uint32_t skips, to_skip; ///< sleeps without a look-out after the last one in vain, and what is left of them
    } spin;                      ///< thread
    _Atomic uint64_t wakeups_saved;

    _Atomic uint32_t observing;               ///< atomic: rounds under way (observer.c)
    _Atomic(struct observer_array *) retired; ///< written under lock

    _Atomic(struct post *) inbox; ///< atomic: newest first (perform.c)
    struct list posts;            ///< thread: in order
    uint64_t post_serial;         ///< thread
    uint64_t post_floor;          ///< thread: posts up to this number belong to an outer drain

    _Atomic(struct association *) associations; ///< pushed under lock (associated.c)
    _Atomic uint32_t association_readers;       ///< atomic: other threads that are about to retain an object

    struct item **collected; ///< thread: retained items that call-outs are about to reach, a stack over nested runs
    uint32_t collected_count, collected_capacity;
};

/// 0 and a loop in `*out`; or a negative errno and NULL.
int runloop__create(bool is_main, runloop **out);
/// On the loop's own thread, when it ends (R8).
void runloop__finish(runloop *loop);
void runloop__hold(runloop *loop);
void runloop__unhold(runloop *loop);

/// How often this process is a fork of the one in which the library was loaded. `registry.c`
extern _Atomic uint32_t runloop__fork_generation;

static inline bool runloop__is_inherited(const runloop *loop) {
    return loop->fork_generation != atomic_load_explicit(&runloop__fork_generation, memory_order_relaxed);
}

struct this_thread {
    runloop *loop;
    unsigned passes; ///< of its destructors
    int error;       ///< why there is no loop
    bool has_ended;
};
extern _Thread_local FAST_TLS struct this_thread runloop__this_thread;
static inline runloop *runloop__thread_loop(void) {
    return runloop__this_thread.loop;
}

/// 0, -EINVAL for NULL, -ECHILD for a loop inherited across fork.
static inline int runloop__check(runloop *loop) {
    if (!loop)
        return -EINVAL;
    return runloop__is_inherited(loop) ? -ECHILD : 0;
}

// An inherited lock may be held by a thread that does not exist in the child, where nobody else can want it.
static inline void runloop__lock(runloop *loop) {
    if (!runloop__is_inherited(loop))
        lock_take(&loop->lock);
}

static inline void runloop__unlock(runloop *loop) {
    if (!runloop__is_inherited(loop))
        lock_give(&loop->lock);
}

/// The owner is mostly the caller's own loop, which nobody else can end.
static inline runloop *runloop__lock_owner(owner_word *owner) {
    runloop *loop = atomic_load_explicit(owner, memory_order_relaxed);
    if (loop && loop == runloop__this_thread.loop) {
        lock_take(&loop->lock);
        if (atomic_load_explicit(owner, memory_order_relaxed) == loop)
            return loop;
        lock_give(&loop->lock);
    }
    return runloop__lock_foreign_owner(owner);
}

static inline void runloop__unlock_owner(owner_word *owner, runloop *loop) {
    if (loop && loop == runloop__this_thread.loop)
        lock_give(&loop->lock);
    else
        runloop__unlock_foreign_owner(owner, loop);
}

static inline void runloop__mode_left(runloop *loop, struct mode *mode) {
    runloop__count(&mode->item_count, -1);
    if (loop->sleeping_in == mode && atomic_load_explicit(&mode->item_count, memory_order_relaxed) == 0)
        runloop__wake_kick(loop);
}

/// False when memory ran out.
bool runloop__collected_grow(runloop *loop);
/// Own thread. Pushes an item for a call-out to come; false when memory ran out (it stays for a later turn). The entry is a
/// reference, which whoever pushes an item unretained makes before he unlocks the loop.
static inline bool runloop__collect_unretained(runloop *loop, struct item *item) {
    if (loop->collected_count == loop->collected_capacity && !runloop__collected_grow(loop))
        return false;
    loop->collected[loop->collected_count++] = item;
    return true;
}
static inline bool runloop__collect(runloop *loop, struct item *item) {
    bool collected = runloop__collect_unretained(loop, item);
    if (collected)
        runloop__item_retain(item);
    return collected;
}
static inline void runloop__collected_drop(runloop *loop, uint32_t index) {
    struct item *item = loop->collected[index];
    loop->collected[index] = NULL;
    if (item)
        runloop__item_release(item);
}
/// Sorts those from `base` on; stable.
void runloop__collected_sort(runloop *loop, uint32_t base, bool (*precedes)(const void *, const void *));

//===-- the registry of threads (registry.c), clock (clock.c), names (name.c) ----------------------------------------===//

/// Why this thread has no loop: a negative errno.
int runloop__thread_error(void);
/// Nobody who looked up an item's owner under the registry's lock is still on the way to referencing it.
void runloop__registry_lock(void);
void runloop__registry_unlock(void);

int64_t runloop__saturating_add(int64_t instant_ns, int64_t duration_ns);
const char *runloop__intern(const char *name);
void runloop__names_after_fork(void);

//===-- one active run (run.c, wait.c) -------------------------------------------------------------------------------===//

enum choice {
    CHOICE_NONE,
    CHOICE_TIMERS,
    CHOICE_PORT,    ///< in hand: chosen, and acknowledged when it is served (R45)
    CHOICE_SOURCES, ///< a port's, collected: nobody is told anything between the choice and the calls
};

struct run {
    runloop *loop;
    struct mode *mode;
    struct run *outer;
    uint32_t outer_word;
    bool outer_accepts;
    const char *outer_mode;
    int64_t limit_ns, deadline_ns;
    bool returns_after_source;
    bool serves_main_queue; ///< fixed for the run
    bool leaves_main_queue; ///< it is nested in main-queue work, and what waits meanwhile is worth a note
    bool served_main_queue; ///< in the previous iteration
    bool is_first_iteration;
    bool looked_at_main_queue; ///< in this iteration, and found it not ready
    enum choice choice;        ///< what the wait has chosen to serve
    struct port *port;         ///< pinned, if the choice is a port
    uint64_t port_report;
    uint32_t chosen_serial;  ///< the loop's number of additions when it was chosen
    uint32_t collected_base; ///< the sources, if they are the choice, begin here
    uint32_t ready;          ///< … and this is what their port was reported for
    bool needs_counter;      ///< … and one of them has counter semantics
    bool counted;            ///< … whose counter was read
    bool timer_ended_wait;
};

/// Own thread, without the lock. Before a sleep, if the loop was asked to: looks out for a wake-up for a moment (spin.c).
void runloop__spin(struct run *run);
/// Waits as the iteration demands and chooses one port.
void runloop__wait(struct run *run, bool poll);
/// Looks whether the main queue is ready, without waiting; if so, that is the choice.
bool runloop__wait_choose_main_queue(struct run *run);

//===-- quick looks --------------------------------------------------------------------------------------------------===//
// Most of an iteration finds nothing to do. These see that without a call, so that what is not used costs nothing.

/// Most lookups are of the default mode, by its interned name.
static inline struct mode *runloop__find_mode(runloop *loop, const char *name) {
    struct mode *first = atomic_load_explicit(&loop->modes, memory_order_acquire);
    return first && first->name == name ? first : runloop__find_other_mode(loop, name);
}

static inline void runloop__observe(struct run *run, runloop_activity activity) {
    if (atomic_load_explicit(&run->mode->observed, memory_order_relaxed) & activity)
        runloop__observe_round(run, activity);
}

/// False only if there is no post at all.
static inline bool runloop__perform_may_have_work(runloop *loop) {
    return atomic_load_explicit(&loop->inbox, memory_order_acquire) || !list_is_empty(&loop->posts);
}

static inline void runloop__perform_drain(struct run *run) {
    if (runloop__perform_may_have_work(run->loop))
        runloop__perform_batch(run);
}

/// False only if no source is signalled, in whatever mode.
static inline bool runloop__source_may_be_signalled(runloop *loop) {
    return atomic_load(&loop->incoming) || atomic_load(&loop->has_pending) || atomic_load(&loop->rescan);
}

static inline bool runloop__source_perform_signalled(struct run *run) {
    return runloop__source_may_be_signalled(run->loop) && runloop__source_pass(run);
}

static inline bool runloop__mode_is_empty(runloop *loop, struct mode *mode) {
    return atomic_load_explicit(&mode->item_count, memory_order_acquire) == 0 &&
           runloop__mode_without_items_is_empty(loop, mode);
}

#endif // RUNLOOP_INTERNAL_H
