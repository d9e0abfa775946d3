// lock.h — who holds a loop's lock, as clang -Wthread-safety checks it (make lint). The lock itself is that of runloop_lock.h: held for a few
// instructions, and never while user code runs.
#ifndef RUNLOOP_LOCK_H
#define RUNLOOP_LOCK_H

#include "base/process.h"

#define LOCK_GENERATION() runloop__generation()
#include "runloop_lock.h"

// One capability stands for the locks of all loops, and for the guards of items in no loop, since a thread never holds two of them.
extern struct process_lock runloop__the_lock; // never defined
#define TAKES_LOCK TAKES(runloop__the_lock)
#define TAKES_LOCK_IF(result) TAKES_IF(result, runloop__the_lock)
#define GIVES_LOCK GIVES(runloop__the_lock)
/// Called with the lock, and returns with it.
#define HOLDS_LOCK HOLDS(runloop__the_lock)
/// Calls user code, or takes the lock.
#define WITHOUT_LOCK WITHOUT(runloop__the_lock)
/// A field that only holders of the lock read and write.
#define GUARDED GUARDED_BY(runloop__the_lock)

#endif // RUNLOOP_LOCK_H
