// runloop_source.h — sources: items that are called when they were signalled, a descriptor is ready, or a deadline has passed. Part of
// runloop.h, which includes it, and whose general rules hold.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_SOURCE_H
#define RUNLOOP_SOURCE_H
#ifdef __linux__
#include "runloop.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A source that is signalled by hand (source0).
typedef struct runloop_source_config {
    runloop_context context;
    int32_t order; ///< Lower ones perform first, equal ones in the order of their first signal.
    /// On the loop's thread, once, however often it was signalled. May be NULL: the source still counts as handled.
    void (*RUNLOOP_SENDABLE perform)(runloop_source *source, void *info);
    /// After each addition to or removal from a concrete mode, on the calling thread (R58, R59). May be NULL.
    void (*RUNLOOP_SENDABLE schedule)(runloop_source *source, runloop *loop, const char *mode, void *info);
    void (*RUNLOOP_SENDABLE cancel)(runloop_source *source, runloop *loop, const char *mode, void *info);
} runloop_source_config;

/// A source that is driven by a descriptor (source1). Level-triggered: it is called, one descriptor per iteration, as long as a
/// condition that it asked for holds; its owner reads and writes. The descriptor should be non-blocking: if somebody else consumed
/// what was ready, the source may be called once for nothing. Remove the source before closing the descriptor, which the loop never
/// closes. With `descriptor` -1 it is called for signals and its deadline alone (R68, R72).
typedef struct runloop_descriptor_config {
    runloop_context context;
    int32_t order;            ///< Among the sources of one descriptor, and among those that are called together.
    int descriptor;           ///< Remains the caller's.
    runloop_readiness events; ///< At least one; can be changed later. Errors and hang-ups are reported in any case.
    /// `counter`: the descriptor is a non-blocking eventfd, timerfd or similar, whose 8 bytes the loop reads before the call (R69).
    /// Checked: -EINVAL otherwise, so that the loop never consumes a byte of a pipe or a socket.
    bool counter;
    /// Called in one iteration with all others that say so and are ready in the mode, by order: no timer comes between them (R71).
    bool together;
    /// On the loop's thread, with all reasons that there are. May be NULL: the source still counts as handled.
    void (*RUNLOOP_SENDABLE ready)(runloop_source *source, runloop_readiness reasons, void *info);
    /// As for runloop_source_config.
    void (*RUNLOOP_SENDABLE schedule)(runloop_source *source, runloop *loop, const char *mode, void *info);
    void (*RUNLOOP_SENDABLE cancel)(runloop_source *source, runloop *loop, const char *mode, void *info);
    /// Once, by the call that invalidates the source, after the last `cancel`: the place to close the descriptor (R153). Not called if it
    /// is released without that. May be NULL.
    void (*RUNLOOP_SENDABLE invalidated)(runloop_source *source, void *info);
} runloop_descriptor_config;

/// Create a source with one reference, in no loop. O(1).
/// Errors: -EINVAL: no or unknown events, a descriptor below -1, or a `counter` that is not a counter; -ENOMEM.
RUNLOOP_EXPORT int runloop_source_create(const runloop_source_config *config, runloop_source **out);
RUNLOOP_EXPORT int runloop_descriptor_source_create(const runloop_descriptor_config *config, runloop_source **out);
RUNLOOP_EXPORT runloop_source *runloop_source_retain(runloop_source *source);
RUNLOOP_EXPORT void runloop_source_release(runloop_source *source);

/// Marks the source: it performs in the next dispatch of a loop that runs one of its modes; until then it stays marked, even in
/// no loop. One with a descriptor is called with RUNLOOP_SIGNALLED, in turn with what is ready. Does not wake (R54, R62). Ignored
/// if invalid. Async-signal-safe while referenced. O(log n), to base 64, of the sources of each loop it is in.
/// Errors: -EINVAL.
RUNLOOP_EXPORT int runloop_source_signal(runloop_source *source);
/// Marks the source as runloop_source_signal does, and wakes each loop that has the source in a mode and would not look by
/// itself. Not for signal handlers.
/// Errors: -EINVAL.
RUNLOOP_EXPORT int runloop_source_wake(runloop_source *source);
RUNLOOP_EXPORT bool runloop_source_is_signalled(runloop_source *source);

