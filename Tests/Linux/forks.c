// forks.c — a call-out forks: the child goes on with nothing of its parent's, and changes none of it. What is reported once: callouts.c.
#include "callouts.h"
#include "channels.h"

/// In each call-out. The first one forks.
static void note_call(void) {
    action = FORK;
    act(NULL);
}

/// The parent has so many calls, and the child the one in which it was forked.
static void expect_calls(int count) {
    run_through(count);
    EXPECT_EQ(child_status, 0);
    EXPECT_EQ(calls, count);
}

//===-- a listener ---------------------------------------------------------------------------------------------------===//

static void accept_call(runloop_listener *listener, int descriptor, void *info) {
    (void)listener, (void)info;
    close(descriptor);
    note_call();
}

TEST("R123 a child that is forked for a connection accepts no other one") {
    const runloop_listener_config config = {
        .descriptor = runloop_listen_abstract(own_name(), 0), .owns = true, .budget = 16, .accepted = accept_call};
    runloop_listener *listener = add_listener(&config);
    for (int i = 0; i < 3; i++)
        close(connect_to(config.descriptor));
    expect_calls(3);
    end_source(listener);
}

//===-- inputs -------------------------------------------------------------------------------------------------------===//

static runloop_input *add_input(runloop_input_config config) {
    config.loop = runloop_current();
    config.limit = 100;
    config.owns = true;
    runloop_input *input = NULL;
    REQUIRE(runloop_input_create(&config, &input) == 0);
    REQUIRE(runloop_add_source(config.loop, input, MODE) == 0);
    return input;
}

static void take_line(runloop_input *input, const char *line, size_t count, int error, void *info) {
    (void)input, (void)line, (void)info;
    EXPECT(count == 1 && error == 0);
    note_call();
}

TEST("R123 a child that is forked for a line is called for no other one") {
    int ends[2];
    make_pipe(ends);
    runloop_input *input = add_input((runloop_input_config){.descriptor = ends[0], .received_line = take_line});
    EXPECT_EQ(write(ends[1], "a\nb\nc\n", 6), 6);
    expect_calls(3);
    end_source(input);
}

static int gate[2];

/// When the parent's call-out has long returned, the child's returns, and the child ends.
static void let_child_return(void *unused) {
    (void)unused;
    EXPECT_EQ(write(gate[1], "", 1), 1);
    EXPECT_EQ(waitpid(child, &child_status, 0), child);
}

/// Keeps what there is, and asks for it again.
static size_t keep_bytes(runloop_input *input, const char *bytes, size_t count, void *info) {
    (void)bytes, (void)info;
    calls++;
    if (calls == 2) {
        child = fork();
        REQUIRE(child >= 0);
        char byte;
        if (child == 0)
            REQUIRE(read(gate[0], &byte, 1) == 1);
        else
            EXPECT_EQ(runloop_perform(runloop_current(), MODE, let_child_return, NULL, NULL), 0);
    }
    if (calls < 3 && child != 0)
        EXPECT_EQ(runloop_input_resume(input), 0);
    return calls < 3 ? 0 : count;
}

TEST("R123 a child that returns from the call of an input leaves what its parent waits for as it is") {
    int ends[2];
    make_pipe(ends);
    REQUIRE(pipe(gate) == 0);
    runloop_input *input = add_input((runloop_input_config){.descriptor = ends[0], .received = keep_bytes});
    EXPECT_EQ(write(ends[1], "kept", 4), 4);
    int result = 0;
    while (result >= 0 && calls < 3)
        result = runloop_run_in_mode(MODE, 60 * SECOND, true);
    if (child == 0)
        _exit(result == -ECHILD && calls == 2 ? 0 : 1);
    EXPECT_EQ(child_status, 0);
    EXPECT_EQ(calls, 3);
    end_source(input);
}

//===-- channels -----------------------------------------------------------------------------------------------------===//

