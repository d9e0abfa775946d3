// server.c — the server of Examples/Servers on any loop: `server echo|http [PORT]`. Listens on 127.0.0.1, on a free port if none is given,
// prints `port=N`, and serves until a signal ends it (SIGINT, SIGTERM).

#define _GNU_SOURCE // accept4
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "connection.h"
#include "loop.h"

enum { BACKLOG = 1024, ACCEPTED_AT_ONCE = 64 };

struct server {
    int descriptor;
    int reserve; ///< a descriptor to close when there are no more
    connection_protocol protocol;
};

void loop_check(int good, const char *what) {
    if (good)
        return;
    fprintf(stderr, "server: %s: %s\n", what, strerror(errno));
    exit(EXIT_FAILURE);
}

/// Descriptors ran out. A connection that is left waiting would be reported again and again, so it is accepted and closed.
static void refuse(struct server *server) {
    close(server->reserve);
    int refused = accept4(server->descriptor, NULL, NULL, SOCK_CLOEXEC);
    if (refused >= 0)
        close(refused);
    server->reserve = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void accept_some(void *info) {
    struct server *server = info;
    for (int i = 0; i < ACCEPTED_AT_ONCE; i++) {
        int descriptor = accept4(server->descriptor, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (descriptor < 0) {
            if (errno == EMFILE || errno == ENFILE)
                refuse(server);
            return; // none left, or the client is gone already
        }
        int one = 1;
        setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        connection_start(descriptor, server->protocol);
    }
}

static int listen_on(uint16_t port) {
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), one = 1;
    loop_check(descriptor >= 0, "socket");
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    loop_check(bind(descriptor, (struct sockaddr *)&address, length) == 0, "bind");
    loop_check(listen(descriptor, BACKLOG) == 0, "listen");
    loop_check(getsockname(descriptor, (struct sockaddr *)&address, &length) == 0, "getsockname");
    printf("port=%d\n", ntohs(address.sin_port));
    fflush(stdout);
    return descriptor;
}

static void end(void *info) {
    (void)info;
    loop_stop();
}

/// Signals become bytes of a descriptor, which the loop can watch; they are blocked before a loop starts threads.
static int signals_as_descriptor(void) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    return signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
}

int main(int argc, char **argv) {
    connection_protocol protocol = argc < 2                       ? NULL
                                   : strcmp(argv[1], "echo") == 0 ? echo_take
                                   : strcmp(argv[1], "http") == 0 ? http_take
                                                                  : NULL;
    if (!protocol)
        return fprintf(stderr, "usage: %s echo|http [PORT]\n", argv[0]), EXIT_FAILURE;
    int signals = signals_as_descriptor();
    loop_open();
    struct server server = {.reserve = open("/dev/null", O_RDONLY | O_CLOEXEC), .protocol = protocol};
    server.descriptor = listen_on((uint16_t)(argc > 2 ? atoi(argv[2]) : 0));
    struct loop_watch *listening = loop_watch_start(server.descriptor, accept_some, &server);
    struct loop_watch *signalled = loop_watch_start(signals, end, NULL);
    loop_run();
    loop_watch_end(listening);
    loop_watch_end(signalled);
    close(server.reserve);
    return EXIT_SUCCESS;
}
