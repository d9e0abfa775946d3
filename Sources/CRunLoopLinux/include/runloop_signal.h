// runloop_signal.h — signals of the process. Part of runloop_linux.h, whose general rules hold.
//
// A signal is caught by a handler, which takes no lock and blocks no signal: threads need no preparation, and programs that this process
// starts inherit nothing. At least one thread must not have blocked the signal; which one receives it does not matter.
//
// What counting promises: each call of the handler is counted exactly once by each object for the signal, however many there are, and none
// is lost. The kernel merges standard signals before that: one that is pending already is not added again. It queues real-time signals
// (SIGRTMIN to SIGRTMAX), so for these every signal that could be sent is counted.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_SIGNAL_H
#define RUNLOOP_SIGNAL_H
#ifdef __linux__
#include "runloop.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A signal of the process that is caught, from the object's creation to its end.
/// If it is in several loops, one of them serves an arrival; for a call in each, make an object for each. Arrivals that wait at its end are
/// dropped.
typedef runloop_source runloop_signal;

/// What has arrived of a signal.
typedef struct runloop_signal_arrival {
    int32_t number; ///< SIGTERM, for instance.
    int32_t code;   ///< As in siginfo_t: SI_USER, SI_QUEUE, SI_KERNEL, … of the last arrival.
    uint64_t count; ///< How many arrivals this call stands for, at least 1.
    int32_t pid;    ///< The sender of the last arrival; of SIGCHLD, the child. 0: the kernel, a terminal, or unknown.
    uint32_t uid;   ///< The real user of that process. Only if `pid` is not 0.
    /// What sigqueue or a POSIX timer sent with the last arrival, a pointer, or an int in a union that is zero otherwise; else 0.
    intptr_t value;
} runloop_signal_arrival;

/// The configuration of a signal, which is copied.
typedef struct runloop_signal_config {
    runloop_context context;
    int32_t number; ///< SIGTERM, SIGRTMIN + 1, …
    /// Also catches a signal that is ignored when this is the first object for it. A process that was started with a signal ignored
    /// (`nohup` does that with SIGHUP) is expected to leave it so. Without this the source is never called then, which a diagnostic on
    /// standard error says, once for each signal.
    bool force;
    /// On the loop's thread, in the modes of the source. A standard signal: once for all arrivals since the last call. A real-time signal:
    /// once for each arrival, in order; arrivals beyond some 2,000 that wait (128 where the user's pipes are many) keep no details and are
    /// in the `count` of a later call. May be NULL.
    void (*RUNLOOP_SENDABLE receive)(runloop_signal *signal, const runloop_signal_arrival *arrival, void *info);
} runloop_signal_config;

/// Where libdispatch catches the signal as well (a DispatchSource, swift-service-lifecycle), in either order, the signal is noticed through
/// libdispatch, so that both receive it: with its count, without `code`, `pid`, `uid` and `value`. If something else replaces the handler later, or
/// ignores the signal, or every thread blocks it, a text on standard error says so, once for each signal: within a second while the loop is
/// awake now and then, and when it is about to sleep for the first time; one that sleeps notices when it wakes. With `force` a signal that was
/// ignored later is caught again.
///
/// Catches a signal, from now on: arrivals wait until the source is in a mode that runs. The signal loses its effect, except that a handler
/// which was installed before is called as well, on the thread that received the signal: with the signals of its sa_mask blocked, and this
/// one too unless it has SA_NODEFER; with SA_RESETHAND only once, after which the default action takes its place. System calls that a
/// signal interrupts are restarted (SA_RESTART). When the last object for the signal ends, its former handling is restored, unless another
/// handler has been installed meanwhile. In a forked child of any kind, also one that has its parent's pid in a namespace of its own, the
/// first signal restores it, and takes effect accordingly; exec resets it to the default. O(1); a signal costs O(objects of the library
/// that catch signals).
/// Errors: -EINVAL: no such number, SIGKILL, SIGSTOP, or a fault of a thread, which would recur at once (SIGSEGV, SIGBUS, SIGFPE, SIGILL,
/// SIGTRAP, SIGSYS); -EMFILE, -ENFILE: it needs two descriptors; -ENOMEM.
RUNLOOP_EXPORT int runloop_signal_create(const runloop_signal_config *config, runloop_signal **out);

/// The number of a signal, as created. O(1).
RUNLOOP_EXPORT int32_t runloop_signal_get_number(runloop_signal *signal);
/// Whether a signal is caught: false if it was left ignored, or the object has ended. O(1).
RUNLOOP_EXPORT bool runloop_signal_is_caught(runloop_signal *signal);

/// Ends the process as `number` does by default, now, so that its parent sees what ended it: the default action is set, whoever catches the
/// signal, and the signal is sent to the calling thread. Where that has no effect, in the first process of a container (PID 1) for one,
/// the process exits with the status 128 + `number`, as which a shell reports such an end. Functions of atexit are not called, and the
/// streams of the C library are not flushed. Async-signal-safe. O(1).
/// Returns: only if the signal does not end a process by default, and then nothing has changed.
/// Errors: -EINVAL: it does not end a process by default (SIGCHLD, SIGSTOP), or it is no signal.
RUNLOOP_EXPORT int runloop_end_process_by_signal(int32_t number);

#ifdef __cplusplus
}
#endif
#endif // __linux__
#endif // RUNLOOP_SIGNAL_H
