// recorder.h — the events that were recorded of a loop.
#ifndef RUNLOOP_RECORDED_H
#define RUNLOOP_RECORDED_H

#include <sys/types.h>

#include "followed.h"

struct event {
    int64_t time_ns;
    uint64_t line_or_function; ///< of a task: its address; of an item: the line behind its name, unless 0
    int32_t value;
    uint8_t point;
    char name[43]; ///< of the item or the mode: the end of it, if it is too long
};
_Static_assert(sizeof(struct event) == 64, "An event is a cache line long.");

/// Whose events they are.
struct recorded_thread {
    pid_t id;
    char name[16];
};

/// Stands for the locks of all recorders; never defined.
extern struct process_lock recorder_lock;

struct recorder {
    struct follower follower;
    struct process_lock lock; ///< held for a few instructions, and while a trace is copied
    struct event *events GUARDED_BY(recorder_lock);
    uint32_t capacity GUARDED_BY(recorder_lock);
    uint64_t count GUARDED_BY(recorder_lock); ///< so far; the latest `capacity` of them are there
    struct recorded_thread thread GUARDED_BY(recorder_lock);
};

/// What was recorded, oldest first, from malloc; `*count` events of `*thread`. NULL if there is nothing, or memory ran out, which `*failed`
/// says.
struct event *recorder_copy(struct recorder *recorder, uint32_t *count, struct recorded_thread *thread, bool *failed);

#endif // RUNLOOP_RECORDED_H
