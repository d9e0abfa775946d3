// submit.c — W3: one or four threads submit a function to one loop, as fast as they can. One operation is one function, performed.

#include <pthread.h>

#include "../bench.h"

enum { PRODUCERS_AT_MOST = 16 };

static struct peer_loop *loop;
static uint64_t left;
static pthread_barrier_t start;

static void item(void *info) {
    (void)info;
    if (--left == 0)
        peer_stop(loop);
}

static void *produce(void *info) {
    uint64_t count = *(const uint64_t *)info;
    pthread_barrier_wait(&start);
    for (uint64_t i = 0; i < count; i++)
        peer_submit(loop, item, NULL);
    return NULL;
}

static void submissions(void *state, uint64_t count) {
    unsigned producers = *(const unsigned *)state;
    uint64_t share = count / producers;
    pthread_t threads[PRODUCERS_AT_MOST];
    left = count;
    pthread_barrier_init(&start, NULL, producers + 1);
    for (unsigned i = 0; i < producers; i++)
        bench_check(pthread_create(&threads[i], NULL, produce, &share) == 0, "thread");
    pthread_barrier_wait(&start);
    peer_run(loop, PEER_FOREVER);
    for (unsigned i = 0; i < producers; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&start);
}

void submit_measure(const struct bench_cell *cell) {
    unsigned producers = (unsigned)cell->numbers[0];
    if (producers < 1 || producers > PRODUCERS_AT_MOST)
        bench_skip("needs a number of threads");
    peer_prepare_threads();
    loop = peer_open();
    peer_accept_submissions(loop);
    // An empty loop would end before the first function arrives.
    peer_calls.on_wake = item;
    peer_wake_create(loop, NULL);
    // Small batches would measure the creation of threads.
    bench_measure(submissions, &producers, 1024 * producers);
}
