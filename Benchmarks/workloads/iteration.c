// iteration.c — W6: one iteration that finds nothing and doesn't wait. `w6,descriptor`: the loop has an idle descriptor, which it
// has to check; `w6,none`: it has none.

#include <string.h>
#include <sys/eventfd.h>

#include "../bench.h"

static void ignore(void *info) {
    (void)info;
}

static void iterations(void *loop, uint64_t count) {
    for (uint64_t i = 0; i < count; i++)
        peer_poll(loop);
}

void iteration_measure(const struct bench_cell *cell) {
    peer_calls.on_ready = peer_calls.on_signal = ignore;
    struct peer_loop *loop = peer_open();
    if (cell->word && strcmp(cell->word, "none") == 0)
        peer_signal_create(loop, NULL); // an empty loop might not iterate at all
    else
        peer_watch_add(loop, eventfd(0, EFD_NONBLOCK), NULL);
    bench_measure(iterations, loop, 1);
}
