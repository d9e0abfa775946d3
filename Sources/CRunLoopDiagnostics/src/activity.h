// activity.h — what a followed loop does now: which call-outs are open, and how long it has not slept.
#ifndef RUNLOOP_ACTIVITY_H
#define RUNLOOP_ACTIVITY_H

#include <sys/types.h>

#include "callout.h"
#include "histogram.h"
#include "runloop_lock.h"

/// Call-outs inside call-outs further down than this are counted, but not known.
enum { ACTIVITY_DEPTH = 16 };

/// Written by the loop's thread.
struct activity {
    _Atomic uint32_t references;
    runloop *loop;
    pid_t thread;
    _Atomic bool is_known;    ///< the loop is followed
    _Atomic int queue;        ///< the main loop's: the main dispatch queue's descriptor; negative if there is none
    counted asleep_since_ns;  ///< 0: it does not sleep
    counted awake_since_ns;   ///< since the last sleep, or the beginning of the outermost run; 0: it does not run
    counted awake_iterations; ///< that have begun since then
    struct process_lock lock; ///< held when a call-out begins, and when another thread reads them
    _Atomic int depth;
    struct callout open[ACTIVITY_DEPTH];
    int run_depth; ///< loop's thread
};

/// A point of a loop's trace, as its followers receive it.
struct moment {
    runloop_trace_point point;
    const void *object;
    int64_t value;
    int64_t now_ns;                ///< by CLOCK_MONOTONIC, read once for all
    const struct callout *callout; ///< that begins, or has returned; NULL at other points, and if it is not known
};

/// Of the calling thread's loop; NULL when memory ran out.
struct activity *activity_make(runloop *loop);
void activity_retain(struct activity *activity);
void activity_release(struct activity *activity);
/// The loop's thread: the loop is followed from now on, or no longer.
void activity_set_known(struct activity *activity, bool is_known);
/// The loop's thread, at each point; completes the moment by the call-out.
void activity_follow(struct activity *activity, struct moment *moment);
/// Any thread: the open call-outs, the outermost first, at most ACTIVITY_DEPTH. How many.
int activity_copy_callouts(struct activity *activity, struct callout *copies);
/// Any thread: whether one of them serves the main dispatch queue.
bool activity_is_in_queue_work(struct activity *activity);

#endif // RUNLOOP_ACTIVITY_H
