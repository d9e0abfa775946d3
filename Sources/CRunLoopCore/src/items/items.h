// items.h — the kinds of items, tasks and the main queue: what they are, and what a run asks of them.
#ifndef RUNLOOP_ITEMS_H
#define RUNLOOP_ITEMS_H

#include "model/attached.h"
#include "model/collected.h"

//===-- timers (timer.c, timer_dispatch.c) ---------------------------------------------------------------------------===//

struct runloop_timer {
    struct attached attached;
    void (*fire)(runloop_timer *timer, void *info);
    _Atomic int64_t due_ns;       ///< written under owner
    _Atomic int64_t tolerance_ns; ///< written under owner
};
_Static_assert(sizeof(struct runloop_timer) <= SLAB_TIMER_SIZE, "A timer fits into a block.");

/// Most timers fire once, and need no more than the above.
struct repeating_timer {
    struct runloop_timer timer;
    int64_t interval_ns;     ///< constant
    _Atomic uint64_t missed; ///< written by the thread that fires it
    uint64_t unreported;     ///< owner: instants that passed during its last call-out
};
_Static_assert(sizeof(struct repeating_timer) <= SLAB_REPEATING_TIMER_SIZE, "A repeating timer fits into a block.");

/// NULL for a timer that fires once.
static inline struct repeating_timer *repeating_timer_of(runloop_timer *timer) {
    return item_state(&timer->attached.item) & ITEM_REPEATS ? LIST_ENTRY(timer, struct repeating_timer, timer) : NULL;
}

/// Deadlines that are due in the mode are reasons to serve their sources. True if a timer is due as well.
HOLDS_LOCK bool runloop__deadlines_pass(runloop *loop, struct mode *mode, int64_t now_ns);
/// Of timers; deadlines that are due before these are news then.
HOLDS_LOCK static inline bool timers_are_due(runloop *loop, struct mode *mode, int64_t now_ns) {
    if (heap_count(&mode->timers) == 0 || mode->timers.entries[0].key > now_ns)
        return false;
    return item_kind(mode->timers.entries[0].membership->item) == ITEM_TIMER ||
           runloop__deadlines_pass(loop, mode, now_ns);
}

/// When a sleeper in the mode must wake for its timers: the end of the first window to close, or earlier if that fires a timer.
HOLDS_LOCK int64_t runloop__timers_latest(struct mode *mode);
/// The thread. Fires what is due in the mode: true if anything was.
bool runloop__timers_dispatch(runloop *loop, struct mode *mode);

//===-- observers (observer.c) ---------------------------------------------------------------------------------------===//

struct runloop_observer {
    struct attached attached;
    void (*observe)(runloop_observer *observer, runloop_activity activity, void *info);
    runloop_activity activities; ///< constant
    bool repeats;                ///< constant
};

/// The thread. Notifies the mode's observers.
void runloop__observers_notify(runloop *loop, struct mode *mode, runloop_activity activity);

//===-- sources (source.c, source_modes.c) ---------------------------------------------------------------------------===//

/// A source in a loop. Kept as long as the source, so that a signal handler may walk a source's attachments without a lock, and used
/// again for another loop when the source has left this one.
struct source_attachment {
    struct attachment attachment;
    runloop_source *source;                   ///< constant
    _Atomic(struct source_attachment *) next; ///< atomic: set once
    struct list in_loop GUARDED;              ///< loop->sources, while it is in a mode
    _Atomic(uintptr_t) cell;                  ///< written under lock: the place in the loop's tree of signals, or 0
    struct source_attachment *next_registered GUARDED; ///< of those on one descriptor, in the order of calls
    struct news news;
};

/// The deadline of a source that is to be called for it, in whatever loop comes first.
#define DEADLINE_PASSED INT64_MIN

