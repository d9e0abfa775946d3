// firing.c — W5b: `w5b,N,T`: N timers that fire once, at random instants within 200 ms, with a tolerance of T ms. One operation
// is one callback; the measured time is the CPU time of the run that fires them. Peers without a tolerance do the same in both
// cases.

#include "../bench.h"

enum { ROUNDS = 3 };

static const int64_t span_ns = 200000000;

static struct peer_loop *loop;
static struct peer_timer **timers;
static uint64_t left;

static void on_timer(void *info) {
    (void)info;
    if (--left == 0)
        peer_stop(loop);
}

static void start(uint64_t count) {
    left = count; // a peer with its own threads fires the first ones while the last ones are created
    for (uint64_t i = 0; i < count; i++) {
        if (timers[i])
            peer_timer_cancel(timers[i]);
        timers[i] = peer_timer_start(loop, (int64_t)bench_random((uint64_t)span_ns), NULL);
    }
}

static void fire(void *state, uint64_t count) {
    (void)state, (void)count;
    peer_run(loop, PEER_FOREVER);
}

void firing_measure(const struct bench_cell *cell) {
    uint64_t count = cell->numbers[0];
    if (count < 1)
        bench_skip("needs a number of timers");
    peer_calls.on_timer = on_timer;
    peer_calls.tolerance_ns = (int64_t)cell->numbers[1] * 1000000;
    loop = peer_open();
    timers = calloc(count, sizeof(struct peer_timer *));
    bench_measure_rounds(start, fire, NULL, count, ROUNDS);
}
