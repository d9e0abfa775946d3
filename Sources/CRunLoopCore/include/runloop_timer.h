// runloop_timer.h — timers: items that are called at an instant, once or repeatedly. Part of runloop.h,
// which includes it, and whose general rules hold.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_TIMER_H
#define RUNLOOP_TIMER_H
#ifdef __linux__
#include "runloop.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The configuration of a timer, which is copied.
typedef struct runloop_timer_config {
    runloop_context context;
    int32_t order;   ///< Among timers due at the same instant; then in the order in which they joined the loop.
    int64_t fire_ns; ///< First due instant, and start of the fire schedule. In the past: due at once.
    /// Of the fire schedule. 0 or less: the timer fires once and becomes invalid. RUNLOOP_FOREVER: it fires once for each date that it is given,
    /// `fire_ns` and those of runloop_timer_set_fire_date, and has none in between: a timer that can be armed again, in its own callback, too.
    int64_t interval_ns;
    int64_t tolerance_ns; ///< How much later it may fire to share a wake-up. Capped at half the interval.
    /// On the loop's thread; never re-entered by nested runs (R84). May be NULL.
    void (*RUNLOOP_SENDABLE fire)(runloop_timer *timer, void *info);
} runloop_timer_config;

/// Creates a timer with one reference, in no loop. O(1).
/// Errors: -EINVAL; -ENOMEM.
RUNLOOP_EXPORT int runloop_timer_create(const runloop_timer_config *config, runloop_timer **out);
RUNLOOP_EXPORT runloop_timer *runloop_timer_retain(runloop_timer *timer);
RUNLOOP_EXPORT void runloop_timer_release(runloop_timer *timer);

/// The next due instant of a timer; during its callback, the one that is firing (R81). O(1).
/// Returns: the instant; RUNLOOP_NEVER if the timer is invalid.
RUNLOOP_EXPORT int64_t runloop_timer_get_fire_date(runloop_timer *timer);
/// Moves the timer and restarts its fire schedule there (R83). In its own callback the last date set wins, if it repeats (R82). A
/// sleeping loop is re-armed, not woken. Allowed in no loop. O(log n) per mode.
/// Errors: -EINVAL: the timer is invalid; -ECHILD.
RUNLOOP_EXPORT int runloop_timer_set_fire_date(runloop_timer *timer, int64_t fire_ns);

/// The interval, order and tolerance of a timer, as created (interval 0 for one that fires once; tolerance as capped), even after
/// invalidation (R112). O(1).
RUNLOOP_EXPORT int64_t runloop_timer_get_interval(runloop_timer *timer);
RUNLOOP_EXPORT int32_t runloop_timer_get_order(runloop_timer *timer);
RUNLOOP_EXPORT int64_t runloop_timer_get_tolerance(runloop_timer *timer);
/// Sets how much later the timer may fire to share a wake-up. A negative tolerance becomes 0; that of a repeating timer is capped
/// at half the interval. O(1).
/// Errors: -EINVAL: the timer is invalid; -ECHILD.
RUNLOOP_EXPORT int runloop_timer_set_tolerance(runloop_timer *timer, int64_t tolerance_ns);

/// How many instants of the fire schedule passed without a callback: in the timer's callback those that were not reported before,
/// not counting this one (R80); at other times the number of the last callback. O(1).
RUNLOOP_EXPORT uint64_t runloop_timer_get_missed(runloop_timer *timer);
/// The info of a timer's context (R112). O(1).
/// Returns: the pointer; NULL if the timer is invalid.
RUNLOOP_EXPORT void *runloop_timer_get_info(runloop_timer *timer);

/// Removes the timer permanently from all modes and releases its context, after its callback if that is running (R88). Idempotent.
/// Does not wait for a callback that runs on another thread. O(log n) per mode.
RUNLOOP_EXPORT void runloop_timer_invalidate(runloop_timer *timer);
RUNLOOP_EXPORT bool runloop_timer_is_valid(runloop_timer *timer);

/// Add a timer to a mode, remove it, ask for it: as runloop_add_source and its neighbours, but a timer is in one loop at a time
/// (R86). It does not retain its loop. A sleeping loop is re-armed, not woken (R87). O(log n) per mode.
/// Errors: -EINVAL: the timer to be added is invalid; -EBUSY: it is in another loop; -ENOMEM; -ESHUTDOWN; -ECHILD.
RUNLOOP_EXPORT int runloop_add_timer(runloop *loop, runloop_timer *timer, const char *mode);
RUNLOOP_EXPORT int runloop_remove_timer(runloop *loop, runloop_timer *timer, const char *mode);
RUNLOOP_EXPORT bool runloop_contains_timer(runloop *loop, runloop_timer *timer, const char *mode);

#ifdef __cplusplus
}
#endif
#endif // __linux__
#endif // RUNLOOP_TIMER_H
