// connection.c — Examples/Servers' connection on any loop, with buffers of its own: its life: receive, take, send, and the three ways in which it ends: the client hangs up, the
// protocol has finished, or the socket fails.

#include "connection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "loop.h"

struct connection {
    struct loop_watch *watch;
    int descriptor;
    enum loop_direction direction; ///< in which it is watched
    connection_protocol protocol;
    bool has_ended;   ///< the client sends no more
    bool is_finished; ///< the protocol answers no more; further input is discarded
    size_t in_count;
    size_t out_start; ///< sent so far
    size_t out_end;
    char in[CONNECTION_BUFFER];
    char out[CONNECTION_BUFFER];
};

static size_t space(const struct connection *connection) {
    return sizeof connection->out - connection->out_end;
}

size_t connection_write(struct connection *connection, const char *bytes, size_t count) {
    size_t taken = count < space(connection) ? count : space(connection);
    memcpy(connection->out + connection->out_end, bytes, taken);
    connection->out_end += taken;
    return taken;
}

void connection_finish(struct connection *connection) {
    connection->is_finished = true;
}

/// False if the socket has failed.
static bool receive(struct connection *connection) {
    size_t free_count = sizeof connection->in - connection->in_count;
    ssize_t count = recv(connection->descriptor, connection->in + connection->in_count, free_count, 0);
    if (count < 0)
        return errno == EAGAIN || errno == EINTR;
    if (count == 0)
        connection->has_ended = true;
    else if (!connection->is_finished)
        connection->in_count += (size_t)count;
    return true;
}

/// False if the socket has failed. Output that the socket doesn't accept stays.
static bool send_out(struct connection *connection) {
    size_t count = connection->out_end - connection->out_start;
    if (count == 0)
        return true;
    ssize_t sent = send(connection->descriptor, connection->out + connection->out_start, count, MSG_NOSIGNAL);
    if (sent < 0)
        return errno == EAGAIN || errno == EINTR;
    connection->out_start += (size_t)sent;
    if (connection->out_start == connection->out_end)
        connection->out_start = connection->out_end = 0;
    return true;
}

/// Lets the protocol consume input. True if it consumed something.
static bool take(struct connection *connection) {
    size_t taken = 0;
    while (!connection->is_finished && taken < connection->in_count && space(connection) >= CONNECTION_ANSWER) {
        size_t count = connection->in_count - taken;
        bool is_full = count == sizeof connection->in;
        size_t more = connection->protocol(connection, connection->in + taken, count, is_full);
        if (more == 0)
            break;
        taken += more;
    }
    connection->in_count = connection->is_finished ? 0 : connection->in_count - taken;
    memmove(connection->in, connection->in + taken, connection->in_count);
    return taken > 0;
}

/// Answers as long as there are requests and the socket accepts output. False if the socket has failed.
static bool answer(struct connection *connection) {
    while (connection->out_end == 0 && take(connection))
        if (!send_out(connection))
            return false;
    return true;
}

static void ready(void *info) {
    struct connection *connection = info;
    bool is_good = connection->out_end > 0 ? send_out(connection) : receive(connection);
    is_good = is_good && answer(connection);
    bool is_sent = connection->out_end == 0;
    if (!is_good || (is_sent && connection->has_ended)) {
        loop_watch_end(connection->watch);
        free(connection);
        return;
    }
    // After the last answer the client must close first: if the server did, unread input would make the client lose the answer.
    if (is_sent && connection->is_finished)
        shutdown(connection->descriptor, SHUT_WR);
    enum loop_direction direction = is_sent ? LOOP_READING : LOOP_WRITING;
    if (direction == connection->direction)
        return;
    connection->direction = direction;
    loop_watch_turn(connection->watch, direction);
}

void connection_start(int descriptor, connection_protocol protocol) {
    struct connection *connection = malloc(sizeof *connection);
    loop_check(connection != NULL, "memory");
    connection->descriptor = descriptor;
    connection->direction = LOOP_READING;
    connection->protocol = protocol;
    connection->has_ended = connection->is_finished = false;
    connection->in_count = connection->out_start = connection->out_end = 0;
    connection->watch = loop_watch_start(descriptor, ready, connection);
}
