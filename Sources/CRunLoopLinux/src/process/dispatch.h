// dispatch.h — libdispatch, where the program has it and it catches a signal, too.
#ifndef RUNLOOP_DISPATCH_H
#define RUNLOOP_DISPATCH_H

#include <signal.h>
#include <stdbool.h>

/// Is it libdispatch's handler?
bool runloop__dispatch_handles(const struct sigaction *action);
/// Has libdispatch report a signal by a call of `arrived` on one of its threads. NULL: it can't.
void *runloop__dispatch_share(int number, void (*arrived)(int number, unsigned long count));
/// No call begins after a while; one may be under way.
void runloop__dispatch_end_share(void *share);

#endif // RUNLOOP_DISPATCH_H
