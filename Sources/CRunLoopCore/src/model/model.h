// model.h — what a loop is made of: items, their memberships in modes, modes, and the loop itself.
//
// Guards named at the fields:
//   lock       the loop's one lock; taken for a few instructions, never while user code runs
//   owner      the lock of the loop that the item is in, or one of the process while it is in none (owner.c)
//   thread     only the loop's thread touches it
//   atomic     see the comment in its file for the ordering and the partner
//   constant   written before the object is published, never after
//
// Locks are taken in this order: a loop's lock, then another one. Two of a kind are never held together.
#ifndef RUNLOOP_MODEL_H
#define RUNLOOP_MODEL_H

#include "model/callout.h"
#include "model/item.h"

struct run;
struct registration;
struct signal_page;
struct association;

//===-- heaps (heap.h) -----------------------------------------------------------------------------------------------===//

struct heap_entry {
    int64_t key;
    struct membership *membership;
};

/// A min-heap with four children per node. All of it: lock.
struct heap {
    struct heap_entry *entries;
    _Atomic uint32_t count; ///< written under lock
    uint32_t capacity;
    uint32_t sparse_waits; ///< waits in a row in which it was mostly empty
};

/// Anybody: is there anything in it?
static inline uint32_t heap_count(const struct heap *heap) {
    return atomic_load_explicit(&heap->count, memory_order_acquire);
}

//===-- modes (mode.c) -----------------------------------------------------------------------------------------------===//

struct mode {
    _Atomic(struct mode *) next;            ///< append-only: read by anyone, appended under lock
    _Atomic(struct mode *) below[BRANCHES]; ///< the same: in the tree of modes, by their names
    const char *name;                       ///< constant, from the table of names
    _Atomic bool is_common;                 ///< written under lock, never goes back
    _Atomic bool stop_requested;            ///< atomic: a remembered stop of this mode
    _Atomic uint32_t source_count;          ///< written under lock; they and timers keep the mode from being empty
    _Atomic uint32_t watched_count;         ///< written under lock: sources with a descriptor
    _Atomic uint32_t observed;              ///< written under lock: activities that some observer wants
    runloop_observer **observers GUARDED;   ///< in the order in which they are notified
    uint32_t observer_count, observer_capacity;
    struct heap timers GUARDED;      ///< by due instant; one in a call-out counts as never due
    uint32_t tolerant_count GUARDED; ///< timers with a tolerance
    int64_t window_end_ns GUARDED;   ///< no timer's window ends before; kept only while some timer has a tolerance
    struct heap signalled GUARDED;   ///< sources whose signal waits for this mode, by order
    uint64_t tasks_scanned;          ///< thread: tasks up to this batch are known not to match …
    bool tasks_scanned_as_common;    ///< thread: … if the mode was (not) common then
};

struct mode *runloop__mode_find_other(runloop *loop, const char *name);
/// A mode that is not the loop's yet: `mode_adopt` it, or free it. NULL when memory ran out.
struct mode *runloop__mode_new(const char *name);
void runloop__mode_free(struct mode *mode);

/// Only holders of the lock write the count: a plain sum, stored whole for readers without it.
HOLDS_LOCK static inline void count_change(_Atomic uint32_t *count, int change) {
    uint32_t sum = atomic_load_explicit(count, memory_order_relaxed) + (uint32_t)change;
    ASSERT(sum < UINT32_MAX / 2, "A count of a mode fell below zero.");
    atomic_store_explicit(count, sum, memory_order_release);
}

static inline bool mode_has_items(const struct mode *mode) {
    return atomic_load_explicit(&mode->source_count, memory_order_acquire) > 0 || heap_count(&mode->timers) > 0;
}

//===-- the loop (loop.c) --------------------------------------------------------------------------------------------===//

/// Signals of a loop's sources (items/signal_tree.c).
struct signal_tree {
    _Atomic(struct signal_page *) root; ///< written under lock
    bool ran_short GUARDED;             ///< a signalled source found no memory to wait in
};

/// Why a loop is to serve something, and its place among what waits for that (items/ready.c). The lists have exactly what has a reason.
struct news {
    struct list link GUARDED; ///< in one of the lists of a struct ready
    uint32_t reasons GUARDED; ///< RUNLOOP_READABLE, … RUNLOOP_SIGNALLED, and IS_ASIDE
    uint64_t serial GUARDED;  ///< numbers first reasons: a turn serves nothing that came after it had begun
};

/// What a loop is to serve (items/ready.c).
struct ready {
    struct list waiting GUARDED;  ///< in the order in which news of it came
    struct list unwanted GUARDED; ///< aside, and the kernel may report it again and again
    struct list aside GUARDED;    ///< for other modes than the latest
    const struct mode *mode;      ///< thread: the latest, to which the lists correspond
    uint64_t serial GUARDED;      ///< of the latest news
};

