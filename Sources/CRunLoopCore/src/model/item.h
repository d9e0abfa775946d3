// item.h — items, and their memberships in modes.
#ifndef RUNLOOP_ITEM_H
#define RUNLOOP_ITEM_H

#include "kernel/kernel.h"

struct attachment;
struct item;
struct membership;
struct mode;

//===-- items: what sources, timers and observers share (item.c) -----------------------------------------------------===//

enum item_kind { ITEM_SIGNAL_SOURCE, ITEM_DESCRIPTOR_SOURCE, ITEM_TIMER, ITEM_OBSERVER };

enum {
    ITEM_VALID = 1,
    ITEM_CALLED = 2,        ///< timers, observers: a call-out is running, and the context is kept until it returns
    ITEM_RELEASE_LATER = 4, ///< timers, observers: invalidated during a call-out, whose end releases the context
    ITEM_REDATED = 8,       ///< timers: a date was set during the call-out
    ITEM_PAIR = 32,         ///< constant: call-outs are given the address of both words of info
    ITEM_SHARED = 64, ///< constant: info is an object that owns one reference, and is retained while there are more
    ITEM_ENDS_WITH_LOOP = 128, ///< constant: becomes invalid when the loop's thread ends
    ITEM_REPEATS = 256,        ///< timers, constant
    ITEM_KIND_SHIFT = 24,      ///< constant, from here on: the item_kind
};

/// What the kinds do differently. All but `destroy` are called with the lock.
struct item_class {
    enum item_kind kind;
    /// The item has just become a member of the membership's mode. After an error (negative errno) it is not.
    int (*insert)(runloop *loop, struct attachment *attachment, struct membership *membership);
    /// The item is about to leave the mode.
    void (*extract)(runloop *loop, struct attachment *attachment, struct membership *membership);
    /// Timers: a call-out of the item has begun or ended. `owner` may be NULL.
    void (*called)(runloop *owner, struct attachment *attachment);
    /// The last reference is gone. Not under a lock.
    void (*destroy)(struct item *item);
};

struct item {
    union {
        void *info[2]; ///< constant: the context's, and a second word for language bindings …
        struct {
            void *first_info;
            char *(*describe)(void *info); ///< … or the context's too, unless it is ITEM_PAIR
        };
    };
    /// Not at the front, where allocators write into freed blocks: so an over-release finds a count of 0.
    _Atomic uint32_t references;
    _Atomic uint32_t state; ///< ITEM_ bits; of timers and observers written under `owner`
    void (*release)(void *info);
    int32_t order;              ///< constant
    _Atomic uint32_t line;      ///< of the name, or 0
    _Atomic(const char *) name; ///< may be NULL
};

/// By kind, from the first item of the kind on.
extern _Atomic(const struct item_class *) runloop__item_classes[4];

/// References 1, valid; retains the context.
void runloop__item_init(struct item *item, const struct item_class *class, const runloop_context *context,
                        int32_t order);
void runloop__item_destroy(struct item *item);
void runloop__item_release_context(struct item *item);
void runloop__item_notify_object(struct item *item, bool is_shared);

static inline uint32_t item_state(const struct item *item) {
    return atomic_load_explicit(&item->state, memory_order_relaxed);
}

static inline enum item_kind item_kind(const struct item *item) {
    return (enum item_kind)(item_state(item) >> ITEM_KIND_SHIFT);
}

static inline bool item_is_source(const struct item *item) {
    return item_kind(item) <= ITEM_DESCRIPTOR_SOURCE;
}

static inline const struct item_class *item_class(const struct item *item) {
    return atomic_load_explicit(&runloop__item_classes[item_kind(item)], memory_order_acquire);
}

static inline void item_set_name(struct item *item, const char *name, uint32_t line) {
    atomic_store_explicit(&item->line, line, memory_order_relaxed);
    atomic_store_explicit(&item->name, name, memory_order_release);
}

static inline const char *item_name(const struct item *item, uint32_t *line) {
    const char *name = atomic_load_explicit(&item->name, memory_order_acquire);
    if (line)
        *line = name ? atomic_load_explicit(&item->line, memory_order_relaxed) : 0;
    return name;
}

static inline bool item_is_valid(const struct item *item) {
    return atomic_load(&item->state) & ITEM_VALID;
}

/// What call-outs are given.
static inline void *item_info(struct item *item) {
    return item_state(item) & ITEM_PAIR ? (void *)item->info : item->info[0];
}

/// What the context says of its info, to be freed, or NULL. Not under a lock.
static inline char *item_describe(struct item *item) {
    bool describes = !(item_state(item) & ITEM_PAIR) && item->describe;
    return describes ? item->describe(item->info[0]) : NULL;
}

static inline void item_retain(struct item *item) {
    uint32_t before = atomic_fetch_add_explicit(&item->references, 1, memory_order_relaxed);
    ASSERT(before > 0 && before < UINT32_MAX / 2, "An item was retained after its last reference was released.");
    if (before == 1 && (item_state(item) & ITEM_SHARED))
        runloop__item_notify_object(item, true);
}