/// Made in one of two ways, which its class says: signalled by hand, or driven by a descriptor.
struct runloop_source {
    struct item item;
    union { // constant
        void (*perform)(runloop_source *source, void *info);
        void (*ready)(runloop_source *source, runloop_readiness reasons, void *info);
    };
    void (*schedule)(runloop_source *source, runloop *loop, const char *mode, void *info); ///< constant
    void (*cancel)(runloop_source *source, runloop *loop, const char *mode, void *info);   ///< constant
    void (*invalidated)(runloop_source *source, void *info);                               ///< constant
    _Atomic int64_t due_ns;   ///< atomic: set first, then applied in each loop; RUNLOOP_NEVER: none; or DEADLINE_PASSED
    _Atomic uint64_t mark;    ///< atomic: 0, or the number of its first signal since it was last called for one
    int descriptor;           ///< constant; -1: none
    bool is_counter;          ///< constant
    bool is_together;         ///< constant; called in one iteration with others like it
    _Atomic(uint16_t) events; ///< atomic: what epoll is asked for; set first, then applied in each loop
    struct source_attachment first;
};

static inline bool is_descriptor_source(const runloop_source *source) {
    return item_kind(&source->item) == ITEM_DESCRIPTOR_SOURCE;
}
static inline struct source_attachment *source_attachment_of(struct attachment *attachment) {
    return LIST_ENTRY(attachment, struct source_attachment, attachment);
}

static inline void source_place_init(struct source_attachment *place, runloop_source *source) {
    place->source = source;
    list_init(&place->in_loop);
    list_init(&place->news.link);
}
/// The source's attachment to the loop, or NULL. `attach` makes one (NULL when memory ran out).
HOLDS_LOCK struct source_attachment *runloop__source_find(runloop_source *source, runloop *loop);
HOLDS_LOCK struct source_attachment *runloop__source_attach(runloop_source *source, runloop *loop);
/// Calls `visit` with each loop that the source is in, locked; it may unlock and lock again.
void runloop__source_each_loop(runloop_source *source, void (*visit)(runloop *, struct source_attachment *, void *),
                               void *context);
/// Without the lock. Adds a source to a mode because both are common. Returns 1; 0 if it is there or is no longer common; or
/// a negative errno.
int runloop__source_join_common(runloop *loop, runloop_source *source, struct mode *mode);
/// The source's deadline has changed, or a mode was joined: its modes' heaps have it, or none. -ENOMEM.
HOLDS_LOCK int runloop__deadline_place(runloop *loop, struct source_attachment *place);
/// Without the lock, at the end of the loop's thread: every source leaves every mode, with its `cancel`.
void runloop__sources_leave(runloop *loop);

/// Is it in a mode besides this one?
HOLDS_LOCK static inline bool source_has_other_mode(runloop *loop, const struct source_attachment *place,
                                                    const struct membership *membership) {
    const struct membership *first = memberships_in_modes(loop, &place->attachment);
    return first != membership || first->next;
}
//===-- signals (signal_tree.c, signals.c) ---------------------------------------------------------------------------===//

/// 64 places of a loop's tree of signals: sources, or further pages.
struct signal_page {
    _Atomic uint64_t bits;                ///< atomic: signalled
    _Atomic(struct signal_page *) parent; ///< written under lock
    _Atomic uint32_t index;               ///< written under lock: in the parent
    uint32_t level;                       ///< constant while in a tree; 0: its members are sources
    uint64_t full GUARDED;                ///< members in use; pages without a free place
    void *members[64] GUARDED;
};

/// A place for the member, never 0, or 0 when memory ran out.
HOLDS_LOCK uintptr_t runloop__signal_tree_add(struct signal_tree *tree, void *member);
HOLDS_LOCK void runloop__signal_tree_remove(uintptr_t cell);
/// Any thread, signal handlers included, whether or not the cell still is what it was. Wait-free.
void runloop__signal_tree_set(uintptr_t cell);
/// The bits of a page that were set since, which are cleared: before what is below them is looked at.
HOLDS_LOCK static inline uint64_t signal_page_take(struct signal_page *page) {
    return atomic_load(&page->bits) ? atomic_exchange(&page->bits, 0) : 0;
}
void runloop__signal_tree_free(struct signal_tree *tree);

static inline bool signal_tree_has_any(const struct signal_tree *tree) {
    const struct signal_page *root = atomic_load_explicit(&tree->root, memory_order_acquire);
    return root && atomic_load(&root->bits);
}

/// The thread. False only if no source of the mode is signalled.
static inline bool signals_may_wait(const runloop *loop, const struct mode *mode) {
    return signal_tree_has_any(&loop->signals) || heap_count(&mode->signalled) > 0;
}
/// The thread. Is a source of the mode signalled?
HOLDS_LOCK bool runloop__signals_any(runloop *loop, struct mode *mode);
/// The thread. Performs what is signalled in the mode, or the first of it: true if any performed.
bool runloop__signals_dispatch(runloop *loop, struct mode *mode, bool only_first);

