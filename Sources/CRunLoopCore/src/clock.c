// clock.c — the loop's clock: CLOCK_MONOTONIC in nanoseconds. Arithmetic saturates at "never".

#include <time.h>

#include "internal.h"

int64_t runloop_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t runloop__saturating_add(int64_t instant_ns, int64_t duration_ns) {
    int64_t sum;
    if (__builtin_add_overflow(instant_ns, duration_ns, &sum))
        return duration_ns > 0 ? RUNLOOP_NEVER : INT64_MIN;
    return sum;
}