/// Descriptors that a loop watches (items/registration.c).
struct registrations {
    struct registration **by_descriptor GUARDED;
    uint32_t capacity GUARDED;
    uint32_t generation GUARDED;  ///< of the last one that was made
    struct list masked GUARDED;   ///< of which epoll was asked for less than their sources want
    uint32_t stale_count GUARDED; ///< entries of the set that nobody can remove
    bool set_is_stale GUARDED;    ///< such an entry was reported: make the set anew
    int closed
        GUARDED; ///< a number that was closed before its source was removed, and 1; 0: none that is to be reported
    bool some_are_left_out GUARDED; ///< registrations that could not be put into the new set: try again
};

/// What the thread asks of both without the lock.
enum {
    NEWS_READY = 1,      ///< something waits
    NEWS_ASIDE = 2,      ///< something is masked or aside
    NEWS_UNPREPARED = 4, ///< there is something to do before a wait
};

/// The main dispatch queue (items/main_queue.c).
struct main_queue {
    struct news news;
    int descriptor GUARDED; ///< under which the set has it
    bool is_watched GUARDED;
    unsigned depth;           ///< thread: inside so many batches of the queue
    int64_t waiting_since_ns; ///< thread: work waits for a nested run; 0: none is known to
};

/// Tasks (items/task.c).
struct tasks {
    struct list queue; ///< thread: in order
    uint64_t serial;   ///< thread: of the last batch
    uint64_t floor;    ///< thread: batches up to this one belong to an outer drain
    int64_t end_ns;    ///< thread: a drain ends then, if it has performed something
};

/// A timer or an observer whose call-out runs, or an observer that a notification under way will reach.
struct callout {
    struct attached *attached;
    bool runs;
    bool is_retained; ///< it has left a mode since, and perhaps the loop, whose reference was enough until then
};

struct collected {
    struct item *item;
    // Called in this order, and between equal keys in that of the items.
    int64_t key;     ///< a timer's instant, a source's order
    uint64_t serial; ///< of its membership
};

enum { CACHE_LINE = 64 };

struct runloop {
    _Atomic uint32_t references;
    uint32_t generation;                ///< constant: of the process that made it
    bool is_main;                       ///< constant
    _Atomic bool is_finished;           ///< its thread is ending or has ended: additions and runs are refused
    bool timers_served_last;            ///< thread
    _Atomic bool has_run;               ///< written by thread: a run has begun
    _Atomic bool latched_stop;          ///< atomic
    _Atomic uint8_t news;               ///< written under lock: NEWS_ bits
    struct wake wake;                   ///< atomic
    struct poller poller;               ///< descriptors constant while it is open, but for the timer's: lock
    struct run *run;                    ///< thread: the innermost active run
    struct run *hosted;                 ///< thread: the innermost one whose sleep is a host's
    _Atomic(const char *) current_mode; ///< written by thread

    struct process_lock lock;
    _Atomic(struct mode *) modes; ///< append-only
    _Atomic(struct mode *) *last_mode GUARDED;
    runloop_clock clock; ///< lock, and written by thread while no run is active; all NULL: CLOCK_MONOTONIC
    bool asks_clock;     ///< thread: its clock is deciding how long it sleeps
    _Atomic(struct mode *)
        sleeping_in;          ///< written by thread: the mode in which it, or a host of it, sleeps or is about to
    int64_t armed_ns GUARDED; ///< when the timer descriptor will expire
    uint64_t serial GUARDED;  ///< numbers additions, from 1

    struct signal_tree signals;
    struct ready ready;
    struct registrations registrations;
    struct list sources GUARDED;         ///< attachments of sources that are in some mode
    struct list common_items GUARDED;    ///< in the order in which they became common
    uint64_t membership_changes GUARDED; ///< counts items that joined a mode or left one
    struct main_queue main_queue;
    struct tasks tasks;

    struct callout *callouts GUARDED;                    ///< a stack over nested runs …
    struct callout *callouts_top, *callouts_end GUARDED; ///< … the first free entry, and the end of all
    struct collected *collected; ///< thread: retained items that call-outs are about to reach, a stack over nested runs
    uint32_t collected_count, collected_capacity;

    _Atomic(struct association *) associations; ///< pushed under lock
    _Atomic uint32_t association_readers;       ///< atomic: threads that are about to retain an object
    struct mode common;                         ///< the pseudo-mode: an address, and no more

