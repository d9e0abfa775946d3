// mode.h — a mode, and what it counts. Part of internal.h.
#ifndef RUNLOOP_MODE_H
#define RUNLOOP_MODE_H

//===-- modes (mode.c) -----------------------------------------------------------------------------------------------===//

struct heap_entry {
    int64_t key;     ///< the timer's due instant
    uintptr_t timer; ///< with HEAP_ENTRY_IS_FURTHER, if the mode was not the timer's first when it came
};

enum { HEAP_ENTRY_IS_FURTHER = 1, HEAP_KEPT = 1024 };

static inline runloop_timer *runloop__heap_timer(struct heap_entry entry) {
    return (runloop_timer *)(entry.timer & ~(uintptr_t)HEAP_ENTRY_IS_FURTHER);
}

struct heap {
    struct heap_entry *entries;
    uint32_t count, capacity;
    uint32_t sparse_waits; ///< in a row, in which it was mostly empty
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
    _Atomic uint32_t source_count;     ///< these and timers keep it from being empty; written under lock
    _Atomic uint32_t descriptor_count; ///< sources with a descriptor; written under lock
    _Atomic uint32_t observed;         ///< activities that some observer wants; written under lock
    _Atomic(struct observer_array *) observers;
    struct heap timers;           ///< lock
    _Atomic uint32_t timer_count; ///< firing ones included; written under lock
    uint32_t tolerant_count;      ///< lock: timers with a tolerance in the heap
    uint64_t posts_scanned;       ///< thread: posts up to this batch are known not to match …
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
static inline bool runloop__mode_has_items(const struct mode *mode) {
    return atomic_load_explicit(&mode->source_count, memory_order_acquire) > 0 ||
           atomic_load_explicit(&mode->timer_count, memory_order_acquire) > 0;
}

#endif // RUNLOOP_MODE_H
