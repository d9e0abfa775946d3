// sentry.c — whether the handlers of signals are still ours is looked at when a loop is about to sleep, and a few times while it sleeps: most
// of the owners that take a signal do so soon after the program has begun, on threads of their own.

#ifdef __linux__
#include "process/sentry.h"

#include <stdatomic.h>
#include <time.h>

#include "process/catcher.h"

/// Between the looks of loops that are about to sleep.
#define FIRST_PAUSE_NS INT64_C(10000000)
#define LONGEST_PAUSE_NS INT64_C(1000000000)
/// Between the looks of a loop that sleeps: eight, of which the last is after some four minutes. What arrives between the other owner's coming and
/// a look is lost here, so they are frequent at first.
#define FIRST_SLEEP_NS INT64_C(10000000)
#define LAST_SLEEP_NS (FIRST_SLEEP_NS * 16384)

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

static void look_before_sleep(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer, (void)activity, (void)info;
    int64_t instant_ns = now(), pause = atomic_load(&pause_ns);
    if (instant_ns < atomic_load(&next_ns))
        return;
    atomic_store(&next_ns, instant_ns + pause);
    atomic_store(&pause_ns, pause * 4 < LONGEST_PAUSE_NS ? pause * 4 : LONGEST_PAUSE_NS);
    runloop__catchers_check();
}

static int64_t look_in_sleep(void *info, int64_t pause) {
    (void)info;
    runloop__catchers_check();
    return pause < LAST_SLEEP_NS ? pause * 4 : 0;
}

const struct probe_kind runloop__sentry = {
    .observe = look_before_sleep, .look = look_in_sleep, .first_pause_ns = FIRST_SLEEP_NS};
#endif // __linux__
