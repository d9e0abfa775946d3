// ending.h — the signals that end a process, with the pauses between them.
#ifndef RUNLOOP_ENDING_H
#define RUNLOOP_ENDING_H

#include "runloop_child.h"

enum { MOST_STEPS = 8 };

/// The process that is ended. Its holder makes sure that it is not reaped meanwhile.
struct ended_process {
    int pidfd;
    int32_t pid;  ///< 0: not known
    bool is_ours; ///< it is reaped by its owner alone, so that its number stays its own
};

/// A sequence that has begun, or zeros.
struct ending {
    runloop_child_step steps[MOST_STEPS];
    size_t count, next;
    bool of_group;
    int64_t due_ns; ///< when the next step is sent; RUNLOOP_NEVER: the pause before it has not begun
};

/// One to eight signals, with pauses that are not negative?
bool runloop__ending_is_valid(const runloop_child_step *steps, size_t count);
/// Sends the first signal. A negative errno value: nothing was begun, and a former sequence goes on.
int runloop__ending_begin(struct ending *ending, const struct ended_process *process, const runloop_child_step *steps,
                          size_t count, bool of_group);
/// Sends what is due, and gives the instant of the next step; RUNLOOP_NEVER: no step is left. The first pause begins with the first call.
int64_t runloop__ending_go_on(struct ending *ending, const struct ended_process *process, int64_t now_ns);

#endif // RUNLOOP_ENDING_H
