// connects.h — what the tests of connecting share: outcomes, listeners, black holes.
#ifndef RUNLOOP_TEST_CONNECTS_H
#define RUNLOOP_TEST_CONNECTS_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "linux_items.h"

/// What `connected` was called with.
struct outcome {
    _Atomic int calls, contexts;
    int descriptor, error;
    int64_t at_ns;
    size_t count;
    runloop_connect_failure failures[16];
    const char *name_error;
};

static inline void note_outcome(runloop_connect *connect, int descriptor, int error, void *info) {
    struct outcome *outcome = info;
    EXPECT(!runloop_source_is_valid(connect));
    EXPECT((descriptor >= 0) == (error == 0));
    if (descriptor >= 0) {
        EXPECT(fcntl(descriptor, F_GETFL) & O_NONBLOCK);
        EXPECT(fcntl(descriptor, F_GETFD) & FD_CLOEXEC);
    }
    outcome->descriptor = descriptor;
    outcome->error = error;
    outcome->at_ns = runloop_now_ns();
    outcome->count = runloop_connect_get_failures(connect, outcome->failures, 16);
    outcome->name_error = runloop_connect_get_name_error(connect);
    outcome->calls++;
}

static inline void *retain_outcome(void *info) {
    ((struct outcome *)info)->contexts++;
    return info;
}

static inline void release_outcome(void *info) {
    ((struct outcome *)info)->contexts--;
}

/// In a mode of the calling thread's loop. One reference.
static inline runloop_connect *add_connect(runloop_connect_config config, struct outcome *outcome) {
    runloop_connect *connect = NULL;
    config.context = (runloop_context){.info = outcome, .retain = retain_outcome, .release = release_outcome};
    if (!config.connected)
        config.connected = note_outcome;
    REQUIRE(runloop_connect_create(&config, &connect) == 0 && connect);
    REQUIRE(runloop_add_source(runloop_current(), connect, MODE) == 0);
    return connect;
}

/// Runs until the outcome is known. Nothing but a descriptor is left then.
static inline struct outcome outcome_of(runloop_connect_config config) {
    struct outcome outcome = {.descriptor = -1};
    make_loop();
    int before = count_descriptors();
    runloop_connect *connect = add_connect(config, &outcome);
    RUN_UNTIL(MODE, outcome.calls > 0);
    run_for(MODE, 1);
    EXPECT_EQ(outcome.calls, 1);
    runloop_source_release(connect);
    EXPECT_EQ(outcome.contexts, 0);
    EXPECT_EQ(count_descriptors(), before + (outcome.descriptor >= 0));
    return outcome;
}

/// With what a listening socket has accepted, a byte goes each way.
static inline void expect_talk(int client, int listening) {
    char byte = 0;
    int peer = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
    REQUIRE(client >= 0 && peer >= 0);
    EXPECT_EQ(send(client, "a", 1, 0), 1);
    EXPECT_EQ(recv(peer, &byte, 1, 0), 1);
    EXPECT_EQ(byte, 'a');
    close(peer);
    close(client);
}

static inline int listen_on(const char *address, uint16_t port) {
    int listening = runloop_listen_tcp(address, port, 0);
    REQUIRE(listening >= 0);
    REQUIRE(fcntl(listening, F_SETFL, 0) == 0);
    return listening;
}

static inline bool starts_with(const char *text, const char *start) {
    return strncmp(text, start, strlen(start)) == 0;
}

static inline uint16_t port_of(int descriptor) {
    int port = runloop_socket_get_port(descriptor, false);
    REQUIRE(port > 0);
    return (uint16_t)port;
}

/// A port on which nobody listens, nor will while the descriptor is open.
static inline uint16_t dead_port(int *descriptor) {
    struct sockaddr_in any = {.sin_family = AF_INET};
    *descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(bind(*descriptor, (struct sockaddr *)&any, sizeof any) == 0);
    return port_of(*descriptor);
}

/// An address from which no answer comes: somebody listens, and the queue is full.
struct black_hole {
    int listening, client;
};

static inline struct black_hole make_black_hole(const char *address, uint16_t port) {
    struct sockaddr_in target = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct black_hole hole = {.client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
                              .listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    socklen_t size = sizeof target;
    REQUIRE(inet_pton(AF_INET, address, &target.sin_addr) == 1);
    REQUIRE(bind(hole.listening, (struct sockaddr *)&target, size) == 0 && listen(hole.listening, 0) == 0);
    REQUIRE(getsockname(hole.listening, (struct sockaddr *)&target, &size) == 0);
    REQUIRE(connect(hole.client, (struct sockaddr *)&target, size) == 0);
    return hole;
}

static inline void end_black_hole(struct black_hole hole) {
    close(hole.client);
    close(hole.listening);
}

#endif // RUNLOOP_TEST_CONNECTS_H
