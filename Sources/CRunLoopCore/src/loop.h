// loop.h — the loop itself, and the rooms that belong to it alone. Part of internal.h.
#ifndef RUNLOOP_LOOP_H
#define RUNLOOP_LOOP_H

//===-- posts (perform.c) --------------------------------------------------------------------------------------------===//

/// Own thread.
void runloop__perform_batch(struct run *run);
bool runloop__perform_any_pending(runloop *loop, struct mode *mode);
/// Discards what will never run, and refuses what comes later.
void runloop__perform_close(runloop *loop);
#define POSTS_CLOSED ((struct list *)(uintptr_t)1)

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
/// Is there a libdispatch in this process? That doesn't change.
bool runloop__main_queue_exists(void);
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

enum { CACHE_LINE = 64 };

struct runloop {
    _Atomic uint32_t references;           ///< of clients, of the thread, of calls under way: descriptors stay open
    _Atomic uint32_t holds;                ///< of bindings, and one for all references: memory stays
    uint32_t fork_generation;              ///< constant
    bool is_main;                          ///< constant
    bool may_have_main_queue;              ///< constant: is the main loop, and there is libdispatch
    _Atomic bool is_finished;              ///< its thread is ending or has ended: additions are refused
    _Atomic bool is_torn_down;             ///< … and nothing is in it any more
    int epoll_descriptor, wake_descriptor; ///< constant until the last reference goes
    int timer_descriptor;                  ///< lock; -1 until a timer needs it

    _Atomic uint32_t wake_word;         ///< wake.c
    _Atomic bool accepts_wakeups;       ///< written by thread (wake.c)
    _Atomic bool latched_stop;          ///< wake.c
    _Atomic(const char *) current_mode; ///< written by thread
    struct run *run;                    ///< thread: the innermost active run

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

    struct port *ports; ///< lock: moves when it grows
    struct port
        first_ports[PORTS_OF_NO_DESCRIPTOR]; ///< lock: the ends of the list of the ready ones, and the main queue's
    uint32_t port_capacity, ports_used;      ///< lock: so many have been in use at a time
    uint32_t port_count;                     ///< lock: … and are now
    port_number free_port;                   ///< lock: … and aren't
    uint16_t port_generation;                ///< lock
    port_number *buckets;                    ///< lock: ports by descriptor
    uint32_t bucket_count;                   ///< lock
    port_number narrowed;                    ///< lock
    struct mode *narrowed_for;               ///< lock: the mode that the narrowed ports suit
    _Atomic bool ports_need_a_look; ///< set under lock: there may be ports that are ready or narrowed, or a stale set
    uint32_t zombie_count;          ///< lock
    bool epoll_is_stale;            ///< lock: the set holds registrations that nobody can remove
    int main_queue_descriptor;      ///< lock; -1 if there is none
    unsigned main_queue_depth;      ///< thread: inside so many main-queue batches
    bool main_queue_is_taken;       ///< thread: its counter was read, and is yet to be served
    int64_t main_queue_left_ns;     ///< thread: since when work waits for a nested run; 0: none is known to

    struct mode *sleeping_in; ///< lock: the mode it sleeps in
    int64_t armed_ns;         ///< lock: when the timer descriptor will expire
    runloop_timer **firing;   ///< lock: timers whose call-outs run, the innermost last
    uint32_t firing_count, firing_capacity;
    runloop_timer *
        *guests; ///< lock: timers that joined while their call-outs run, and stand in no heap until these end
    uint32_t guest_count, guest_capacity;
    bool timers_served_last; ///< thread
    _Atomic int64_t spin_limit_ns;
    struct spin {
        uint32_t skips, to_skip; ///< sleeps without a look-out after the last one in vain, and what is left of them
    } spin;                      ///< thread
    _Atomic uint64_t wakeups_saved;

    _Atomic uint32_t observing;               ///< atomic: rounds under way (observer.c)
    _Atomic(struct observer_array *) retired; ///< written under lock

    struct list posts;    ///< thread: in order
    uint64_t post_serial; ///< thread: of the last batch
    uint64_t post_floor;  ///< thread: batches up to this one belong to an outer drain

    _Atomic(struct association *) associations; ///< pushed under lock (associated.c)
    _Atomic uint32_t association_readers;       ///< atomic: other threads that are about to retain an object

    struct collected *collected; ///< thread: retained items that call-outs are about to reach, a stack over nested runs
    uint32_t collected_count, collected_capacity;

