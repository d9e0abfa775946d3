// histogram.h — durations in buckets of about equal relative width, counted by one thread and read by any.
#ifndef RUNLOOP_HISTOGRAM_H
#define RUNLOOP_HISTOGRAM_H

#include <stdatomic.h>

#include "runloop_statistics.h"

/// A number that one thread writes.
typedef _Atomic int64_t counted;

static inline int64_t counted_get(const counted *number) {
    return atomic_load_explicit(number, memory_order_relaxed);
}

static inline void counted_set(counted *number, int64_t value) {
    atomic_store_explicit(number, value, memory_order_relaxed);
}

static inline void counted_add(counted *number, int64_t value) {
    counted_set(number, counted_get(number) + value);
}

/// From one instant to the other, at most what a number can hold: the date of a timer may be INT64_MIN.
static inline int64_t duration_between(int64_t begin_ns, int64_t end_ns) {
    int64_t duration_ns;
    bool overflows = __builtin_sub_overflow(end_ns, begin_ns, &duration_ns);
    return !overflows ? duration_ns : end_ns > begin_ns ? INT64_MAX : INT64_MIN;
}

struct histogram {
    counted count, sum_ns, max_ns, buckets[RUNLOOP_HISTOGRAM_BUCKETS];
};

void histogram_add(struct histogram *histogram, int64_t duration_ns);
void histogram_copy(const struct histogram *histogram, runloop_histogram *copy);

#endif // RUNLOOP_HISTOGRAM_H
