// processes.c — W14: a round trip between two processes, by requests on a channel, and by hand: a socket of the same kind, epoll and 4 bytes.
// `processes channel 100000` prints nanoseconds per round trip.

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runloop_linux.h"

static long left;
static runloop_channel *channel;

static void check(int result) {
    if (result < 0)
        abort();
}

//===-- by hand ------------------------------------------------------------------------------------------------------===//

/// Waits for a message, as a loop would.
static bool receive_by_hand(int set, int socket) {
    struct epoll_event event;
    char bytes[64];
    while (epoll_wait(set, &event, 1, -1) != 1)
        continue;
    return recv(socket, bytes, sizeof bytes, 0) > 0;
}

static void go_by_hand(int socket, bool asks) {
    int set = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN};
    check(epoll_ctl(set, EPOLL_CTL_ADD, socket, &event));
    if (asks) {
        for (; left > 0; left--) {
            check((int)send(socket, "text", 4, MSG_NOSIGNAL));
            receive_by_hand(set, socket);
        }
    } else {
        while (receive_by_hand(set, socket))
            check((int)send(socket, "text", 4, MSG_NOSIGNAL));
    }
    close(set);
}

//===-- by a channel -------------------------------------------------------------------------------------------------===//

static void ask(void);

static void replied(const runloop_reply *reply, int *descriptors, size_t count, void *unused) {
    (void)descriptors, (void)count, (void)unused;
    check(reply->result);
    if (--left == 0)
        runloop_stop(runloop_current());
    else
        ask();
}

static void ask(void) {
    const runloop_channel_request_config config = {.replied = replied};
    check(runloop_channel_request(channel, "text", 4, NULL, 0, &config, NULL));
}

static void receive(runloop_channel *receiver, runloop_channel_message *message, void *unused) {
    (void)receiver, (void)unused;
    check(runloop_call_reply(message->call, message->bytes, message->length, NULL, 0));
}

static void ended(runloop_channel *receiver, int32_t reason, void *unused) {
    (void)receiver, (void)reason, (void)unused;
    runloop_stop(runloop_current());
}

static void go_by_channel(int socket, bool asks) {
    const runloop_channel_config config = {.receive = asks ? NULL : receive, .ended = ended};
    check(runloop_channel_create(socket, &config, &channel));
    check(runloop_add_source(runloop_current(), channel, RUNLOOP_DEFAULT_MODE));
    if (asks)
        ask();
    runloop_run();
}

int main(int count, char **arguments) {
    if (count != 3)
        return 2;
    void (*go)(int socket, bool asks) = strcmp(arguments[1], "channel") == 0 ? go_by_channel : go_by_hand;
    left = atol(arguments[2]);
    double trips = (double)left;
    int ends[2];
    check(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends));
    pid_t child = fork();
    check(child);
    close(ends[child == 0 ? 0 : 1]);
    if (child == 0) {
        go(ends[1], false);
        _exit(0);
    }
    int64_t begin = runloop_get_now_ns(NULL);
    go(ends[0], true);
    printf("%.0f\n", (double)(runloop_get_now_ns(NULL) - begin) / trips);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return 0;
}
