// runloop_report.h — a loop explained: why it is alive, why it doesn't sleep, what has waited longest. Part of runloop_diagnostics.h.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_REPORT_H
#define RUNLOOP_REPORT_H
#ifdef __linux__
#include "runloop.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The form of a report.
typedef enum RUNLOOP_CLOSED runloop_report_form {
    RUNLOOP_REPORT_TEXT = 0, ///< Lines for people.
    RUNLOOP_REPORT_JSON = 1, ///< One JSON object on one line, with the same content.
    /// Lines for people, with the stack of the loop's thread if it is in a call-out, had as a watchdog has it by default.
    RUNLOOP_REPORT_STACK = 2,
} runloop_report_form;

/// A report about a loop. First what it does now: whether it is asleep, busy, or spinning (from 1,000 iterations without a sleep on), in which
/// mode and for how long; the call-outs that are open, the innermost first, each with its item, mode and duration; and whether work for the
/// main dispatch queue waits. Then, for each mode, what keeps a run in it going (sources and timers, by name), and of each item that is ready
/// now (a signalled source, a due timer, a descriptor that the kernel reports) whether it is being called, waits for the call-out that runs
/// now, keeps the loop from sleeping, or waits for a run in its mode; the timer that has waited longest; and its statistics if they were
/// started. What a loop does now is known if it is followed: for statistics, by a recorder, by a watchdog, or for reports on signals or at a
/// socket. Of others it is only said whether they wait. Any thread; the loop goes on meanwhile, so lines may be of different moments.
/// O(items), one system call per descriptor.
/// Returns: a text from malloc, which the caller frees; NULL for NULL or an inherited loop, and if memory ran out.
RUNLOOP_EXPORT char *runloop_copy_report(runloop *loop, runloop_report_form form);

/// Writes reports to standard error, from now on, whenever the process gets the signal `number`, say SIGUSR1 or SIGQUIT: on the loop of the
/// calling thread, which is followed from then on as with statistics, and on all with statistics, a recorder or a watchdog. A thread of its
/// own writes them, so it works when loops hang; several signals that come at once may give one report. Lasts as long as the process; a
/// forked child has none, and calls it again if it wants. Called again, it changes the form. O(1).
/// Errors: -EINVAL: no such signal, or one that can't be caught; -EBUSY: the program has a handler for it; -EAGAIN: no thread can be made;
/// -EMFILE, -ENFILE, -ENOMEM, -ENOSPC: there is none left for it, or the thread has no loop yet, and none can be made; -ESHUTDOWN.
RUNLOOP_EXPORT int runloop_report_on_signal(int number, runloop_report_form form);

/// Has reports list the tasks of a language's runtime that wait on their loop, or whatever else waits there and is no item of it: of each loop
/// `copy_tasks` gives a line for each task, in one text from malloc that the report frees, or NULL for none. It is called by any thread that
/// makes a report, so it waits for no other and makes no report. RunLoopKit's `RunLoop.listsTasks` is such a list. Called again, it changes
/// the function; NULL ends it, and a report that is being made may call it still. Any thread. O(1).
RUNLOOP_EXPORT void runloop_report_set_tasks(char *(*RUNLOOP_SENDABLE copy_tasks)(runloop *loop));

#ifdef __cplusplus
}
#endif
#endif // __linux__
#endif // RUNLOOP_REPORT_H
