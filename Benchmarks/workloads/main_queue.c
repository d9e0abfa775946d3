// main_queue.c — W10: the main dispatch queue, served by the initial thread's loop. `w10,chain`: a function on it that submits itself
// again, CPU time from one to the next; `w10,thread`: another thread submits one and waits until it has run.

#include <pthread.h>
#include <semaphore.h>
#include <string.h>

#include "../bench.h"

static struct peer_loop *loop;
static uint64_t left;
static sem_t performed;

static void chain(void *info) {
    (void)info;
    if (--left == 0)
        peer_stop(loop);
    else
        peer_main_queue_async(chain, NULL);
}

static void run_chain(void *state, uint64_t count) {
    (void)state;
    left = count;
    peer_main_queue_async(chain, NULL);
    peer_run(loop, PEER_FOREVER);
}

static void answer(void *info) {
    (void)info;
    if (--left == 0)
        peer_stop(loop);
    sem_post(&performed);
}

static void *ask(void *info) {
    for (uint64_t i = *(const uint64_t *)info; i > 0; i--) {
        peer_main_queue_async(answer, NULL);
        while (sem_wait(&performed))
            continue; // interrupted
    }
    return NULL;
}

static void run_thread(void *state, uint64_t count) {
    (void)state;
    left = count;
    pthread_t thread;
    bench_check(pthread_create(&thread, NULL, ask, &count) == 0, "thread");
    peer_run(loop, PEER_FOREVER);
    pthread_join(thread, NULL);
}

void main_queue_measure(const struct bench_cell *cell) {
    if (getenv("BENCH_THREAD"))
        bench_skip("not offered");
    sem_init(&performed, 0, 0);
    loop = peer_open();
    bool is_chain = cell->word && strcmp(cell->word, "chain") == 0;
    bench_measure(is_chain ? run_chain : run_thread, NULL, 1);
}
