// source.h — sources, their bindings to loops, the ports of their descriptors, and the port set. Part of internal.h.
#ifndef RUNLOOP_SOURCE_H
#define RUNLOOP_SOURCE_H

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

#endif // RUNLOOP_SOURCE_H
