// transfer_uv.c — W14's bytes through libuv's streams.

#include <stdlib.h>
#include <uv.h>

#include "transfer.h"

static uv_pipe_t reading, writing;
static uv_write_t request;
static char *chunk;
static size_t chunk_size, unsent, received_count, expected;

static void check(ssize_t result) {
    if (result < 0)
        abort();
}

static void allocate(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer) {
    static char bytes[READ_AT_ONCE];
    (void)handle, (void)suggested;
    *buffer = uv_buf_init(bytes, sizeof bytes);
}

static void received(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer) {
    (void)stream, (void)buffer;
    check(count);
    received_count += (size_t)count;
    if (received_count == expected)
        uv_stop(stream->loop);
}

static void written(uv_write_t *write, int status);

/// At once what the kernel takes; what it does not take waits in a request.
static void send_chunks(void) {
    while (unsent > 0) {
        size_t size = chunk_size < unsent ? chunk_size : unsent;
        uv_buf_t buffer = uv_buf_init(chunk, (unsigned)size);
        int taken = uv_try_write((uv_stream_t *)&writing, &buffer, 1);
        if (taken == UV_EAGAIN)
            taken = 0;
        check(taken);
        unsent -= size;
        if ((size_t)taken == size)
            continue;
        buffer = uv_buf_init(chunk + taken, (unsigned)size - (unsigned)taken);
        check(uv_write(&request, (uv_stream_t *)&writing, &buffer, 1, written));
        return;
    }
}

static void written(uv_write_t *write, int status) {
    (void)write;
    check(status);
    send_chunks();
}

size_t transfer(int reader, int writer, const char *bytes, size_t size, size_t total) {
    uv_loop_t *loop = uv_default_loop();
    chunk = (char *)bytes, chunk_size = size, unsent = expected = total;
    check(uv_pipe_init(loop, &reading, 0));
    check(uv_pipe_init(loop, &writing, 0));
    check(uv_pipe_open(&reading, reader));
    check(uv_pipe_open(&writing, writer));
    check(uv_read_start((uv_stream_t *)&reading, allocate, received));
    send_chunks();
    uv_run(loop, UV_RUN_DEFAULT);
    return received_count;
}
