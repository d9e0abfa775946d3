// kinds.c — objects are sources: one that is of another kind is refused, and runloop_source_invalidate is the end of each.
#include "linux_items.h"

static runloop_source *make_plain(void) {
    const runloop_descriptor_config config = {.descriptor = -1, .events = RUNLOOP_READABLE};
    runloop_source *source = NULL;
    REQUIRE(runloop_descriptor_source_create(&config, &source) == 0);
    return source;
}

static runloop_counter *make_empty_counter(void) {
    const runloop_counter_config config = {0};
    runloop_counter *counter = NULL;
    REQUIRE(runloop_counter_create(&config, &counter) == 0);
    return counter;
}

/// Calls the functions of each kind with a source of none of these kinds.
static void expect_refused(runloop_source *other) {
    runloop_peer peer;
    runloop_child_exit exit;
    const runloop_child_step step = {.signal = SIGTERM};
    EXPECT_EQ(runloop_alarm_set_date(other, 0), -EINVAL);
    EXPECT_EQ(runloop_alarm_get_date(other), RUNLOOP_NEVER);
    EXPECT_EQ(runloop_alarm_get_clock(other), RUNLOOP_CLOCK_WALL);
    EXPECT_EQ(runloop_alarm_get_interval(other), 0);
    EXPECT_EQ(runloop_channel_get_peer(other, &peer), -EINVAL);
    EXPECT_EQ(runloop_channel_send(other, "", 0, NULL, 0), -EINVAL);
    EXPECT_EQ(runloop_channel_cancel(other, 1), -EINVAL);
    EXPECT_EQ(runloop_channel_hold_message(other), -EINVAL);
    EXPECT_EQ(runloop_channel_release_message(other), -EINVAL);
    EXPECT_EQ(runloop_child_get_pid(other), 0);
    EXPECT_EQ(runloop_child_get_exit(other, &exit), -EINVAL);
    EXPECT_EQ(runloop_child_send_signal(other, SIGTERM), -EINVAL);
    EXPECT_EQ(runloop_child_end_by(other, &step, 1, false), -EINVAL);
    EXPECT_EQ(runloop_connect_get_failures(other, NULL, 0), 0);
    EXPECT(runloop_connect_get_name_error(other) == NULL);
    EXPECT_EQ(runloop_input_pause(other), -EINVAL);
    EXPECT_EQ(runloop_input_resume(other), -EINVAL);
    EXPECT_EQ(runloop_input_set_deadline(other, 1), -EINVAL);
    EXPECT(!runloop_input_is_paused(other));
    EXPECT_EQ(runloop_input_get_moved_ns(other), RUNLOOP_NEVER);
    EXPECT_EQ(runloop_output_write(other, "a", 1), -EINVAL);
    EXPECT_EQ(runloop_output_enqueue(other, "a", 1), -EINVAL);
    EXPECT_EQ(runloop_output_flush(other), -EINVAL);
    EXPECT_EQ(runloop_output_finish(other), -EINVAL);
    EXPECT_EQ(runloop_output_set_deadline(other, 1), -EINVAL);
    EXPECT_EQ(runloop_shutdown_add_work(other, 0, free, NULL, NULL), -EINVAL);
    EXPECT_EQ(runloop_signal_get_number(other), 0);
    EXPECT(!runloop_signal_is_caught(other));
    EXPECT(runloop_watch_get_path(other) == NULL);
}

TEST("a source of another kind is refused as NULL is") {
    runloop_source *plain = make_plain();
    runloop_counter *counter = make_empty_counter();
    expect_refused(plain);
    expect_refused(counter);
    expect_refused(NULL);
    EXPECT_EQ(runloop_counter_add(plain, 1), -EINVAL);
    EXPECT_EQ(runloop_counter_add(NULL, 1), -EINVAL);
    EXPECT_EQ(runloop_counter_add(counter, 1), 0);
    runloop_source_release(counter);
    runloop_source_release(plain);
}

static size_t take_all(runloop_input *input, const char *bytes, size_t count, void *info) {
    (void)input, (void)bytes, (void)info;
    return count;
}

