// runloop_recorder.h — what loops did lately, event by event, as a timeline for Perfetto or chrome://tracing. Part of runloop_diagnostics.h.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_RECORDER_H
#define RUNLOOP_RECORDER_H
#ifdef __linux__
#include "runloop.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The number of events that are kept if none is named, and the largest one.
#define RUNLOOP_RECORDER_EVENTS 16384
#define RUNLOOP_RECORDER_EVENTS_MAX 16777216

/// Records the calling thread's loop: the latest `capacity` events (0: RUNLOOP_RECORDER_EVENTS), each 64 bytes. An event then costs a read
/// of the clock, and a copy of the item's name. Started again, it forgets what it had recorded, and may have another capacity. After an
/// error a recording goes on as it was. O(capacity).
/// Errors: -EINVAL: more than RUNLOOP_RECORDER_EVENTS_MAX; -EMFILE, -ENFILE, -ENOMEM, -ENOSPC: there is none left for it, or the thread has
/// no loop yet, and none can be made; -ESHUTDOWN.
RUNLOOP_EXPORT int runloop_recorder_start(uint32_t capacity);
/// Ends the recording; what was recorded can still be had. Does nothing if nothing is recorded. O(1).
RUNLOOP_EXPORT void runloop_recorder_stop(void);
/// What was recorded of these loops: a JSON object in the trace event format, with a line of time for each thread, slices for runs,
/// iterations, sleeps and call-outs, and names. Loops that were never recorded have no part in it. Any thread; the loops go on. O(events).
/// Returns: a text from malloc, which the caller frees; NULL without loops, and if memory ran out.
RUNLOOP_EXPORT char *runloop_copy_trace(runloop *const *loops, size_t count);

#ifdef __cplusplus
}
#endif
#endif // __linux__
#endif // RUNLOOP_RECORDER_H
