// runloop_clock.h — a loop whose time is the program's, not the machine's: for tests and simulations. Part of runloop.h, which includes it,
// and whose general rules hold.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_CLOCK_H
#define RUNLOOP_CLOCK_H
#ifdef __linux__
#include "runloop.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Where a loop has its time from, in place of CLOCK_MONOTONIC. Fire dates, limits and tolerances of the loop are this clock's. Budgets
/// of hosted runs and diagnostics stay those of CLOCK_MONOTONIC, as clock_gettime returns it to the thread.
typedef struct runloop_clock {
    void *
        context; ///< The program's, valid as long as the loop has the clock: until it gets another one, or its thread ends.
    /// The current instant, never earlier than before. On any thread; makes no call of this library.
    int64_t (*RUNLOOP_SENDABLE now)(void *context);
    /// On the loop's thread, which has nothing to do: nothing is ready, and the next instant that it waits for is `duration_ns` away by
    /// this clock (RUNLOOP_FOREVER: there is none). Returns 0 if the clock has moved, after which the loop looks again; otherwise for how
    /// many real nanoseconds the loop may sleep (RUNLOOP_FOREVER: until it is woken), after which it looks and asks again. What another
    /// thread adds during this call is seen at the next look: a clock that waited for other threads returns 0 once without moving when they
    /// are done. May make any call but a run, which gives -EBUSY.
    int64_t (*RUNLOOP_SENDABLE wait)(void *context, int64_t duration_ns);
} runloop_clock;

/// Gives the calling thread's loop a clock, which is copied; NULL gives CLOCK_MONOTONIC back. O(modes).
/// Errors: -EBUSY: the loop has timers, deadlines of sources, or runs that have a limit, whose dates are the former clock's (a signal or a
/// shutdown has a timer of its own in its first minutes, a child with pipes to its end, unless the clock was there before), or is in the
/// `wait` of its clock; -EINVAL: one of the functions is missing; -EMFILE, -ENFILE, -ENOMEM, -ENOSPC: the thread has no
/// loop yet, and none can be made; -ESHUTDOWN.
RUNLOOP_EXPORT int runloop_set_clock(const runloop_clock *clock);

/// Says that the program has moved the clock of a loop, which looks again if it sleeps. Observers don't notice, and no wake-up is
/// left behind. Any thread, signal handlers included. O(1).
/// Errors: -EINVAL; -ECHILD.
RUNLOOP_EXPORT int runloop_clock_moved(runloop *loop);

/// The current instant of any loop. For NULL it is async-signal-safe. O(1).
/// Returns: the instant; that of CLOCK_MONOTONIC for NULL, and for an inherited loop in a forked child.
RUNLOOP_EXPORT int64_t runloop_get_now_ns(runloop *loop);

#ifdef __cplusplus
}
#endif
#endif // __linux__
#endif // RUNLOOP_CLOCK_H
