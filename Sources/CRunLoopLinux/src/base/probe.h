// probe.h — a state that the kernel reports to nobody is looked at now and then, in each loop that an object is in. A look is never handled
// work, and the pauses between two grow, so that a sleeping process is woken a few times and not for ever.
#ifndef RUNLOOP_PROBE_H
#define RUNLOOP_PROBE_H

#include "base/lock.h"
#include "runloop.h"

/// How all objects of a kind look. Constant.
struct probe_kind {
    /// When a loop is about to sleep. May be NULL.
    void (*observe)(runloop_observer *observer, runloop_activity activity, void *info);
    /// After a pause, on the loop's thread. Returns the length of the next pause, or 0 to look no more.
    int64_t (*look)(void *info, int64_t pause_ns);
    int64_t first_pause_ns;
    /// Each loop holds a reference to the info that `look` gets. Both NULL: the info isn't counted.
    void *(*retain)(void *info);
    void (*release)(void *info);
};

struct probed_loop;

/// The probe of one object. Zeros are one that is in no loop.
struct probe {
    struct steady_lock lock;
    struct probed_loop *loops GUARDED;
};

/// The object was added to a mode, or removed from it. Any thread. Without memory there are no looks.
void runloop__probe_enter(struct probe *probe, const struct probe_kind *kind, void *info, runloop *loop,
                          const char *mode);
void runloop__probe_leave(struct probe *probe, runloop *loop, const char *mode);
/// The object is invalid: ends the looks in all loops. Neither of the two is called again.
void runloop__probe_end(struct probe *probe);

#endif // RUNLOOP_PROBE_H
