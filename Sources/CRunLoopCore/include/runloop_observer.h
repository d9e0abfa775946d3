// runloop_observer.h — observers: items that are notified of what a loop does. Part of runloop.h,
// which includes it, and whose general rules hold.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_OBSERVER_H
#define RUNLOOP_OBSERVER_H
#ifdef __linux__
#include "runloop.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The configuration of an observer, which is copied.
typedef struct runloop_observer_config {
    runloop_context context;
    int32_t order; ///< Lower ones are notified first, of every activity; equal ones in order of addition (R93).
    runloop_activity activities; ///< Of which the observer is notified; others pass unnoticed.
    bool repeats;                ///< false: notified once in all, then invalid (R95).
    /// On the loop's thread; not notified of the runs nested in it (R96). May be NULL.
    void (*RUNLOOP_SENDABLE observe)(runloop_observer *observer, runloop_activity activity, void *info);
} runloop_observer_config;

/// Creates an observer with one reference, in no loop. O(1).
/// Errors: -EINVAL; -ENOMEM.
RUNLOOP_EXPORT int runloop_observer_create(const runloop_observer_config *config, runloop_observer **out);
RUNLOOP_EXPORT runloop_observer *runloop_observer_retain(runloop_observer *observer);
RUNLOOP_EXPORT void runloop_observer_release(runloop_observer *observer);

/// The activities, order, repetition and info of an observer, as created, even after invalidation, except for the info, which is
/// NULL then (R113). O(1).
RUNLOOP_EXPORT runloop_activity runloop_observer_get_activities(runloop_observer *observer);
RUNLOOP_EXPORT int32_t runloop_observer_get_order(runloop_observer *observer);
RUNLOOP_EXPORT bool runloop_observer_repeats(runloop_observer *observer);
RUNLOOP_EXPORT void *runloop_observer_get_info(runloop_observer *observer);
/// Removes the observer permanently from all modes and releases its context, after its callback if that is running (R98).
/// Idempotent. Does not wait for a callback that runs on another thread. O(observers of its modes).
RUNLOOP_EXPORT void runloop_observer_invalidate(runloop_observer *observer);
RUNLOOP_EXPORT bool runloop_observer_is_valid(runloop_observer *observer);

/// Add an observer to a mode, remove it, ask for it: as runloop_add_timer and its neighbours (R97). Observers never keep a mode
/// from being empty. O(observers of the mode).
/// Errors: -EINVAL: the observer to be added is invalid; -EBUSY: it is in another loop; -ENOMEM; -ESHUTDOWN; -ECHILD.
RUNLOOP_EXPORT int runloop_add_observer(runloop *loop, runloop_observer *observer, const char *mode);
RUNLOOP_EXPORT int runloop_remove_observer(runloop *loop, runloop_observer *observer, const char *mode);
RUNLOOP_EXPORT bool runloop_contains_observer(runloop *loop, runloop_observer *observer, const char *mode);

#ifdef __cplusplus
}
#endif
#endif // __linux__
#endif // RUNLOOP_OBSERVER_H
