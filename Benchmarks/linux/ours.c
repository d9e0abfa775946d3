// ours.c — W14 on librunloop and librunloop-linux.

#include <signal.h>
#include <spawn.h>
#include <stdlib.h>

#include "events.h"
#include "runloop_linux.h"

extern char **environ;
static runloop *loop;

static void check(int result) {
    if (result < 0)
        abort();
}

void events_open(void) {
    loop = runloop_current();
}

static void signalled(runloop_signal *signal, const runloop_signal_arrival *arrival, void *told) {
    (void)signal, (void)arrival;
    ((void (*)(void))told)();
}

void events_watch_signal(void (*told)(void)) {
    const runloop_signal_config config = {.context.info = (void *)told, .number = SIGUSR1, .receive = signalled};
    runloop_signal *signal;
    check(runloop_signal_create(&config, &signal));
    check(runloop_add_source(loop, signal, RUNLOOP_DEFAULT_MODE));
}

static void changed(runloop_watch *watch, const runloop_change *changes, size_t count, void *told) {
    (void)watch, (void)changes, (void)count;
    ((void (*)(void))told)();
}

void events_watch_file(const char *path, void (*told)(void)) {
    const runloop_watch_config config = {.context.info = (void *)told, .path = path, .changed = changed};
    runloop_watch *watch;
    check(runloop_watch_create(&config, &watch));
    check(runloop_add_source(loop, watch, RUNLOOP_DEFAULT_MODE));
}

static void exited(runloop_child *child, const runloop_child_exit *end, void *told) {
    (void)child, (void)end;
    ((void (*)(void))told)();
}

void events_watch_child(const char *program, const char *argument, void (*told)(void)) {
    char *arguments[] = {(char *)program, (char *)argument, NULL};
    pid_t pid;
    check(-posix_spawn(&pid, program, NULL, NULL, arguments, environ));
    const runloop_child_config config = {.context.info = (void *)told, .pid = pid, .reaps = true, .exited = exited};
    runloop_child *child;
    check(runloop_child_create(&config, &child));
    check(runloop_add_source(loop, child, RUNLOOP_DEFAULT_MODE));
    // The loop keeps it.
    runloop_source_release(child);
}

void events_run(void) {
    runloop_run();
}

void events_stop(void) {
    runloop_stop(loop);
}
