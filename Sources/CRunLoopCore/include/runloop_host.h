// runloop_host.h — running inside another loop, which owns the thread: GTK's, Qt's, Node's. Part of runloop.h, which includes it, and whose
// general rules hold.
//
// A hosted run is a run whose sleep is the host's. The host waits for one descriptor, for reading, and calls runloop_hosted_iterate
// when it is readable; it has no timeout to compute. Observers are notified of what they are notified of in any run; between Before-
// and AfterWaiting the thread is the host's. All functions concern the calling thread's loop.
#ifndef RUNLOOP_HOST_H
#define RUNLOOP_HOST_H
#include "runloop.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What the host waits for, by poll or epoll (level- or edge-triggered): readable while a hosted run has anything to do, be it a
/// descriptor, a timer, a task, a wake-up, a stop or the main queue; not readable before the run begins and after it has ended. The same
/// number from the first call to the thread's end. Do not read, change or close it. -EMFILE, -ENOMEM. It stays readable while callbacks
/// run, and what comes meanwhile is an edge. What came before is none: an edge-triggered host that runs its loop inside a callback
/// calls runloop_hosted_iterate once before that sleeps.
RUNLOOP_EXPORT int runloop_hosted_descriptor(void);

/// Begins a hosted run in `mode`: Entry. The descriptor is readable afterwards. 0; a runloop_result if the run is over at once,
/// since the mode is empty (no observer is notified) or a stop was remembered; -EINVAL, -EMFILE, -ENFILE, -ENOMEM, -ESHUTDOWN; -ENOSYS
/// or -EPERM in a sandbox without timerfd_create, where only runs of our own are possible; -EBADF: the program has closed the descriptor,
/// and the next question for it answers another one. Hosted runs nest, among themselves and with others; one that is begun in a callback
/// and not ended there ends when that returns.
RUNLOOP_EXPORT int runloop_hosted_begin(const char *mode);

/// Goes on with the innermost hosted run: whole iterations, until it would sleep or `budget_ns` is used up (0: a single iteration;
/// RUNLOOP_FOREVER: no limit). A drain of tasks ends with the budget, too. 0: wait for the descriptor. -EAGAIN: the budget is used
/// up, and the descriptor is readable. A runloop_result: the run has ended, with Exit. -EINVAL without a hosted run; -ECHILD if a
/// call-out forked and this is the child. Inside a callback of the loop, where the host runs its loop for a modal dialog, it
/// serves the mode that runs, in a nested run that ends with the callback; a stop there stops the run around it as well. If there
/// is no memory for the nested run, the result is 0, and the descriptor is readable until there is. O(what there is to do); a
/// system call that finds nothing at the end.
RUNLOOP_EXPORT int runloop_hosted_iterate(int64_t budget_ns);

/// Must the calling thread, which has just signalled a source of the loop, wake it up for that? Any other thread must; the loop's own need
/// not, as the loop looks for such changes before each sleep, unless it sleeps already: in a hosted run, while the host calls its own
/// code. For libraries on top of this one, which would otherwise write to the eventfd for each change. Any thread, signal handlers
/// included; false once the loop has ended. O(1), no system call.
RUNLOOP_EXPORT bool runloop_needs_wake_up(runloop *loop);

/// Ends the innermost hosted run: AfterWaiting if it sleeps, then Exit. -EINVAL without one. -EBUSY inside one of its callbacks (use
/// runloop_stop there) or inside a run that is nested in it. A thread that ends ends its hosted runs without Exit.
RUNLOOP_EXPORT int runloop_hosted_end(void);

/// For a program that wants nothing but the main dispatch queue, and with it Swift's main actor, served by its host's loop; no run loop
/// is needed. The host waits for the descriptor, which belongs to libdispatch, for reading, on the initial thread, and calls
/// runloop_main_queue_serve when it is readable. -ENOSYS without libdispatch. O(1).
RUNLOOP_EXPORT int runloop_main_queue_descriptor(void);
/// Performs what the queue has. 1; 0 if it had nothing; -ENOSYS; -EPERM on another thread than the initial one; -EBUSY inside its own
/// work.
RUNLOOP_EXPORT int runloop_main_queue_serve(void);

/// Ends the calling thread's loop now, as the end of the thread would later: `cancel` of every source, `discard` of every task, while
/// the language that the thread belongs to still works there (Go, Rust, Java). A thread that asks for its loop again gets a new one.
/// 0, also without a loop; -EBUSY inside a run, inside a source's `schedule`, `cancel` or `equal`, or while it ends; -EPERM for the main loop, which lasts as long as the process. O(items).
RUNLOOP_EXPORT int runloop_end_current(void);

#ifdef __cplusplus
}
#endif
#endif // RUNLOOP_HOST_H
