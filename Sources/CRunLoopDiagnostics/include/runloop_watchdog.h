// runloop_watchdog.h — loops that hang, spin, or starve the main queue, noticed by a thread beside them. Part of runloop_diagnostics.h.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_WATCHDOG_H
#define RUNLOOP_WATCHDOG_H
#ifdef __linux__
#include "runloop_statistics.h"

#ifdef __cplusplus
extern "C" {
#endif

//===-- What is reported ---------------------------------------------------------------------------------------------===//
/// What a watchdog has noticed.
typedef enum RUNLOOP_CLOSED runloop_diagnosis_kind {
    RUNLOOP_DIAGNOSIS_HANG = 0,       ///< The loop has not come back for the limit. Once per hang.
    RUNLOOP_DIAGNOSIS_HANG_ENDED = 1, ///< It is back: with the duration of the whole hang.
    RUNLOOP_DIAGNOSIS_SPIN = 2,       ///< As many iterations without a sleep as the limit says. Once per spin.
    /// Work for the main dispatch queue, and so for Swift's main actor, has waited for the limit, while the main loop ran inside such work, or
    /// in a mode that isn't common. Once until the queue is served. Unless runloop_set_diagnostics_enabled turns it off, the core itself writes
    /// a line to standard error besides, once. A watchdog that is started inside such work sees only what is begun after it.
    RUNLOOP_DIAGNOSIS_STARVATION = 3,
} runloop_diagnosis_kind;

/// A watchdog's report. Everything in it is valid until the handler returns.
typedef struct runloop_diagnosis {
    runloop_diagnosis_kind kind; ///< What was noticed.
    runloop *loop;               ///< Of which loop.
    int callout;                 ///< The kind of call-out that it is about, RUNLOOP_CALLOUT_…; -1: it is about none.
    const char *name;            ///< The name of its item (cut), or "". Of a spin: of the item that was called most.
    const char *mode;            ///< In which the loop runs; NULL: in none.
    int64_t duration_ns;         ///< Of the hang, the wait or the spin, so far, or of the hang in all.
    uint64_t iterations;         ///< Of the spin, else 0.
    int share_percent;           ///< Of the calls in the spin: how many were of that item; else 0.
    /// The functions of the loop's thread, of a hang and of a starvation, the innermost first: a line for each, with its file and line, or its
    /// library. NULL if they can't be had.
    const char *stack;
    const char *sentence; ///< All of that but the stack, for people. No newline at the end.
} runloop_diagnosis;

/// Receives what a watchdog notices. `report` is called on the watchdog's thread, which has all signals blocked: it may make any call, but
/// while it runs, nothing else is noticed. `release` is called once, on that thread, after the last report; it may be NULL. Without `report`, the
/// sentence is written to standard error, in one line that begins with "runloop: ", and the stack's lines follow.
typedef struct runloop_diagnosis_handler {
    /// Called for each report. May be NULL.
    void (*RUNLOOP_SENDABLE report)(void *context, const runloop_diagnosis *diagnosis);
    void (*RUNLOOP_SENDABLE release)(void *context); ///< Called once, after the last report. May be NULL.
    void *context;                                   ///< The caller's, passed to both.
} runloop_diagnosis_handler;

//===-- The watchdog -------------------------------------------------------------------------------------------------===//
/// What is watched, and who receives the findings.
typedef struct runloop_watchdog_config {
    /// How long the loop may be busy without coming back: to the next iteration, to sleep, out of a nested run. At least ten
    /// milliseconds. Also how long work for the main queue may wait, on the main loop. 0: neither is reported. Noticed up to a quarter of the
    /// limit, at most a second, late. Time in which the watchdog's thread itself did not get to run is no part of a hang: the machine was
    /// suspended or overloaded, or a debugger had stopped the program.
    int64_t limit_ns;
    /// How many iterations, those of nested runs included, may follow one another without a sleep, whatever is served in them. 0: spins are
    /// not reported. A spin ends when the loop really sleeps, that is, has asked the kernel, got no report and waited, or when the
    /// outermost run ends; a wait that finds something at once is no sleep. Until then it is reported once, with the items that were
    /// called most in its second half. A loop with more to do than it can does not sleep either: choose the limit higher than what a
    /// peak takes, say 100,000, and read from the shares which of the two it is.
    uint32_t spin_limit;
    /// The signal that asks a running thread for its stack. A thread that waits in the kernel gets none, and goes on to wait: its stack is read
    /// from outside, by what /proc says of it and by .eh_frame (x86-64 and AArch64). 0: SIGURG, which does nothing to a program that doesn't
    /// expect it; none if the program has a handler for SIGURG. -1: none, and a thread that runs has no stack. A signal that is named here is
    /// also sent where /proc does not say whether the thread waits, and then ends a nanosleep or a poll early, with EINTR. The first
    /// watchdog installs the handler, which stays. A thread that blocks the signal has no stack while it runs, nor has any where the C
    /// library has no backtrace (musl; on Android).
    int signal;
    /// true: reports have no stack, no handler is installed and no symbols are read.
    bool omits_stack;
    runloop_diagnosis_handler handler;
} runloop_watchdog_config;

/// Watches the calling thread's loop, until runloop_watchdog_stop or the end of the thread. A thread of the process
/// looks at all watched loops four times per limit, and once more when the process calls exit, which waits two
/// seconds for that at most; it starts with the first and ends with the last. An iteration then reads the clock some
/// times. A loop that sleeps, a nested run that iterates and a thread outside of runs don't hang. It also asks the
/// kernel now and then, after a second and then more and more seldom up to once a minute, for the descriptors of the
/// sources in the running mode: of one that was closed the core writes its line (runloop_source_is_lost). A forked
/// child has no watchdog. The config is copied. After an error the context remains the caller's. O(1).
/// Errors: -EINVAL: neither limit, a limit out of range, or a signal that can't be caught; -EBUSY: it is watched already, or the program
/// has a handler for the signal, unless that is 0; -EAGAIN: no thread can be made; -EMFILE, -ENFILE, -ENOMEM, -ENOSPC: none is left, or
/// the thread has no loop yet, and none can be made; -ESHUTDOWN.
RUNLOOP_EXPORT int runloop_watchdog_start(const runloop_watchdog_config *config);
/// No longer watches the calling thread's loop. A report under way may still return after this. Does nothing if it isn't watched. O(1).
RUNLOOP_EXPORT void runloop_watchdog_stop(void);

#ifdef __cplusplus
}
#endif
#endif // __linux__
#endif // RUNLOOP_WATCHDOG_H
