// timers.c — W5: the cost of N timers in the loop that never fire. `w5,N`: create and start N, then stop and free all, in another
// order; one operation is one timer. `w5r,N`: move one. `w5p,N`: stop and free one, create and start one; the loop is polled once
// every 16 operations, so that deferred work is included.

#include "../bench.h"

enum { OPERATIONS_PER_POLL = 16 };

static struct peer_loop *loop;
static struct peer_timer **timers;
static uint32_t *order;
static uint64_t timer_count;

/// Between 100 and 1,100 seconds.
static int64_t random_delay_ns(void) {
    return 100000000000 + (int64_t)bench_random(1000000000000);
}

static void ignore(void *info) {
    (void)info;
}

static void prepare(const struct bench_cell *cell) {
    timer_count = cell->numbers[0];
    if (timer_count < 1)
        bench_skip("needs a number of timers");
    if (peer_traits.timers_at_most && timer_count > peer_traits.timers_at_most)
        bench_skip("too slow with so many timers");
    peer_calls.on_timer = peer_calls.on_signal = ignore;
    loop = peer_open();
    timers = calloc(timer_count, sizeof(struct peer_timer *));
    order = calloc(timer_count, sizeof *order);
    for (uint32_t i = 0; i < timer_count; i++) {
        uint64_t other = bench_random(i + 1);
        order[i] = order[other];
        order[other] = i;
    }
}

static void fill(void) {
    for (uint64_t i = 0; i < timer_count; i++)
        timers[i] = peer_timer_start(loop, random_delay_ns(), NULL);
}

static void fill_and_empty(void *state, uint64_t count) {
    (void)state;
    for (uint64_t done = 0; done < count; done += timer_count) {
        fill();
        for (uint64_t i = 0; i < timer_count; i++)
            peer_timer_cancel(timers[order[i]]);
        peer_reap(loop);
    }
}

static void moves(void *state, uint64_t count) {
    (void)state;
    for (uint64_t i = 0; i < count; i++)
        peer_timer_move(timers[bench_random(timer_count)], random_delay_ns());
}

static void churns(void *state, uint64_t count) {
    (void)state;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t which = bench_random(timer_count);
        peer_timer_cancel(timers[which]);
        timers[which] = peer_timer_start(loop, random_delay_ns(), NULL);
        if (i % OPERATIONS_PER_POLL == 0)
            peer_poll(loop);
    }
}

void timers_measure(const struct bench_cell *cell) {
    prepare(cell);
    bench_measure(fill_and_empty, NULL, timer_count);
}

void rearm_measure(const struct bench_cell *cell) {
    prepare(cell);
    fill();
    bench_measure(moves, NULL, 1);
}

void churn_measure(const struct bench_cell *cell) {
    prepare(cell);
    fill();
    bench_measure(churns, NULL, OPERATIONS_PER_POLL);
}
