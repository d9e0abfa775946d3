// source.h — sources, their bindings to loops, the ports of their descriptors, and the port set. Part of internal.h.
#ifndef RUNLOOP_SOURCE_H
#define RUNLOOP_SOURCE_H

//===-- sources (source.c, binding.c) and ports (port.c) -------------------------------------------------------------===//

/// A source in a loop. Made once for each pair and kept as long as the source, so that a signal handler may walk a source's
/// bindings without a lock (binding.c).
struct binding {
    _Atomic(runloop *) loop; ///< constant once published; holds its memory
    /// lock. `descriptor`: what the source watches, or -1; FURTHER_BINDING tells a binding that is not its source's first.
    struct memberships modes;
    union {
        _Atomic(struct source_extras *) extras; ///< of a first binding: NULL, or set once under the source's chain lock
        runloop_source *source;                 ///< of a further one: constant
    };
};

enum { FURTHER_BINDING = -2 };

/// A source that watches a descriptor is this and no more, one cache line, with what an event touches. What many do without is
/// in `extras`. One that stands on no port, since it is signalled or has no descriptor, is a `portless_source`.
struct runloop_source {
    struct item item; ///< also the conditions that a descriptor source asks for, and ITEM_ bits of its own
    union {
        void (*perform)(runloop_source *source, void *info);
        void (*ready)(runloop_source *source, runloop_readiness events, void *info);
    } call;
    struct binding first; ///< inline, since most sources are in one loop
};
_Static_assert(sizeof(struct runloop_source) <= RUNLOOP__BLOCK_SIZE, "A descriptor source is one block.");

struct source_extras {
    struct item_config config; ///< constant
    bool (*equal)(const void *info, const void *other_info);
    _Atomic(struct further_binding *) next; ///< atomic: the source's chain beyond its first binding
    struct further_binding *abandoned;      ///< chain: cut off, not yet safe to free
    struct binding *older;                  ///< lock of the first binding's loop: the next on the port (port.c)
    _Atomic uint32_t walkers;               ///< who reads the chain beyond the first binding
};
_Static_assert(sizeof(struct source_extras) <= RUNLOOP__BLOCK_SIZE,
               "What else there is of a descriptor source is one block, too.");

/// What stands right behind each binding of a source that is on no port.
struct signals {
    _Atomic uint32_t state;        ///< atomic: SIGNAL_ states (source.c)
    struct list pending;           ///< lock
    struct binding *next_incoming; ///< atomic: with loop->incoming
    struct list in_loop;           ///< lock: loop->bindings while it has modes
};

struct portless_source {
    struct runloop_source source;
    struct signals signals;
    _Atomic uint64_t signalled; ///< 0, or the number of its first signal since it last performed
    void (*schedule)(runloop_source *source, runloop *loop, const char *mode, void *info);
    void (*cancel)(runloop_source *source, runloop *loop, const char *mode, void *info);
    struct source_extras extras;
};

struct further_binding {
    struct binding binding;
    struct signals signals;                 ///< unused if the source has a port
    _Atomic(struct further_binding *) next; ///< atomic: the chain
    struct further_binding *next_abandoned; ///< chain
    struct binding *older;                  ///< lock: the next on the port
};

#define SIGNALS_BEHIND(type, member)                                                                                   \
    _Static_assert(offsetof(type, signals) == offsetof(type, member) + sizeof(struct binding), "They stand behind "    \
                                                                                               "it.")
SIGNALS_BEHIND(struct portless_source, source.first);
SIGNALS_BEHIND(struct further_binding, binding);

#define SOURCE_OF(pointer) ((runloop_source *)(void *)(pointer))

static inline runloop_source *runloop__source_of(struct binding *binding) {
    return binding->modes.descriptor == FURTHER_BINDING ? binding->source
                                                        : LIST_ENTRY(binding, struct runloop_source, first);
}

static inline struct source_extras *runloop__source_extras(const runloop_source *source) {
    return atomic_load(&source->first.extras);
}

/// A descriptor, or -1.
static inline int runloop__source_descriptor(const runloop_source *source) {
    return source->first.modes.descriptor;
}

static inline bool runloop__source_is(const runloop_source *source, uint8_t item_bit) {
    return atomic_load_explicit(&source->item.state, memory_order_relaxed) & item_bit;
}

static inline int32_t runloop__source_order(const runloop_source *source) {
    struct source_extras *extras = runloop__source_extras(source);
    return extras ? extras->config.order : 0;
}

