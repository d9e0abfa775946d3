// histogram.c — log-linear buckets: a power of two is divided into eight parts.

#ifdef __linux__
#include "histogram.h"

enum { PARTS = 8, PART_BITS = 3, FIRST_POWER = 6 };

/// Bucket 0 is for what is shorter than 2^FIRST_POWER ns; the last one for all that is too long for another.
static unsigned bucket_of(int64_t duration_ns) {
    if (duration_ns < 1 << FIRST_POWER)
        return 0;
    unsigned power = 63 - (unsigned)__builtin_clzll((unsigned long long)duration_ns);
    unsigned part = (unsigned)(duration_ns >> (power - PART_BITS)) % PARTS;
    unsigned bucket = 1 + (power - FIRST_POWER) * PARTS + part;
    return bucket < RUNLOOP_HISTOGRAM_BUCKETS ? bucket : RUNLOOP_HISTOGRAM_BUCKETS - 1;
}

/// The longest duration of a bucket.
static int64_t end_of(unsigned bucket) {
    if (bucket == 0)
        return (1 << FIRST_POWER) - 1;
    unsigned power = FIRST_POWER + (bucket - 1) / PARTS, part = (bucket - 1) % PARTS;
    return (((int64_t)PARTS + part + 1) << (power - PART_BITS)) - 1;
}

void histogram_add(struct histogram *histogram, int64_t duration_ns) {
    if (duration_ns < 0)
        duration_ns = 0;
    int64_t sum_ns;
    bool overflows = __builtin_add_overflow(counted_get(&histogram->sum_ns), duration_ns, &sum_ns);
    counted_add(&histogram->count, 1);
    counted_set(&histogram->sum_ns, overflows ? INT64_MAX : sum_ns);
    if (duration_ns > counted_get(&histogram->max_ns))
        counted_set(&histogram->max_ns, duration_ns);
    counted_add(&histogram->buckets[bucket_of(duration_ns)], 1);
}

void histogram_copy(const struct histogram *histogram, runloop_histogram *copy) {
    copy->count = (uint64_t)counted_get(&histogram->count);
    copy->sum_ns = counted_get(&histogram->sum_ns);
    copy->max_ns = counted_get(&histogram->max_ns);
    for (unsigned i = 0; i < RUNLOOP_HISTOGRAM_BUCKETS; i++)
        copy->buckets[i] = (uint64_t)counted_get(&histogram->buckets[i]);
}

int64_t runloop_histogram_quantile_ns(const runloop_histogram *histogram, double share) {
    uint64_t total = 0, passed = 0;
    for (unsigned i = 0; histogram && i < RUNLOOP_HISTOGRAM_BUCKETS; i++)
        total += histogram->buckets[i];
    if (total == 0)
        return 0;
    double wanted = share <= 0 ? 0 : share >= 1 ? (double)total : share * (double)total;
    unsigned bucket = 0;
    for (; bucket < RUNLOOP_HISTOGRAM_BUCKETS - 1; bucket++) {
        passed += histogram->buckets[bucket];
        if (passed > 0 && (double)passed >= wanted)
            break;
    }
    int64_t end_ns = end_of(bucket);
    bool is_last = bucket == RUNLOOP_HISTOGRAM_BUCKETS - 1;
    return is_last || end_ns > histogram->max_ns ? histogram->max_ns : end_ns;
}
#endif // __linux__
