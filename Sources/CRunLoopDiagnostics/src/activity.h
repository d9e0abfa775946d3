// activity.h — what a followed loop does now: which call-outs are open, and how long it has not slept. Written by its thread, read by any.
#ifndef RUNLOOP_ACTIVITY_H
#define RUNLOOP_ACTIVITY_H

#include <sys/types.h>

#include "histogram.h"

/// Call-outs inside call-outs further down than this are counted, but not known.
enum { ACTIVITY_DEPTH = 16, CALLOUT_NAME_WORDS = 8 };

/// A call-out that has begun. The name is the end of the item's, if that is too long, and 0 bytes.
struct callout {
    _Atomic int kind;
    _Atomic(const void *) object;
    _Atomic(const char *) mode; ///< of the run that it is in; such a text is never freed
    counted begin_ns;
    _Atomic uint32_t line; ///< behind the name, unless 0
    _Atomic uint64_t name[CALLOUT_NAME_WORDS];
};

struct activity {
    _Atomic uint32_t references;
    pid_t thread;
    _Atomic bool is_known;   ///< the loop is followed
    _Atomic uint32_t serial; ///< odd while `open` and `depth` change
    _Atomic int depth;
    struct callout open[ACTIVITY_DEPTH];
    _Atomic int queue; ///< the main dispatch queue's descriptor on the main loop; else, and if there is none, negative
    counted asleep_since_ns;  ///< 0: it does not sleep
    counted awake_since_ns;   ///< since the last sleep, or the beginning of the outermost run; 0: it does not run
    counted awake_iterations; ///< that have begun since then
    runloop *loop;            ///< the loop's thread
    int run_depth;            ///< the loop's thread
};

/// A point of a loop's trace, as its followers are told of it.
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
/// The loop's thread: of the name, what fits, from its end. The line, which is not in it.
uint32_t callout_copy_name(const struct callout *callout, char *name, size_t size);

/// What any thread has read of a call-out.
struct callout_copy {
    int kind;
    const void *object;
    const char *mode; ///< or NULL
    int64_t begin_ns;
    char name[80]; ///< with the line
};

void callout_copy(const struct callout *callout, struct callout_copy *copy);
/// Any thread, but it waits for a dlopen that is under way: a task gets the name of its function, if that is exported.
void callout_find_function(struct callout_copy *copy);
/// Any thread: the open call-outs, the outermost first, at most ACTIVITY_DEPTH. How many: 0 if they change all the time.
int activity_copy_callouts(const struct activity *activity, struct callout_copy *copies);

#endif // RUNLOOP_ACTIVITY_H
