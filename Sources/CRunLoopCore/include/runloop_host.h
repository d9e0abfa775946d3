// runloop_host.h — running inside another loop, which owns the thread: GTK's, Qt's, Node's. Part of runloop.h, which includes it, and whose
// general rules hold.
//
// A hosted run is a run whose sleep is the host's. The host waits for one descriptor, for reading, and calls runloop_hosted_iterate
// when it is readable; it has no timeout to compute. Observers are notified as in any run; between Before-
// and AfterWaiting the thread is the host's. All functions concern the calling thread's loop.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_HOST_H
#define RUNLOOP_HOST_H
#ifdef __linux__
#include "runloop.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The descriptor for which the host waits, by poll or epoll (level- or edge-triggered): readable while a hosted run has anything
/// to do, be it a descriptor, a timer, a task, a wake-up, a stop or the main queue; not readable before the run begins and after
/// it has ended. The same number from the first call to the thread's end. Do not read, change or close it. While callbacks
/// run it is readable if there is anything to do for a host that runs its loop inside one of them; what comes meanwhile is an
/// edge. What came before causes no edge: an edge-triggered host that runs its loop inside a callback calls runloop_hosted_iterate once
/// before that sleeps.
/// Returns: the descriptor.
/// Errors: -EMFILE, -ENFILE, -ENOMEM, -ENOSPC: there is none, and none can be made; -ESHUTDOWN; -EBADF: the program has closed
/// it, and the next call answers another one.
RUNLOOP_EXPORT int runloop_hosted_descriptor(void);

/// Begins a hosted run in `mode`: Entry. The descriptor is readable afterwards. Hosted runs nest, among themselves and with
/// others; one that is begun in a callback and not ended there ends when that returns.
/// Returns: 0; or a runloop_result if the run is over at once, since the mode is empty (no observer is notified) or a stop was
/// remembered.
/// Errors: -EINVAL; -EMFILE, -ENFILE, -ENOMEM, -ENOSPC: it needs a descriptor, and the thread a loop; -ESHUTDOWN; -ECHILD: an
/// observer forked, and this is the child; -ENOSYS, -EPERM: in a sandbox without timerfd_create, where only runs of our own are
/// possible; -ELOOP: a source's descriptor is an epoll set that is nested too deeply for a host; -EBADF: the program has closed the descriptor, and runloop_hosted_descriptor answers another one; -EBUSY: inside the
/// `wait` of the loop's clock.
RUNLOOP_EXPORT int runloop_hosted_begin(const char *mode);

/// Goes on with the innermost hosted run: whole iterations, until it would sleep or `budget_ns` is used up (0: a single
/// iteration; RUNLOOP_FOREVER: no limit). A drain of tasks ends with the budget, too. Inside a callback of the loop, where the
/// host runs its loop for a modal dialog, it serves the mode that runs, in a nested run that ends with the callback; a stop there
/// stops the run around it as well. If there is no memory for the nested run, it returns 0, and the descriptor is readable until
/// there is. O(what there is to do); a system call that finds nothing at the end.
/// Returns: 0: the host waits for the descriptor. A runloop_result: the run has ended, with Exit.
/// Errors: -EAGAIN: the budget is used up, and the descriptor is readable; -EINVAL: there is no hosted run; -EBUSY: the loop's clock
/// is being asked (runloop_set_clock); -ECHILD: a call-out forked, and this is the child.
RUNLOOP_EXPORT int runloop_hosted_iterate(int64_t budget_ns);

/// Whether the calling thread, which has just signalled a source of the loop, must wake it up for that. Any other thread must;
/// the loop's own need not, as the loop looks for such changes before each sleep, unless it sleeps already: in a hosted run,
/// while the host calls its own code. For libraries on top of this one, which would otherwise write to the eventfd for each
/// change. Any thread, signal handlers included. O(1), no system call.
/// Returns: true if it must; false once the loop has ended.
RUNLOOP_EXPORT bool runloop_needs_wake_up(runloop *loop);

/// Ends the innermost hosted run: AfterWaiting if it sleeps, then Exit. A thread that ends ends its hosted runs without Exit.
/// O(1).
/// Errors: -EINVAL: there is none, as in a child that the host's code forked; -EBUSY: inside one of its callbacks, where
/// runloop_stop ends it, or inside a run that is nested in it.
RUNLOOP_EXPORT int runloop_hosted_end(void);

/// The descriptor of the main dispatch queue, for a program that wants nothing but that queue, and with it Swift's main actor,
/// served by its host's loop; no run loop is needed. The host waits for the descriptor, which belongs to libdispatch, for
/// reading, on the initial thread, and calls runloop_main_queue_serve when it is readable. O(1).
/// Returns: the descriptor.
/// Errors: -ENOSYS: there is no libdispatch.
RUNLOOP_EXPORT int runloop_main_queue_descriptor(void);
/// Performs what the main dispatch queue has. O(what it has).
/// Returns: 1; 0 if it had nothing.
/// Errors: -ENOSYS: there is no libdispatch; -EPERM: on another thread than the initial one; -EBUSY: inside its own work.
RUNLOOP_EXPORT int runloop_main_queue_serve(void);

/// Ends the calling thread's loop now, as the end of the thread would later: `cancel` of every source, `discard` of every task,
/// while the language that the thread belongs to still works there (Go, Rust, Java). A thread that asks for its loop again gets a
/// new one. Does nothing without a loop. O(items).
/// Errors: -EBUSY: inside a run, inside a source's `schedule` or `cancel`, or while it ends; -EPERM: it is the main
/// loop, which lasts as long as the process.
RUNLOOP_EXPORT int runloop_end_current(void);

#ifdef __cplusplus
}
#endif
#endif // __linux__
#endif // RUNLOOP_HOST_H
