// roundtrip.c — W14: a round trip between two threads with a loop each, by posts. `roundtrip post 100000` prints nanoseconds per round trip.

#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runloop.h"

static runloop *here, *there;
static sem_t is_ready;
static long left;

static void check(int result) {
    if (result < 0)
        abort();
}

//===-- posts --------------------------------------------------------------------------------------------------------===//

static void post_back(void *unused);

static void post_there(void *unused) {
    (void)unused;
    if (left-- == 0)
        runloop_stop(here);
    else
        check(runloop_post(there, RUNLOOP_DEFAULT_MODE, post_back, NULL, NULL));
}

static void post_back(void *unused) {
    (void)unused;
    check(runloop_post(here, RUNLOOP_DEFAULT_MODE, post_there, NULL, NULL));
}

//===-- the two threads ----------------------------------------------------------------------------------------------===//

static void keep(runloop_source *source, void *unused) {
    (void)source, (void)unused;
}

static void keep_mode(void) {
    const runloop_source_config config = {.perform = keep};
    runloop_source *source;
    check(runloop_source_create(&config, &source));
    check(runloop_add_source(runloop_current(), source, RUNLOOP_DEFAULT_MODE));
    runloop_source_release(source);
}

static void *serve(void *unused) {
    there = runloop_current();
    keep_mode();
    sem_post(&is_ready);
    runloop_run();
    return unused;
}

int main(int count, char **arguments) {
    if (count != 3 || strcmp(arguments[1], "post") != 0)
        return 2;
    left = atol(arguments[2]);
    double trips = (double)left;
    here = runloop_current();
    keep_mode();
    sem_init(&is_ready, 0, 0);
    pthread_t thread;
    if (pthread_create(&thread, NULL, serve, NULL) != 0)
        return 1;
    while (sem_wait(&is_ready) != 0)
        continue;
    int64_t begin = runloop_get_now_ns(NULL);
    post_there(NULL);
    runloop_run();
    printf("%.0f\n", (double)(runloop_get_now_ns(NULL) - begin) / trips);
    runloop_stop(there);
    pthread_join(thread, NULL);
    return 0;
}
