// runloop_inspect.h — what is in a loop, and what it does: names of items, a visit of all items, and a tracer. For diagnostics; runloop-
// diagnostics builds statistics, traces and watchdogs on it. Part of runloop.h, which includes it, and whose general rules hold.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_INSPECT_H
#define RUNLOOP_INSPECT_H
#ifdef __linux__
#include "runloop.h"

#ifdef __cplusplus
extern "C" {
#endif

//===-- What people read ---------------------------------------------------------------------------------------------===//
/// Turns diagnostics on or off: texts on standard error about use that is allowed but hardly intended, each written once per
/// process, by the thread that notices: work for the main dispatch queue or the main actor waits for longer than 250 ms inside
/// other such work, or that kept the queue for a second (R109); a thread ends with items in a loop that was never run; with
/// RUNLOOP_DEBUG, a run in a mode to which nothing was ever added (R150). Enabled unless the environment has
/// RUNLOOP_DIAGNOSTICS=0 (as secure_getenv(3) reads it).
RUNLOOP_EXPORT void runloop_set_diagnostics_enabled(bool enabled);
RUNLOOP_EXPORT bool runloop_diagnostics_are_enabled(void);

/// How many pieces of work for the main dispatch queue are performed together at this moment, at most: the queue
/// looks empty meanwhile. Those that are behind the one under way wait until it has returned, also if it runs a loop.
/// Which one that is, libdispatch does not say. Of what is served by other loops, Foundation's for instance, nothing
/// is known. Any thread. O(1).
/// Returns: 0 if none is performed.
RUNLOOP_EXPORT uint32_t runloop_main_queue_batch(void);

/// A readable account of a loop: modes, items, order, validity, fire dates, signals. O(items). For people and logs; its form may
/// change.
/// Returns: a text from malloc, which the caller frees; NULL if memory ran out.
RUNLOOP_EXPORT char *runloop_copy_description(runloop *loop);

//===-- Names --------------------------------------------------------------------------------------------------------===//
/// Names an item, for people: shown by descriptions, statistics and traces. `name` is not copied and lives as long as the item does: a
/// literal, a name that the process keeps (runloop_mode_name), or of a source text that its context's release frees. `line` is shown behind
/// it unless it is 0, so that a file and a line can be a name. NULL takes the name away. The last call wins; set it before the item is
/// added if other threads may look. O(1).
RUNLOOP_EXPORT void runloop_source_set_name(runloop_source *source, const char *name, uint32_t line);
RUNLOOP_EXPORT void runloop_timer_set_name(runloop_timer *timer, const char *name, uint32_t line);
RUNLOOP_EXPORT void runloop_observer_set_name(runloop_observer *observer, const char *name, uint32_t line);
/// The name of an item; and its line in `*line`, which may be NULL. O(1).
/// Returns: the name; NULL without one.
RUNLOOP_EXPORT const char *runloop_source_get_name(runloop_source *source, uint32_t *line);
RUNLOOP_EXPORT const char *runloop_timer_get_name(runloop_timer *timer, uint32_t *line);
RUNLOOP_EXPORT const char *runloop_observer_get_name(runloop_observer *observer, uint32_t *line);

/// Whether a descriptor source is never called any more in the loop, because its number was closed while the loop
/// watched it: it stands for no file, or for another one. The kernel does not report that, so it is asked. If it was
/// not known before, the loop wakes, and its thread writes the diagnostic. False for other sources, and for one whose
/// events are paused. Any thread. O(log descriptors), with a system call.
RUNLOOP_EXPORT bool runloop_source_is_lost(runloop_source *source, runloop *loop);

//===-- A visit ------------------------------------------------------------------------------------------------------===//
/// What an item is. There may be further kinds later: a visitor ignores those that it does not know.
typedef enum RUNLOOP_OPEN runloop_item_kind {
    RUNLOOP_ITEM_SIGNALLED_SOURCE = 0,  ///< A runloop_source of runloop_source_create.
    RUNLOOP_ITEM_DESCRIPTOR_SOURCE = 1, ///< One of runloop_descriptor_source_create, with or without a descriptor.
    RUNLOOP_ITEM_TIMER = 2,             ///< A runloop_timer.
    RUNLOOP_ITEM_OBSERVER = 3,          ///< A runloop_observer.
} runloop_item_kind;

/// Calls `visit` for each item of a mode: sources, timers, observers, in this order, those that were there at one moment of the
/// call. An item is kept alive until `visit` returns, which may make any call. Any thread. O(items of the mode + sources of the
/// loop).
/// Returns: the number of items, 0 for an unknown mode or the pseudo-mode.
/// Errors: -EINVAL; -ECHILD; -ENOMEM.
RUNLOOP_EXPORT int runloop_visit_items(runloop *loop, const char *mode,
                                       void (*visit)(void *context, runloop_item_kind kind, void *item), void *context);

//===-- A tracer -----------------------------------------------------------------------------------------------------===//
/// What a loop does. `object` and `value` of a tracer's call are what the comment says, else NULL and 0. There may be further points later: a
/// tracer ignores those that it does not know.
typedef enum RUNLOOP_OPEN runloop_trace_point {
    RUNLOOP_TRACE_RUN_BEGIN = 0, ///< A run begins. Object: the mode's name.
    RUNLOOP_TRACE_RUN_END = 1,   ///< It ends. Object: the mode's name; value: the result.
    RUNLOOP_TRACE_ITERATION = 2, ///< An iteration begins. Object: the mode's name.
    /// The loop has nothing to do, and sleeps: the kernel was asked, and had nothing to report. A wait that finds something at once is no
    /// sleep; with a clock of the program's, each wait counts as one. Object: the mode's name.
    RUNLOOP_TRACE_SLEEP = 3,
    RUNLOOP_TRACE_WAKE = 4, ///< The sleep is over. Object: the mode's name.
    /// Tasks were taken out of the inbox. Value: when the first of them was posted, or 0: unknown.
    RUNLOOP_TRACE_TASKS = 5,
    RUNLOOP_TRACE_RETURN = 6,   ///< The innermost call-out has returned.
    RUNLOOP_TRACE_OBSERVER = 7, ///< A call-out begins. Object: the observer; value: the activity.
    /// A call-out begins. Object: the timer, whose date is still that for which it fires; value: 1 if that is by a clock of the program's
    /// (runloop_clock.h), else 0.
    RUNLOOP_TRACE_TIMER = 8,
    RUNLOOP_TRACE_SIGNALLED = 9,   ///< A call-out begins. Object: the source.
    RUNLOOP_TRACE_DESCRIPTOR = 10, ///< A call-out begins. Object: the source; value: its readiness.
    RUNLOOP_TRACE_TASK = 11,       ///< A call-out begins. Object: the address of the function.
    RUNLOOP_TRACE_MAIN_QUEUE = 12, ///< The main dispatch queue is served.
} runloop_trace_point;

/// Follows a loop. `trace` is called on the loop's thread, wherever that is, with no lock held; the object lives until it returns. It makes
/// no calls that run a loop, and is itself not traced.
typedef struct runloop_tracer {
    /// What is called. Required.
    void (*RUNLOOP_SENDABLE trace)(void *context, runloop_trace_point point, const void *object, int64_t value);
    void *context; ///< The program's, valid until another tracer is set, or the thread's loop has ended.
} runloop_tracer;

/// Gives the calling thread's loop a tracer, which is copied, in place of the one it had; NULL: none. In a call-out, its first
/// call is for that call-out's return. A new loop of a forked child has none. Without a tracer, a call-out and an iteration compare one word more;
/// with one, the loop asks the kernel once more before each sleep. O(1).
/// Errors: -EINVAL: `trace` is NULL; -EMFILE, -ENFILE, -ENOMEM, -ENOSPC: the thread has no loop yet, and none can be made;
/// -ESHUTDOWN.
RUNLOOP_EXPORT int runloop_set_tracer(const runloop_tracer *tracer);
/// The tracer of the calling thread's loop, to which another tracer may pass on its calls. O(1).
/// Returns: the tracer; its `trace` is NULL if there is none.
RUNLOOP_EXPORT runloop_tracer runloop_get_tracer(void);

#ifdef __cplusplus
}
#endif
#endif // __linux__
#endif // RUNLOOP_INSPECT_H