/// Removes the source permanently from every mode of every loop, and calls `cancel` for each (R67). Idempotent, allowed in its own
/// callback, does not wait for a callback that runs on another thread (R119). O(modes it is in).
RUNLOOP_EXPORT void runloop_source_invalidate(runloop_source *source);
RUNLOOP_EXPORT bool runloop_source_is_valid(runloop_source *source);

/// Changes the conditions that the source asks for in every loop that it is in (R149): the one source of a connection asks for
/// RUNLOOP_WRITABLE only while output waits. 0 pauses it: it is not called at all, errors and hang-ups included, but keeps its
/// modes. Applies from the next wait on, and to a wait under way, which ends if a condition holds; allowed in the source's own
/// callback. Other sources of the descriptor are not affected. An invalid source can be paused: then no loop will name its
/// descriptor to the kernel for it, even if another thread is still invalidating it. After an error the source keeps its former
/// conditions. If two threads set them at once, one of the two prevails. O(loops it is in), an epoll_ctl for each in which what
/// is watched for the descriptor changes.
/// Errors: -EINVAL: it is invalid and would not be paused, it is signalled by hand or a counter, or the events are unknown;
/// -EBADF; -EPERM: epoll does not take it, such as a regular file; -ENOSPC; -ENOMEM.
RUNLOOP_EXPORT int runloop_source_set_events(runloop_source *source, runloop_readiness events);

/// Sets the instant, as of runloop_now_ns, at which the source is called with RUNLOOP_DUE, once, in a run of one of its modes, in
/// turn with what is ready (R152). It was made with a descriptor, or with -1. RUNLOOP_NEVER takes it back, also if it has passed
/// and the source was not yet called for it; so does any other instant, which replaces it. A sleeping loop is re-armed, not
/// woken. It costs no descriptor. O(log n) per mode.
/// Errors: -EINVAL: it is invalid, or signalled by hand alone; -ENOMEM: it keeps its former deadline.
RUNLOOP_EXPORT int runloop_source_set_deadline(runloop_source *source, int64_t instant_ns);
/// The deadline of a source, as last set. O(1).
/// Returns: the instant; RUNLOOP_NEVER if there is none, or a loop has found that it has passed.
RUNLOOP_EXPORT int64_t runloop_source_get_deadline(runloop_source *source);

/// The order, info, descriptor and events of a source, as created or last set, even after invalidation (R111). O(1).
/// Returns: the value. Descriptor and events of a source that is signalled by hand are -1 and 0.
/// Errors: none.
RUNLOOP_EXPORT int32_t runloop_source_get_order(runloop_source *source);
RUNLOOP_EXPORT void *runloop_source_get_info(runloop_source *source);
RUNLOOP_EXPORT int runloop_source_get_descriptor(runloop_source *source);
RUNLOOP_EXPORT runloop_readiness runloop_source_get_events(runloop_source *source);

/// Add a source to a mode, remove it, ask for it. Adding one that is there already changes nothing. After an error it is in no
/// mode that it was not in before, and no mode was created. A source may be in many modes of many loops, which it retains as
/// objects. Adding wakes no loop, but a ready descriptor does. Removing one that is not there changes nothing. Removal ends a
/// sleep in a mode that it leaves empty. The pseudo-mode means all common modes, now and later (R18–R20). O(log n), to base 64,
/// of the loop's sources, and O(1) per mode, plus an epoll_ctl for a descriptor.
/// Errors: -EINVAL: the source to be added is invalid; -EBADF; -EPERM: epoll does not take the descriptor, such as that of a
/// regular file or a directory; -ELOOP: it is an epoll set that is nested too deeply; -ENOSPC; -ENOMEM; -ESHUTDOWN; -ECHILD.
RUNLOOP_EXPORT int runloop_add_source(runloop *loop, runloop_source *source, const char *mode);
RUNLOOP_EXPORT int runloop_remove_source(runloop *loop, runloop_source *source, const char *mode);
RUNLOOP_EXPORT bool runloop_contains_source(runloop *loop, runloop_source *source, const char *mode);

#ifdef __cplusplus
}
#endif
#endif // __linux__
#endif // RUNLOOP_SOURCE_H
