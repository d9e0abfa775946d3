// modes.c — W9: features that only run loops have. `w9,observers`: the cost of each of ten observers per notification;
// `w9,modes`: an empty iteration of a loop with a hundred unused modes; `w9,common`: adding an item to four common modes, and
// removing it; `w9,nested`: a run inside a callback, of one iteration; `w9,empty`: the same outside.

#include <string.h>

#include "../bench.h"

enum { OBSERVERS = 10, UNUSED_MODES = 100, COMMON_MODES = 3, COMPARISONS = 5 };

static struct peer_loop *loop;
static struct peer_signal *signal;
static uint64_t left;
static uint64_t told;

static void ignore(void *info) {
    (void)info;
}

static void count_told(void) {
    told++;
}

static void send_again(void *info) {
    (void)info;
    if (--left == 0)
        peer_stop(loop);
    else
        peer_signal_send(signal);
}

static void signals(void *state, uint64_t count) {
    (void)state;
    left = count;
    peer_signal_send(signal);
    peer_run(loop, PEER_FOREVER);
}

static double best_time_ns(uint64_t count) {
    double best_ns = 1e18;
    for (int i = 0; i < COMPARISONS; i++) {
        int64_t start_ns = bench_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
        signals(NULL, count);
        double taken_ns = (double)(bench_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start_ns);
        best_ns = taken_ns < best_ns ? taken_ns : best_ns;
    }
    return best_ns;
}

/// The difference of the same run without and with observers, per call of an observer.
static void measure_observers(void) {
    uint64_t count = bench_fixed_count ? bench_fixed_count : 1000;
    peer_calls.on_signal = send_again;
    if (!bench_fixed_count) {
        signals(NULL, count);
        double once_ns = best_time_ns(count);
        count = (uint64_t)((double)bench_budget_ns / 4 / COMPARISONS / once_ns * (double)count) + 1;
    }
    double without_ns = bench_fixed_count ? 0 : best_time_ns(count);
    for (int i = 0; i < OBSERVERS; i++)
        peer_observe_all(loop, count_told);
    if (bench_fixed_count) {
        signals(NULL, count);
        return;
    }
    signals(NULL, count);
    told = 0;
    double with_ns = best_time_ns(count);
    double calls = (double)told / COMPARISONS;
    bench_report("cpu_ns", (with_ns - without_ns) / calls);
    bench_report("calls_per_iteration", calls / OBSERVERS / (double)count);
    bench_report("iteration_ns", without_ns / (double)count);
    bench_report("count", (double)count);
}

static void iterations(void *state, uint64_t count) {
    (void)state;
    for (uint64_t i = 0; i < count; i++)
        peer_poll(loop);
}

static void additions(void *state, uint64_t count) {
    (void)state;
    for (uint64_t i = 0; i < count; i++)
        peer_add_remove_common(loop);
}

static void nest(void *info) {
    (void)info;
    for (; left > 0; left--)
        peer_run_inner(loop);
    peer_stop(loop);
}

void modes_measure(const struct bench_cell *cell) {
    const char *variant = cell->word ? cell->word : "empty";
    peer_calls.on_signal = ignore;
    loop = peer_open();
    signal = peer_signal_create(loop, NULL);
    if (strcmp(variant, "observers") == 0) {
        measure_observers();
    } else if (strcmp(variant, "modes") == 0) {
        peer_add_modes(loop, UNUSED_MODES, false);
        bench_measure(iterations, NULL, 1);
    } else if (strcmp(variant, "common") == 0) {
        peer_add_modes(loop, COMMON_MODES, true);
        bench_measure(additions, NULL, 1);
    } else if (strcmp(variant, "nested") == 0) {
        peer_calls.on_signal = nest;
        bench_measure(signals, NULL, 1);
    } else {
        bench_measure(iterations, NULL, 1);
    }
}