    /// Atomic: tasks, newest first (items/task.c). On a line of its own: producers write it while the thread changes its neighbours.
    _Alignas(CACHE_LINE) _Atomic(struct list *) inbox;
    _Atomic bool times_posts;  ///< written by thread: its tracer gets the times of posts
    _Atomic int64_t posted_ns; ///< atomic: when the first task of the inbox was posted, or a little later; 0: unknown
};

/// 0 and a loop in `*out`; or a negative errno and NULL.
int runloop__loop_create(bool is_main, runloop **out);
/// Frees what the upper layers keep in a loop, with its last reference. Set by them (thread.c).
extern void (*runloop__loop_closed)(runloop *loop);

static inline bool is_from_parent_process(const runloop *loop) {
    // Mostly the word says so. 0, in a child that has not noticed yet, is no loop's generation.
    uint32_t word = atomic_load_explicit(runloop__generation_word, memory_order_relaxed);
    return loop->generation != word && loop->generation != runloop__generation();
}

/// 0, -EINVAL for NULL, -ECHILD for a loop inherited across fork.
static inline int loop_check(const runloop *loop) {
    if (!loop)
        return -EINVAL;
    return is_from_parent_process(loop) ? -ECHILD : 0;
}

#ifdef RUNLOOP_DEBUG
extern _Thread_local const runloop *runloop__locked;
#define LOCK_NOTE(loop) (runloop__locked = (loop))
#define ASSERT_LOCKED(loop)                                                                                            \
    ASSERT(runloop__locked == (loop) || is_from_parent_process(loop),                                                  \
           "The lock of a loop is not held where it must be.")
#define ASSERT_NOT_LOCKED() ASSERT(!runloop__locked, "User code was about to be called under a lock.")
#else
#define LOCK_NOTE(loop) ((void)0)
#define ASSERT_LOCKED(loop) ((void)0)
#define ASSERT_NOT_LOCKED() ((void)0)
#endif
#define ASSERT_LOOP_THREAD(loop) ASSERT(runloop__thread_loop() == (loop), "Called on another thread than the loop's.")

TAKES_LOCK UNCHECKED static inline void loop_lock(runloop *loop) {
    ASSERT_NOT_LOCKED();
    process_lock(&loop->lock);
    LOCK_NOTE(loop);
}

GIVES_LOCK UNCHECKED static inline void loop_unlock(runloop *loop) {
    ASSERT_LOCKED(loop);
    LOCK_NOTE(NULL);
    process_unlock(&loop->lock);
}

/// Most often the owner is the caller's own loop, which nobody else can end.
TAKES_LOCK static inline runloop *lock_owner(owner_word *owner) {
    runloop *loop = atomic_load_explicit(owner, memory_order_relaxed);
    if (loop && loop == runloop__thread_loop()) {
        loop_lock(loop);
        if (atomic_load_explicit(owner, memory_order_relaxed) == loop)
            return loop;
        loop_unlock(loop);
    }
    return runloop__lock_other_owner(owner);
}

GIVES_LOCK static inline void unlock_owner(owner_word *owner, runloop *loop) {
    if (loop && loop == runloop__thread_loop())
        loop_unlock(loop);
    else
        runloop__unlock_other_owner(owner, loop);
}

/// The one place where a loop asks for the time.
static inline int64_t loop_now(const runloop *loop) {
    return loop->clock.now ? loop->clock.now(loop->clock.context) : monotonic_ns();
}

/// The one place where it arms its wake-up. After an error the wait must end by its timeout; so must one with a clock of the program's,
/// which only the wait asks (run/clock.c).
HOLDS_LOCK static inline int loop_arm(runloop *loop, int64_t instant_ns) {
    int error = loop->clock.now ? -EOPNOTSUPP : runloop__poller_arm(&loop->poller, instant_ns);
    loop->armed_ns = error ? RUNLOOP_NEVER : instant_ns;
    return error;
}

/// Is the timer descriptor armed early enough? Too early is left: one spurious wake-up costs less than arming it each time that a date moves
/// back.
HOLDS_LOCK static inline bool loop_is_armed(const runloop *loop, int64_t instant_ns) {
    return loop->armed_ns <= instant_ns && loop->armed_ns > loop_now(loop);
}

/// Makes a sleeper look again; no wake-up that observers are notified of.
static inline void loop_kick(runloop *loop) {
    runloop__wake_set(&loop->wake, &loop->poller, WAKE_ASLEEP, WAKE_KICKED);
}

extern void (*runloop__send_hook)(runloop *loop, enum runloop__sent kind, const void *what);

/// After the calling thread has sent something, and without a lock: a simulation may let others go on first.
static inline void loop_sent(runloop *loop, enum runloop__sent kind, const void *what) {
    if (__builtin_expect(runloop__send_hook != NULL, 0))
        runloop__send_hook(loop, kind, what);
}

