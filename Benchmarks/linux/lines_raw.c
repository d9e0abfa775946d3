// lines_raw.c — W14's line server by hand: an epoll set, recv and send.

#define _GNU_SOURCE // accept4
#include "lines.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

struct connection {
    int descriptor;
    int set;
    size_t count; ///< received, and not answered
    size_t waiting_count;
    char bytes[LINE_LIMIT];
    char waiting[LINE_LIMIT];
};

static void watch(struct connection *connection, int operation, unsigned events) {
    struct epoll_event event = {.events = events, .data.ptr = connection};
    if (epoll_ctl(connection->set, operation, connection->descriptor, &event) != 0)
        abort();
}

static void accept_one(int listening, int set) {
    int descriptor = accept4(listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor < 0)
        return;
    struct connection *connection = calloc(1, sizeof *connection);
    connection->descriptor = descriptor;
    connection->set = set;
    watch(connection, EPOLL_CTL_ADD, EPOLLIN);
}

/// What the socket does not take waits, and meanwhile nothing is read.
static int answer(void *info, const char *line, size_t count) {
    struct connection *connection = info;
    if (connection->waiting_count > 0)
        return 0;
    ssize_t sent = send(connection->descriptor, line, count, MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN)
        return 1;
    connection->waiting_count = count - (sent > 0 ? (size_t)sent : 0);
    if (connection->waiting_count > 0) {
        memcpy(connection->waiting, line + count - connection->waiting_count, connection->waiting_count);
        watch(connection, EPOLL_CTL_MOD, EPOLLOUT);
    }
    return 1;
}

/// False: the connection is over.
static int send_waiting(struct connection *connection) {
    ssize_t sent = send(connection->descriptor, connection->waiting, connection->waiting_count, MSG_NOSIGNAL);
    if (sent < 0)
        return errno == EAGAIN;
    connection->waiting_count -= (size_t)sent;
    memmove(connection->waiting, connection->waiting + sent, connection->waiting_count);
    if (connection->waiting_count == 0)
        watch(connection, EPOLL_CTL_MOD, EPOLLIN);
    return 1;
}

static int receive(struct connection *connection) {
    ssize_t count =
        recv(connection->descriptor, connection->bytes + connection->count, LINE_LIMIT - connection->count, 0);
    if (count <= 0)
        return count < 0 && errno == EAGAIN;
    connection->count += (size_t)count;
    return 1;
}

static void ready(struct connection *connection) {
    if (!(connection->waiting_count > 0 ? send_waiting(connection) : receive(connection))) {
        close(connection->descriptor);
        free(connection);
        return;
    }
    size_t done = lines_each(connection->bytes, connection->count, answer, connection);
    connection->count -= done;
    memmove(connection->bytes, connection->bytes + done, connection->count);
}

void lines_serve(int listening) {
    enum { BATCH = 64 };
    int set = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN};
    if (epoll_ctl(set, EPOLL_CTL_ADD, listening, &event) != 0)
        abort();
    for (;;) {
        struct epoll_event events[BATCH];
        int count = epoll_wait(set, events, BATCH, -1);
        for (int i = 0; i < count; i++) {
            if (events[i].data.ptr)
                ready(events[i].data.ptr);
            else
                accept_one(listening, set);
        }
    }
}
