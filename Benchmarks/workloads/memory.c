// memory.c — W7: bytes of memory per object. `w7,timers`: of 10,000 idle timers; `w7,signals`: of 10,000 idle sources; `w7,descriptors`: of
// 5,000 watched descriptors; `w7,loops`: of 64 loops on 64 threads, each with a timer; `w7,resident`: the pages of such a loop, with
// what allocators keep for its thread; `w7,open`: its open descriptors; `w7,burst`: megabytes that the process keeps when a million
// functions have been submitted and performed.

#include <dirent.h>
#include <malloc.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../bench.h"

enum { TIMERS = 10000, SIGNALS = 10000, DESCRIPTORS = 5000, LOOPS = 64, BURST = 1000000 };

static const int64_t hour_ns = 3600000000000;

static pthread_barrier_t barrier;

static void ignore(void *info) {
    (void)info;
}

/// Bytes of mappings that others than malloc made.
static _Atomic long mapped;

void *mmap(void *address, size_t length, int protection, int flags, int file, off_t offset) {
    void *memory = (void *)syscall(SYS_mmap, address, length, protection, flags, file, offset);
    if (memory != MAP_FAILED)
        mapped += (long)length;
    return memory;
}

int munmap(void *address, size_t length) {
    mapped -= (long)length;
    return (int)syscall(SYS_munmap, address, length);
}

/// What is in use: not every allocator is malloc.
static double used_bytes(void) {
    struct mallinfo2 info = mallinfo2();
    return (double)(info.uordblks + info.hblkhd) + (double)mapped;
}

/// What the process has of the kernel, in whole pages: what is in use, and what allocators keep.
static double resident_bytes(void) {
    FILE *status = fopen("/proc/self/status", "re");
    bench_check(status, "/proc/self/status");
    char line[256];
    unsigned long long kilobytes = 0;
    while (fgets(line, sizeof line, status) && sscanf(line, "RssAnon: %llu kB", &kilobytes) != 1)
        continue;
    fclose(status);
    return (double)kilobytes * 1024;
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
    double before = used_bytes();
    for (int i = 0; i < TIMERS; i++)
        peer_timer_start(loop, hour_ns + i, NULL);
    bench_report("size", (used_bytes() - before) / TIMERS);
}

static void need(unsigned trait) {
    if (!(peer_traits.has & trait))
        bench_skip("not offered");
}

static void measure_signals(void) {
    need(PEER_SIGNALS);
    struct peer_loop *loop = peer_open();
    peer_signal_create(loop, NULL);
    double before = used_bytes();
    for (int i = 0; i < SIGNALS; i++)
        peer_signal_create(loop, NULL);
    bench_report("size", (used_bytes() - before) / SIGNALS);
}

static void measure_descriptors(void) {
    bench_allow_descriptors(DESCRIPTORS + 256);
    static int descriptors[DESCRIPTORS];
    for (int i = 0; i < DESCRIPTORS; i++)
        descriptors[i] = eventfd(0, EFD_NONBLOCK);
    struct peer_loop *loop = peer_open();
    peer_watch_add(loop, eventfd(0, EFD_NONBLOCK), NULL);
    double before = used_bytes();
    for (int i = 0; i < DESCRIPTORS; i++)
        peer_watch_add(loop, descriptors[i], NULL);
    bench_report("size", (used_bytes() - before) / DESCRIPTORS);
}

static struct peer_loop *loop_of_burst;
static int left;

static void perform(void *info) {
    (void)info;
    if (--left == 0)
        peer_stop(loop_of_burst);
}

static void burst(int count) {
    left = count;
    for (int i = 0; i < count; i++)
        peer_submit(loop_of_burst, perform, NULL);
    peer_run(loop_of_burst, PEER_FOREVER);
}

static void measure_burst(void) {
    need(PEER_SUBMITS);
    if (peer_traits.has_own_threads)
        bench_skip("performs while it submits");
    peer_prepare_threads();
    loop_of_burst = peer_open();
    peer_accept_submissions(loop_of_burst);
    peer_wake_create(loop_of_burst, NULL); // an empty loop would end at once
    burst(1);
    double before = resident_bytes();
    burst(BURST);
    bench_report("size", (resident_bytes() - before) / 1e6);
}

static void *hold_loop(void *info) {
    (void)info;
    free(malloc(1)); // so that the allocator's memory per thread isn't counted for the loop
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
    peer_open(); // memory that a process allocates once
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
    peer_calls.on_timer = peer_calls.on_ready = peer_calls.on_signal = peer_calls.on_wake = ignore;
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); // a huge page would be counted for the first byte of it
    if (strcmp(what, "loops") == 0)
        measure_loops(used_bytes);
    else if (strcmp(what, "open") == 0)
        measure_loops(open_descriptors);
    else if (strcmp(what, "resident") == 0)
        measure_loops(resident_bytes);
    else if (strcmp(what, "signals") == 0)
        measure_signals();
    else if (strcmp(what, "burst") == 0)
        measure_burst();
    else if (strcmp(what, "descriptors") == 0)
        measure_descriptors();
    else
        measure_timers();
}
