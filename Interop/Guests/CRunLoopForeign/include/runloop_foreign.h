// runloop_foreign.h — other event libraries as guests of a run loop: GLib, Wayland, sd-bus. The header of librunloop-foreign, which
// is built on runloop.h alone; C11, usable from C++11. What runloop.h says of results, time, modes and callbacks holds here, too.
//
// A guest is a library that waits by itself if it is let: it says what it would wait for, and expects to be asked again before each
// wait. A foreign source does for it what `poll` would do, inside the loop's own sleep.
//
//  - Before the loop sleeps, `prepare` reports descriptors and a deadline. When the sleep is over, `cancel` follows, before anything
//    else of the loop's is called.
//  - If what the guest waits for has happened, the loop calls the source, as it calls any descriptor source. `prepare` is called again,
//    then `check` with what `poll` says of the descriptors, then `dispatch`; or `cancel`, if there is nothing after all.
//  - An iteration that doesn't sleep, because the run polls or because it has handled a source, serves the guest too: `prepare` and
//    `cancel` before the sources are dispatched bring what the loop waits for up to date.
//
// After each `prepare` comes either `check` or `cancel`, exactly once, whatever else happens: nested runs, removal, the end of the thread.
// Between the two no other callback of the loop runs, unless it is an observer of the least or greatest order. But if the sleep is a
// host's (runloop_host.h), the host's code runs then: what the guest forbids between the two is forbidden to that, and if it gives the
// guest work, it calls runloop_wake_up.
//
// Time: deadlines are instants of CLOCK_MONOTONIC, runloop_get_now_ns(NULL), also in a loop that has a clock of its own
// (runloop_clock.h).
//
// Threads: a foreign source belongs to the thread that creates it. Its callbacks are called there, and other threads get -EPERM from
// the calls that don't say otherwise. In a forked child its calls give -ECHILD, and none of its callbacks is called.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_FOREIGN_H
#define RUNLOOP_FOREIGN_H
#ifdef __linux__

#include <poll.h>

#include "runloop.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A guest of a loop.
typedef struct runloop_foreign_source runloop_foreign_source;

/// The configuration of a foreign source, which is copied. The callbacks get the source, borrowed, and the context's `info`.
typedef struct runloop_foreign_source_config {
    runloop_context context;
    /// May `dispatch` be called again inside itself, in a run that is nested there? Otherwise the guest is left alone in such runs.
    bool nests;
    /// Writes what the guest waits for to `descriptors`, at most `capacity` of them, and returns how many there are. If that is
    /// more than the capacity, `cancel` follows, and another `prepare` with a greater one. As for `poll`, a negative descriptor is
    /// passed over, the same one may occur twice, a closed one is ready (POLLNVAL), and so is a regular file. `*deadline_ns`, at first
    /// RUNLOOP_NEVER, is when the guest has to be served whatever its descriptors do: never earlier. An instant that has passed,
    /// such as 0, means at once. What the kernel can't watch, for want of memory or because epoll sets are nested too deeply, is
    /// polled every 10 ms. Required. Each prepared descriptor costs a system call.
    int (*RUNLOOP_SENDABLE prepare)(runloop_foreign_source *source, struct pollfd *descriptors, int capacity,
                                    int64_t *deadline_ns, void *info);
    /// Takes what happened: the descriptors of `prepare` with their `revents`. Returns whether to dispatch. NULL: always.
    bool (*RUNLOOP_SENDABLE check)(runloop_foreign_source *source, struct pollfd *descriptors, int count, void *info);
    /// Undoes `prepare`; it may follow any of them, so nothing may be lost by it. NULL: there is nothing to undo.
    void (*RUNLOOP_SENDABLE cancel)(runloop_foreign_source *source, void *info);
    /// Does the guest's work. The loop counts a source as handled. Required.
    void (*RUNLOOP_SENDABLE dispatch)(runloop_foreign_source *source, void *info);
} runloop_foreign_source_config;

/// Creates a foreign source with one reference, in no loop. O(1).
/// Errors: -EINVAL; -ENOMEM; -EMFILE, -ENFILE, -ENOSPC: it needs two descriptors, and watches one of them; -ENOSYS, -EPERM: in a sandbox
/// without timerfd_create.
RUNLOOP_EXPORT int runloop_foreign_source_create(const runloop_foreign_source_config *config,
                                                 runloop_foreign_source **out);
/// Retain and release a foreign source. Any thread. A loop retains the source while it is in a mode. The last release releases the context.
/// NULL is ignored. O(1).
RUNLOOP_EXPORT runloop_foreign_source *runloop_foreign_source_retain(runloop_foreign_source *source);
RUNLOOP_EXPORT void runloop_foreign_source_release(runloop_foreign_source *source);

/// Removes the source permanently from every mode; `cancel` is called if it is prepared. Idempotent, allowed in its own callbacks. O(modes
/// it is in).
/// Errors: -EINVAL; -EPERM: on another thread than the source's; -ECHILD.
RUNLOOP_EXPORT int runloop_foreign_source_invalidate(runloop_foreign_source *source);
/// Whether a foreign source is valid, and its info. Any thread. O(1).
RUNLOOP_EXPORT bool runloop_foreign_source_is_valid(runloop_foreign_source *source);
RUNLOOP_EXPORT void *runloop_foreign_source_get_info(runloop_foreign_source *source);

/// Add a foreign source to a mode, and remove it. Adding one that is there already changes nothing; the next sleep in the mode, and one of
/// a host that is under way, prepares it. It keeps the mode from being empty. After an error it is not in the mode. Removing one that is
/// not there changes nothing; removal calls `cancel` if it is prepared; so does the end of the loop, which removes it from all modes. The
/// pseudo-mode means all common modes, now and later. Both are allowed in its own callbacks. O(observers of the mode).
/// Errors: -EINVAL: the source to be added is invalid; -EPERM: `loop` is not the calling thread's, or the source is another's; -ESHUTDOWN;
/// -ENOMEM; -ENOSPC; -ECHILD.
RUNLOOP_EXPORT int runloop_add_foreign_source(runloop *loop, runloop_foreign_source *source, const char *mode);
RUNLOOP_EXPORT int runloop_remove_foreign_source(runloop *loop, runloop_foreign_source *source, const char *mode);
/// Whether a foreign source is in a mode. Any thread. O(1).
RUNLOOP_EXPORT bool runloop_contains_foreign_source(runloop *loop, runloop_foreign_source *source, const char *mode);

#ifdef __cplusplus
}
#endif
#endif // __linux__
#endif // RUNLOOP_FOREIGN_H
