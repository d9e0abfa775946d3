// ill.c — a program with one of the illnesses of the article Troubleshooting, and what is seen of it from another thread: the report, the
// statistics and the trace, each after a line with its name. Then it prints "published", for runloop-top, and stays ill. Tests/Tools/illnesses.py.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "runloop_diagnostics.h"

// Of libdispatch, whose headers require a compiler with blocks.
typedef struct dispatch_queue_s *dispatch_queue;
extern struct dispatch_queue_s _dispatch_main_q;
extern void dispatch_async_f(dispatch_queue queue, void *context, void (*work)(void *));

static void do_nothing(runloop_timer *timer, void *info) {
    (void)timer, (void)info;
}

static void hang(runloop_timer *timer, void *info) {
    (void)timer, (void)info;
    for (;;)
        pause();
}

static void leave_it(runloop_source *source, runloop_readiness events, void *info) {
    (void)source, (void)events, (void)info;
}

static void add_timer(const char *name, const char *mode, int64_t interval_ns, void (*fire)(runloop_timer *, void *)) {
    runloop_timer *timer;
    runloop_timer_config config = {.fire_ns = runloop_now_ns() + interval_ns, .interval_ns = interval_ns, .fire = fire};
    if (runloop_timer_create(&config, &timer) != 0 || runloop_add_timer(runloop_current(), timer, mode) != 0)
        exit(1);
    runloop_timer_set_name(timer, name, 0);
}

static void add_unread_descriptor(void) {
    runloop_source *source;
    runloop_descriptor_config config = {
        .descriptor = eventfd(1, EFD_CLOEXEC), .events = RUNLOOP_READABLE, .ready = leave_it};
    if (runloop_descriptor_source_create(&config, &source) != 0 ||
        runloop_add_source(runloop_current(), source, RUNLOOP_DEFAULT_MODE) != 0)
        exit(1);
    runloop_source_set_name(source, "control socket", 0);
}

static void work(void *unused) {
    (void)unused;
}

static void show_dialog(void *unused) {
    (void)unused;
    dispatch_async_f(&_dispatch_main_q, NULL, work);
    runloop_run_in_mode("dialog", RUNLOOP_FOREVER, false);
}

static void *look(void *main_loop) {
    runloop *loop = main_loop;
    runloop_statistics *seen = calloc(1, sizeof *seen);
    sleep(2);
    char *report = runloop_copy_report(loop, RUNLOOP_REPORT_TEXT), *trace = runloop_copy_trace(&loop, 1);
    if (!report || !trace || !seen || runloop_statistics_copy(loop, seen) != 0)
        exit(1);
    printf("report\n%sstatistics\n%lld %lld %lld %llu %llu %llu %s\ntrace\n%s\n", report, (long long)seen->elapsed_ns,
           (long long)seen->running_ns, (long long)seen->asleep_ns, (unsigned long long)seen->iterations,
           (unsigned long long)seen->sleeps, (unsigned long long)seen->callouts[RUNLOOP_CALLOUT_MAIN_QUEUE],
           seen->longest_name, trace);
    puts("published");
    fflush(stdout);
    return NULL;
}

int main(int count, char **arguments) {
    pthread_t looker;
    const char *illness = count == 2 ? arguments[1] : "";
    runloop_set_diagnostics_enabled(false);
    add_timer("heartbeat", strcmp(illness, "starved main queue") == 0 ? "dialog" : RUNLOOP_DEFAULT_MODE, 16000000,
              do_nothing);
    if (strcmp(illness, "hang") == 0)
        add_timer("save documents", RUNLOOP_DEFAULT_MODE, 200000000, hang);
    else if (strcmp(illness, "spin") == 0)
        add_unread_descriptor();
    else if (strcmp(illness, "mode that nobody runs") == 0)
        add_timer("poll server", "network", 100000000, do_nothing);
    else if (strcmp(illness, "starved main queue") == 0)
        dispatch_async_f(&_dispatch_main_q, NULL, show_dialog);
    else if (strcmp(illness, "program that doesn't end") != 0)
        return 2;
    if (runloop_statistics_start() != 0 || runloop_recorder_start(20000) != 0 || runloop_publish(NULL) != 0 ||
        pthread_create(&looker, NULL, look, runloop_current()) != 0)
        return 1;
    return runloop_run() == 0;
}
