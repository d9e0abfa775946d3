// wakeup.c — W1: two threads, each with a loop, and one message that goes back and forth. One operation is a round trip. `w1,s`:
// both threads on one core; `w1,x`: on two.

#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

#include "../bench.h"

enum { SAMPLES_AT_MOST = 1 << 18 };

struct side {
    struct peer_loop *loop;
    struct peer_wake *wake;
    struct side *other;
    uint64_t left; ///< of the first side: remaining round trips
    bool is_first;
};

static struct side first, second;
static sem_t second_is_open;
static int core_of_second;
static double *samples;
static size_t sample_count;
static int64_t sent_ns;
static _Atomic bool is_over;

static void note_round_trip(void) {
    int64_t now_ns = bench_now_ns();
    if (sample_count < SAMPLES_AT_MOST)
        samples[sample_count++] = (double)(now_ns - sent_ns);
    sent_ns = now_ns;
}

static void on_wake(void *info) {
    struct side *side = info;
    if (side->is_first) {
        note_round_trip();
        if (--side->left == 0) {
            peer_stop(side->loop);
            return;
        }
    } else if (is_over) {
        peer_stop(side->loop);
        return;
    }
    peer_wake_send(side->other->wake);
}

static void pin(int core) {
    if (core < 0)
        return;
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(core, &cores);
    pthread_setaffinity_np(pthread_self(), sizeof cores, &cores);
}

static void *run_second(void *info) {
    (void)info;
    pin(core_of_second);
    second.loop = peer_open();
    second.wake = peer_wake_create(second.loop, &second);
    sem_post(&second_is_open);
    peer_run(second.loop, PEER_FOREVER);
    return NULL;
}

static void round_trips(void *state, uint64_t count) {
    (void)state;
    first.left = count;
    sent_ns = bench_now_ns();
    peer_wake_send(second.wake);
    peer_run(first.loop, PEER_FOREVER);
}

/// The first two cores that this process may use; a peer with its own threads is only pinned to one core, or not at all.
static void choose_cores(bool same_core) {
    cpu_set_t cores;
    bench_check(sched_getaffinity(0, sizeof cores, &cores) == 0, "affinity");
    int found[2], count = 0;
    for (int core = 0; core < CPU_SETSIZE && count < 2; core++)
        if (CPU_ISSET(core, &cores))
            found[count++] = core;
    if (!same_core && count < 2)
        bench_skip("one core only");
    bool free_of_pins = peer_traits.has_own_threads && !same_core;
    core_of_second = free_of_pins ? -1 : found[same_core ? 0 : 1];
    pin(free_of_pins ? -1 : found[0]);
}

void wakeup_measure(const struct bench_cell *cell) {
    choose_cores(cell->word && cell->word[0] == 's');
    peer_calls.on_wake = on_wake;
    samples = malloc(SAMPLES_AT_MOST * sizeof *samples);
    sem_init(&second_is_open, 0, 0);
    first.is_first = true;
    first.other = &second;
    second.other = &first;
    peer_prepare_threads();
    first.loop = peer_open();
    first.wake = peer_wake_create(first.loop, &first);
    pthread_t thread;
    bench_check(pthread_create(&thread, NULL, run_second, NULL) == 0, "thread");
    sem_wait(&second_is_open);
    bench_measure(round_trips, NULL, 1);
    is_over = true;
    peer_wake_send(second.wake);
    pthread_join(thread, NULL);
    if (bench_fixed_count)
        return;
    bench_sort(samples, sample_count);
    bench_report("p50_ns", bench_percentile(samples, sample_count, 50));
    bench_report("p99_ns", bench_percentile(samples, sample_count, 99));
}
