// lines_uv.c — W14's line server on libuv's streams.

#include "lines.h"

#include <stdlib.h>
#include <uv.h>

struct connection {
    uv_tcp_t stream; // first, because libuv calls with it
    uv_write_t request;
    size_t count; ///< received, and not answered
    char bytes[LINE_LIMIT];
    char waiting[LINE_LIMIT];
    int is_writing;
};

static void check(int result) {
    if (result < 0)
        abort();
}

static void closed(uv_handle_t *handle) {
    free(handle);
}

static void end(struct connection *connection) {
    if (!uv_is_closing((uv_handle_t *)connection))
        uv_close((uv_handle_t *)connection, closed);
}

static void allocate(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer) {
    struct connection *connection = (struct connection *)handle;
    (void)suggested;
    *buffer = uv_buf_init(connection->bytes + connection->count, (unsigned)(LINE_LIMIT - connection->count));
}

static void received(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer);
static void answer_all(struct connection *connection);

static void written(uv_write_t *request, int status) {
    struct connection *connection = (struct connection *)request->handle;
    connection->is_writing = 0;
    if (status < 0 || uv_read_start(request->handle, allocate, received) < 0)
        end(connection);
    else
        answer_all(connection);
}

/// At once, or in a request, which pauses the reading.
static int answer(void *info, const char *line, size_t count) {
    struct connection *connection = info;
    uv_stream_t *stream = (uv_stream_t *)connection;
    if (connection->is_writing)
        return 0;
    uv_buf_t buffer = uv_buf_init((char *)line, (unsigned)count);
    int taken = uv_try_write(stream, &buffer, 1);
    if (taken < 0 && taken != UV_EAGAIN)
        return end(connection), 1;
    size_t sent = taken > 0 ? (size_t)taken : 0;
    if (sent == count)
        return 1;
    memcpy(connection->waiting, line + sent, count - sent);
    buffer = uv_buf_init(connection->waiting, (unsigned)(count - sent));
    connection->is_writing = 1;
    uv_read_stop(stream);
    check(uv_write(&connection->request, stream, &buffer, 1, written));
    return 1;
}

static void answer_all(struct connection *connection) {
    size_t done = lines_each(connection->bytes, connection->count, answer, connection);
    connection->count -= done;
    memmove(connection->bytes, connection->bytes + done, connection->count);
}

static void received(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer) {
    struct connection *connection = (struct connection *)stream;
    (void)buffer;
    if (count < 0)
        return end(connection);
    connection->count += (size_t)count;
    answer_all(connection);
}

static void accepted(uv_stream_t *listening, int status) {
    check(status);
    struct connection *connection = malloc(sizeof *connection);
    connection->count = 0;
    connection->is_writing = 0;
    check(uv_tcp_init(listening->loop, &connection->stream));
    check(uv_accept(listening, (uv_stream_t *)connection));
    check(uv_read_start((uv_stream_t *)connection, allocate, received));
}

void lines_serve(int listening) {
    static uv_tcp_t listener;
    check(uv_tcp_init(uv_default_loop(), &listener));
    check(uv_tcp_open(&listener, listening));
    check(uv_listen((uv_stream_t *)&listener, 1024, accepted));
    uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}
