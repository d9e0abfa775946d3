// watch.h — what the watchdog knows of a loop: written by the loop's thread, looked at by the attendant.
#ifndef RUNLOOP_WATCH_H
#define RUNLOOP_WATCH_H

#include <stdatomic.h>
#include <sys/types.h>

#include "runloop_diagnostics.h"

/// Call-outs inside call-outs further down than this have no names in reports.
enum { WATCH_DEPTH = 16 };

/// A call-out, for another thread to read: every field is atomic, and `serial` of the watch says whether they belong together.
struct watched_callout {
    _Atomic int kind;
    _Atomic(const void *) object;
    _Atomic uint32_t line; ///< behind the name, unless 0
    _Atomic char name[64];
};

/// The same, read.
struct callout_copy {
    int kind; ///< -1: none
    const void *object;
    char name[96];
};

/// Instants of the heartbeat are doubled, and odd while the loop is busy.
enum { BEAT_IS_BUSY = 1 };

struct watch {
    struct watch *next; ///< attendant's lock, then its thread
    runloop *loop;      ///< retained
    pid_t thread;
    bool is_main; ///< the initial thread and its loop, which serves the main queue
    runloop_watchdog_config config;
    _Atomic bool is_stopped; ///< the loop's thread no longer has it

    // Written by the loop's thread.
    _Atomic int64_t beat;     ///< when it last came back
    _Atomic int64_t ended_ns; ///< when it came back after `awaited`
    _Atomic uint32_t serial;  ///< odd while `open` and `depth` change
    _Atomic int depth;
    struct watched_callout open[WATCH_DEPTH];
    _Atomic uint32_t spin_iterations; ///< not 0: a spin to be reported, with what follows; the attendant sets it to 0
    _Atomic int spin_descriptor;
    struct watched_callout spin_callout;
    _Atomic int queue; ///< the main loop's: the main dispatch queue's descriptor; else, and if there is none, negative
    _Atomic uint32_t queue_served; ///< how often it was
    // Written by the attendant; the loop's thread takes it back when it comes.
    _Atomic int64_t awaited; ///< the beat that was the last before a hang, or 0

    // The loop's thread.
    int run_depth;
    uint32_t spins;          ///< iterations in a row that served nothing, or only that item
    const void *spin_object; ///< only this was served in them; NULL: nothing was
    const void *served;      ///< in this iteration
    int served_descriptor;   ///< its descriptor, or -1
    runloop_readiness served_events;
    bool is_mixed, is_latched; ///< this iteration served several; the spin has been reported

    // The attendant.
    int64_t looked_ns; ///< when it last looked, or 0
    int64_t seen_beat, stuck_ns, discounted_ns;
    struct callout_copy culprit; ///< of the hang that has been reported
    bool is_hung;
    uint32_t seen_served;
    int64_t starved_ns; ///< how long work has been seen in the main queue, or 0
    bool is_starved;    ///< which has been reported
};

/// The attendant: looks at the loop and reports what it finds. How long until it wants to look again.
int64_t watch_look(struct watch *watch);
/// The attendant: with it goes the handler's context.
void watch_free(struct watch *watch);

/// Completes the diagnosis by its sentence, and hands it to the handler.
void diagnosis_report(const struct watch *watch, runloop_diagnosis *diagnosis, int descriptor);

#endif // RUNLOOP_WATCH_H
