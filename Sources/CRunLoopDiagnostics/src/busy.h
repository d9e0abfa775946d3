// busy.h — the signal of a thread that has used the processor for long.
#ifndef RUNLOOP_BUSY_H
#define RUNLOOP_BUSY_H

#include <signal.h>

/// The handler that this file installs, which another file may replace by one that calls it.
void busy_answer(int signal, siginfo_t *information, void *context);

#endif // RUNLOOP_BUSY_H
