// server.c — `server FOLDER PATIENCE_MS`: listens on a free port of 127.0.0.1, and at FOLDER/channel; watches FOLDER/watched; prints the port.
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <runloop_linux.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct counts counts;
int64_t patience_ns;

void check(int result, const char *what) {
    if (result >= 0)
        return;
    fprintf(stderr, "server: %s: %s\n", what, strerror(-result));
    exit(EXIT_FAILURE);
}

static void accepted(runloop_listener *listener, int descriptor, void *begin) {
    (void)listener;
    ((void (*)(int))begin)(descriptor);
}

/// Without a descriptor for it: the client learns that by the end of its connection.
static void refused(runloop_listener *listener, int descriptor, void *info) {
    (void)listener, (void)descriptor, (void)info;
}

static void listen_with(int descriptor, void (*begin)(int)) {
    check(descriptor, "listen");
    const runloop_listener_config config = {.context.info = (void *)begin,
                                            .descriptor = descriptor,
                                            .owns = true,
                                            .budget = BUDGET,
                                            .accepted = accepted,
                                            .refused = refused};
    runloop_listener *listener = NULL;
    check(runloop_listener_create(&config, &listener), "listener");
    check(runloop_add_source(runloop_current(), listener, MODE), "add listener");
}

//===-- channels -----------------------------------------------------------------------------------------------------===//

static void receive(runloop_channel *channel, runloop_channel_message *message, void *info) {
    (void)channel, (void)info;
    counts.messages++;
    counts.descriptors += message->descriptor_count;
    // A peer that reads no answers has no more calls open than the limit, and then nothing more is read.
    if (message->call)
        runloop_call_reply(message->call, &message->length, sizeof message->length, NULL, 0);
}

static void channel_ended(runloop_channel *channel, int32_t reason, void *info) {
    (void)info;
    counts.channels--;
    counts.broken += reason != -EPIPE;
    runloop_source_release(channel);
}

void channel_begin(int descriptor) {
    const runloop_channel_config config = {.receive = receive, .ended = channel_ended};
    runloop_channel *channel = NULL;
    if (runloop_channel_create(descriptor, &config, &channel) < 0) {
        close(descriptor);
        return;
    }
    counts.channels++;
    check(runloop_add_source(runloop_current(), channel, MODE), "add channel");
}

//===-- files --------------------------------------------------------------------------------------------------------===//

static void changed(runloop_watch *watch, const runloop_change *changes, size_t count, void *info) {
    (void)watch, (void)info;
    counts.changes += count;
    for (size_t i = 0; i < count; i++) {
        counts.overflows += changes[i].kind == RUNLOOP_CHANGE_OVERFLOW;
        counts.failures += changes[i].kind == RUNLOOP_CHANGE_FAILED;
    }
}

void watch_begin(const char *path) {
    const runloop_watch_config config = {.path = path, .scope = RUNLOOP_WATCH_TREE, .changed = changed};
    runloop_watch *watch = NULL;
    check(runloop_watch_create(&config, &watch), "watch");
    check(runloop_add_source(runloop_current(), watch, MODE), "add watch");
}

static size_t read_on(runloop_input *input, const char *bytes, size_t count, void *info) {
    size_t *left = info;
    (void)bytes;
    counts.read += count;
    *left -= count < *left ? count : *left;
    if (*left == 0)
        runloop_source_invalidate(input);
    return count;
}

static void release_reading(void *info) {
    counts.readings--;
    free(info);
}

void reading_begin(const char *path) {
    // Whoever opens a FIFO for reading would wait for a writer.
    int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    size_t *left = malloc(sizeof *left);
    check(left ? 0 : -ENOMEM, "reading");
    *left = READ_LIMIT;
    const runloop_input_config config = {.context = {.info = left, .release = release_reading},
                                         .descriptor = descriptor,
                                         .owns = true,
                                         .limit = 64 << 10,
                                         .received = read_on,
                                         .idle_ns = patience_ns};
    runloop_input *input = NULL;
    counts.readings++;
    if (descriptor < 0 || runloop_input_create(&config, &input) < 0) {
        if (descriptor >= 0)
            close(descriptor);
        release_reading(left);
        return;
    }
    check(runloop_add_source(runloop_current(), input, MODE), "add reading");
    // The loop has it until its end.
    runloop_source_release(input);
}

int main(int count, char **arguments) {
    char path[4096];
    if (count != 3)
        return fprintf(stderr, "usage: %s FOLDER PATIENCE_MS\n", arguments[0]), EXIT_FAILURE;
    patience_ns = strtol(arguments[2], NULL, 10) * INT64_C(1000000);
    snprintf(path, sizeof path, "%s/watched", arguments[1]);
    watch_begin(path);
    snprintf(path, sizeof path, "%s/channel", arguments[1]);
    listen_with(runloop_channel_listen(path, 0600, 0), channel_begin);
    int listening = runloop_listen_tcp("127.0.0.1", 0, 0);
    listen_with(listening, lines_begin);
    printf("%d\n", runloop_socket_get_port(listening, false));
    fflush(stdout);
    return runloop_run_in_mode(MODE, RUNLOOP_FOREVER, false);
}
