// unread.h — the pipes to which a child writes: one that is full and that nobody reads is named, since the child waits for a reader, and whoever
// awaits its end for the child.
#ifndef RUNLOOP_UNREAD_H
#define RUNLOOP_UNREAD_H

#include "base/probe.h"
#include "runloop_child_start.h"

struct unread_pipes;

/// Of a child that has just been started, with one reference. NULL: it has no such pipe, or there is no memory.
struct unread_pipes *runloop__unread_make(const runloop_child_start_config *config, int32_t process);
/// Of each child that has such pipes, which are its info.
extern const struct probe_kind runloop__unread;

#endif // RUNLOOP_UNREAD_H
