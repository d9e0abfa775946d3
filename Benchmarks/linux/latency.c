// latency.c — W14: how long it takes from what happens to the call in the loop. `latency signal 1000` prints so many lines of nanoseconds.
//
// A thread of its own makes the next event happen a while after the last one was reported, so the loop sleeps each time. The instant at which a
// child ends is the last thing that the child writes, into a page that it shares with its parent.

#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "events.h"

static const struct timespec pause_between = {.tv_nsec = 300000};
static const char *program;
static char page_path[64], file_path[64];
static _Atomic int64_t *happened;
static _Atomic bool awaits;
static int64_t *results;
static int count, done;
static sem_t next;

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static _Atomic int64_t *map_page(const char *path) {
    int descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor < 0 || ftruncate(descriptor, 4096) != 0)
        abort();
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    close(descriptor);
    return page;
}

static void start_child(void);
static void (*after_told)(void);

static void told(void) {
    // A change of a file may be told in two parts.
    if (!atomic_exchange(&awaits, false))
        return;
    results[done++] = now() - atomic_load(happened);
    if (done == count)
        events_stop();
    else
        after_told();
}

static void start_child(void) {
    atomic_store(&awaits, true);
    events_watch_child(program, page_path, told);
}

static void post_next(void) {
    sem_post(&next);
}

static void *make_signals(void *unused) {
    for (int i = 0; i < count; i++) {
        while (sem_wait(&next) != 0)
            continue;
        nanosleep(&pause_between, NULL);
        atomic_store(&awaits, true);
        atomic_store(happened, now());
        kill(getpid(), SIGUSR1);
    }
    return unused;
}

static void *write_file(void *unused) {
    int descriptor = open(file_path, O_WRONLY | O_APPEND | O_CLOEXEC);
    for (int i = 0; i < count; i++) {
        while (sem_wait(&next) != 0)
            continue;
        nanosleep(&pause_between, NULL);
        atomic_store(&awaits, true);
        atomic_store(happened, now());
        if (write(descriptor, "x", 1) != 1)
            abort();
    }
    close(descriptor);
    return unused;
}

int main(int argument_count, char **arguments) {
    if (argument_count == 2) {
        _Atomic int64_t *page = map_page(arguments[1]);
        nanosleep(&pause_between, NULL);
        atomic_store(page, now());
        _exit(0);
    }
    if (argument_count != 3)
        return 2;
    program = "/proc/self/exe";
    char path[4096];
    ssize_t length = readlink(program, path, sizeof path - 1);
    if (length > 0) {
        path[length] = 0;
        program = path;
    }
    count = atoi(arguments[2]);
    results = calloc((size_t)count, sizeof *results);
    snprintf(page_path, sizeof page_path, "/dev/shm/w14-page-%d", getpid());
    snprintf(file_path, sizeof file_path, "/dev/shm/w14-file-%d", getpid());
    happened = map_page(page_path);
    close(open(file_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    sem_init(&next, 0, 1);
    after_told = post_next;
    events_open();
    pthread_t thread;
    bool has_thread = true;
    if (strcmp(arguments[1], "signal") == 0) {
        events_watch_signal(told);
        pthread_create(&thread, NULL, make_signals, NULL);
    } else if (strcmp(arguments[1], "file") == 0) {
        events_watch_file(file_path, told);
        pthread_create(&thread, NULL, write_file, NULL);
    } else {
        has_thread = false;
        after_told = start_child;
        start_child();
    }
    events_run();
    if (has_thread)
        pthread_join(thread, NULL);
    for (int i = 0; i < done; i++)
        printf("%lld\n", (long long)results[i]);
    unlink(page_path);
    unlink(file_path);
    return 0;
}