// A source is no object, so its references are only counted.
static inline void runloop__source_hold(runloop_source *source) {
    atomic_fetch_add_explicit(&source->item.references, 1, memory_order_relaxed);
}
static inline void runloop__source_let_go(runloop_source *source) {
    if (atomic_fetch_sub_explicit(&source->item.references, 1, memory_order_acq_rel) == 1)
        runloop__item_destroy(&source->item);
}

/// Of a source that stands on no port, and of its bindings.
static inline struct portless_source *runloop__portless(const runloop_source *source) {
    return LIST_ENTRY(source, struct portless_source, source);
}
static inline struct signals *runloop__signals(struct binding *binding) {
    return (struct signals *)(void *)((char *)binding + sizeof *binding);
}
static inline struct binding *runloop__binding_of(struct signals *signals) {
    return (struct binding *)(void *)((char *)signals - sizeof(struct binding));
}

/// HOLDS: loop. Its place in the common set, or NULL.
static inline struct common_item *runloop__binding_common(const struct binding *binding) {
    return binding->modes.further ? binding->modes.further->common : NULL;
}

/// Without any lock, or with that of a loop. -ENOMEM.
int runloop__source_ensure_extras(runloop_source *source);
void runloop__signals_init(struct signals *signals);
/// Any thread, signal handlers included: visits every binding of the source.
void runloop__bindings_each(runloop_source *source, void (*visit)(struct binding *binding, void *context),
                            void *context);
/// HOLDS: loop. The source's binding to the loop, or NULL; `make` creates it (NULL when memory ran out).
struct binding *runloop__binding_find(runloop_source *source, runloop *loop);
struct binding *runloop__binding_make(runloop_source *source, runloop *loop);
/// HOLDS: loop. The sources that are in some mode of the loop, one by one: NULL begins and ends. Those on ports come last, by
/// `*used`, 0 to begin with; who begins once more with what is left there passes over those that are no more.
struct binding *runloop__binding_next(runloop *loop, struct binding *binding, uint32_t *used);
/// Without any lock. Gives up bindings to loops that are no more.
void runloop__bindings_sweep(runloop_source *source);
void runloop__bindings_free(runloop_source *source);

/// Conditions that there are, and at least one.
bool runloop__source_may_ask_for(runloop_readiness events);
/// As epoll is asked for them: it tells by a bit of its own that the peer has shut down its half.
uint16_t runloop__events_asked(runloop_readiness events);
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

/// The number of a port in its loop: how many bytes of `loop->ports` come before it. Ports refer to each other by number, since a
/// number is half as long as an address, and since ports move when there are more of them.
typedef uint32_t port_number;
#define NO_PORT ((port_number)0)
#define PORT_MAIN_QUEUE ((port_number)sizeof(struct port))
enum { PORTS_OF_NO_DESCRIPTOR = 2 };
// Not ports, but reported like them.
#define NUMBER_WAKE (UINT32_MAX - 1)
#define NUMBER_TIMER (UINT32_MAX - 2)

/// A descriptor in a loop: one registration with epoll for all sources on it. All fields: lock.
struct port {
    struct binding *newest;                 ///< its sources, the latest first; NULL: out of use, or of no descriptor
    port_number next_ready, previous_ready; ///< among the reported ones, if it is `ready`
    port_number next;                       ///< in its bucket, or among those that are free
    port_number next_narrowed;              ///< if it is `in_narrowed`
    // Bits of epoll: all that sources ask for, and all that is reported then, fit into 16.
    uint16_t registered; ///< what epoll was asked for; 0: not in the set
    uint16_t ready;      ///< reported and not yet served
    uint16_t generation; ///< tells what is reported of it from what is reported of those that had its number before
    uint8_t reports;     ///< counts reports, so that some are looked at more closely
    bool in_hand : 1;    ///< chosen, and neither served nor taken out of use since
    bool is_shared : 1;  ///< has more than one source
    bool in_set : 1;
    bool is_zombie : 1; ///< out of use, but epoll may still report it
    bool is_narrowed : 1;
    bool in_narrowed : 1; ///< stands in the list of the narrowed ones; perhaps it was one
};
_Static_assert(sizeof(struct port) <= 32, "Two ports are a cache line.");

