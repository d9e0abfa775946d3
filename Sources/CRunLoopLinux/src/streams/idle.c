// idle.c — how long an input may bring nothing, or a part of a message, an output be stuck, and an exchange last.
//
// The limit is the deadline of the stream's source, so it comes in the modes of the source, on the loop that reads or writes, in turn with what
// there is to read, and it ends with the stream. What moves does not set it on: when it is due, it is looked at what has moved since.

#ifdef __linux__
#include "streams/idle.h"

/// Of the earliest deadline, which is looked at and set on.
static void look_at(struct idle *idle, int64_t instant_ns) {
    // Without memory the stream is called in the next iteration, where that is tried again.
    if (instant_ns < runloop_source_get_deadline(idle->source) &&
        runloop_source_set_deadline(idle->source, instant_ns) < 0)
        runloop_source_wake(idle->source);
}

/// When a limit is reached, unless something moves.
static int64_t due_of(const struct idle *idle, int64_t moved_ns) {
    int64_t due_ns = idle_firm_due(idle);
    if (!idle->limit_ns)
        return due_ns;
    int64_t due_of_silence_ns = idle_sum(moved_ns > idle->since_ns ? moved_ns : idle->since_ns, idle->limit_ns);
    return due_of_silence_ns < due_ns ? due_of_silence_ns : due_ns;
}

int runloop__idle_set_deadline(struct idle *idle, runloop_source *source, int64_t deadline_ns, int64_t moved_ns) {
    int64_t former_ns = idle->deadline_ns;
    idle->deadline_ns = deadline_ns;
    // A limit that has passed and was not looked at is no deadline of the source any more, and would be lost with a new one. A later deadline is
    // found when the former is looked at.
    int64_t due_ns = due_of(idle, moved_ns);
    int result = due_ns < runloop_source_get_deadline(source) ? runloop_source_set_deadline(source, due_ns) : 0;
    if (result < 0)
        idle->deadline_ns = former_ns;
    else if (deadline_ns != RUNLOOP_NEVER)
        idle->source = source;
    return result;
}

void runloop__idle_count(struct idle *idle, int64_t now_ns) {
    if (!idle->source)
        return;
    idle->since_ns = now_ns;
    look_at(idle, due_of(idle, now_ns));
}

bool runloop__idle_is_over(struct idle *idle, int64_t moved_ns, int64_t now_ns) {
    if (!idle->source)
        return false;
    int64_t due_ns = due_of(idle, moved_ns);
    if (due_ns <= now_ns)
        return true;
    look_at(idle, due_ns);
    return false;
}
#endif // __linux__
