// timer.h — timers. Part of internal.h.
#ifndef RUNLOOP_TIMER_H
#define RUNLOOP_TIMER_H

//===-- timers (timer.c, timer_modes.c, fire.c) -----------------------------------------------------------------------------===//

/// One cache line, for it is mostly alone that a timer is touched in a heap of many. All else is in `extras`.
struct runloop_timer {
    struct item item; ///< its state is written with the owner locked
    void (*fire)(runloop_timer *timer, void *info);
    owner_word owner;
    _Atomic int64_t due_ns;   ///< written with the owner locked
    _Atomic uintptr_t extras; ///< or 0; with TIMER_HAS_FURTHER. Written with the owner locked, the address once
    struct mode *mode;        ///< owner: the first of its modes, or NULL
    uint32_t position;        ///< owner: its place in that mode's heap, or HEAP_NOWHERE while firing
    uint32_t serial_low;      ///< owner: with item.serial_high, when it joined its loop
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

/// It was in further modes or common, and has a list of these: so that where there is none, nobody has to look into the extras, which are
/// seldom in the cache.
enum { TIMER_HAS_FURTHER = 1 };

static inline struct timer_extras *runloop__timer_extras(const runloop_timer *timer) {
    uintptr_t extras = atomic_load_explicit(&timer->extras, memory_order_acquire);
    return (struct timer_extras *)(extras & ~(uintptr_t)TIMER_HAS_FURTHER);
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
    uintptr_t extras = atomic_load_explicit(&timer->extras, memory_order_acquire);
    return extras & TIMER_HAS_FURTHER ? ((struct timer_extras *)(extras - TIMER_HAS_FURTHER))->further : NULL;
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
/// HOLDS: the owner, or its word. Back into the heaps, unless they are inherited; true if the context is to be released.
bool runloop__timer_end_firing(runloop *owner, runloop_timer *timer);
/// HOLDS: the owner, or its word. Ends the timer's validity; the caller releases the references, and the context if it is told so,
/// unlocked. None if it was invalid.
struct timer_remains {
    uint32_t references;
    bool context;
};
struct timer_remains runloop__timer_bury(runloop *owner, runloop_timer *timer);
void runloop__timer_release_remains(runloop_timer *timer, struct timer_remains remains);
/// HOLDS: loop. Once in each wait: gives back memory that timers have not needed for a while.
void runloop__timers_trim_large(struct mode *mode);
static inline void runloop__timers_trim(struct mode *mode) {
    if (mode->timers.capacity > HEAP_KEPT)
        runloop__timers_trim_large(mode);
}
/// Gives back the memory of an empty heap.
void runloop__timers_free(struct mode *mode);
/// HOLDS: loop; own thread. Is a timer of the mode due, at `now_ns`?
bool runloop__timers_are_due(struct mode *mode, int64_t now_ns);
/// HOLDS: loop. When a sleeper in the mode must wake for its timers.
int64_t runloop__timers_latest(struct mode *mode);
/// Own thread. Fires what is due in the run's mode: true if anything was.
bool runloop__timers_fire(struct run *run);
void runloop__timer_destroy(runloop_timer *timer);

#endif // RUNLOOP_TIMER_H
