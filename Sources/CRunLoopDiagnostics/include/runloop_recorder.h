// runloop_recorder.h — what loops did lately, event by event, as a timeline for Perfetto or chrome://tracing. Part of runloop_diagnostics.h.
#ifndef RUNLOOP_RECORDER_H
#define RUNLOOP_RECORDER_H
#include "runloop.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The number of events that are kept if none is named, and the largest one.
#define RUNLOOP_RECORDER_EVENTS 16384
#define RUNLOOP_RECORDER_EVENTS_MAX 16777216

/// Records the calling thread's loop: the latest `capacity` events (0: RUNLOOP_RECORDER_EVENTS), each 64 bytes. An event then costs a read
/// of the clock, and a copy of the item's name. Started again, it forgets what it had recorded, and may have another capacity. -EINVAL for
/// more than RUNLOOP_RECORDER_EVENTS_MAX; -ENOMEM, -EMFILE, -ESHUTDOWN, and a recording goes on as it was. O(capacity).
RUNLOOP_EXPORT int runloop_recorder_start(uint32_t capacity);
/// Records no more; what was recorded can still be had. Does nothing if nothing is recorded. O(1).
RUNLOOP_EXPORT void runloop_recorder_stop(void);
/// What was recorded of these loops, from malloc: a JSON object in the trace event format, with a line of time for each thread, slices for
/// runs, iterations, sleeps and call-outs, and names. Loops that were never recorded have no part in it. Any thread; the loops go on. NULL
/// without loops, and if memory ran out. O(events).
RUNLOOP_EXPORT char *runloop_copy_trace(runloop *const *loops, size_t count);

#ifdef __cplusplus
}
#endif
#endif // RUNLOOP_RECORDER_H
