// runloop_report.h — a loop explained: why it is alive, why it doesn't sleep, what has waited longest. Part of runloop_diagnostics.h.
#ifndef RUNLOOP_REPORT_H
#define RUNLOOP_REPORT_H
#include "runloop.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The form of a report.
typedef enum RUNLOOP_CLOSED runloop_report_form {
    RUNLOOP_REPORT_TEXT = 0, ///< Lines for people.
    RUNLOOP_REPORT_JSON = 1, ///< One JSON object on one line, with the same content.
} runloop_report_form;

/// A report about a loop, from malloc: for the mode in which it runs, and for the other modes, what keeps a run in them going (sources and
/// timers, by name), what is ready now and would keep it from sleeping (signalled sources, due timers, descriptors that the kernel
/// reports), and what of that has waited longest; and its statistics if they were started. Any thread; the loop goes on meanwhile. NULL
/// for NULL or an inherited loop, and if memory ran out. O(items), one system call per mode with descriptors.
RUNLOOP_EXPORT char *runloop_copy_report(runloop *loop, runloop_report_form form);

#ifdef __cplusplus
}
#endif
#endif // RUNLOOP_REPORT_H
