// places.c — the loops of the soak: the main thread's, a plain one, and two that run hosted, under poll and under edge-triggered epoll.
#include <poll.h>
#include <sys/epoll.h>

#include "soak.h"

struct place places[PLACES];
static pthread_t threads[PLACES];
static pthread_barrier_t are_ready, may_run, has_main_ended;

static void run_hosted(bool by_edges) {
    int descriptor = runloop_hosted_descriptor(), result = 0, set = -1;
    MUST(descriptor >= 0);
    if (by_edges) {
        MUST((set = epoll_create1(EPOLL_CLOEXEC)) >= 0);
        struct epoll_event event = {.events = EPOLLIN | EPOLLET};
        MUST(epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &event) == 0);
    }
    MUST(runloop_hosted_begin(MODE) == 0);
    while (result == 0 || result == -EAGAIN) {
        struct epoll_event event;
        struct pollfd polled = {descriptor, POLLIN, 0};
        // After an edge all is done; with a budget, a level says that there is more.
        if (by_edges ? epoll_wait(set, &event, 1, -1) == 1 : poll(&polled, 1, -1) == 1)
            result = runloop_hosted_iterate(by_edges ? RUNLOOP_FOREVER : MS);
    }
    if (result != RUNLOOP_RESULT_STOPPED)
        complain("a hosted run ended by itself", result);
    if (by_edges)
        close(set);
}

static void *live(void *info) {
    struct place *place = info;
    MUST((place->loop = runloop_retain(runloop_current())));
    pthread_barrier_wait(&are_ready);
    pthread_barrier_wait(&may_run);
    if (place->index == PLAIN_PLACE) {
        int result = runloop_run_in_mode(MODE, RUNLOOP_FOREVER, false);
        if (result != RUNLOOP_RESULT_STOPPED)
            complain("a run ended by itself", result);
    } else {
        run_hosted(place->index == EPOLL_HOST);
    }
    return NULL;
}

void begin_places(unsigned seed) {
    MUST(pthread_barrier_init(&are_ready, NULL, PLACES) == 0 && pthread_barrier_init(&may_run, NULL, PLACES + 1) == 0 &&
         pthread_barrier_init(&has_main_ended, NULL, 2) == 0);
    for (unsigned i = 0; i < PLACES; i++) {
        places[i].index = i;
        places[i].seed = seed + i;
        if (i != MAIN_PLACE)
            MUST(pthread_create(&threads[i], NULL, live, &places[i]) == 0);
    }
    places[MAIN_PLACE].loop = runloop_retain(runloop_main());
    pthread_barrier_wait(&are_ready);
}

void run_main_place(void) {
    pthread_barrier_wait(&may_run);
    int result = runloop_run_in_mode(MODE, RUNLOOP_FOREVER, false);
    if (result != RUNLOOP_RESULT_STOPPED)
        complain("the main run ended by itself", result);
    pthread_barrier_wait(&has_main_ended);
}

void run_places(void) {
    pthread_barrier_wait(&may_run);
}

void end_places(void) {
    for (unsigned i = 0; i < PLACES; i++) {
        MUST(runloop_stop(places[i].loop) == 0);
        if (i == MAIN_PLACE)
            pthread_barrier_wait(&has_main_ended);
        else
            MUST(pthread_join(threads[i], NULL) == 0);
        runloop_release(places[i].loop);
    }
}