/// HOLDS: loop. Joins / leaves the port of the source's descriptor. Negative errno of epoll_ctl, or -ENOMEM.
int runloop__port_join(runloop *loop, struct binding *binding);
void runloop__port_leave(runloop *loop, struct binding *binding);
/// HOLDS: loop. The descriptor's port, or NULL.
struct port *runloop__port_find(runloop *loop, int descriptor);
/// HOLDS: loop. The source that joined the port before this one, or NULL.
struct binding *runloop__port_older(struct binding *binding);
/// HOLDS: loop. `runloop__binding_next` for sources on ports.
struct binding *runloop__port_next_binding(runloop *loop, struct binding *binding, uint32_t *used);

/// Hang-up and error concern every source, asked for or not.
enum { UNASKED = EPOLLERR | EPOLLHUP };

/// What the source asks epoll for.
static inline uint32_t runloop__port_mask(const runloop_source *source) {
    // Partner of runloop_source_set_events, which stores before it walks the chain of bindings: who joins has published his
    // binding before this load, so one of the two sees the other.
    return atomic_load(&source->item.events);
}

/// HOLDS: loop. Of a port in use.
static inline int runloop__port_descriptor(const struct port *port) {
    return runloop__source_descriptor(runloop__source_of(port->newest));
}

/// HOLDS: loop. The source of a port that has one, as most do, or NULL.
static inline struct binding *runloop__port_only_source(struct port *port) {
    return port->is_shared ? NULL : port->newest;
}

/// HOLDS: loop. The part of what was reported that the mode wants.
uint32_t runloop__port_ready_of_many(struct port *port, const struct mode *mode);
static inline uint32_t runloop__port_wanted_and_ready(struct port *port, const struct mode *mode) {
    struct binding *only = runloop__port_only_source(port);
    if (!only)
        return runloop__port_ready_of_many(port, mode);
    return runloop__is_member(&only->modes, mode)
               ? port->ready & (runloop__port_mask(runloop__source_of(only)) | UNASKED)
               : 0;
}

/// HOLDS: loop. Before a look at the lists of ports may be spared.
void runloop__ports_note_what_is_left(runloop *loop);
/// HOLDS: loop. A further mode or one less: what the port's sources want has changed.
int runloop__port_update(runloop *loop, struct port *port);
/// HOLDS: loop. One of the port's sources asks for something else.
int runloop__port_ask_anew(runloop *loop, struct port *port);
/// HOLDS: loop. Asks the kernel whether the port's number no longer stands for the file that is reported; then it is told of no more.
bool runloop__port_is_dead(runloop *loop, struct port *port);
/// HOLDS: loop. Notes what a wait reported under a tag.
void runloop__port_report(runloop *loop, uint64_t tag, uint32_t events);
/// HOLDS: loop. What was reported is served, or over.
void runloop__port_unready(runloop *loop, struct port *port);
/// HOLDS: loop. Has a port been reported that the run can serve?
bool runloop__port_is_ready(struct run *run);
/// HOLDS: loop. Chooses the first one: into the hand, if observers are told before it is served, else its sources are collected.
/// False if there is none.
bool runloop__port_choose(struct run *run);
void runloop__port_take_in_hand(struct run *run, port_number number);
/// HOLDS: loop. Before any wait: all that this mode wants must be able to end it.
void runloop__ports_prepare_wait(struct run *run);
/// HOLDS: loop. Before a wait that may sleep: nothing that this mode does not want may end it.
void runloop__ports_narrow(struct run *run);
/// Own thread. Collects from the port the run has chosen, unless that was served meanwhile.
void runloop__port_serve(struct run *run);
/// Own thread. Calls what was collected: true if any was called.
bool runloop__port_call(struct run *run);
/// Own thread. Calls the one source that was chosen.
void runloop__port_call_only(struct run *run);
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
/// HOLDS: loop. `tag`: what a wait will report it under, a number and, above that, a generation. Negative errno.
int runloop__portset_watch(runloop *loop, int descriptor, uint64_t tag, int operation, uint32_t events);
int runloop__portset_watch_main_queue(runloop *loop);
void runloop__portset_write_wake(runloop *loop);

//===-- the wake word (wake.c) ---------------------------------------------------------------------------------------===//

/// Announces that the loop is about to sleep: true if it must not, because a wake-up or stop came before.
bool runloop__wake_announce_sleep(runloop *loop);
/// After a wait, before another: true if a wake-up or stop has come; otherwise forgets kicks.
bool runloop__wake_was_woken(runloop *loop);
/// Makes a sleeper look again; no wake-up that anybody is told of.
void runloop__wake_kick(runloop *loop);

#endif // RUNLOOP_SOURCE_H
