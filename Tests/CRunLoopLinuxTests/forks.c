// forks.c — a call-out forks: the child goes on with nothing of its parent's, and changes none of it.
#include "channels.h"

static pid_t child = -1;
static int child_status = -1;
static size_t calls;

/// In each call-out. The first one forks, and the child comes first to what both have.
static void note_call(void) {
    if (++calls > 1)
        return;
    child = fork();
    REQUIRE(child >= 0);
    EXPECT(child == 0 || waitpid(child, &child_status, 0) == child);
}

/// The parent has so many calls, and the child the one in which it was forked.
static void expect_calls(size_t count) {
    int result = 0;
    while (result >= 0 && calls < count)
        result = runloop_run_in_mode(MODE, 60 * SECOND, true);
    if (child == 0)
        _exit(result == -ECHILD && calls == 1 && ends == 0 ? 0 : 1);
    EXPECT_EQ(child_status, 0);
    EXPECT_EQ(calls, count);
}

//===-- a listener ---------------------------------------------------------------------------------------------------===//

static void accept_call(runloop_listener *listener, int descriptor, void *info) {
    (void)listener, (void)info;
    close(descriptor);
    note_call();
}

static runloop_listener *add_listener(const char *name, uint32_t budget) {
    const runloop_listener_config config = {
        .descriptor = runloop_listen_abstract(name, 0), .owns = true, .budget = budget, .accepted = accept_call};
    runloop_listener *listener = NULL;
    REQUIRE(runloop_listener_create(&config, &listener) == 0);
    REQUIRE(runloop_add_source(runloop_current(), listener, MODE) == 0);
    return listener;
}

TEST("R123 a child that is forked for a connection accepts no other one") {
    const char *name = own_name();
    runloop_listener *listener = add_listener(name, 16);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path + 1, name, strlen(name));
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
    for (int i = 0; i < 3; i++) {
        int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        REQUIRE(connect(client, (struct sockaddr *)&address, size) == 0);
        close(client);
    }
    expect_calls(3);
    runloop_source_invalidate(listener);
    runloop_source_release(listener);
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

static void end_input(runloop_input *input) {
    runloop_source_invalidate(input);
    runloop_source_release(input);
}

static void take_line(runloop_input *input, const char *line, size_t count, int error, void *info) {
    (void)input, (void)line, (void)info;
    EXPECT(count == 1 && error == 0);
    note_call();
}

TEST("R123 a child that is forked for a line is told no other one") {
    int ends[2];
    make_pipe(ends);
    runloop_input *input = add_input((runloop_input_config){.descriptor = ends[0], .received_line = take_line});
    EXPECT_EQ(write(ends[1], "a\nb\nc\n", 6), 6);
    expect_calls(3);
    end_input(input);
    close(ends[1]);
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
    end_input(input);
    close(ends[1]);
}

//===-- channels -----------------------------------------------------------------------------------------------------===//

static void note_reply(const runloop_reply *reply, int *descriptors, size_t count, void *info) {
    (void)descriptors, (void)count, (void)info;
    EXPECT_EQ(reply->result, -EPIPE);
    note_call();
}

TEST("R123 a child that is forked when a request has failed with its channel is told neither of another one nor of the "
     "end") {
    int sockets[2];
    make_sockets(sockets);
    runloop_channel *channel = add_channel_with(sockets[0], (runloop_channel_config){0});
    const runloop_channel_request_config request = {.replied = note_reply};
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(runloop_channel_request(channel, "q", 1, NULL, 0, &request, NULL), 0);
    close(sockets[1]);
    expect_calls(2);
    EXPECT_EQ(ends, 1);
    end_channel(channel);
}

//===-- what is told once, or by several objects -----------------------------------------------------------------------===//

/// Two objects have something to tell: the parent is told by both, and the child, which is forked when the first one is, by that alone.
static void expect_both(runloop_source *first, runloop_source *second) {
    REQUIRE(runloop_add_source(runloop_current(), first, MODE) == 0);
    REQUIRE(runloop_add_source(runloop_current(), second, MODE) == 0);
    expect_calls(2);
    end_input(first);
    end_input(second);
}

static void note_signal(runloop_signal *signal, const runloop_signal_arrival *arrival, void *info) {
    (void)signal, (void)arrival, (void)info;
    note_call();
}

TEST("R123 a child that is forked for a signal is told of it by no other object") {
    const runloop_signal_config config = {.number = SIGUSR1, .receive = note_signal};
    runloop_signal *signals[2];
    for (int i = 0; i < 2; i++)
        REQUIRE(runloop_signal_create(&config, &signals[i]) == 0);
    raise(SIGUSR1);
    expect_both(signals[0], signals[1]);
}

static void note_exit(runloop_child *ended, const runloop_child_exit *exit, void *info) {
    (void)ended, (void)info;
    EXPECT(exit->end == RUNLOOP_CHILD_EXITED && exit->status == 0);
    note_call();
}

TEST("R123 a child that is forked for the end of another one is told of none of its parent's") {
    runloop_child *children[2];
    for (int i = 0; i < 2; i++) {
        pid_t pid = fork();
        REQUIRE(pid >= 0);
        if (pid == 0)
            _exit(0);
        const runloop_child_config config = {.pid = pid, .reaps = true, .exited = note_exit};
        REQUIRE(runloop_child_create(&config, &children[i]) == 0);
    }
    expect_both(children[0], children[1]);
}

