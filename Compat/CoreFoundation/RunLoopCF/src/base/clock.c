// clock.c — dates of the wall clock and instants of the loop's clock. No other file knows both.
//
// The distance between the two clocks changes only when the wall clock is stepped or the machine is suspended. But two measurements
// differ by the time between two readings, so timers with equal dates would get different instants and fire in any order. A measured
// distance is therefore kept until a new measurement differs from it by more than that.

#include "base/base.h"

#include <time.h>

enum { SECOND_NS = 1000000000, NOISE_NS = 20000, PROMPT_NS = 5000, READINGS = 5 };
static const int64_t EPOCH_S = 978307200;

static int64_t wall_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return ((int64_t)now.tv_sec - EPOCH_S) * SECOND_NS + now.tv_nsec;
}

CFAbsoluteTime CFAbsoluteTimeGetCurrent(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (CFAbsoluteTime)((int64_t)now.tv_sec - EPOCH_S) + (CFAbsoluteTime)now.tv_nsec * 1e-9;
}

/// Reads the wall clock between two readings of the loop's clock, and repeats that if the thread was interrupted.
static int64_t measured_distance(void) {
    int64_t distance_ns = 0, best_ns = INT64_MAX;
    for (int i = 0; i < READINGS && best_ns > PROMPT_NS; i++) {
        int64_t before_ns = runloop_now_ns(), now_ns = wall_ns(), after_ns = runloop_now_ns();
        if (after_ns - before_ns < best_ns) {
            best_ns = after_ns - before_ns;
            distance_ns = now_ns - (before_ns + best_ns / 2);
        }
    }
    return distance_ns;
}

static int64_t clock_distance(void) {
    static _Atomic int64_t kept_ns;
    static _Atomic bool is_kept;
    int64_t measured_ns = measured_distance();
    // If two threads make the first measurement at once, one of the two values is kept. Either is good.
    int64_t known_ns = atomic_load_explicit(&kept_ns, memory_order_relaxed);
    if (atomic_load_explicit(&is_kept, memory_order_acquire) && llabs(measured_ns - known_ns) <= NOISE_NS)
        return known_ns;
    if (atomic_compare_exchange_strong(&kept_ns, &known_ns, measured_ns))
        known_ns = measured_ns;
    atomic_store_explicit(&is_kept, true, memory_order_release);
    return known_ns;
}

int64_t cf__instant_of_date(CFAbsoluteTime date) {
    if (date >= CF_GREATEST_DATE)
        date = CF_GREATEST_DATE;
    else if (date <= -CF_GREATEST_DATE)
        date = -CF_GREATEST_DATE;
    // Seconds and nanoseconds are converted separately: a double has too few digits for a date in nanoseconds.
    int64_t seconds = (int64_t)date;
    double rest_ns = (date - (double)seconds) * SECOND_NS;
    int64_t whole_ns = (int64_t)rest_ns;
    // Rounded up, so that a timer never fires before its date.
    return seconds * SECOND_NS + whole_ns + ((double)whole_ns < rest_ns) - clock_distance();
}

CFAbsoluteTime cf__date_of_instant(int64_t instant_ns) {
    int64_t distance_ns = clock_distance();
    if (instant_ns > INT64_MAX - distance_ns)
        return CF_GREATEST_DATE;
    int64_t date_ns = instant_ns + distance_ns;
    int64_t seconds = date_ns / SECOND_NS;
    return (double)seconds + (double)(date_ns - seconds * SECOND_NS) / SECOND_NS;
}

int64_t cf__nanoseconds(CFTimeInterval seconds) {
    if (!(seconds > 0))
        return 0;
    if (seconds >= 9.2e9)
        return INT64_MAX;
    int64_t nanoseconds = (int64_t)(seconds * SECOND_NS + 0.5);
    return nanoseconds > 0 ? nanoseconds : 1;
}
