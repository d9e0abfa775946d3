// runloop_child.h — child processes. Part of runloop_linux.h, whose general rules hold.
//
// A child is a pidfd: there is no SIGCHLD, no handler, no thread, and nothing that waits for "any child". So children that belong to others
// (Foundation's Process, Swift's Subprocess, GLib, a library that calls waitpid) stay theirs.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_CHILD_H
#define RUNLOOP_CHILD_H
#ifdef __linux__
#include "runloop.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A process whose end is awaited. The end is reported once, and then the object is invalid.
/// Invalidated before, it stops waiting: the process goes on, and its owner has to wait for it. If it is in several loops, one of them reports
/// the end.
typedef runloop_source runloop_child;

/// How a process ended.
typedef enum RUNLOOP_CLOSED runloop_child_end {
    /// It has ended, and it is not known how: it is not a child of this process, or somebody else waited for it first, or children are
    /// reaped by the kernel (SIGCHLD is ignored). From Linux 6.15 on the kernel knows once any process has waited for it.
    RUNLOOP_CHILD_UNKNOWN = 0,
    RUNLOOP_CHILD_EXITED = 1,    ///< By exit, or by the end of main.
    RUNLOOP_CHILD_SIGNALLED = 2, ///< By a signal.
} runloop_child_end;

/// The end of a process.
typedef struct runloop_child_exit {
    runloop_child_end end;
    int32_t status;    ///< The exit status, 0 to 255; or the number of the signal.
    bool dumped_core;  ///< Only for RUNLOOP_CHILD_SIGNALLED.
    bool has_usage;    ///< The fields below are known: it was our child, and nobody else waited for it first.
    int64_t user_ns;   ///< The processor time that the child took, with that of the children it waited for,
    int64_t system_ns; ///< and the part of it that the kernel took on its behalf.
    /// The most memory that it, or a child that it waited for, had resident. 0: not known, and at most the most that this process has ever had:
    /// Linux counts what a new process shares with its parent before it executes its program, and says only the larger of the two.
    int64_t peak_memory_bytes;
} runloop_child_exit;

/// The configuration of a child, which is copied.
typedef struct runloop_child_config {
    runloop_context context;
    int32_t pid; ///< The process, or 0: the one of `pidfd`.
    int pidfd; ///< If `pid` is 0: a pidfd from elsewhere. It remains the caller's, and may be closed after the creation.
    /// true: the process is a child of ours that nobody else waits for; it is reaped when it has ended, it alone, and once. false: it is
    /// watched and never reaped, so that its owner finds it as it would without this library.
    bool reaps;
    /// On the loop's thread, in the modes of the source, once: at once if the process has ended already. May be NULL: with `reaps`, the
    /// child is reaped all the same.
    void (*RUNLOOP_SENDABLE exited)(runloop_child *child, const runloop_child_exit *exit, void *info);
    /// After each removal from a mode, as of any source; at the end of its loop, too. May be NULL.
    void (*RUNLOOP_SENDABLE cancel)(runloop_child *child, runloop *loop, const char *mode, void *info);
} runloop_child_config;

/// Awaits the end of a process. A child of this process can't be mistaken for another one before it was reaped; for other processes pass a
/// pidfd, because a pid may name another process by now. A child that ends while its object is invalid, or in no mode that runs, is not
/// reaped by it. O(1).
/// Errors: -ESRCH: there is no such process any more; -ECHILD: it is to be reaped, but not a child of this process, or was reaped; -EBADF:
/// not a pidfd; -EINVAL: not a process, but a thread or a negative number; -ENOSYS: the kernel is older than Linux 5.4, or a sandbox
/// refuses pidfd_open; -EPERM: a sandbox refuses waitid or pidfd_open; -EMFILE, -ENFILE: it needs a descriptor; -ENOMEM.
RUNLOOP_EXPORT int runloop_child_create(const runloop_child_config *config, runloop_child **out);

/// The number of the process, as created: 0 if it was created from a pidfd. O(1).
RUNLOOP_EXPORT int32_t runloop_child_get_pid(runloop_child *child);

/// How the process ended, if that was reported. O(1).
/// Errors: -EAGAIN: it was not reported yet; -EINVAL.
RUNLOOP_EXPORT int runloop_child_get_exit(runloop_child *child, runloop_child_exit *out);

/// Sends a signal to this process and to no other one, even if its number is used again. O(1).
/// Errors: -ESRCH: it has been reaped; -EPERM: it may not be signalled by this process; -EINVAL: no such signal.
RUNLOOP_EXPORT int runloop_child_send_signal(runloop_child *child, int32_t number);

/// A signal of a sequence, and how long the next one waits for its effect.
typedef struct runloop_child_step {
    int32_t signal;   ///< Its number.
    int64_t pause_ns; ///< Not negative. What the last one says does not matter.
} runloop_child_step;

/// Ends a process politely at first: SIGTERM, five seconds, SIGKILL. The first signal is sent by the calling thread, each other one by the
/// loop, never before the pause after the former has passed, and in a run of a mode that the child is in, where the first pause begins, too.
/// When the process has ended, nothing is sent any more; the end is reported as ever. A second call takes the place of the first, from its
/// own first signal on. It costs no descriptor: the pauses are deadlines of the source (runloop_source_set_deadline), by its loop's clock,
/// and it has no other use for them. A process that is stopped, by SIGSTOP or job control, would leave the signal pending: so each step but
/// SIGKILL and the signals that stop is followed by SIGCONT.
///
/// `of_group`: the signals go to all of the process group that the process leads, but only as long as the process itself has not ended. Who
/// ignores the first signals there and outlives it gets no further one.
///
/// Any thread, and allowed in call-outs. After an error nothing was begun, and a former sequence goes on. If later the process may not be
/// signalled, the next step is tried all the same. O(log n) per mode.
/// Returns: 0, also if it has ended and no loop has seen that yet, and it was not reaped.
/// Errors: -ESRCH: a loop has seen its end, or it was reaped; -EPERM: it may not be signalled by this process; -EINVAL: no steps, more than
/// eight, no signal, or a negative pause, or a process whose group is to be signalled and that leads none, is not reaped by this object, or
/// was given as a pidfd; -ECHILD.
RUNLOOP_EXPORT int runloop_child_end_by(runloop_child *child, const runloop_child_step *steps, size_t count,
                                        bool of_group);

#ifdef __cplusplus
}
#endif
#endif // __linux__
#endif // RUNLOOP_CHILD_H