static inline void item_release(struct item *item) {
    // Asked before the count changes, since the item may be gone afterwards.
    bool is_shared = item_state(item) & ITEM_SHARED;
    // The last owner needs no locked instruction: nobody else can be changing the count.
    uint32_t before = atomic_load_explicit(&item->references, memory_order_acquire);
    ASSERT(before > 0 && before < UINT32_MAX / 2, "An item was released more often than it was retained.");
    if (before != 1)
        before = atomic_fetch_sub_explicit(&item->references, 1, memory_order_acq_rel);
    if (before == 1)
        runloop__item_destroy(item);
    else if (before == 2 && is_shared)
        runloop__item_notify_object(item, false);
}

/// Items that are retained, to be looked at without a lock.
struct snapshot {
    struct item **items;
    uint32_t count, capacity;
    bool is_incomplete; ///< memory ran out
};

static inline void snapshot_add(struct snapshot *snapshot, struct item *item) {
    if (snapshot->count == snapshot->capacity) {
        struct item **items = grow_array(snapshot->items, &snapshot->capacity, sizeof(struct item *));
        snapshot->is_incomplete |= !items;
        if (!items)
            return;
        snapshot->items = items;
    }
    item_retain(item);
    snapshot->items[snapshot->count++] = item;
}

/// Of a struct snapshot, not under a lock; as a cleanup handler, too.
static inline void snapshot_release(void *items) {
    struct snapshot *snapshot = items;
    for (uint32_t i = 0; i < snapshot->count; i++)
        item_release(snapshot->items[i]);
    free(snapshot->items);
}

//===-- memberships: the modes of a loop that an item is in (membership.c) -------------------------------------------===//

/// A node for each mode, the pseudo-mode of the common items included.
struct membership {
    struct mode *mode; ///< NULL: the inline node is not used
    struct item *item;
    struct membership *next; ///< of the same attachment; one in the pseudo-mode comes first
    /// Orders members that are otherwise equal: when a timer joined the loop, or the number of the signal with which
    /// a source waits.
    uint64_t serial;
    /// Timers, and descriptor sources with a deadline: the place in the mode's heap. Signalled sources: the place in its tree of signals. Or
    /// NOWHERE.
    uint32_t position;
};

#define NOWHERE UINT32_MAX

/// Of a common item: its place in the set, in the order in which items became common.
struct common_membership {
    struct membership membership;
    struct list in_set;
};

typedef _Atomic(runloop *) owner_word;

/// An item's place in one loop, which has one reference to the item as long as there are memberships.
struct attachment {
    owner_word loop;                ///< NULL: none
    struct membership *memberships; ///< owner
    struct membership first;        ///< owner; inline, since most items are in one mode
};

/// NULL if it is not in the mode. O(modes the item is in).
HOLDS_LOCK static inline struct membership *membership_find_from(struct membership *membership,
                                                                 const struct mode *mode) {
    while (membership && membership->mode != mode)
        membership = membership->next;
    return membership;
}

HOLDS_LOCK static inline struct membership *membership_find(const struct attachment *attachment,
                                                            const struct mode *mode) {
    return membership_find_from(attachment->memberships, mode);
}

/// Makes the item a member of the mode. -ENOMEM and what `insert` answers, and nothing has changed.
HOLDS_LOCK int runloop__membership_add(runloop *loop, struct attachment *attachment, struct item *item,
                                       struct mode *mode);
/// The same with `*mode` or, if that is NULL, a new mode of this name, which is `*mode` then.
HOLDS_LOCK int runloop__membership_add_named(runloop *loop, struct attachment *attachment, struct item *item,
                                             const char *name, struct mode **mode);
/// Takes it out of the mode. True if that was the last: the item is in no loop now, which another one may change at
/// once, and the caller releases the item, unlocked.
HOLDS_LOCK bool runloop__membership_remove(runloop *loop, struct attachment *attachment, struct membership *membership);
/// An item without memberships has no owner.
HOLDS_LOCK static inline void attachment_settle(struct attachment *attachment) {
    if (!attachment->memberships)
        atomic_store_explicit(&attachment->loop, NULL, memory_order_release);
}
/// Into the set of common items. `runloop__membership_remove` takes it out again.
HOLDS_LOCK int runloop__common_add(runloop *loop, struct attachment *attachment, struct item *item);

//===-- the loop that an item is in (owner.c) ------------------------------------------------------------------------===//

/// Locks the loop that an item is in, or what guards it in no loop: then returns NULL. Safe against the end of the loop's thread.
TAKES_LOCK runloop *runloop__lock_other_owner(owner_word *owner);
GIVES_LOCK void runloop__unlock_other_owner(owner_word *owner, runloop *loop);
/// Makes it the owner: 0, or -EBUSY if another loop is.
HOLDS_LOCK int runloop__take_ownership(owner_word *owner, runloop *loop);
/// The loop that the word names, retained, or NULL.
runloop *runloop__reference_owner(owner_word *owner);
/// The ending loop's thread, after it has cleared all words that name its loop: waits for the threads that read one before.
void runloop__await_owner_readers(void);

#endif // RUNLOOP_ITEM_H