/// The calling thread has left something to its loop, which will look for it before it sleeps. In a call-out of a hosted run the host may run its
/// own loop before that, so it is notified, once for each of its calls.
static inline void loop_leave_to_host(void) {
    runloop *loop = runloop__thread_loop();
    if (loop && loop->hosted && !is_from_parent_process(loop) && !loop->poller.is_readable &&
        (wake_word(&loop->wake) & (WAKE_ASLEEP | WAKE_UNNOTIFIED)) == WAKE_UNNOTIFIED)
        runloop__wake_set(&loop->wake, &loop->poller, WAKE_UNNOTIFIED, 0);
}

/// May the loop be asleep while this thread makes a call? On its own thread only if a host may sleep for it, or its clock is asked.
static inline bool loop_may_sleep(const runloop *loop) {
    return loop != runloop__thread_loop() || loop->hosted || loop->asks_clock;
}

/// After a change to the mode: does the loop sleep in it, or is it about to without having seen the change, or may a host that runs its own
/// loop in a call-out? Both threads change the wake word with a read-modify-write, so one of them sees the other (kernel/wake.c).
HOLDS_LOCK static inline bool loop_sleeps_in(runloop *loop, const struct mode *mode) {
    return loop_may_sleep(loop) && (atomic_fetch_or(&loop->wake.word, 0) & (WAKE_ASLEEP | WAKE_UNNOTIFIED)) &&
           atomic_load_explicit(&loop->sleeping_in, memory_order_relaxed) == mode;
}

/// A source or a timer has left. If the mode is empty now, a run that sleeps in it must end.
HOLDS_LOCK static inline void loop_mode_left(runloop *loop, const struct mode *mode) {
    if (!mode_has_items(mode) && loop_sleeps_in(loop, mode))
        loop_kick(loop);
}

/// Any thread: where the mode of an interned name is, or would be, in the tree.
static inline _Atomic(struct mode *) *mode_place(runloop *loop, const char *name) {
    uint64_t hash = (uintptr_t)name * HASH_FACTOR;
    _Atomic(struct mode *) *place = &loop->modes;
    for (struct mode *mode; (mode = atomic_load_explicit(place, memory_order_acquire)) && mode->name != name;) {
        place = &mode->below[branch_of(hash)];
        hash = branch_next(hash);
    }
    return place;
}

/// Most lookups are of the default mode, by its interned name.
static inline struct mode *mode_find(runloop *loop, const char *name) {
    struct mode *first = atomic_load_explicit(&loop->modes, memory_order_acquire);
    return first && first->name == name ? first : runloop__mode_find_other(loop, name);
}

/// The next common mode after `mode` (NULL: the first).
HOLDS_LOCK static inline struct mode *mode_next_common(runloop *loop, struct mode *mode) {
    mode = atomic_load(mode ? &mode->next : &loop->modes);
    while (mode && !atomic_load(&mode->is_common))
        mode = atomic_load(&mode->next);
    return mode;
}

/// Makes a new mode the loop's.
HOLDS_LOCK static inline void mode_adopt(runloop *loop, struct mode *mode) {
    ASSERT_LOCKED(loop);
    atomic_store_explicit(mode_place(loop, mode->name), mode, memory_order_release);
    atomic_store_explicit(loop->last_mode, mode, memory_order_release);
    loop->last_mode = &mode->next;
}

/// Finds or makes; NULL when memory ran out. Never called for the pseudo-mode.
HOLDS_LOCK static inline struct mode *mode_make(runloop *loop, const char *name) {
    struct mode *mode = mode_find(loop, name);
    if (!mode && (mode = runloop__mode_new(name)))
        mode_adopt(loop, mode);
    return mode;
}

/// Its membership among the common items, or NULL.
HOLDS_LOCK static inline struct membership *common_find(runloop *loop, const struct attachment *attachment) {
    struct membership *first = attachment->memberships;
    return first && first->mode == &loop->common ? first : NULL;
}

/// Its memberships in modes: those behind the one among the common items.
HOLDS_LOCK static inline struct membership *memberships_in_modes(const runloop *loop,
                                                                 const struct attachment *attachment) {
    struct membership *first = attachment->memberships;
    return first && first->mode == &loop->common ? first->next : first;
}

//===-- objects of language bindings (associated.c) ------------------------------------------------------------------===//

/// The thread, as the last step of its end. Releases the objects.
void runloop__associations_end(runloop *loop);
void runloop__associations_free(runloop *loop);

#endif // RUNLOOP_MODEL_H