//===-- descriptors (registration.c) ---------------------------------------------------------------------------------===//

/// A descriptor in a loop: one entry of the poller's set for all sources on it.
struct registration {
    struct list masked GUARDED;                ///< among those that are; epoll was asked for less than its sources want
    struct source_attachment *sources GUARDED; ///< in the order in which they are called
    /// The first of those at the end whose file was closed, while the number stands for another one: they are not called for that.
    struct source_attachment *retired GUARDED;
    int descriptor GUARDED;
    uint32_t generation GUARDED; ///< distinguishes its reports from those of earlier registrations of the number
    uint16_t registered GUARDED; ///< what epoll was asked for, in 16 bits
    uint8_t reports GUARDED;     ///< counts reports, of which every so many is checked
    bool in_set : 1 GUARDED;
    bool was_in_set : 1 GUARDED; ///< if it is put into the set again, its number may stand for another file
};

/// Hang-up and error concern every source, asked for or not.
enum { UNASKED = EPOLLERR | EPOLLHUP };

HOLDS_LOCK static inline struct registration *registration_find(const runloop *loop, int descriptor) {
    const struct registrations *all = &loop->registrations;
    return (uint32_t)descriptor < all->capacity ? all->by_descriptor[descriptor] : NULL;
}
HOLDS_LOCK static inline bool registration_is_masked(const struct registration *registration) {
    return !list_is_empty(&registration->masked);
}
/// One for a descriptor that has none, without sources.
HOLDS_LOCK int runloop__registration_make(runloop *loop, int descriptor, struct registration **out);
HOLDS_LOCK int runloop__registration_join(runloop *loop, struct source_attachment *place);
HOLDS_LOCK void runloop__registration_leave(runloop *loop, struct source_attachment *place);
/// What its sources ask for in the mode, or in all (NULL); 0: it has none there, or they are paused.
HOLDS_LOCK uint32_t runloop__registration_asked(const struct registration *registration, const struct mode *mode);
/// What the source wants may have changed. Negative errno of epoll_ctl.
HOLDS_LOCK int runloop__registration_update(runloop *loop, struct source_attachment *place);
/// Asks epoll for all that its sources want, if it was asked for less. Negative errno of epoll_ctl.
HOLDS_LOCK int runloop__registration_unmask(runloop *loop, struct registration *registration);
/// Asks epoll for no more than the mode wants.
HOLDS_LOCK void runloop__registration_mask(runloop *loop, struct registration *registration, const struct mode *mode);
/// Makes the set anew if it is stale, and puts in what was left out.
HOLDS_LOCK void runloop__registrations_restore(runloop *loop);
/// Adds what a wait reported to the ready list: so many events, or an error that says that the program closed the set.
HOLDS_LOCK void runloop__registrations_report(runloop *loop, const poller_event *events, int count);
/// The thread, without the lock. The same for what is ready now. How many events there were, or a negative errno.
int runloop__registrations_poll(runloop *loop);
void runloop__registrations_free(runloop *loop);

/// When a sleep until `wake_ns` must end to ask the kernel again for what it refused to watch. Not so in a time that jumps over sleeps.
HOLDS_LOCK static inline int64_t registrations_retry(const runloop *loop, int64_t wake_ns) {
    enum { RETRY_NS = 100 * 1000 * 1000 };
    const struct registrations *all = &loop->registrations;
    bool is_complete = loop->ready.mode && !all->some_are_left_out && !all->set_is_stale;
    if (is_complete || loop->clock.now)
        return wake_ns;
    int64_t retry_ns = saturating_add(loop_now(loop), RETRY_NS);
    return retry_ns < wake_ns ? retry_ns : wake_ns;
}

/// What the source asks epoll for.
static inline uint32_t events_of(const runloop_source *source) {
    // Partner of runloop_source_set_events, which stores before it walks the attachments: whoever joins has published its attachment
    // before this load, so one of the two sees the other.
    return atomic_load(&source->events);
}

//===-- what is to be served (ready.c) -------------------------------------------------------------------------------===//

