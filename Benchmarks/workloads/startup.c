// startup.c — W8: a process that opens a loop, fires one timer, and ends. One operation is such a process, from start to end;
// most of the work is the dynamic linker's. `w8,child` is that process.

#include <spawn.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "../bench.h"

enum { PROCESSES = 20 };

extern char **environ;

static struct peer_loop *loop;

static void on_timer(void *info) {
    (void)info;
    peer_stop(loop);
}

static void be_child(void) {
    peer_calls.on_timer = on_timer;
    loop = peer_open();
    peer_timer_start(loop, 0, NULL);
    peer_run(loop, PEER_FOREVER);
}

static double cpu_of_children_ns(void) {
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    double us = (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    return ((double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 + us) * 1e3;
}

void startup_measure(const struct bench_cell *cell) {
    if (cell->word && strcmp(cell->word, "child") == 0) {
        be_child();
        return;
    }
    char *arguments[] = {"bench", "w8,child", NULL};
    double samples[PROCESSES];
    double cpu_ns = cpu_of_children_ns();
    for (int i = 0; i < PROCESSES; i++) {
        int64_t start_ns = bench_now_ns();
        pid_t child;
        int status;
        bench_check(posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ) == 0, "spawn");
        bench_check(waitpid(child, &status, 0) == child && status == 0, "child");
        samples[i] = (double)(bench_now_ns() - start_ns);
    }
    bench_report("cpu_ns", (cpu_of_children_ns() - cpu_ns) / PROCESSES);
    bench_sort(samples, PROCESSES);
    bench_report("wall_ns", bench_percentile(samples, PROCESSES, 50));
    bench_report("wall_min_ns", samples[0]);
}
