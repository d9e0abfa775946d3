// creations_no_memory.c — signals, children, streams and counters for which there is no memory, or no descriptor, are not made.
#include <sys/socket.h>

#include "failing_memory.h"

static int create_signal(void) {
    runloop_signal *signal = NULL;
    int result = runloop_signal_create(&(runloop_signal_config){.number = SIGUSR1}, &signal);
    runloop_source_invalidate(signal);
    runloop_source_release(signal);
    EXPECT(action_of(SIGUSR1).sa_handler == SIG_DFL);
    return result;
}

TEST("a signal") {
    expect_failures_without_traces(create_signal);
}

TEST("a signal, on a thread that is to be cancelled, which keeps nobody from making others") {
    expect_failures_of_cancelled_threads(create_signal);
}

static int create_child(void) {
    runloop_child *child = NULL;
    int result = runloop_child_create(&(runloop_child_config){.pid = getpid()}, &child);
    runloop_source_release(child);
    return result;
}

TEST("a child") {
    expect_failures_without_traces(create_child);
}

static int start_child(void) {
    runloop_child *child = NULL;
    int input = -1;
    const runloop_child_descriptor descriptor = {.number = 0, .kind = RUNLOOP_CHILD_INPUT_PIPE, .parent_end = &input};
    const runloop_child_start_config config = {
        .arguments = (const char *const[]){"/bin/cat", NULL}, .descriptors = &descriptor, .descriptor_count = 1};
    int result = runloop_child_start(&config, &child);
    if (result == -ENOSYS && getenv("EMULATOR"))
        LEAVE_OUT("The emulator does not know CLONE_PIDFD.");
    EXPECT_EQ(input >= 0, result == 0);
    if (result == 0)
        close(input);
    runloop_source_release(child);
    EXPECT(waitpid(-1, NULL, 0) > 0 || result < 0);
    return result;
}

TEST("a child that is started, and is not without memory") {
    expect_failures_without_traces(start_child);
}

static int discarded;

static void no_work(void *info) {
    (void)info;
}

static void note_discard(void *info) {
    (void)info;
    discarded++;
}

static int create_shutdown(void) {
    const int32_t numbers[] = {SIGTERM, SIGHUP};
    runloop_shutdown *shutdown = NULL;
    // Under nohup, say, SIGHUP is ignored.
    struct sigaction terminate = action_of(SIGTERM), hang_up = action_of(SIGHUP);
    int result = runloop_shutdown_create(
        &(runloop_shutdown_config){.numbers = numbers, .count = 2, .limit_ns = RUNLOOP_FOREVER}, &shutdown);
    int worked = result;
    discarded = 0;
    if (result == 0)
        worked = runloop_shutdown_add_work(shutdown, 0, no_work, NULL, note_discard);
    runloop_source_invalidate(shutdown);
    runloop_source_release(shutdown);
    EXPECT_EQ(discarded, worked == 0);
    EXPECT(action_of(SIGTERM).sa_handler == terminate.sa_handler);
    EXPECT(action_of(SIGHUP).sa_handler == hang_up.sa_handler);
    return worked;
}

TEST("a shutdown and its work") {
    expect_failures_without_traces(create_shutdown);
}

static int create_counter(void) {
    runloop_counter *counter = NULL;
    int result = runloop_counter_create(&(runloop_counter_config){0}, &counter);
    runloop_source_release(counter);
    return result;
}

TEST("a counter") {
    expect_failures_without_traces(create_counter);
}

static void accept_none(runloop_listener *listener, int descriptor, void *info) {
    (void)listener, (void)info;
    close(descriptor);
}

/// What a stream is made of, open before its memory or its descriptors fail.
static int subject;

static int create_listener(void) {
    runloop_listener *listener = NULL;
    const runloop_listener_config config = {.descriptor = subject, .accepted = accept_none, .refused = accept_none};
    int result = runloop_listener_create(&config, &listener);
    runloop_source_release(listener);
    return result;
}

