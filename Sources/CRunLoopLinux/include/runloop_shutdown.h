// runloop_shutdown.h — the end of a program by a signal, with work to do before. Part of runloop_linux.h, whose general rules hold.
#ifndef RUNLOOP_SHUTDOWN_H
#define RUNLOOP_SHUTDOWN_H
#ifdef __linux__
#include "runloop.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Catches signals that ask the program to end. The first to arrive begins the shutdown: the work that was added is performed, in order, on
/// the loop's thread, and then the process ends by that signal, so that its parent sees the right status. (Work that would rather have the
/// program end with a status calls exit.)
///
/// A second signal ends the process at once, as it does by default: even if the loop's thread hangs, and has not begun. So does a limit
/// that has passed. (What arrives within a quarter of a second after the first belongs to it: some senders signal a process, and then its
/// group.)
///
/// The limit is kept by a timer of the kernel's or, where there is none (a sandbox, or RLIMIT_SIGPENDING), by a thread that begins with the
/// shutdown. If there is no thread left either, the shutdown has no limit, and a text on standard error says so, unless diagnostics are disabled.
/// Invalidated, it gives the signals back; a shutdown that has begun goes on.
typedef runloop_source runloop_shutdown;

/// The configuration of a shutdown, which is copied.
typedef struct runloop_shutdown_config {
    const int32_t *numbers; ///< The signals, SIGTERM and SIGINT for instance. Those that are ignored are left so.
    size_t count;           ///< Of numbers, at least 1.
    int64_t limit_ns;       ///< How long the work may take, greater than 0; RUNLOOP_FOREVER: no limit.
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

/// The signal that began the shutdown, 0 before. O(1).
RUNLOOP_EXPORT int32_t runloop_shutdown_get_signal(runloop_shutdown *shutdown);

#ifdef __cplusplus
}
#endif
#endif // __linux__
#endif // RUNLOOP_SHUTDOWN_H