static void note_end_of_mode(runloop_source *source, runloop *loop, const char *mode, void *info) {
    (void)source, (void)loop, (void)mode, (void)info;
    note_call();
}

TEST("R123 a child that is forked when an ended one leaves its mode is not told of the end") {
    pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0)
        _exit(0);
    const runloop_child_config config = {.pid = pid, .reaps = true, .exited = note_exit, .cancel = note_end_of_mode};
    runloop_child *ended;
    REQUIRE(runloop_child_create(&config, &ended) == 0);
    REQUIRE(runloop_add_source(runloop_current(), ended, MODE) == 0);
    expect_calls(2);
    runloop_source_release(ended);
}

static void note_changes(runloop_watch *watch, const runloop_change *changes, size_t count, void *info) {
    (void)watch, (void)changes, (void)info;
    EXPECT(count > 0);
    note_call();
}

TEST("R123 a child that is forked for a change of a file is told of it by no other watch") {
    char path[] = "/tmp/runloop-forks-XXXXXX";
    int file = mkstemp(path);
    REQUIRE(file >= 0);
    const runloop_watch_config config = {.path = path, .changed = note_changes};
    runloop_watch *watches[2];
    need_proc();
    for (int i = 0; i < 2; i++)
        REQUIRE(runloop_watch_create(&config, &watches[i]) == 0);
    REQUIRE(write(file, "x", 1) == 1);
    expect_both(watches[0], watches[1]);
    close(file);
    unlink(path);
}

static void note_connection(runloop_connect *connect, int descriptor, int error, void *info) {
    (void)connect, (void)info;
    EXPECT(descriptor >= 0 && error == 0);
    close(descriptor);
    note_call();
}

TEST("R123 a child that is forked for a connection that was made gets no other one") {
    int listening = runloop_listen_abstract(own_name(), 0);
    REQUIRE(listening >= 0);
    const runloop_connect_config config = {.abstract_name = own_name(), .connected = note_connection};
    runloop_connect *connects[2];
    for (int i = 0; i < 2; i++)
        REQUIRE(runloop_connect_create(&config, &connects[i]) == 0);
    expect_both(connects[0], connects[1]);
    close(listening);
}

static void note_drain(runloop_output *output, int error, void *info) {
    (void)output, (void)info;
    EXPECT_EQ(error, 0);
    note_call();
}

TEST("R123 a child that is forked when output was sent is told of no other one") {
    runloop_output *outputs[2];
    int pipes[2][2];
    for (int i = 0; i < 2; i++) {
        REQUIRE(pipe2(pipes[i], O_CLOEXEC | O_NONBLOCK) == 0);
        const runloop_output_config config = {
            .descriptor = pipes[i][1], .owns = true, .limit = 10, .drained = note_drain};
        REQUIRE(runloop_output_create(&config, &outputs[i]) == 0);
        REQUIRE(runloop_output_enqueue(outputs[i], "text", 4) == 0);
    }
    expect_both(outputs[0], outputs[1]);
    // Each was sent once, by the parent.
    for (int i = 0; i < 2; i++) {
        char bytes[10];
        EXPECT_EQ(read(pipes[i][0], bytes, sizeof bytes), 4);
        close(pipes[i][0]);
    }
}

/// The removal forks, and what was drained is another call.
static void note_removal(runloop_output *output, runloop *loop, const char *mode, void *info) {
    (void)output, (void)loop, (void)mode, (void)info;
    note_call();
}

TEST("R123 a child that is forked when an output that has ended leaves its mode is not told that all was sent") {
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
    end_input(output);
    close(pipe[0]);
}

static void note_input_end(runloop_input *input, int error, const char *rest, size_t count, void *info) {
    (void)input, (void)rest, (void)count, (void)info;
    EXPECT_EQ(error, 0);
    note_call();
}

static size_t take_all(runloop_input *input, const char *bytes, size_t count, void *info) {
    (void)input, (void)bytes, (void)info;
    return count;
}

TEST("R123 a child that is forked at the end of an input is told of no other one") {
    runloop_input *inputs[2];
    for (int i = 0; i < 2; i++) {
        int pipe[2];
        REQUIRE(pipe2(pipe, O_CLOEXEC) == 0);
        close(pipe[1]);
        const runloop_input_config config = {
            .descriptor = pipe[0], .owns = true, .limit = 10, .received = take_all, .ended = note_input_end};
        REQUIRE(runloop_input_create(&config, &inputs[i]) == 0);
    }
    expect_both(inputs[0], inputs[1]);
}

static void note_pause(runloop_listener *listener, int error, void *info) {
    (void)listener, (void)info;
    EXPECT_EQ(error, -EINVAL);
    note_call();
}

TEST("R123 a child that is forked when a listening socket has failed is told of no other one") {
    runloop_listener *listeners[2];
    for (int i = 0; i < 2; i++) {
        int listening = runloop_listen_tcp("127.0.0.1", 0, 0);
        REQUIRE(listening >= 0);
        const runloop_listener_config config = {
            .descriptor = listening, .owns = true, .accepted = accept_call, .paused = note_pause};
        REQUIRE(runloop_listener_create(&config, &listeners[i]) == 0);
        shutdown(listening, SHUT_RDWR);
    }
    expect_both(listeners[0], listeners[1]);
}
