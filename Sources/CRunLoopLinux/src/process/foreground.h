// foreground.h — the foreground of a terminal, which a child may have while it lives.
#ifndef RUNLOOP_FOREGROUND_H
#define RUNLOOP_FOREGROUND_H

#include <stdint.h>

/// Zeros but for the descriptor, -1: there is no foreground to give back.
struct foreground {
    int terminal; ///< of its own
    int32_t group, former;
};

/// Notes which group has the foreground, before a child takes it. A negative errno value.
int runloop__foreground_note(struct foreground *foreground, int terminal);
/// Gives it back, if the group still has it, and closes the terminal. No effect without one.
void runloop__foreground_end(struct foreground *foreground);

#endif // RUNLOOP_FOREGROUND_H
