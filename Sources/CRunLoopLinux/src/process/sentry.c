// sentry.c — whether the handlers of signals are still ours is looked at when a loop is about to sleep, which an observer notices. It wakes
// no loop for this, keeps no mode from being empty, and does not count as something that was handled.

#ifdef __linux__
#include "process/sentry.h"

#include <stdatomic.h>
#include <time.h>

#include "process/catcher.h"

#define FIRST_PAUSE_NS INT64_C(10000000)
#define LONGEST_PAUSE_NS INT64_C(1000000000)

/// Of the process: a look is at all signals. Several loops may look at the same time, which does no harm.
static _Atomic int64_t next_ns, pause_ns;

/// The machine's time, whatever clock the loop has.
static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

void runloop__sentry_begin(void) {
    atomic_store(&pause_ns, FIRST_PAUSE_NS);
    atomic_store(&next_ns, 0);
}

static void look(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer, (void)activity, (void)info;
    int64_t instant_ns = now(), pause = atomic_load(&pause_ns);
    if (instant_ns < atomic_load(&next_ns))
        return;
    atomic_store(&next_ns, instant_ns + pause);
    atomic_store(&pause_ns, pause * 4 < LONGEST_PAUSE_NS ? pause * 4 : LONGEST_PAUSE_NS);
    runloop__catchers_check();
}

void runloop__sentry_enter(struct sentry *sentry, runloop *loop, const char *mode) {
    const runloop_observer_config config = {
        .order = INT32_MAX, .activities = RUNLOOP_ACTIVITY_BEFORE_WAITING, .repeats = true, .observe = look};
    runloop_observer *observer = atomic_load(&sentry->observer), *made = NULL;
    // Without memory nobody looks. Two threads may add the object at once; one observer is enough.
    if (!observer && runloop_observer_create(&config, &made) == 0 &&
        atomic_compare_exchange_strong(&sentry->observer, &observer, made))
        observer = made;
    else if (made)
        runloop_observer_release(made);
    // It is in one loop; in a second one the first goes on to look.
    if (observer)
        runloop_add_observer(loop, observer, mode);
}

void runloop__sentry_leave(struct sentry *sentry, runloop *loop, const char *mode) {
    runloop_observer *observer = atomic_load(&sentry->observer);
    if (observer)
        runloop_remove_observer(loop, observer, mode);
}

void runloop__sentry_end(struct sentry *sentry) {
    runloop_observer *observer = atomic_exchange(&sentry->observer, NULL);
    if (!observer)
        return;
    runloop_observer_invalidate(observer);
    runloop_observer_release(observer);
}
#endif // __linux__