TEST("a listener, which leaves its socket to the caller") {
    subject = runloop_listen_abstract(own_name(), 0);
    expect_failures_without_traces(create_listener);
    EXPECT(fcntl(subject, F_GETFD) >= 0);
}

static void take_line(runloop_input *input, const char *line, size_t count, int error, void *info) {
    (void)input, (void)line, (void)count, (void)error, (void)info;
}

static int create_input(void) {
    runloop_input *input = NULL;
    const runloop_input_config config = {
        .descriptor = subject, .limit = 100, .received_line = take_line, .idle_ns = SECOND};
    int result = runloop_input_create(&config, &input);
    runloop_source_release(input);
    return result;
}

TEST("an input, of a pipe and of a file") {
    int ends[2];
    make_pipe(ends);
    subject = ends[0];
    expect_memory_failures_without_traces(create_input);
    subject = open("/dev/null", O_RDONLY | O_CLOEXEC);
    expect_failures_without_traces(create_input);
}

static int create_output(void) {
    runloop_output *output = NULL;
    int result = runloop_output_create(&(runloop_output_config){.descriptor = subject, .limit = 100}, &output);
    runloop_source_release(output);
    return result;
}

TEST("an output of a pipe") {
    int ends[2];
    make_pipe(ends);
    subject = ends[1];
    expect_memory_failures_without_traces(create_output);
}

TEST("an output that finds no memory takes nothing, and takes it when there is some") {
    int ends[2];
    char text[8192], read_back[sizeof text];
    memset(text, 'x', sizeof text);
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    runloop_output *output = NULL;
    REQUIRE(runloop_output_create(&(runloop_output_config){.descriptor = ends[0], .owns = true, .limit = sizeof text},
                                  &output) == 0);
    REQUIRE(runloop_add_source(runloop_current(), output, MODE) == 0);
    failing = 1;
    EXPECT_EQ(runloop_output_enqueue(output, text, sizeof text), -ENOMEM);
    EXPECT_EQ(runloop_output_get_waiting(output), 0);
    EXPECT_EQ(runloop_output_enqueue(output, text, sizeof text), 0);
    RUN_UNTIL(MODE, runloop_output_get_waiting(output) == 0);
    EXPECT_EQ(recv(ends[1], read_back, sizeof read_back, MSG_WAITALL), (ssize_t)sizeof text);
    EXPECT_EQ(memcmp(text, read_back, sizeof text), 0);
    runloop_source_invalidate(output);
    runloop_source_release(output);
    close(ends[1]);
}

static void count_drain(runloop_output *output, int error, void *info) {
    (void)output;
    EXPECT_EQ(error, 0);
    ++*(int *)info;
}

TEST("an output that finds no memory for what the kernel does not take tells when to go on") {
    static char much[1 << 20], read_back[1 << 16];
    int ends[2], drains = 0;
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
    const runloop_output_config config = {
        .context.info = &drains, .descriptor = ends[0], .owns = true, .limit = sizeof much, .drained = count_drain};
    runloop_output *output = NULL;
    REQUIRE(runloop_output_create(&config, &output) == 0);
    REQUIRE(runloop_add_source(runloop_current(), output, MODE) == 0);
    failing = 1;
    ptrdiff_t sent = runloop_output_write(output, much, sizeof much);
    failing = 0;
    EXPECT(sent > 0 && sent < (ptrdiff_t)sizeof much);
    EXPECT_EQ(runloop_output_get_waiting(output), 0);
    while (recv(ends[1], read_back, sizeof read_back, 0) > 0)
        continue;
    RUN_UNTIL(MODE, drains == 1);
    EXPECT_EQ(runloop_output_write(output, "more", 4), 4);
    EXPECT_EQ(drains, 1);
    runloop_source_invalidate(output);
    runloop_source_release(output);
    close(ends[1]);
}
