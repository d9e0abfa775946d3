// memory.c — W7: bytes on the heap per object. `w7,timers`: of 10,000 idle timers; `w7,descriptors`: of 5,000 watched descriptors;
// `w7,loops`: of 64 loops on 64 threads, each with a timer; `w7,open`: open descriptors of such a loop.

#include <dirent.h>
#include <malloc.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>

#include "../bench.h"

enum { TIMERS = 10000, DESCRIPTORS = 5000, LOOPS = 64 };

static const int64_t hour_ns = 3600000000000;

static pthread_barrier_t barrier;

static void ignore(void *info) {
    (void)info;
}

static double heap_bytes(void) {
    struct mallinfo2 info = mallinfo2();
    return (double)(info.uordblks + info.hblkhd);
}

static double open_descriptors(void) {
    DIR *directory = opendir("/proc/self/fd");
    bench_check(directory, "/proc/self/fd");
    int count = 0;
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

static void measure_timers(void) {
    struct peer_loop *loop = peer_open();
    peer_timer_start(loop, hour_ns, NULL);
    double before = heap_bytes();
    for (int i = 0; i < TIMERS; i++)
        peer_timer_start(loop, hour_ns + i, NULL);
    bench_report("size", (heap_bytes() - before) / TIMERS);
}

static void measure_descriptors(void) {
    bench_allow_descriptors(DESCRIPTORS + 256);
    static int descriptors[DESCRIPTORS];
    for (int i = 0; i < DESCRIPTORS; i++)
        descriptors[i] = eventfd(0, EFD_NONBLOCK);
    struct peer_loop *loop = peer_open();
    peer_watch_add(loop, eventfd(0, EFD_NONBLOCK), NULL);
    double before = heap_bytes();
    for (int i = 0; i < DESCRIPTORS; i++)
        peer_watch_add(loop, descriptors[i], NULL);
    bench_report("size", (heap_bytes() - before) / DESCRIPTORS);
}

static void *hold_loop(void *info) {
    (void)info;
    free(malloc(1)); // what the allocator keeps per thread isn't the loop's
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    struct peer_loop *loop = peer_open();
    peer_timer_start(loop, hour_ns, NULL);
    if (peer_traits.has & PEER_POLLS)
        peer_poll(loop);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    return NULL;
}

static void measure_loops(double (*measure)(void)) {
    static pthread_t threads[LOOPS];
    peer_open(); // what a process has once
    pthread_barrier_init(&barrier, NULL, LOOPS + 1);
    for (int i = 0; i < LOOPS; i++)
        bench_check(pthread_create(&threads[i], NULL, hold_loop, NULL) == 0, "thread");
    pthread_barrier_wait(&barrier);
    double before = measure();
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    bench_report("size", (measure() - before) / LOOPS);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < LOOPS; i++)
        pthread_join(threads[i], NULL);
}

void memory_measure(const struct bench_cell *cell) {
    const char *what = cell->word ? cell->word : "timers";
    peer_calls.on_timer = peer_calls.on_ready = ignore;
    if (strcmp(what, "loops") == 0)
        measure_loops(heap_bytes);
    else if (strcmp(what, "open") == 0)
        measure_loops(open_descriptors);
    else if (strcmp(what, "descriptors") == 0)
        measure_descriptors();
    else
        measure_timers();
}
