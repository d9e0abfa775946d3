// lookout.h — an object looks at something now and then, in each loop that it is in: for what nobody reports. That is never handled work, and
// the pauses grow, so that a process which sleeps is woken a few times and not for ever.
#ifndef RUNLOOP_LOOKOUT_H
#define RUNLOOP_LOOKOUT_H

#include "base/lock.h"
#include "runloop.h"

/// What all objects of a kind look at. Constant.
struct lookout_kind {
    /// When a loop is about to sleep. May be NULL.
    void (*observe)(runloop_observer *observer, runloop_activity activity, void *info);
    /// On the thread of a loop, whether it slept or not, after a pause. How long the next one is; 0: no more looks.
    int64_t (*look)(void *info, int64_t pause_ns);
    int64_t first_pause_ns;
    /// Of the info that `look` gets: a loop that calls it has a reference. Both NULL: there is none.
    void *(*retain)(void *info);
    void (*release)(void *info);
};

struct post;

/// Of one object. Zeros: it is in no loop.
struct lookout {
    struct steady_lock lock;
    struct post *posts GUARDED;
};

/// The object came into a mode, or left it. Any thread. Without memory nobody looks.
void runloop__lookout_enter(struct lookout *lookout, const struct lookout_kind *kind, void *info, runloop *loop,
                            const char *mode);
void runloop__lookout_leave(struct lookout *lookout, runloop *loop, const char *mode);
/// Nobody calls the two any more.
void runloop__lookout_end(struct lookout *lookout);

#endif // RUNLOOP_LOOKOUT_H
