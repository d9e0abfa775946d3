// item.h — what sources, timers and observers are made of: recycled blocks, memberships in modes, the common part of an item. Part of internal.h.
#ifndef RUNLOOP_ITEM_H
#define RUNLOOP_ITEM_H

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

/// A cache line of its own, uninitialised; NULL when memory ran out. Taken and given back by any thread, often without a lock and
/// seldom by the allocator, whichever thread took it.
void *runloop__block_new(void);
void runloop__block_free(void *block);

//===-- memberships: the modes that an item is in (memberships.c) ----------------------------------------------------===//

struct membership {
    struct mode *mode;
    /// Timers: the place in the mode's heap, or HEAP_NOWHERE while firing. Sources: when it was added to the mode.
    uint32_t position;
};

/// Of an item that is in more than one mode, or a timer or source that is in the common set.
struct further_modes {
    struct common_item *common; ///< its place in the common set, or NULL
    uint32_t count, capacity;
    struct membership modes[];
};

/// Makes it, or makes it larger, so that there is room for so many modes: -ENOMEM.
int runloop__further_reserve(struct further_modes **further, uint32_t needed);

/// The first one is inline, since most items are in one mode.
struct memberships {
    struct mode *mode;             ///< or NULL
    struct further_modes *further; ///< or NULL
    uint32_t position;             ///< in the first mode
    int32_t descriptor;            ///< sources: what they watch (source.h); here, because here is room
};

static inline uint32_t runloop__memberships_count(const struct memberships *list) {
    return !list->mode ? 0 : list->further ? 1 + list->further->count : 1;
}

static inline struct mode *runloop__mode_at(const struct memberships *list, uint32_t index) {
    return index == 0 ? list->mode : list->further->modes[index - 1].mode;
}

uint32_t *runloop__further_position(struct further_modes *further, const struct mode *mode);
/// Its place in the mode, or NULL if it is not in the mode.
static inline uint32_t *runloop__position_in(struct memberships *list, const struct mode *mode) {
    if (list->mode == mode)
        return &list->position;
    return list->further ? runloop__further_position(list->further, mode) : NULL;
}

static inline bool runloop__is_member(struct memberships *list, const struct mode *mode) {
    return runloop__position_in(list, mode) != NULL;
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
    ITEM_RELEASES = 64,  ///< Timers, these three: what their extras say, to be had without these.
    ITEM_DESCRIPTOR = 8, ///< Sources, these four: it is a descriptor source. Constant.
    ITEM_COUNTER = 16,   ///< … with counter semantics. Constant.
    ITEM_MARKED = 32,    ///< … and was signalled, which leads to nothing.
    ITEM_CHAIN = 64,     ///< The lock of its chain of bindings (binding.c).
    ITEM_OBJECT = 128,   ///< Timers and observers: part of an object of the overlay, which is the info. Constant.
};

struct item {
    _Atomic uint32_t references;
    _Atomic uint8_t state;       ///< ITEM_ bits
    uint8_t kind : 7;            ///< constant: an item_kind
    uint8_t is_closure : 1;      ///< constant: a timer that keeps a closure of Swift, whose function is its `fire`
    union {                      ///< here, because here is room
        uint16_t serial_high;    ///< timers: the upper part of their serial
        _Atomic uint16_t events; ///< descriptor sources: what epoll is asked for; set first, then applied in each loop
    };
    void *info; ///< constant: the context's
};

/// What else there is of a context, and the order.
struct item_config {
    void (*release)(void *info);
    char *(*describe)(void *info);
    int32_t order;
};

/// What the overlay has told: constant once the first of its objects is made.
extern struct object_hooks {
    void (*retain)(void *object);
    void (*release)(void *object);
    _Atomic(runloop_function) call_closure; ///< told last: who acquires it sees the others
    struct item_config timer;               ///< of timers that are parts of objects
    struct item_config closure;             ///< of timers that keep closures
} runloop__object_hooks;

/// NULL before it is known how closures are kept.
static inline const struct item_config *runloop__closure_config(void) {
    return atomic_load_explicit(&runloop__object_hooks.call_closure, memory_order_acquire)
               ? &runloop__object_hooks.closure
               : NULL;
}

/// References 1, valid; retains the context. `runloop__config_of` tells what of a context and an order is kept.
static inline void runloop__item_init(struct item *item, enum item_kind kind, const runloop_context *context) {
    atomic_init(&item->references, 1);
    atomic_init(&item->state, ITEM_VALID);
    item->kind = (uint8_t)kind;
    item->is_closure = false;
    item->serial_high = 0;
    item->info = context->retain ? context->retain(context->info) : context->info;
}
struct item_config runloop__config_of(const runloop_context *context, int32_t order);
/// An item's own, or one of nothing.
const struct item_config *runloop__item_config(const struct item *item);
void runloop__item_destroy(struct item *item);

/// The references of an object's item beside the object's own are one reference to the object. The first is taken by somebody who
/// has the object, and counted before anybody else can see the item through it; so the object's retain is never late.
void runloop__item_retain_object(struct item *item);
void runloop__item_release_object(struct item *item);
static inline bool runloop__item_is_object(const struct item *item) {
    return atomic_load_explicit(&item->state, memory_order_relaxed) & ITEM_OBJECT;
}

static inline void runloop__item_retain(struct item *item) {
    if (atomic_fetch_add_explicit(&item->references, 1, memory_order_relaxed) == 1 && runloop__item_is_object(item))
        runloop__item_retain_object(item);
}

static inline void runloop__item_release(struct item *item) {
    // Asked before the count changes: then the item may be gone.
    bool is_object = runloop__item_is_object(item);
    // A last owner needs no locked instruction: nobody else can be changing the count.
    uint32_t before = atomic_load_explicit(&item->references, memory_order_acquire);
    if (before != 1)
        before = atomic_fetch_sub_explicit(&item->references, 1, memory_order_acq_rel);
    if (before == 1)
        runloop__item_destroy(item);
    else if (before == 2 && is_object)
        runloop__item_release_object(item);
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

#endif // RUNLOOP_ITEM_H
