// shown_clock.h — the clock of a loop that stands still unless a test moves it, so that a slow machine changes nothing, and idle limits by it.
// That their timers come takes machine time.
#ifndef RUNLOOP_TEST_SHOWN_CLOCK_H
#define RUNLOOP_TEST_SHOWN_CLOCK_H

#include "linux_items.h"

enum { LIMIT = 4 * MS };

static _Atomic int64_t shown_ns;

static inline int64_t show_time(void *context) {
    (void)context;
    return shown_ns;
}

static inline int64_t no_wait(void *context, int64_t duration_ns) {
    (void)context, (void)duration_ns;
    return 1;
}

static inline void use_shown_clock(void) {
    const runloop_clock clock = {.now = show_time, .wait = no_wait};
    REQUIRE(runloop_set_clock(&clock) == 0);
    shown_ns = 0;
}

/// Iterates for several limits of machine time, in which the timer comes if it comes at all, and often enough to notice what is there by now.
static inline void look_a_while(const char *mode) {
    int64_t end = runloop_get_now_ns(NULL) + 5 * LIMIT;
    for (int looks = 0; looks < 5 || runloop_get_now_ns(NULL) < end; looks++)
        poll_mode(mode);
}

#define LOOK_UNTIL(condition)                                                                                          \
    do {                                                                                                               \
        int64_t test_end = runloop_get_now_ns(NULL) + 30 * SECOND;                                                     \
        while (!(condition)) {                                                                                         \
            REQUIRE(runloop_get_now_ns(NULL) < test_end && #condition);                                                \
            poll_mode(MODE);                                                                                           \
        }                                                                                                              \
    } while (0)

#endif // RUNLOOP_TEST_SHOWN_CLOCK_H
