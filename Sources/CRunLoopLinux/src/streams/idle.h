// idle.h — how long a stream may move nothing, a message take, and an exchange: the deadline of its source, at which it is looked at what has
// moved.
#ifndef RUNLOOP_IDLE_H
#define RUNLOOP_IDLE_H

#include "runloop.h"

struct idle {
    int64_t limit_ns;       ///< 0: none
    int64_t since_ns;       ///< counted from here at the earliest
    int64_t message_ns;     ///< the limit of a message that has begun; 0: none
    int64_t begun_ns;       ///< when that was, written by the owner; RUNLOOP_NEVER: none has begun
    int64_t deadline_ns;    ///< when it is over, whatever moves; RUNLOOP_NEVER: then it isn't
    runloop_source *source; ///< whose deadline it is; NULL: there is no limit
};

/// The source's deadline is the limit's, if there is one.
static inline void idle_begin(struct idle *idle, runloop_source *source) {
    idle->begun_ns = RUNLOOP_NEVER;
    idle->deadline_ns = RUNLOOP_NEVER;
    if (idle->limit_ns || idle->message_ns)
        idle->source = source;
}

/// It is over at an instant, whatever moves. The stream has last moved at `moved_ns`; RUNLOOP_NEVER: silence does not count now. -ENOMEM:
/// nothing has changed.
int runloop__idle_set_deadline(struct idle *idle, runloop_source *source, int64_t deadline_ns, int64_t moved_ns);

static inline int64_t idle_sum(int64_t instant_ns, int64_t duration_ns) {
    int64_t sum_ns;
    return __builtin_add_overflow(instant_ns, duration_ns, &sum_ns) ? RUNLOOP_NEVER : sum_ns;
}

/// When it is over, or a message has taken too long, whatever moves.
static inline int64_t idle_firm_due(const struct idle *idle) {
    if (idle->begun_ns == RUNLOOP_NEVER)
        return idle->deadline_ns;
    int64_t due_of_message_ns = idle_sum(idle->begun_ns, idle->message_ns);
    return due_of_message_ns < idle->deadline_ns ? due_of_message_ns : idle->deadline_ns;
}

/// Counts from now on, and for a message from `begun_ns`.
void runloop__idle_count(struct idle *idle, int64_t now_ns);

/// Whether a limit is reached, if the stream has last moved at `moved_ns`. If not, the deadline is when that is possible again.
bool runloop__idle_is_over(struct idle *idle, int64_t moved_ns, int64_t now_ns);

#endif // RUNLOOP_IDLE_H
