// runloop_statistics.h — how much a loop does, and how long it takes: counts, and histograms of times. Part of runloop_diagnostics.h.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_STATISTICS_H
#define RUNLOOP_STATISTICS_H
#ifdef __linux__
#include "runloop.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The number of buckets of a histogram: eight for each power of two from 64 ns to about 18 minutes, and one below.
#define RUNLOOP_HISTOGRAM_BUCKETS 272

/// How often which durations were measured, with an error of at most an eighth.
typedef struct runloop_histogram {
    uint64_t count;                              ///< How many.
    int64_t sum_ns;                              ///< Of all of them; at most INT64_MAX.
    int64_t max_ns;                              ///< The longest, exactly.
    uint64_t buckets[RUNLOOP_HISTOGRAM_BUCKETS]; ///< How many in each, from the shortest durations on.
} runloop_histogram;

/// The duration which that share of the measured ones did not exceed: the upper bound of its bucket, at most `max_ns`. 0.5 asks for the
/// median. O(buckets).
/// Returns: the duration; 0 for an empty histogram or NULL.
RUNLOOP_EXPORT int64_t runloop_histogram_quantile_ns(const runloop_histogram *histogram, double share);

/// The kinds of call-outs, as places in `callouts`.
enum {
    RUNLOOP_CALLOUT_OBSERVER = 0,          ///< Observers.
    RUNLOOP_CALLOUT_TIMER = 1,             ///< Timers.
    RUNLOOP_CALLOUT_SIGNALLED_SOURCE = 2,  ///< Sources that are signalled by hand.
    RUNLOOP_CALLOUT_DESCRIPTOR_SOURCE = 3, ///< Sources that are driven by a descriptor.
    RUNLOOP_CALLOUT_TASK = 4,              ///< Tasks: functions, blocks and closures.
    RUNLOOP_CALLOUT_MAIN_QUEUE = 5,        ///< Blocks of the main dispatch queue.
    RUNLOOP_CALLOUT_KINDS = 6,             ///< How many kinds there are.
};

/// What a loop has done since its statistics were started.
typedef struct runloop_statistics {
    int64_t elapsed_ns; ///< Since the start.
    int64_t running_ns; ///< In runs, nested ones not counted again.
    int64_t asleep_ns;  ///< Of that, asleep. The rest of `running_ns` was busy.
    /// Nested ones included. An iteration sleeps once at most, and doesn't if its wait finds something to do at once.
    uint64_t runs, iterations, sleeps;
    /// Iterations since the last sleep, or since the outermost run began: a loop that spins has many. 0 outside of runs.
    uint64_t awake_iterations;
    uint64_t callouts[RUNLOOP_CALLOUT_KINDS]; ///< How many call-outs, by kind.
    runloop_histogram sleep;                  ///< Sleeps.
    runloop_histogram iteration;              ///< Iterations of the outermost runs, without what they slept.
    runloop_histogram callout;                ///< Call-outs; a nested run counts for the one around it, too.
    runloop_histogram lateness;               ///< Of timers: from the date to the call-out.
    runloop_histogram
        post_to_run; ///< From a post to when the loop takes it up; of posts that come in a burst, the first.
    /// Of the longest call-out: its item's name (cut), or "", and the kind.
    char longest_name[64];
    int longest_kind;
} runloop_statistics;

/// Starts the statistics of the calling thread's loop, from zero. From then on the loop reads the clock where a run, an iteration, a sleep
/// and a call-out begin and end, once for everything that follows it (a recorder, a watchdog), and counts. Does
/// nothing if they are started already. O(1).
/// Errors: -EMFILE, -ENFILE, -ENOMEM, -ENOSPC: there is none left for it, or the thread has no loop yet, and none can be made; -ESHUTDOWN.
RUNLOOP_EXPORT int runloop_statistics_start(void);
/// Stops the statistics of the calling thread's loop; what they have counted stays readable. Does nothing if they aren't started. O(1).
RUNLOOP_EXPORT void runloop_statistics_stop(void);
/// Copies the statistics of a loop, on any thread, without a lock. Each number is right for some moment of the call, not all of them for
/// the same one. O(buckets).
/// Errors: -ENOENT: they were never started, the loop's thread has ended, or it is a loop of the parent process; -EINVAL.
RUNLOOP_EXPORT int runloop_statistics_copy(runloop *loop, runloop_statistics *statistics);

#ifdef __cplusplus
}
#endif
#endif // __linux__
#endif // RUNLOOP_STATISTICS_H
