// lines.c — a connection of the server: lines come in, and answers go out. While answers wait for a client nothing more is read from it, so it has
// one line and as many bytes of answers as the limit, and a time for each.
#include "server.h"

#include <errno.h>
#include <runloop_linux.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct connection {
    runloop_input *input;
    runloop_output *output; ///< owns the socket
    size_t left;            ///< of a big answer
    bool has_ended;         ///< the client sends no more
};

static void end(struct connection *connection, int error) {
    counts.open--;
    counts.timed_out += error == -ETIMEDOUT;
    counts.reset += error == -ECONNRESET || error == -EPIPE;
    counts.ended += error == 0;
    runloop_source_invalidate(connection->input);
    runloop_source_release(connection->input);
    runloop_source_invalidate(connection->output);
    runloop_source_release(connection->output);
    free(connection);
}

/// As much of a big answer as there is space for. False: some is left, and `drained` follows.
static bool go_on(struct connection *connection) {
    static const char bytes[4096];
    while (connection->left > 0) {
        size_t count = connection->left < sizeof bytes ? connection->left : sizeof bytes;
        ptrdiff_t written = runloop_output_write(connection->output, bytes, count);
        // Of a socket that has failed the input learns, too, as long as it is not paused.
        if (written < 0 && written != -EAGAIN)
            connection->left = 0;
        else if (written <= 0)
            return false;
        else
            connection->left -= (size_t)written;
    }
    return runloop_output_get_waiting(connection->output) == 0;
}

static void answer(struct connection *connection, const char *line, size_t count) {
    char text[LINE_LIMIT + 2];
    int length;
    if (count > 4 && strncmp(line, "big ", 4) == 0) {
        memcpy(text, line + 4, count - 4);
        text[count - 4] = 0;
        connection->left = strtoul(text, NULL, 10);
        go_on(connection);
        return;
    }
    if (count > 5 && strncmp(line, "read ", 5) == 0) {
        memcpy(text, line + 5, count - 5);
        text[count - 5] = 0;
        reading_begin(text);
    }
    if (count == 4 && strncmp(line, "stat", 4) == 0)
        length = snprintf(text, sizeof text,
                          "open=%ju accepted=%ju lines=%ju timed_out=%ju too_long=%ju reset=%ju ended=%ju channels=%ju "
                          "messages=%ju descriptors=%ju broken=%ju changes=%ju overflows=%ju failures=%ju "
                          "readings=%ju read=%ju\n",
                          counts.open, counts.accepted, counts.lines, counts.timed_out, counts.too_long, counts.reset,
                          counts.ended, counts.channels, counts.messages, counts.descriptors, counts.broken,
                          counts.changes, counts.overflows, counts.failures, counts.readings, counts.read);
    else
        length = snprintf(text, sizeof text, "%.*s\n", (int)count, line);
    // There is space for it: input is paused while anything waits.
    runloop_output_enqueue(connection->output, text, (size_t)length);
}

static void received_line(runloop_input *input, const char *line, size_t count, int error, void *info) {
    struct connection *connection = info;
    counts.lines++;
    counts.too_long += error == -EMSGSIZE;
    answer(connection, error ? "too long" : line, error ? 8 : count);
    if (connection->left > 0 || runloop_output_flush(connection->output) == -EAGAIN)
        runloop_input_pause(input);
}

static void drained(runloop_output *output, int error, void *info) {
    struct connection *connection = info;
    (void)output;
    if (error == 0 && !go_on(connection))
        return;
    if (error < 0 || connection->has_ended || runloop_input_resume(connection->input) < 0)
        end(connection, error);
}

static void ended(runloop_input *input, int error, const char *rest, size_t count, void *info) {
    struct connection *connection = info;
    (void)input, (void)rest, (void)count;
    connection->has_ended = true;
    if (error < 0 || runloop_output_finish(connection->output) != -EAGAIN)
        end(connection, error);
}

static int begin(struct connection *connection, int descriptor) {
    const runloop_output_config output = {.context.info = connection,
                                          .descriptor = descriptor,
                                          .owns = true,
                                          .limit = OUTPUT_LIMIT,
                                          .drained = drained,
                                          .idle_ns = patience_ns,
                                          .resets = true};
    int result = runloop_output_create(&output, &connection->output);
    if (result < 0)
        return result;
    const runloop_input_config input = {.context.info = connection,
                                        .descriptor = descriptor,
                                        .limit = LINE_LIMIT,
                                        .received_line = received_line,
                                        .ended = ended,
                                        .idle_ns = patience_ns,
                                        .output = connection->output,
                                        .message_ns = patience_ns};
    result = runloop_input_create(&input, &connection->input);
    if (result == 0)
        result = runloop_add_source(runloop_current(), connection->output, MODE);
    return result == 0 ? runloop_add_source(runloop_current(), connection->input, MODE) : result;
}

void lines_begin(int descriptor) {
    struct connection *connection = calloc(1, sizeof *connection);
    check(connection ? 0 : -ENOMEM, "connection");
    counts.open++;
    counts.accepted++;
    // What waits in the kernel for one that does not read is as little.
    const int size = OUTPUT_LIMIT;
    setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    int result = begin(connection, descriptor);
    if (result < 0 && !connection->output)
        close(descriptor);
    if (result < 0)
        end(connection, result);
}
