// handling.h — how the process handles signals: the handlers of catchers, and what was there before.
#ifndef RUNLOOP_HANDLING_H
#define RUNLOOP_HANDLING_H

#include "base/lock.h"
#include "process/catcher.h"

/// Catchers begin and end under it. The handler takes none.
extern struct steady_lock runloop__handling_lock;

/// In a forked child, what the parent caught has its former effect again.
HOLDS_LOCK void runloop__handling_begin_process(void);
/// The process whose signals these are.
uint32_t runloop__handling_generation(void);
/// Those of the signals that a catcher with these flags catches: not what is ignored, unless it is caught already.
HOLDS_LOCK uint64_t runloop__handling_without_ignored(uint64_t signals, unsigned flags);
/// Brings an arrival to all that catch the signal. Async-signal-safe, and the same in each call of the process.
typedef void deliver_function(uint32_t generation, const struct catcher_record *record);
/// One more catcher for each. 0; -EINVAL.
HOLDS_LOCK int runloop__handling_begin(uint64_t signals, unsigned flags, deliver_function *deliver);
HOLDS_LOCK void runloop__handling_end(uint64_t signals, unsigned flags);

#endif // RUNLOOP_HANDLING_H