static void note_reply(const runloop_reply *reply, int *descriptors, size_t count, void *info) {
    (void)descriptors, (void)count, (void)info;
    EXPECT_EQ(reply->result, -EPIPE);
    note_call();
}

static void note_end_of_parents(runloop_channel *channel, int32_t reason, void *info) {
    EXPECT(child != 0);
    note_end(channel, reason, info);
}

TEST("R123 a child that is forked when a request has failed with its channel is called neither for another one nor for "
     "the "
     "end") {
    int sockets[2];
    make_sockets(sockets);
    runloop_channel *channel = add_channel(sockets[0], &(runloop_channel_config){.ended = note_end_of_parents});
    const runloop_channel_request_config request = {.replied = note_reply};
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(runloop_channel_request(channel, "q", 1, NULL, 0, &request, NULL), 0);
    close(sockets[1]);
    expect_calls(2);
    EXPECT_EQ(ends, 1);
    end_channel(channel);
}

//===-- when an object that has ended leaves its mode ------------------------------------------------------------------===//

static void note_exit(runloop_child *ended, const runloop_child_exit *exit, void *info) {
    (void)ended, (void)info;
    EXPECT(exit->end == RUNLOOP_CHILD_EXITED && exit->status == 0);
    note_call();
}

static void note_end_of_mode(runloop_source *source, runloop *loop, const char *mode, void *info) {
    (void)source, (void)loop, (void)mode, (void)info;
    note_call();
}

TEST("R123 a child that is forked when an ended one leaves its mode is not called for the end") {
    const runloop_child_config config = {
        .pid = fork_child_that_exits(0), .reaps = true, .exited = note_exit, .cancel = note_end_of_mode};
    runloop_child *ended;
    REQUIRE(runloop_child_create(&config, &ended) == 0);
    REQUIRE(runloop_add_source(runloop_current(), ended, MODE) == 0);
    expect_calls(2);
    runloop_source_release(ended);
}

static void note_connected(runloop_connect *connect, int descriptor, int error, void *info) {
    (void)connect, (void)info;
    EXPECT_EQ(error, 0);
    close(descriptor);
    note_call();
}

TEST("R123 a child that is forked when a connect that has ended leaves its mode is not called for the outcome") {
    int listening = runloop_listen_abstract(own_name(), 1);
    REQUIRE(listening >= 0);
    const runloop_connect_config config = {
        .abstract_name = own_name(), .connected = note_connected, .cancel = note_end_of_mode};
    runloop_connect *connect;
    REQUIRE(runloop_connect_create(&config, &connect) == 0);
    REQUIRE(runloop_add_source(runloop_current(), connect, MODE) == 0);
    expect_calls(2);
    runloop_source_release(connect);
    close(listening);
}

static void note_drain(runloop_output *output, int error, void *info) {
    (void)output, (void)info;
    EXPECT_EQ(error, 0);
    note_call();
}

/// The removal forks, and what was drained is another call.
static void note_removal(runloop_output *output, runloop *loop, const char *mode, void *info) {
    (void)output, (void)loop, (void)mode, (void)info;
    note_call();
}

TEST("R123 a child that is forked when an output that has ended leaves its mode is not called for the last byte that "
     "was sent") {
    int pipe[2];
    REQUIRE(pipe2(pipe, O_CLOEXEC | O_NONBLOCK) == 0);
    const runloop_output_config config = {
        .descriptor = pipe[1], .owns = true, .limit = 10, .drained = note_drain, .cancel = note_removal};
    runloop_output *output = NULL;
    REQUIRE(runloop_output_create(&config, &output) == 0);
    REQUIRE(runloop_add_source(runloop_current(), output, MODE) == 0);
    REQUIRE(runloop_output_enqueue(output, "text", 4) == 0);
    EXPECT_EQ(runloop_output_finish(output), -EAGAIN);
    expect_calls(2);
    end_source(output);
}