/// Reasons that the kernel does not report, and will not report again.
#define OWN_REASONS ((uint32_t)RUNLOOP_SIGNALLED | (uint32_t)RUNLOOP_DUE)
/// Among the reasons: it is aside.
#define IS_ASIDE (UINT32_C(1) << 31)

/// Updates the lock-free hint: is anything on the ready lists?
HOLDS_LOCK static inline void news_note(runloop *loop) {
    const struct registrations *all = &loop->registrations;
    uint32_t news = list_is_empty(&loop->ready.waiting) ? 0 : NEWS_READY;
    if (!list_is_empty(&loop->ready.unwanted))
        news |= NEWS_ASIDE | NEWS_UNPREPARED;
    if (!list_is_empty(&loop->ready.aside) || !list_is_empty(&all->masked))
        news |= NEWS_ASIDE;
    if (all->set_is_stale || all->some_are_left_out || all->closed)
        news |= NEWS_UNPREPARED;
    atomic_store_explicit(&loop->news, (uint8_t)news, memory_order_relaxed);
}

/// The thread. Is there news of this kind for the mode? What is aside is news only while the lists correspond to another mode.
static inline bool news_have(const runloop *loop, const struct mode *mode, uint32_t kinds) {
    uint32_t news = atomic_load_explicit(&loop->news, memory_order_relaxed) & kinds;
    return (news & ~(uint32_t)NEWS_ASIDE) || (news && loop->ready.mode != mode);
}

/// There is a reason to serve it.
HOLDS_LOCK static inline void ready_add(runloop *loop, struct news *news, uint32_t reasons) {
    ASSERT(list_is_empty(&news->link) == !news->reasons, "What is to be served is in no list, or the other way round.");
    if (!news->reasons) {
        list_append(&loop->ready.waiting, &news->link);
        news->serial = ++loop->ready.serial;
        uint32_t known = atomic_load_explicit(&loop->news, memory_order_relaxed);
        atomic_store_explicit(&loop->news, (uint8_t)(known | NEWS_READY), memory_order_relaxed);
    }
    news->reasons |= reasons;
}
/// It is served, or there is nothing to serve any more.
HOLDS_LOCK static inline void ready_remove(runloop *loop, struct news *news) {
    ASSERT(list_is_empty(&news->link) == !news->reasons, "What is to be served is in no list, or the other way round.");
    list_remove(&news->link);
    news->reasons = 0;
    if (list_is_empty(&loop->ready.waiting)) {
        uint32_t known = atomic_load_explicit(&loop->news, memory_order_relaxed);
        atomic_store_explicit(&loop->news, (uint8_t)(known & ~(uint32_t)NEWS_READY), memory_order_relaxed);
    }
}

/// What a wait has selected to serve: everything in its scope that had a reason by then.
struct selection {
    enum {
        SELECTED_NOTHING,
        SELECTED_TIMERS,
        SELECTED_MAIN_QUEUE,
        SELECTED_SOURCE,
    } kind;
    enum scope { OF_DESCRIPTOR, OF_TOGETHER, OF_ALL } scope; ///< whose turn it is
    uint64_t first;         ///< of a descriptor: the serial of the news that was selected
    uint64_t last;          ///< what came later waits for another turn
    uint32_t reasons;       ///< of `source`, or of the one that is to be found first
    runloop_source *source; ///< out of its list, and retained, to be called next; NULL: still to be found
    int descriptor;         ///< whose sources are being served; -1: none's
    enum {
        COUNTER_UNREAD,
        COUNTER_READ,
        COUNTER_EMPTY,
    } counter;       ///< of the descriptor, read once for all its sources
    bool has_others; ///< there may be others than `source`
};

/// Did the news come after the turn had begun?
HOLDS_LOCK static inline bool is_later(const struct news *news, const struct selection *selection) {
    return news->serial > selection->last;
}

/// A source that the loop has in other modes joins one. Negative errno of epoll_ctl.
HOLDS_LOCK int runloop__ready_join(runloop *loop, struct source_attachment *place);
/// Before a wait in the mode: what it wants must be able to end the wait and, if that may sleep, nothing else.
HOLDS_LOCK void runloop__ready_prepare(runloop *loop, struct mode *mode, bool may_sleep);
/// Is there anything that the mode wants? What it doesn't want, before that, is set aside.
HOLDS_LOCK bool runloop__ready_any(runloop *loop, const struct mode *mode, bool with_main_queue);
/// The thread. Selects the first that the mode wants: false if there is none. A source is taken out of its list at once, unless somebody is
/// to be notified before it is served, and may serve it.
enum { WITH_MAIN_QUEUE = 1, SERVED_LATER = 2 };
HOLDS_LOCK bool runloop__ready_select(runloop *loop, const struct mode *mode, uint32_t how,
                                      struct selection *selection);
