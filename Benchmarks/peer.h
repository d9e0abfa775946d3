// peer.h — the operations of a run loop that workloads use. Each peer is one file that implements them, and one program that is
// linked with that peer only; the workloads are written once, against this header.
//
// A workload has one function per kind of event, so the functions are named here once and not stored per object. The cost of an
// object is then the peer's own. Each object carries one pointer, `info`.
#ifndef PEER_H
#define PEER_H

#include <stdbool.h>
#include <stdint.h>

struct peer_loop;
struct peer_wake;
struct peer_signal;
struct peer_watch;
struct peer_timer;

/// Functions of the running workload, set before its first object is made.
struct peer_calls {
    void (*on_wake)(void *info);
    void (*on_signal)(void *info);
    void (*on_ready)(void *info);
    void (*on_timer)(void *info);
    int64_t interval_ns;  ///< of all timers; 0: they fire once
    int64_t tolerance_ns; ///< of all timers
};
extern struct peer_calls peer_calls;

enum {
    PEER_WAKES = 1 << 0,
    PEER_SIGNALS = 1 << 1,
    PEER_SUBMITS = 1 << 2,
    PEER_WATCHES = 1 << 3,
    PEER_TIMERS = 1 << 4,
    PEER_POLLS = 1 << 5,      ///< has a non-blocking iteration
    PEER_LIMITS = 1 << 6,     ///< a run can have a limit
    PEER_TOLERATES = 1 << 7,  ///< timers can have a tolerance
    PEER_REPEATS = 1 << 8,    ///< timers can repeat
    PEER_MODES = 1 << 9,      ///< modes, observers, nested runs
    PEER_MAIN_QUEUE = 1 << 10 ///< serves the main dispatch queue on the initial thread
};

/// The properties and abilities of a peer.
struct peer_traits {
    const char *name;
    const char *(*version)(void);
    unsigned has;
    bool reads_counters;     ///< the loop itself reads a ready eventfd
    bool has_own_threads;    ///< its callbacks run on threads of its own, which can't be pinned
    uint64_t timers_at_most; ///< more would take minutes; 0: no limit
};
extern const struct peer_traits peer_traits;

/// The calling thread's loop.
struct peer_loop *peer_open(void);
void peer_close(struct peer_loop *loop);

#define PEER_FOREVER INT64_MAX
/// Runs the calling thread's loop until peer_stop, which is called in a callback of that loop.
void peer_run(struct peer_loop *loop, int64_t limit_ns);
void peer_stop(struct peer_loop *loop);
/// One iteration, which doesn't wait.
void peer_poll(struct peer_loop *loop);

/// A handle by which any thread makes the loop call `on_wake`; several requests may cause one call.
struct peer_wake *peer_wake_create(struct peer_loop *loop, void *info);
void peer_wake_send(struct peer_wake *wake);

/// A handle by which the loop's own thread makes it call `on_signal`.
struct peer_signal *peer_signal_create(struct peer_loop *loop, void *info);
void peer_signal_send(struct peer_signal *signal);

/// Called before other threads use a loop, and before peer_submit, for peers that have to prepare.
void peer_prepare_threads(void);
void peer_accept_submissions(struct peer_loop *loop);

/// Frees the memory of cancelled timers that the loop would free later.
void peer_reap(struct peer_loop *loop);

/// Any thread: the loop calls function(info) once.
void peer_submit(struct peer_loop *loop, void (*function)(void *info), void *info);

/// The loop calls `on_ready` while `descriptor`, an eventfd, is readable.
struct peer_watch *peer_watch_add(struct peer_loop *loop, int descriptor, void *info);

/// A timer: created and started; moved; stopped and freed, even after it fired.
struct peer_timer *peer_timer_start(struct peer_loop *loop, int64_t delay_ns, void *info);
void peer_timer_move(struct peer_timer *timer, int64_t delay_ns);
void peer_timer_cancel(struct peer_timer *timer);

/// Any thread: submits to the main dispatch queue, which the initial thread's loop serves (PEER_MAIN_QUEUE).
void peer_main_queue_async(void (*function)(void *info), void *info);

/// Features that only run loops have (PEER_MODES).
void peer_observe_all(struct peer_loop *loop, void (*observe)(void));
void peer_add_modes(struct peer_loop *loop, unsigned count, bool are_common);
void peer_add_remove_common(struct peer_loop *loop);
void peer_run_inner(struct peer_loop *loop);

#endif
