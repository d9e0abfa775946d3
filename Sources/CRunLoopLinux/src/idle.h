// idle.h — how long a stream may move nothing, and a message take: a timer in its epoll set that is looked at when it is due, and set on by
// what has moved.
#ifndef RUNLOOP_IDLE_H
#define RUNLOOP_IDLE_H

#include "runloop_output.h"

struct idle {
    int64_t limit_ns;       ///< 0: none
    int64_t since_ns;       ///< counted from here at the earliest
    int64_t message_ns;     ///< the limit of a message that has begun; 0: none
    int64_t begun_ns;       ///< when that was; RUNLOOP_NEVER: none has begun
    int64_t due_ns;         ///< when the timer is due; RUNLOOP_NEVER: it is not set
    int timer;              ///< -1: none
    runloop_output *output; ///< what it moves counts for an input as well; retained, may be NULL
};

/// Begins to count, with a timer in the set if there is a limit. -EMFILE, -ENFILE, -ENOMEM, -ENOSPC: then there is nothing to close.
int runloop__idle_open(struct idle *idle, int set, int64_t now_ns);
void runloop__idle_close(struct idle *idle);

/// A message has begun, or none has (RUNLOOP_NEVER).
void runloop__idle_set_begun(struct idle *idle, int64_t begun_ns);

/// Whether a limit is reached, if the stream has last moved at `moved_ns`. If not, the timer is set to when that is possible again.
bool runloop__idle_is_over(struct idle *idle, int64_t moved_ns, int64_t now_ns);

#endif // RUNLOOP_IDLE_H