    /// Atomic: posts, newest first (perform.c). On a line of its own: who posts writes it, and the thread, which performs meanwhile,
    /// would else wait for it at each change to its neighbours.
    _Alignas(CACHE_LINE) _Atomic(struct list *) inbox;
};

/// 0 and a loop in `*out`; or a negative errno and NULL.
int runloop__create(bool is_main, runloop **out);
/// On the loop's own thread, when it ends (R8).
void runloop__finish(runloop *loop);
void runloop__hold(runloop *loop);
void runloop__unhold(runloop *loop);

/// HOLDS: loop.
static inline struct port *runloop__port_at(runloop *loop, port_number number) {
    return (struct port *)(void *)((char *)loop->ports + number);
}

/// HOLDS: loop. The ready ones, in the order in which they were reported; NO_PORT is both ends of their list.
static inline port_number runloop__port_first_ready(const runloop *loop) {
    return loop->ports->next_ready;
}

/// How often this process is a fork of the one in which the library was loaded. `registry.c`
extern _Atomic uint32_t runloop__fork_generation;

static inline bool runloop__is_inherited(const runloop *loop) {
    return loop->fork_generation != atomic_load_explicit(&runloop__fork_generation, memory_order_relaxed);
}

/// `runloop__this_thread` and `runloop__thread_loop` are in runloop_overlay.h.

/// 0, -EINVAL for NULL, -ECHILD for a loop inherited across fork.
static inline int runloop__check(runloop *loop) {
    if (!loop)
        return -EINVAL;
    return runloop__is_inherited(loop) ? -ECHILD : 0;
}

/// Of another thread's loop, or of an inherited one.
void runloop__lock_foreign(runloop *loop);
void runloop__unlock_foreign(runloop *loop);

static inline void runloop__lock(runloop *loop) {
    if (loop == runloop__thread_loop())
        lock_take_own(&loop->lock);
    else
        runloop__lock_foreign(loop);
}

static inline void runloop__unlock(runloop *loop) {
    if (loop == runloop__thread_loop())
        lock_give_own(&loop->lock);
    else
        runloop__unlock_foreign(loop);
}

/// The owner is mostly the caller's own loop, which nobody else can end.
static inline runloop *runloop__lock_owner(owner_word *owner) {
    runloop *loop = atomic_load_explicit(owner, memory_order_relaxed);
    if (loop && loop == runloop__this_thread.loop) {
        lock_take_own(&loop->lock);
        if (atomic_load_explicit(owner, memory_order_relaxed) == loop)
            return loop;
        lock_give_own(&loop->lock);
    }
    return runloop__lock_foreign_owner(owner);
}

static inline void runloop__unlock_owner(owner_word *owner, runloop *loop) {
    if (loop && loop == runloop__this_thread.loop)
        lock_give_own(&loop->lock);
    else
        runloop__unlock_foreign_owner(owner, loop);
}

/// HOLDS: loop. A source or timer has left: a sleeper in a mode left empty is told.
static inline void runloop__mode_left(runloop *loop, const struct mode *mode) {
    if (loop->sleeping_in == mode && !runloop__mode_has_items(mode))
        runloop__wake_kick(loop);
}

struct collected {
    struct item *item;
    int64_t key; ///< what it is called by first: a timer's instant, a source's order
};
/// False when memory ran out.
bool runloop__collected_grow(runloop *loop);
/// Own thread. Pushes an item for a call-out to come; false when memory ran out (it stays for a later turn). The entry is a
/// reference, which whoever pushes an item unretained makes before he unlocks the loop.
static inline bool runloop__collect_unretained(runloop *loop, struct item *item, int64_t key) {
    if (loop->collected_count == loop->collected_capacity && !runloop__collected_grow(loop))
        return false;
    loop->collected[loop->collected_count++] = (struct collected){.item = item, .key = key};
    return true;
}
static inline bool runloop__collect(runloop *loop, struct item *item, int64_t key) {
    bool collected = runloop__collect_unretained(loop, item, key);
    if (collected)
        runloop__item_retain(item);
    return collected;
}
static inline void runloop__collected_drop(runloop *loop, uint32_t index) {
    struct item *item = loop->collected[index].item;
    loop->collected[index].item = NULL;
    if (item)
        runloop__item_release(item);
}
/// Sorts those from `base` on by their keys, and where these are equal as `precedes` says, if there is one; stable.
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

#endif // RUNLOOP_LOOP_H
