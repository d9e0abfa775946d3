// runloop_shutdown.h — the end of a program by a signal, with work to do before. Part of runloop_linux.h, whose general rules hold.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_SHUTDOWN_H
#define RUNLOOP_SHUTDOWN_H
#ifdef __linux__
#include "runloop.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Catches signals that ask the program to end. The first to arrive begins the shutdown: the work that was added is performed, in order, on
/// the loop's thread; then the streams of the C library are flushed, and the process ends by that signal, so that its parent sees the right
/// status. As the first process of a container (PID 1), which the kernel spares such an end, it exits with 128 + the number of the signal.
/// (Work that would rather have the program end with a status calls exit.)
///
/// A second signal ends the process at once, as it does by default: even if the loop's thread hangs, and has not begun. So does a limit
/// that has passed. Neither flushes anything. (What arrives within a quarter of a second after the first belongs to it: some senders signal
/// a process, and then its group.)
///
/// Work that takes time and is done elsewhere, by other threads or by what the loop calls later, holds the shutdown until it has finished:
/// runloop_shutdown_hold. The loop goes on meanwhile, in the modes that the program runs. After ten seconds of that a text on standard error says
/// what the process waits for, unless diagnostics are disabled.
///
/// Flushing waits for the reader of standard output, and at most a second for other streams. A stream that another thread is using, in a
/// read that does not return for one, may not be flushed.
///
/// The limit is kept by a timer of the kernel's or, where there is none (a sandbox, or RLIMIT_SIGPENDING), by a thread that begins with the
/// shutdown. If there is no thread left either, the shutdown has no limit, and a text on standard error says so, unless diagnostics are disabled.
/// Invalidated, it gives the signals back; a shutdown that has begun goes on, and so does one whose loop's thread has ended. What is left is
/// performed by the thread that ends the last hold then.
typedef runloop_source runloop_shutdown;

/// The configuration of a shutdown, which is copied.
typedef struct runloop_shutdown_config {
    const int32_t
        *numbers; ///< The signals, SIGTERM and SIGINT for instance. Those that are ignored are left so, which a text
                  ///< on standard error says of each, unless `force` is set.
    size_t count; ///< Of numbers, at least 1.
    int64_t limit_ns; ///< How long the work may take, greater than 0; RUNLOOP_FOREVER: no limit.
    bool force;       ///< Also catches signals that are ignored, as that of a runloop_signal.
} runloop_shutdown_config;

/// Catches the signals of a shutdown, from now on. Other objects may catch them as well. O(count).
/// Errors: -EINVAL: a number that runloop_signal_create refuses, no numbers, or a limit of 0 or less; -EMFILE, -ENFILE, -ENOMEM.
RUNLOOP_EXPORT int runloop_shutdown_create(const runloop_shutdown_config *config, runloop_shutdown **out);

/// Adds work to a shutdown: a call of `work(info)` when it has begun, those of lower `order` first, equal ones in the order of their
/// addition. Each is a call-out: it may run the loop in a mode of its own, with a limit, until what it flushes has been taken. Work may add
/// work, which is performed in its turn, if that is not over. `discard(info)` (may be NULL) is called instead when the object is freed:
/// always one of the two, unless the process ends before. Any thread. O(work that was added).
/// Errors: -EINVAL; -ENOMEM.
RUNLOOP_EXPORT int runloop_shutdown_add_work(runloop_shutdown *shutdown, int32_t order, runloop_function work,
                                             void *info, runloop_function discard);

/// Holds the shutdown: no further work is performed, and the process does not end, until runloop_shutdown_resume has been called as often as
/// this. Called by work, for what it has begun and what finishes later; the loop serves its modes as ever meanwhile, and each source and timer that
/// has something to do with it. Before a signal has come it puts the shutdown off: the limit is counted from the signal all the same. A
/// second signal, or the limit, ends the process in any case. Any thread. O(1).
/// Errors: -EINVAL.
RUNLOOP_EXPORT int runloop_shutdown_hold(runloop_shutdown *shutdown);
/// Ends one hold. The last one lets the loop perform the rest, and end the process; if the source is in no loop any more, that happens on the calling
/// thread, before this returns. Any thread. O(1).
/// Errors: -EINVAL: it is not held, or no shutdown.
RUNLOOP_EXPORT int runloop_shutdown_resume(runloop_shutdown *shutdown);

/// The signal that began the shutdown, 0 before. O(1).
RUNLOOP_EXPORT int32_t runloop_shutdown_get_signal(runloop_shutdown *shutdown);

#ifdef __cplusplus
}
#endif
#endif // __linux__
#endif // RUNLOOP_SHUTDOWN_H
