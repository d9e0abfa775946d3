// clock_watch.c — steps of the wall clock, and suspensions of the machine.
//
// The kernel keeps three clocks by adding two offsets to one: CLOCK_BOOTTIME is CLOCK_MONOTONIC and all suspensions,
// CLOCK_REALTIME is that and an offset which changes when somebody sets the clock. Slewing is in all three. So both offsets stand
// still while there is nothing to report, and a change is the difference of two readings. A notification of the kernel's is a reason to
// look, and says nothing more: there is one for both kinds, and one for several changes.

#ifdef __linux__
#include <errno.h>

#include "base/lock.h"
#include "base/object.h"
#include "clocks/clock_timer.h"
#include "runloop_clock_watch.h"

/// Readings of the clocks until they are close together; the closest counts.
enum { MOST_READINGS = 16, CLOSE_NS = 1000 };

/// The differences of the clocks, and how long reading them took, which is the most by which they can be wrong.
struct offsets {
    int64_t wall_ns;      ///< of CLOCK_REALTIME to CLOCK_BOOTTIME
    int64_t suspended_ns; ///< of CLOCK_BOOTTIME to CLOCK_MONOTONIC
    int64_t error_ns;
};

struct clock_watch {
    struct object object;
    void (*changed)(runloop_clock_watch *watch, const runloop_clock_change *change, void *info);
    /// Guards what follows. Not held in calls of `changed`.
    struct process_lock lock;
    struct offsets reported GUARDED; ///< those that the client knows of
};

/// The first reading and the last are of the clock that neither jumps nor stands still: if the machine was suspended in between,
/// they are far from each other, and do not count.
static struct offsets read_offsets(void) {
    struct offsets best = {.error_ns = RUNLOOP_NEVER};
    for (int i = 0; i < MOST_READINGS && best.error_ns > CLOSE_NS; i++) {
        int64_t boot = runloop_clock_get_now_ns(RUNLOOP_CLOCK_BOOT);
        int64_t wall = runloop_clock_get_now_ns(RUNLOOP_CLOCK_WALL), monotonic = runloop_get_now_ns(NULL);
        int64_t error = runloop_clock_get_now_ns(RUNLOOP_CLOCK_BOOT) - boot;
        if (error < best.error_ns)
            best = (struct offsets){.wall_ns = wall - boot, .suspended_ns = boot - monotonic, .error_ns = error};
    }
    return best;
}

/// Moves to `reported` what is to be reported; a difference that is less than the error stays, so that such don't add up.
HOLDS_LOCK static runloop_clock_change take_change(struct offsets *reported, const struct offsets *now) {
    runloop_clock_change change = {.step_ns = now->wall_ns - reported->wall_ns,
                                   .suspended_ns = now->suspended_ns - reported->suspended_ns};
    int64_t error = now->error_ns + reported->error_ns;
    if (change.step_ns >= -error && change.step_ns <= error)
        change.step_ns = 0;
    if (change.suspended_ns <= error)
        change.suspended_ns = 0;
    if (change.step_ns)
        reported->wall_ns = now->wall_ns;
    if (change.suspended_ns)
        reported->suspended_ns = now->suspended_ns;
    if (now->error_ns > reported->error_ns && (change.step_ns || change.suspended_ns))
        reported->error_ns = now->error_ns;
    return change;
}

static void ready(runloop_source *source, runloop_readiness reasons, void *info) {
    (void)reasons;
    struct clock_watch *watch = info;
    runloop_clock_change change = {0};
    lock_take(&watch->lock);
    if (runloop_source_is_valid(source)) {
        // In this order: a jump after the reading is reported again.
        runloop__clock_timer_take_jump(watch->object.descriptor);
        const struct offsets now = read_offsets();
        change = take_change(&watch->reported, &now);
    }
    lock_give(&watch->lock);
    if ((change.step_ns || change.suspended_ns) && watch->changed)
        watch->changed(watch->object.source, &change, watch->object.context.info);
}

static const struct object_class clock_watch_class = {.kind = OBJECT_CLOCK_WATCH, .ready = ready};

UNCHECKED int runloop_clock_watch_create(const runloop_clock_watch_config *config, runloop_clock_watch **out) {
    if (!config || !out)
        return -EINVAL;
    const struct object_config object = {.context = config->context,
                                         .descriptor = runloop__clock_timer_open(RUNLOOP_CLOCK_WALL),
                                         .class = &clock_watch_class};
    int result;
    struct clock_watch *watch = runloop__object_make(sizeof *watch, &object, &result);
    if (!watch)
        return result;
    result = runloop__clock_timer_set_for_jumps(watch->object.descriptor);
    if (result < 0) {
        object_give_up(&watch->object);
        return result;
    }
    watch->changed = config->changed;
    watch->reported = read_offsets();
    *out = watch->object.source;
    return 0;
}
#endif // __linux__
