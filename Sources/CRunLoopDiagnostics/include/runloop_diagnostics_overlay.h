// runloop_diagnostics_overlay.h — what the Swift products share with this library, and nobody else: it is built with them, in one package.
// Not installed, and free to change.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_DIAGNOSTICS_OVERLAY_H
#define RUNLOOP_DIAGNOSTICS_OVERLAY_H
#ifdef __linux__

#include <stdbool.h>
#include <stdint.h>

#include "runloop.h"

#ifdef __cplusplus
extern "C" {
#endif

/// How a thread is checked that no other thread watches.
struct runloop__busy_watch {
    /// How much of the processor's time there is between two checks.
    int64_t interval_ns;
    /// On the thread, in a signal handler: whether it does the same as at the last check.
    bool (*RUNLOOP_SENDABLE is_stuck)(void);
    /// Then, in a copy of the process, which has this thread alone and ends when this returns: writes to standard error what is to be said. It may
    /// allocate, and take locks; if the interrupted code has one of those, the copy ends after a while, and a later check tries again. `calls`
    /// are where the thread is, innermost first, behind some of this library's own; empty without glibc. false: a later check is to try again,
    /// unless this is the last.
    bool (*RUNLOOP_SENDABLE report)(void *const *calls, int count, bool is_last);
    /// On the thread, in the signal handler, when that has been done. No further check follows.
    void (*RUNLOOP_SENDABLE has_reported)(void);
};

/// Checks the calling thread each time that it has used the processor for so long. Once in a process, which gets no thread for it, and SIGURG on
/// that thread. -EBUSY if the program handles that signal, -ENOSYS under the thread sanitizer, or another -errno.
int runloop__watch_busy(const struct runloop__busy_watch *watch);

#ifdef __cplusplus
}
#endif
#endif // __linux__
#endif // RUNLOOP_DIAGNOSTICS_OVERLAY_H