/// Does any wait that is called together with others, so that the kernel must be asked for all of them?
HOLDS_LOCK bool runloop__ready_any_together(runloop *loop);
/// The thread. Selects all that the mode wants. The kind says whether the main queue is ready, too.
HOLDS_LOCK void runloop__ready_select_all(runloop *loop, const struct mode *mode, bool with_main_queue,
                                          struct selection *selection);
/// The main queue is ready, whether or not the kernel said so here.
HOLDS_LOCK void runloop__ready_select_main_queue(runloop *loop, struct selection *selection);
/// The thread. Calls the selected sources: true if any was called.
bool runloop__ready_serve(runloop *loop, const struct mode *mode, struct selection *selection);

//===-- tasks (task.c) -----------------------------------------------------------------------------------------------===//

/// The thread. Performs the tasks that match the mode, or the first TASKS_PER_DRAIN of them.
void runloop__tasks_drain(runloop *loop, struct mode *mode);
/// The thread. Is there a task that matches?
bool runloop__tasks_any(runloop *loop, struct mode *mode);
/// Discards what will never run, and refuses what comes later.
void runloop__tasks_close(runloop *loop);

/// The thread. False only if there is no task at all.
static inline bool tasks_may_wait(const runloop *loop) {
    return atomic_load(&loop->inbox) || !list_is_empty(&loop->tasks.queue);
}

//===-- diagnostics (diagnostic.c; the others are in runloop_overlay.h) ----------------------------------------------===//

/// The thread. A number of a source was closed, and stands for no file or another one: reports that, once. Without the lock, since standard
/// error may be a pipe that is full.
void runloop__note_closed(runloop *loop);
/// The thread. A run was asked for in a mode that the loop doesn't have, or in none: reports that, once for each name, if other modes have items.
#ifdef RUNLOOP_DEBUG
void runloop__note_unknown_mode(runloop *loop, const char *name);
#else
static inline void runloop__note_unknown_mode(runloop *loop, const char *name) {
    (void)loop, (void)name;
}
#endif

//===-- the main dispatch queue (main_queue.c) -----------------------------------------------------------------------===//

/// The initial thread. Is libdispatch in the program?
bool runloop__main_queue_exists(void);
/// The thread. Can this loop serve the main queue now, were the mode common?
bool runloop__main_queue_is_available(runloop *loop);
/// The thread. Watches the queue's descriptor if that is new: true if runs can serve it.
bool runloop__main_queue_watch(runloop *loop);
/// The thread. From now on the queue's work does not wake the loop, until a run watches it again.
void runloop__main_queue_unwatch(runloop *loop);
/// The thread. Is the queue ready? Asks the kernel, without sleeping, unless it is known that nothing was queued.
bool runloop__main_queue_poll(const runloop *loop);
/// The thread. The kernel has reported it as ready.
void runloop__main_queue_reported(void);
/// The thread. True if it was ready when it was selected, and has been served.
bool runloop__main_queue_dispatch(runloop *loop, const struct selection *selection);
/// The thread of the main loop. Is a run that starts now nested in the queue's work, so that what waits meanwhile is worth a diagnostic?
bool runloop__main_queue_is_starved(const runloop *loop);
/// In such a run, around waits: writes the diagnostic if it is time to. How long to wait so as not to miss that; 0 when it was written.
int64_t runloop__main_queue_limit_wait(runloop *loop, int64_t timeout_ns);

/// The thread. Rule R23.
static inline bool mode_is_empty(runloop *loop, struct mode *mode) {
    if (mode_has_items(mode))
        return false;
    if (loop->is_main && atomic_load(&mode->is_common) && runloop__main_queue_is_available(loop))
        return false;
    return !tasks_may_wait(loop) || !runloop__tasks_any(loop, mode);
}

#endif // RUNLOOP_ITEMS_H
