// connection.c — a connection is an input and an output of one socket. It ends when the client hangs up and everything was sent, or when
// the socket fails.

#include "connection.h"

#include <errno.h>
#include <runloop_linux.h>
#include <stdlib.h>
#include <unistd.h>

struct connection {
    runloop_input *input; ///< owns the socket
    runloop_output *output;
    connection_protocol protocol;
    bool is_finished; ///< the protocol answers no more; further input is discarded
    bool has_ended;   ///< the client sends no more
};

static void end(struct connection *connection) {
    runloop_source_invalidate(connection->output);
    runloop_source_release(connection->output);
    runloop_source_invalidate(connection->input);
    runloop_source_release(connection->input);
    free(connection);
}

size_t connection_write(struct connection *connection, const char *bytes, size_t count) {
    // A socket that has failed is noticed by the input, too.
    ptrdiff_t taken = runloop_output_write(connection->output, bytes, count);
    return taken > 0 ? (size_t)taken : 0;
}

void connection_finish(struct connection *connection) {
    connection->is_finished = true;
    // The client must close first: if the server did, unread input would make the client lose the answer.
    runloop_output_finish(connection->output);
}

static size_t received(runloop_input *input, const char *bytes, size_t count, void *info) {
    struct connection *connection = info;
    size_t taken = 0, more = 1;
    while (taken < count && more > 0 && !connection->is_finished) {
        if (runloop_output_get_waiting(connection->output) > 0) {
            runloop_input_pause(input);
            break;
        }
        bool is_full = count - taken == CONNECTION_BUFFER;
        more = connection->protocol(connection, bytes + taken, count - taken, is_full);
        taken += more;
    }
    return connection->is_finished ? count : taken;
}

static void drained(runloop_output *output, int error, void *info) {
    struct connection *connection = info;
    (void)output;
    if (error < 0 || connection->has_ended || runloop_input_resume(connection->input) < 0)
        end(connection);
}

static void ended(runloop_input *input, int error, const char *rest, size_t count, void *info) {
    struct connection *connection = info;
    (void)input, (void)rest, (void)count;
    connection->has_ended = true;
    // Output that waits is still sent, and then drained.
    if (error < 0 || runloop_output_finish(connection->output) != -EAGAIN)
        end(connection);
}

/// False if there is no memory or no descriptor for it.
static bool begin(struct connection *connection, int descriptor) {
    const runloop_input_config input = {.context.info = connection,
                                        .descriptor = descriptor,
                                        .owns = true,
                                        .limit = CONNECTION_BUFFER,
                                        .received = received,
                                        .ended = ended};
    const runloop_output_config output = {
        .context.info = connection, .descriptor = descriptor, .limit = CONNECTION_BUFFER, .drained = drained};
    if (runloop_output_create(&output, &connection->output) < 0 || runloop_input_create(&input, &connection->input) < 0)
        return false;
    runloop *loop = runloop_current();
    return runloop_add_source(loop, connection->output, RUNLOOP_DEFAULT_MODE) == 0 &&
           runloop_add_source(loop, connection->input, RUNLOOP_DEFAULT_MODE) == 0;
}

void connection_start(int descriptor, connection_protocol protocol) {
    struct connection *connection = malloc(sizeof *connection);
    if (connection) {
        *connection = (struct connection){.protocol = protocol};
        if (begin(connection, descriptor))
            return;
    }
    // Only the input closes the socket.
    if (!connection || !connection->input)
        close(descriptor);
    if (connection)
        end(connection);
}
