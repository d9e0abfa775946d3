// bench.c — the program around a peer and the workloads: `PEER CELL [COUNT]`. With a count it performs that many operations and
// measures nothing; without one, it prints a line of figures, `key=value` each.

#include "bench.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>

enum { BATCHES = 5, PERCENT = 100 };

struct peer_calls peer_calls;
uint64_t bench_fixed_count;
int64_t bench_budget_ns = 100000000;

static const struct workload {
    const char *name;
    void (*measure)(const struct bench_cell *cell);
    unsigned needs;
    bool needs_own_thread; ///< not the initial one, which some peers treat differently
} workloads[] = {
    {"w1", wakeup_measure, PEER_WAKES, true},
    {"w2", signal_measure, PEER_SIGNALS, false},
    {"w3", submit_measure, PEER_SUBMITS, false},
    {"w4", readiness_measure, PEER_WATCHES, false},
    {"w5", timers_measure, PEER_TIMERS, false},
    {"w5r", rearm_measure, PEER_TIMERS, false},
    {"w5p", churn_measure, PEER_TIMERS | PEER_POLLS, false},
    {"w5b", firing_measure, PEER_TIMERS, false},
    {"w5c", lateness_measure, PEER_TIMERS, false},
    {"w6", iteration_measure, PEER_POLLS, false},
    {"w7", memory_measure, 0, false},
    {"w8", startup_measure, PEER_TIMERS, false},
    {"w9", modes_measure, PEER_MODES, false},
    {"w10", main_queue_measure, PEER_MAIN_QUEUE, false},
};

void bench_report(const char *key, double value) {
    printf("%s=%.6g ", key, value);
}

void bench_skip(const char *reason) {
    printf("skip=%s\n", reason);
    exit(EXIT_SUCCESS);
}

void bench_check(bool good, const char *what) {
    if (good)
        return;
    fprintf(stderr, "%s: %s: %s\n", peer_traits.name, what, strerror(errno));
    exit(EXIT_FAILURE);
}

static int compare(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

void bench_sort(double *samples, size_t count) {
    qsort(samples, count, sizeof *samples, compare);
}

double bench_percentile(double *samples, size_t count, double percent) {
    return samples[(size_t)(percent / PERCENT * (double)(count - 1))];
}

void bench_allow_descriptors(uint64_t count) {
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur >= count)
        return;
    if (limit.rlim_max < count)
        limit.rlim_max = count; // root may
    limit.rlim_cur = count;
    if (setrlimit(RLIMIT_NOFILE, &limit))
        bench_skip("the limit of descriptors is too low");
}

struct times {
    int64_t wall_ns;
    int64_t cpu_ns;
};

static struct times timed(bench_run run, void *state, uint64_t count) {
    int64_t wall_ns = bench_now_ns(), cpu_ns = bench_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    run(state, count);
    cpu_ns = bench_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns;
    return (struct times){bench_now_ns() - wall_ns, cpu_ns};
}

static void report_batches(double *cpu_ns, double *wall_ns, unsigned batches, uint64_t count) {
    bench_sort(cpu_ns, batches);
    bench_sort(wall_ns, batches);
    bench_report("cpu_ns", cpu_ns[batches / 2]);
    bench_report("cpu_min_ns", cpu_ns[0]);
    bench_report("wall_ns", wall_ns[batches / 2]);
    bench_report("wall_min_ns", wall_ns[0]);
    bench_report("count", (double)count);
}

void bench_measure_rounds(void (*prepare)(uint64_t count), bench_run run, void *state, uint64_t count,
                          unsigned rounds) {
    double cpu_ns[BATCHES], wall_ns[BATCHES];
    int64_t end_ns = bench_now_ns() + 4 * bench_budget_ns;
    unsigned batch = 0;
    do {
        if (prepare)
            prepare(count);
        struct times times = timed(run, state, count);
        cpu_ns[batch] = (double)times.cpu_ns / (double)count;
        wall_ns[batch] = (double)times.wall_ns / (double)count;
        batch++;
    } while (batch < rounds && batch < BATCHES && bench_now_ns() < end_ns);
    report_batches(cpu_ns, wall_ns, batch, count);
}

static uint64_t multiple(uint64_t count, uint64_t granule) {
    return count <= granule ? granule : (count + granule - 1) / granule * granule;
}

void bench_measure(bench_run run, void *state, uint64_t granule) {
    if (bench_fixed_count) {
        run(state, multiple(bench_fixed_count, granule));
        return;
    }
    const int64_t batch_ns = bench_budget_ns / BATCHES;
    const uint64_t growth_at_most = 10, warm_up_at_most = 10000;
    uint64_t count = granule;
    if (granule <= warm_up_at_most)
        run(state, granule); // some register and allocate in their first iteration
    for (;;) {
        int64_t taken_ns = timed(run, state, count).wall_ns;
        if (taken_ns >= batch_ns / 2)
            break;
        uint64_t factor = taken_ns > 0 ? (uint64_t)(batch_ns / taken_ns) : growth_at_most;
        count = multiple(count * (factor > growth_at_most ? growth_at_most : factor < 2 ? 2 : factor), granule);
    }
    bench_measure_rounds(NULL, run, state, count, BATCHES);
}

struct job {
    const struct workload *workload;
    struct bench_cell cell;
};

static void *perform(void *info) {
    struct job *job = info;
    job->workload->measure(&job->cell);
    return NULL;
}

static void parse(char *text, struct bench_cell *cell) {
    cell->name = text;
    char *rest = strchr(text, ',');
    if (!rest)
        return;
    *rest++ = '\0';
    cell->word = rest;
    for (unsigned i = 0; i < BENCH_NUMBERS && rest; i++) {
        cell->numbers[i] = strtoull(rest, NULL, 10);
        rest = strchr(rest, ',');
        rest = rest ? rest + 1 : NULL;
    }
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "version") == 0)
        return puts(peer_traits.version()) < 0;
    if (argc < 2)
        return fprintf(stderr, "usage: %s CELL [COUNT]\n", argv[0]), EXIT_FAILURE;
    if (argc > 2)
        bench_fixed_count = strtoull(argv[2], NULL, 10);
    const char *budget = getenv("BENCH_MS");
    if (budget)
        bench_budget_ns = strtoll(budget, NULL, 10) * 1000000;
    struct job job = {0};
    parse(argv[1], &job.cell);
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++)
        if (strcmp(workloads[i].name, job.cell.name) == 0)
            job.workload = &workloads[i];
    if (!job.workload)
        return fprintf(stderr, "no workload %s\n", argv[1]), EXIT_FAILURE;
    if ((peer_traits.has & job.workload->needs) != job.workload->needs)
        bench_skip("not offered");
    if (job.workload->needs_own_thread || getenv("BENCH_THREAD")) {
        pthread_t thread;
        bench_check(pthread_create(&thread, NULL, perform, &job) == 0, "thread");
        pthread_join(thread, NULL);
    } else {
        perform(&job);
    }
    putchar('\n');
    return EXIT_SUCCESS;
}
