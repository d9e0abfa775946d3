// signal.c — W2: a callback that signals itself again. `w2,plain`: alone; `w2,timer`: beside an idle timer; `w2,limit`: in a run
// that has a limit; `w2,descriptor`: beside an idle descriptor, which must be checked between any two events.

#include <string.h>
#include <sys/eventfd.h>

#include "../bench.h"

static const int64_t hour_ns = 3600000000000;

static struct peer_loop *loop;
static struct peer_signal *signal;
static uint64_t left;
static int64_t limit_ns = PEER_FOREVER;

static void on_signal(void *info) {
    (void)info;
    if (--left == 0)
        peer_stop(loop);
    else
        peer_signal_send(signal);
}

static void ignore(void *info) {
    (void)info;
}

static void signals(void *state, uint64_t count) {
    (void)state;
    left = count;
    peer_signal_send(signal);
    peer_run(loop, limit_ns);
}

static bool needs(unsigned trait) {
    if ((peer_traits.has & trait) != trait)
        bench_skip("not offered");
    return true;
}

void signal_measure(const struct bench_cell *cell) {
    const char *variant = cell->word ? cell->word : "plain";
    peer_calls.on_signal = on_signal;
    peer_calls.on_timer = peer_calls.on_ready = ignore;
    loop = peer_open();
    signal = peer_signal_create(loop, NULL);
    if (strcmp(variant, "timer") == 0 && needs(PEER_TIMERS))
        peer_timer_start(loop, hour_ns, NULL);
    else if (strcmp(variant, "descriptor") == 0 && needs(PEER_WATCHES))
        peer_watch_add(loop, eventfd(0, EFD_NONBLOCK), NULL);
    else if (strcmp(variant, "limit") == 0 && needs(PEER_LIMITS))
        limit_ns = hour_ns;
    bench_measure(signals, NULL, 1);
}
