// lines_ours.c — W14's line server on a listener, inputs and outputs.

#include "lines.h"

#include <errno.h>
#include <stdlib.h>

#include "runloop_linux.h"

struct connection {
    runloop_input *input; ///< owns the socket
    runloop_output *output;
};

static void check(int result) {
    if (result < 0)
        abort();
}

static void end(struct connection *connection) {
    runloop_source_invalidate(connection->output);
    runloop_source_release(connection->output);
    runloop_source_invalidate(connection->input);
    runloop_source_release(connection->input);
    free(connection);
}

static void received(runloop_input *input, const char *line, size_t count, int error, void *info) {
    struct connection *connection = info;
    char answer[LINE_LIMIT + 1];
    (void)error;
    memcpy(answer, line, count);
    answer[count] = '\n';
    // Nothing waits, or the input would be paused; so all of it is taken.
    if (runloop_output_write(connection->output, answer, count + 1) > 0 &&
        runloop_output_get_waiting(connection->output) > 0)
        runloop_input_pause(input);
}

static void drained(runloop_output *output, int error, void *info) {
    struct connection *connection = info;
    (void)output;
    if (error < 0 || runloop_input_resume(connection->input) < 0)
        end(connection);
}

static void ended(runloop_input *input, int error, const char *rest, size_t count, void *info) {
    (void)input, (void)error, (void)rest, (void)count;
    end(info);
}

static void accepted(runloop_listener *listener, int descriptor, void *info) {
    (void)listener, (void)info;
    struct connection *connection = malloc(sizeof *connection);
    const runloop_input_config input = {.context.info = connection,
                                        .descriptor = descriptor,
                                        .owns = true,
                                        .limit = LINE_LIMIT,
                                        .received_line = received,
                                        .ended = ended};
    const runloop_output_config output = {
        .context.info = connection, .descriptor = descriptor, .limit = LINE_LIMIT + 1, .drained = drained};
    check(runloop_output_create(&output, &connection->output));
    check(runloop_input_create(&input, &connection->input));
    check(runloop_add_source(runloop_current(), connection->output, RUNLOOP_DEFAULT_MODE));
    check(runloop_add_source(runloop_current(), connection->input, RUNLOOP_DEFAULT_MODE));
}

void lines_serve(int listening) {
    const runloop_listener_config config = {.descriptor = listening, .owns = true, .accepted = accepted};
    runloop_listener *listener;
    check(runloop_listener_create(&config, &listener));
    check(runloop_add_source(runloop_current(), listener, RUNLOOP_DEFAULT_MODE));
    runloop_run();
}
