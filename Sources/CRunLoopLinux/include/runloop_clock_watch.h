// runloop_clock_watch.h — the wall clock was set, or the machine was suspended. Part of runloop_linux.h, whose general rules
// hold.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_CLOCK_WATCH_H
#define RUNLOOP_CLOCK_WATCH_H
#ifdef __linux__
#include "runloop.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Reports when the wall clock was set, and when the machine was suspended. Nothing is polled: the kernel reports both.
/// If it is in several loops, one of them reports a change. Changes that wait at its end are dropped.
typedef runloop_source runloop_clock_watch;

/// What has happened to the clocks since the last call, or since the creation. At least one of the two is not 0.
typedef struct runloop_clock_change {
    /// By how much the wall clock was set, beyond the time that has passed: negative if it was set back. The time of a suspension
    /// has passed, too, and is not in it. 0: it was not set. A leap second is a step; slewing is not.
    int64_t step_ns;
    /// How long the machine was suspended: by how much CLOCK_BOOTTIME has gained on CLOCK_MONOTONIC. 0: it was not. (The pause of
    /// a virtual machine is no suspension unless its host makes it one.)
    int64_t suspended_ns;
} runloop_clock_change;

/// The configuration of a watch of the clocks, which is copied.
typedef struct runloop_clock_watch_config {
    runloop_context context;
    /// On the loop's thread, in the modes of the source. Changes that were not reported yet are added up; if the wall clock was
    /// set forth and back meanwhile, there is nothing to report. May be NULL.
    void (*RUNLOOP_SENDABLE changed)(runloop_clock_watch *watch, const runloop_clock_change *change, void *info);
} runloop_clock_watch_config;

/// Watches the clocks, from now on. The report is exact to the time between two readings of clocks, usually less than a microsecond; a
/// change that is smaller is not reported. O(1).
/// Errors: -ENOSYS: the kernel does not report changes, in a sandbox or before Linux 3.0; -EPERM: in a sandbox without timerfd_create;
/// -EMFILE, -ENFILE: it needs a descriptor; -ENOMEM; -EINVAL.
RUNLOOP_EXPORT int runloop_clock_watch_create(const runloop_clock_watch_config *config, runloop_clock_watch **out);

#ifdef __cplusplus
}
#endif
#endif // __linux__
#endif // RUNLOOP_CLOCK_WATCH_H
