// transfer_ours.c — W14's bytes through an input and an output.

#include <stdlib.h>

#include "runloop_linux.h"
#include "transfer.h"

static const char *chunk;
static size_t chunk_size, unsent, received_count, expected;

static void check(ptrdiff_t result) {
    if (result < 0)
        abort();
}

static size_t received(runloop_input *input, const char *bytes, size_t count, void *info) {
    (void)input, (void)bytes, (void)info;
    received_count += count;
    if (received_count == expected)
        runloop_stop(runloop_current());
    return count;
}

static void send_chunks(runloop_output *output) {
    while (unsent > 0 && runloop_output_get_waiting(output) == 0) {
        ptrdiff_t taken = runloop_output_write(output, chunk, chunk_size < unsent ? chunk_size : unsent);
        check(taken);
        unsent -= (size_t)taken;
    }
}

static void drained(runloop_output *output, int error, void *info) {
    (void)info;
    check(error);
    send_chunks(output);
}

size_t transfer(int reader, int writer, const char *bytes, size_t size, size_t total) {
    chunk = bytes, chunk_size = size, unsent = expected = total;
    runloop_input *input;
    runloop_output *output;
    const runloop_input_config reading = {.descriptor = reader, .limit = READ_AT_ONCE, .received = received};
    const runloop_output_config writing = {.descriptor = writer, .limit = size, .drained = drained};
    check(runloop_input_create(&reading, &input));
    check(runloop_output_create(&writing, &output));
    check(runloop_add_source(runloop_current(), input, RUNLOOP_DEFAULT_MODE));
    check(runloop_add_source(runloop_current(), output, RUNLOOP_DEFAULT_MODE));
    send_chunks(output);
    runloop_run();
    runloop_source_release(input);
    runloop_source_release(output);
    return received_count;
}