static bool is_open(int descriptor) {
    return fcntl(descriptor, F_GETFD) >= 0;
}

TEST("invalidating an input or an output closes the descriptor that it owns, and no other") {
    for (int owns = 0; owns < 2; owns++) {
        int ends[2];
        REQUIRE(pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
        const runloop_input_config reading = {.descriptor = ends[0], .owns = owns, .limit = 100, .received = take_all};
        const runloop_output_config writing = {.descriptor = ends[1], .owns = owns, .limit = 100};
        runloop_input *input = NULL;
        runloop_output *output = NULL;
        REQUIRE(runloop_input_create(&reading, &input) == 0 && runloop_output_create(&writing, &output) == 0);
        runloop_source_invalidate(input);
        runloop_source_invalidate(output);
        EXPECT_EQ(is_open(ends[0]), !owns);
        EXPECT_EQ(is_open(ends[1]), !owns);
        EXPECT_EQ(runloop_output_write(output, "a", 1), -EINVAL);
        runloop_source_release(input);
        runloop_source_release(output);
        for (int i = 0; i < 2 && !owns; i++)
            close(ends[i]);
    }
}

static char *name_of(void *info) {
    return strdup(info);
}

TEST("the description of a loop has what the context of an object says of it") {
    const runloop_counter_config config = {.context = {.info = "the counter of this test", .describe = name_of}};
    runloop_counter *counter = NULL;
    REQUIRE(runloop_counter_create(&config, &counter) == 0);
    REQUIRE(runloop_add_source(runloop_current(), counter, MODE) == 0);
    char *description = runloop_copy_description(runloop_current());
    REQUIRE(description);
    EXPECT(strstr(description, "the counter of this test"));
    free(description);
    end_source(counter);
}

static void accepted(runloop_listener *listener, int descriptor, void *info) {
    (void)listener, (void)info;
    close(descriptor);
}

static void trace_cancel(runloop_source *source, runloop *loop, const char *mode, void *info) {
    EXPECT(runloop_is_current(loop) && strcmp(mode, MODE) == 0);
    EXPECT(runloop_signal_get_number(source) == 0);
    trace(info);
}

static void *leave_loop(void *object) {
    REQUIRE(runloop_add_source(runloop_current(), object, MODE) == 0);
    return NULL;
}

/// Added to the loop of a thread that ends, and to this one's until it is invalidated.
static void expect_cancelled(runloop_source *object) {
    on_new_thread(leave_loop, object);
    leave_loop(object);
    trace("|");
    end_source(object);
}

TEST("a child, an output, a listener and a channel report that they leave a loop, with the client's info") {
    int ends[2], sockets[2];
    REQUIRE(pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
    REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) == 0);
    pid_t pid = fork_child_that_exits(0);
    runloop_source *object = NULL;
    const runloop_child_config child = {.context.info = "child", .pid = pid, .reaps = true, .cancel = trace_cancel};
    REQUIRE(runloop_child_create(&child, &object) == 0);
    expect_cancelled(object);
    const runloop_output_config output = {
        .context.info = "output", .descriptor = ends[1], .limit = 10, .owns = true, .cancel = trace_cancel};
    REQUIRE(runloop_output_create(&output, &object) == 0);
    expect_cancelled(object);
    const runloop_channel_config channel = {.context.info = "channel", .cancel = trace_cancel};
    REQUIRE(runloop_channel_create(sockets[0], &channel, &object) == 0);
    expect_cancelled(object);
    int socket = runloop_listen_abstract(own_name(), 1);
    const runloop_listener_config listener = {
        .context.info = "listener", .descriptor = socket, .owns = true, .accepted = accepted, .cancel = trace_cancel};
    REQUIRE(socket >= 0 && runloop_listener_create(&listener, &object) == 0);
    expect_cancelled(object);
    EXPECT_TRACE("child | child output | output channel | channel listener | listener");
    EXPECT_EQ(waitpid(pid, NULL, 0), pid);
}
