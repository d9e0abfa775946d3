// readiness.c — W4: `w4,N,K`: N registered eventfds, of which K are readable at any time. The callback of one reads it and writes
// the next, so K tokens circulate. One operation is one callback.

#include <sys/eventfd.h>
#include <unistd.h>

#include "../bench.h"

struct place {
    int descriptor;
    int next_descriptor;
};

static struct peer_loop *loop;
static struct place *places;
static uint64_t left;

static void on_ready(void *info) {
    const struct place *place = info;
    uint64_t counter = 1;
    if (!peer_traits.reads_counters && read(place->descriptor, &counter, sizeof counter) != sizeof counter)
        return; // spurious call
    counter = 1;
    bench_check(write(place->next_descriptor, &counter, sizeof counter) == sizeof counter, "write");
    if (left > 0 && --left == 0)
        peer_stop(loop);
}

static void events(void *state, uint64_t count) {
    (void)state;
    left = count;
    peer_run(loop, PEER_FOREVER);
}

void readiness_measure(const struct bench_cell *cell) {
    uint64_t count = cell->numbers[0], tokens = cell->numbers[1];
    if (count < 1 || tokens < 1 || tokens > count)
        bench_skip("needs numbers of descriptors and of active ones");
    bench_allow_descriptors(count + 256);
    peer_calls.on_ready = on_ready;
    loop = peer_open();
    places = calloc(count, sizeof *places);
    for (uint64_t i = 0; i < count; i++) {
        places[i].descriptor = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
        bench_check(places[i].descriptor >= 0, "eventfd");
    }
    for (uint64_t i = 0; i < count; i++) {
        places[i].next_descriptor = places[(i + 1) % count].descriptor;
        peer_watch_add(loop, places[i].descriptor, &places[i]);
    }
    uint64_t one = 1;
    for (uint64_t i = 0; i < tokens; i++)
        bench_check(write(places[i * (count / tokens)].descriptor, &one, sizeof one) == sizeof one, "write");
    // An iteration may serve all readable ones before it stops, so counts are multiples of their number.
    bench_measure(events, NULL, tokens);
}
