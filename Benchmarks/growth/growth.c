// growth.c — `growth NAME N [ROUNDS]`: what one operation costs on a loop with N items. Prints the median in ns. Under callgrind, started
// with --instr-atstart=no --collect-atstart=no, it has the instructions of the operations counted, and of nothing else. Of the names in
// counts.c it prints a number and what that is compared with. `growth list` lists all names.

#include "growth.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_START_INSTRUMENTATION (void)0
#define CALLGRIND_TOGGLE_COLLECT (void)0
#endif

enum {
    USUAL_ROUNDS = 2000,
    ROUNDS_PER_WARM_UP_ROUND = 10,
    WARM_UP_ROUNDS_AT_MOST = 20,
    SPARE_DESCRIPTORS = 64,
    DESCRIPTORS_PER_ITEM = 4 // two channels, each with the pidfd of its peer
};

runloop *growth_loop;
const char *growth_mode;

runloop_source *growth_source(const char *mode) {
    static const runloop_source_config config;
    runloop_source *source = NULL;
    growth_check(runloop_source_create(&config, &source) == 0, "source");
    growth_check(runloop_add_source(growth_loop, source, mode) == 0, "add source");
    return source;
}

size_t growth_random(size_t bound) {
    static uint64_t state = 88172645463325252U;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (size_t)(((unsigned __int128)state * bound) >> 64);
}

void growth_check(bool good, const char *what) {
    if (good)
        return;
    fprintf(stderr, "growth: %s: %s\n", what, strerror(errno));
    exit(EXIT_FAILURE);
}

void *growth_array(size_t count, size_t size) {
    void *array = calloc(count, size);
    growth_check(array != NULL, "memory");
    return array;
}

void growth_iterate(void) {
    runloop_run_in_mode(growth_mode, 0, false);
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t round_ns(const struct growth *growth, bool is_counted) {
    if (growth->before)
        growth->before();
    int64_t start_ns = now_ns();
    if (is_counted)
        CALLGRIND_TOGGLE_COLLECT;
    growth->operate();
    if (is_counted)
        CALLGRIND_TOGGLE_COLLECT;
    int64_t taken_ns = now_ns() - start_ns;
    if (growth->after)
        growth->after();
    return taken_ns;
}

static int compare(const void *a, const void *b) {
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static void measure(const struct growth *growth, size_t count, size_t rounds) {
    growth->prepare(count);
    CALLGRIND_START_INSTRUMENTATION;
    // An operation that is measured in few rounds is a long one.
    size_t warm_up = rounds / ROUNDS_PER_WARM_UP_ROUND + 1;
    for (size_t i = 0; i < warm_up && i < WARM_UP_ROUNDS_AT_MOST; i++)
        round_ns(growth, false);
    int64_t *samples = growth_array(rounds, sizeof *samples);
    for (size_t i = 0; i < rounds; i++)
        samples[i] = round_ns(growth, true);
    qsort(samples, rounds, sizeof *samples, compare);
    printf("ns=%lld\n", (long long)samples[rounds / 2]);
}

static const struct growth *const kinds[] = {growth_of_timers,         growth_of_sources,     growth_of_descriptors,
                                             growth_of_common_items,   growth_of_other_modes, growth_of_linux,
                                             growth_of_followed_loops, growth_of_the_rest};
enum { KINDS = sizeof kinds / sizeof *kinds };

static const struct growth *find(const char *name) {
    for (int kind = 0; kind < KINDS; kind++)
        for (const struct growth *growth = kinds[kind]; growth->name; growth++)
            if (strcmp(growth->name, name) == 0)
                return growth;
    return NULL;
}

static const struct growth_count *find_count(const char *name) {
    const struct growth_count *count = growth_counts;
    while (count->name && strcmp(count->name, name) != 0)
        count++;
    return count->name ? count : NULL;
}

static int list(void) {
    for (int kind = 0; kind < KINDS; kind++)
        for (const struct growth *growth = kinds[kind]; growth->name; growth++)
            puts(growth->name);
    for (const struct growth_count *count = growth_counts; count->name; count++)
        puts(count->name);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "list") == 0)
        return list();
    const struct growth *growth = argc > 2 ? find(argv[1]) : NULL;
    const struct growth_count *counts = argc > 2 ? find_count(argv[1]) : NULL;
    if (!growth && !counts)
        return fprintf(stderr, "usage: %s list | NAME N [ROUNDS]\n", argv[0]), EXIT_FAILURE;
    size_t count = strtoull(argv[2], NULL, 10);
    size_t rounds = argc > 3 ? strtoull(argv[3], NULL, 10) : USUAL_ROUNDS;
    struct rlimit limit = {DESCRIPTORS_PER_ITEM * count + SPARE_DESCRIPTORS,
                           DESCRIPTORS_PER_ITEM * count + SPARE_DESCRIPTORS};
    setrlimit(RLIMIT_NOFILE, &limit); // if it may; operations on descriptors fail otherwise
    growth_loop = runloop_current();
    growth_mode = runloop_mode_name(RUNLOOP_DEFAULT_MODE);
    growth_check(growth_loop && growth_mode && count > 0 && rounds > 0, "start");
    growth_source(growth_mode); // no mode is empty, so that each iteration is one
    if (growth)
        return measure(growth, count, rounds), EXIT_SUCCESS;
    struct growth_counted counted = counts->count(count);
    printf("count=%llu reference=%llu\n", (unsigned long long)counted.count, (unsigned long long)counted.reference);
    return EXIT_SUCCESS;
}
