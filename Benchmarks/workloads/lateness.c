// lateness.c — W5c: an idle loop with one timer of 1 ms. `w5c,chain`: it fires once, and its callback starts the next; measures
// how late each is. `w5c,periodic`: it repeats; measures the deviation of each interval from 1 ms, and the drift of all together.

#include <string.h>

#include "../bench.h"

enum { TICKS_AT_MOST = 100000 };

static const int64_t period_ns = 1000000;

static struct peer_loop *loop;
static struct peer_timer *timer;
static double samples[TICKS_AT_MOST];
static uint64_t ticks, wanted;
static int64_t expected_ns, last_ns, first_ns;

static bool tick(double sample_ns) {
    samples[ticks++] = sample_ns;
    if (ticks < wanted)
        return true;
    peer_stop(loop);
    return false;
}

static void start_next(void);

static void on_chained(void *info) {
    (void)info;
    if (tick((double)(bench_now_ns() - expected_ns)))
        start_next();
}

static void start_next(void) {
    if (timer)
        peer_timer_cancel(timer);
    expected_ns = bench_now_ns() + period_ns;
    timer = peer_timer_start(loop, period_ns, NULL);
}

static void on_periodic(void *info) {
    (void)info;
    int64_t now_ns = bench_now_ns();
    if (last_ns == 0) {
        first_ns = last_ns = now_ns;
        return;
    }
    double away_ns = (double)(now_ns - last_ns - period_ns);
    last_ns = now_ns;
    tick(away_ns < 0 ? -away_ns : away_ns);
}

static void all_ticks(void *state, uint64_t count) {
    (void)state;
    wanted = count < TICKS_AT_MOST ? count : TICKS_AT_MOST;
    peer_run(loop, PEER_FOREVER);
}

void lateness_measure(const struct bench_cell *cell) {
    bool is_periodic = cell->word && strcmp(cell->word, "periodic") == 0;
    if (is_periodic && !(peer_traits.has & PEER_REPEATS))
        bench_skip("not offered");
    peer_calls.on_timer = is_periodic ? on_periodic : on_chained;
    peer_calls.interval_ns = is_periodic ? period_ns : 0;
    loop = peer_open();
    if (is_periodic)
        timer = peer_timer_start(loop, period_ns, NULL);
    else
        start_next();
    // As long as five other measurements, because most of the time is sleep.
    uint64_t count = (uint64_t)(bench_budget_ns * 5 / period_ns);
    if (bench_fixed_count) {
        all_ticks(NULL, bench_fixed_count);
        return;
    }
    bench_measure_rounds(NULL, all_ticks, NULL, count, 1);
    if (is_periodic)
        bench_report("drift_ns", (double)(last_ns - first_ns) - (double)ticks * (double)period_ns);
    bench_sort(samples, ticks);
    bench_report("least_ns", samples[0]);
    bench_report("p50_ns", bench_percentile(samples, ticks, 50));
    bench_report("p99_ns", bench_percentile(samples, ticks, 99));
}
