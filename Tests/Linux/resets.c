// resets.c — a peer that resets its connection, at each step of its life: in the queue, while it is made, read, written, paused and half closed.
#include "connects.h"

/// What our end of a connection received.
struct told {
    int accepted, ended,
        drained; ///< the connection; the error at the end of the input, 1 before; that of the output, 1 before
    int connections;
    size_t bytes, rest;
};

static void note_accepted(runloop_listener *listener, int descriptor, void *info) {
    struct told *told = info;
    (void)listener;
    if (told->accepted >= 0)
        close(told->accepted);
    told->accepted = descriptor;
    told->connections++;
}

static void take_line(runloop_input *input, const char *line, size_t count, int error, void *info) {
    (void)input, (void)line, (void)error;
    ((struct told *)info)->bytes += count;
}

static void note_end(runloop_input *input, int error, const char *rest, size_t count, void *info) {
    (void)input, (void)rest;
    struct told *told = info;
    EXPECT_EQ(told->ended, 1); // once
    told->ended = error;
    told->rest = count;
}

static void note_drain(runloop_output *output, int error, void *info) {
    (void)output;
    ((struct told *)info)->drained = error;
}

/// Drops what it has been sent and what it has sent, and tells the other end.
static void reset(int descriptor) {
    const struct linger none = {.l_onoff = 1, .l_linger = 0};
    REQUIRE(setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &none, sizeof none) == 0);
    close(descriptor);
}

/// A connection: our end, which was accepted, and the peer's.
static int connected_peer(struct told *told) {
    int listening = runloop_listen_tcp("127.0.0.1", 0, 0);
    REQUIRE(listening >= 0);
    int peer = connect_to(listening);
    *told = (struct told){
        .accepted = accept4(listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC), .ended = 1, .drained = 1};
    REQUIRE(told->accepted >= 0);
    close(listening);
    return peer;
}

static runloop_input *add_input(struct told *told) {
    const runloop_input_config config = {.context.info = told,
                                         .descriptor = told->accepted,
                                         .limit = 100,
                                         .received_line = take_line,
                                         .ended = note_end};
    runloop_input *input;
    REQUIRE(runloop_input_create(&config, &input) == 0);
    REQUIRE(runloop_add_source(runloop_current(), input, MODE) == 0);
    return input;
}

static runloop_output *add_output(struct told *told) {
    const runloop_output_config config = {
        .context.info = told, .descriptor = told->accepted, .limit = 10, .drained = note_drain};
    runloop_output *output;
    REQUIRE(runloop_output_create(&config, &output) == 0);
    REQUIRE(runloop_add_source(runloop_current(), output, MODE) == 0);
    return output;
}

static void end(runloop_source *source, const struct told *told) {
    end_source(source);
    close(told->accepted);
}

TEST("in the queue of a listener: the next connection is accepted, and what was reset is closed or reported") {
    struct told told = {.accepted = -1};
    int listening = runloop_listen_tcp("127.0.0.1", 0, 0);
    const runloop_listener_config config = {
        .context.info = &told, .descriptor = listening, .owns = true, .accepted = note_accepted};
    runloop_listener *listener = add_listener(&config);
    reset(connect_to(listening));
    int peer = connect_to(listening);
    REQUIRE(write(peer, "x", 1) == 1);
    char byte = 0;
    RUN_UNTIL(MODE, told.accepted >= 0 && read(told.accepted, &byte, 1) == 1);
    EXPECT(byte == 'x' && told.connections <= 2);
    close(peer);
    end(listener, &told);
}

TEST("while it is made: the listening socket is closed with the connection in its queue") {
    make_loop();
    int before = count_descriptors(), listening = runloop_listen_tcp("127.0.0.1", 0, 0);
    struct outcome outcome = {.descriptor = -1};
    runloop_connect *connect = add_connect(
        (runloop_connect_config){.host = "127.0.0.1", .port = (uint16_t)runloop_socket_get_port(listening, false)},
        &outcome);
    // The attempt has begun, and no loop has looked at what comes of it.
    close(listening);
    RUN_UNTIL(MODE, outcome.calls > 0);
    EXPECT_EQ(outcome.error, -ECONNRESET);
    EXPECT(outcome.count == 1 && outcome.failures[0].error == -ECONNRESET);
    end_source(connect);
    EXPECT_EQ(count_descriptors(), before);
}

TEST("before the first byte, and in the midst of a line, whose beginning is delivered with the end") {
    for (int with_bytes = 0; with_bytes < 2; with_bytes++) {
        struct told told;
        int peer = connected_peer(&told);
        runloop_input *input = add_input(&told);
        if (with_bytes) {
            REQUIRE(write(peer, "line\nhalf", 9) == 9);
            RUN_UNTIL(MODE, told.bytes == 4);
        }
        reset(peer);
        RUN_UNTIL(MODE, told.ended != 1);
        EXPECT_EQ(told.ended, -ECONNRESET);
        EXPECT_EQ(told.rest, with_bytes ? 4 : 0);
        end(input, &told);
    }
}

TEST("in a pause, after which it is reported") {
    struct told told;
    int peer = connected_peer(&told);
    runloop_input *input = add_input(&told);
    EXPECT_EQ(runloop_input_pause(input), 0);
    reset(peer);
    for (int i = 0; i < 10; i++)
        run_for(MODE, MS);
    EXPECT_EQ(told.ended, 1);
    EXPECT_EQ(runloop_input_resume(input), 0);
    RUN_UNTIL(MODE, told.ended != 1);
    EXPECT_EQ(told.ended, -ECONNRESET);
    end(input, &told);
}

TEST("between two writes, and after our half was closed") {
    struct told told;
    int peer = connected_peer(&told);
    runloop_output *output = add_output(&told);
    EXPECT_EQ(runloop_output_write(output, "x", 1), 1);
    reset(peer);
    ptrdiff_t result = runloop_output_write(output, "x", 1);
    EXPECT(result == -ECONNRESET || result == -EPIPE);
    EXPECT_EQ(runloop_output_write(output, "x", 1), result);
    end(output, &told);

    peer = connected_peer(&told);
    output = add_output(&told);
    runloop_input *input = add_input(&told);
    EXPECT_EQ(runloop_output_finish(output), 0);
    reset(peer);
    RUN_UNTIL(MODE, told.ended != 1);
    EXPECT_EQ(told.ended, -ECONNRESET);
    end_source(input);
    end(output, &told);
}
