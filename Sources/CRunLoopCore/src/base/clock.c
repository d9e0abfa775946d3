// clock.c — the clock: CLOCK_MONOTONIC in nanoseconds.

#include <time.h>

#include "base/base.h"

int64_t runloop_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
