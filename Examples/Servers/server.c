// server.c — a TCP server on a run loop: `server echo|http [PORT]`. Listens on 127.0.0.1, on a free port if none is given, prints `port=N`,
// and serves until a signal ends it (SIGINT, SIGTERM).

#include <runloop_linux.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connection.h"

static connection_protocol protocol;

static void check(int result, const char *what) {
    if (result >= 0)
        return;
    fprintf(stderr, "server: %s: %s\n", what, strerror(-result));
    exit(EXIT_FAILURE);
}

static void accepted(runloop_listener *listener, int descriptor, void *info) {
    (void)listener, (void)info;
    connection_start(descriptor, protocol);
}

/// There are no descriptors left. The client learns that by the end of its connection.
static void refused(runloop_listener *listener, int descriptor, void *info) {
    (void)listener, (void)descriptor, (void)info;
}

static void stop(runloop_signal *signal, const runloop_signal_arrival *arrival, void *info) {
    (void)signal, (void)arrival, (void)info;
    runloop_stop(runloop_current());
}

static void add(runloop_source *source) {
    check(runloop_add_source(runloop_current(), source, RUNLOOP_DEFAULT_MODE), "add source");
}

int main(int argc, char **argv) {
    if (argc > 1)
        protocol = strcmp(argv[1], "echo") == 0 ? echo_take : strcmp(argv[1], "http") == 0 ? http_take : NULL;
    if (!protocol)
        return fprintf(stderr, "usage: %s echo|http [PORT]\n", argv[0]), EXIT_FAILURE;
    static const int ending[] = {SIGINT, SIGTERM};
    runloop_signal *signals[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        const runloop_signal_config config = {.number = ending[i], .receive = stop};
        check(runloop_signal_create(&config, &signals[i]), "signal");
        add(signals[i]);
    }
    int descriptor = runloop_listen_tcp("127.0.0.1", (uint16_t)(argc > 2 ? atoi(argv[2]) : 0), 0);
    check(descriptor, "listen");
    const runloop_listener_config config = {
        .descriptor = descriptor, .owns = true, .accepted = accepted, .refused = refused};
    runloop_listener *listener = NULL;
    check(runloop_listener_create(&config, &listener), "listener");
    add(listener);
    printf("port=%d\n", runloop_socket_get_port(descriptor, false));
    fflush(stdout);
    runloop_run();
    runloop_source_invalidate(listener);
    runloop_source_release(listener);
    for (int i = 0; i < 2; i++)
        runloop_source_release(signals[i]);
    return EXIT_SUCCESS;
}
