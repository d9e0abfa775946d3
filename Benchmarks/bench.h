// bench.h — what the workloads share: clocks, calibration, output.
#ifndef BENCH_H
#define BENCH_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "peer.h"

enum { BENCH_NUMBERS = 3 };

/// A cell: a workload and its numbers, `w4,1000,100`.
struct bench_cell {
    const char *name;
    const char *word; ///< the text after the first comma
    uint64_t numbers[BENCH_NUMBERS];
};

/// The number of operations to perform without measuring times, for counts from outside. 0: measure.
extern uint64_t bench_fixed_count;

/// The time that one measurement may take, in ns.
extern int64_t bench_budget_ns;

/// Performs `count` operations.
typedef void (*bench_run)(void *state, uint64_t count);

/// Calibrates, measures in batches, and prints `cpu_ns` and `wall_ns` per operation: the median batch, and the best one.
/// Counts are multiples of `granule`.
void bench_measure(bench_run run, void *state, uint64_t granule);

/// The same in a fixed number of batches of `count`, for work of fixed length. Before each batch it calls `prepare(count)`,
/// unless that is NULL, and doesn't measure it.
void bench_measure_rounds(void (*prepare)(uint64_t count), bench_run run, void *state, uint64_t count, unsigned rounds);

/// Prints one figure.
void bench_report(const char *key, double value);

/// Ends the process, because this peer or this machine can't run the cell.
_Noreturn void bench_skip(const char *reason);

/// Ends the process if `error` isn't 0, with `what` and errno.
void bench_check(bool good, const char *what);

/// A percentile of `count` sorted samples.
double bench_percentile(double *samples, size_t count, double percent);
void bench_sort(double *samples, size_t count);

/// Raises the limit of open descriptors to `count`.
void bench_allow_descriptors(uint64_t count);

static inline int64_t bench_clock_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline int64_t bench_now_ns(void) {
    return bench_clock_ns(CLOCK_MONOTONIC);
}

/// A random number below `bound`, from the same sequence in each process.
static inline uint64_t bench_random(uint64_t bound) {
    static uint64_t state = 88172645463325252U;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint64_t)(((unsigned __int128)state * bound) >> 64);
}

/// The workloads. Each prints its figures and returns.
void wakeup_measure(const struct bench_cell *cell);
void signal_measure(const struct bench_cell *cell);
void submit_measure(const struct bench_cell *cell);
void readiness_measure(const struct bench_cell *cell);
void iteration_measure(const struct bench_cell *cell);
void timers_measure(const struct bench_cell *cell);
void rearm_measure(const struct bench_cell *cell);
void churn_measure(const struct bench_cell *cell);
void firing_measure(const struct bench_cell *cell);
void lateness_measure(const struct bench_cell *cell);
void memory_measure(const struct bench_cell *cell);
void startup_measure(const struct bench_cell *cell);
void modes_measure(const struct bench_cell *cell);
void main_queue_measure(const struct bench_cell *cell);

#endif
