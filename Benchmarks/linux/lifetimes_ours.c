// lifetimes_ours.c — W14 on librunloop and librunloop-linux.

#include <stdlib.h>
#include <unistd.h>

#include "lifetimes.h"
#include "runloop_linux.h"

static void check(int result) {
    if (result < 0)
        abort();
}

static void run(runloop_source *source) {
    check(runloop_add_source(runloop_current(), source, RUNLOOP_DEFAULT_MODE));
    runloop_source_release(source);
    runloop_run();
}

void lifetimes_child(const char *program) {
    const char *const arguments[] = {program, NULL};
    const runloop_child_start_config config = {.arguments = arguments};
    runloop_child *child;
    check(runloop_child_start(&config, &child));
    run(child);
}

static void connected(runloop_connect *connect, int descriptor, int error, void *info) {
    (void)connect, (void)info;
    check(error);
    close(descriptor);
}

void lifetimes_connect(int port) {
    const runloop_connect_config config = {.host = "127.0.0.1", .port = (uint16_t)port, .connected = connected};
    runloop_connect *connect;
    check(runloop_connect_create(&config, &connect));
    run(connect);
}

static int accepted_count;

static void accepted(runloop_listener *listener, int descriptor, void *info) {
    (void)listener, (void)info;
    close(descriptor);
    accepted_count++;
}

int lifetimes_accept(int listening) {
    static runloop_listener *listener;
    if (!listener) {
        const runloop_listener_config config = {.descriptor = listening, .accepted = accepted};
        check(runloop_listener_create(&config, &listener));
        check(runloop_add_source(runloop_current(), listener, RUNLOOP_DEFAULT_MODE));
    }
    accepted_count = 0;
    runloop_run_in_mode(RUNLOOP_DEFAULT_MODE, RUNLOOP_FOREVER, true);
    return accepted_count;
}
