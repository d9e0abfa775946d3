// streams_refused_watches.c — epoll_ctl fails where a stream is watched again: that is reported, or tried again.
// Link with -Wl,--wrap=epoll_ctl.
#include <sys/epoll.h>
#include <sys/socket.h>

#include "linux_items.h"

extern int __real_epoll_ctl(int set, int operation, int descriptor, struct epoll_event *event);

static int failures_left;

int __wrap_epoll_ctl(int set, int operation, int descriptor, struct epoll_event *event) {
    if (failures_left > 0 && operation != EPOLL_CTL_DEL) {
        failures_left--;
        errno = ENOSPC;
        return -1;
    }
    return __real_epoll_ctl(set, operation, descriptor, event);
}

struct reading {
    int calls, ends, error;
    int writes_to;
    bool exits;
    char rest[16];
};

/// A run in the call-out finds the input in use, and so has it watched no more.
static size_t nest(runloop_input *input, const char *bytes, size_t count, void *info) {
    (void)input, (void)bytes, (void)count;
    struct reading *reading = info;
    reading->calls++;
    REQUIRE(write(reading->writes_to, "c", 1) == 1);
    run_for(MODE, 5 * MS);
    failures_left = 1000;
    if (reading->exits)
        pthread_exit(NULL);
    return 1;
}

static void note_end(runloop_input *input, int error, const char *rest, size_t count, void *info) {
    struct reading *reading = info;
    EXPECT(!runloop_source_is_valid(input));
    failures_left = 0;
    reading->ends++;
    reading->error = error;
    memcpy(reading->rest, rest, count);
}

static runloop_input *add_input(int ends[2], struct reading *reading) {
    runloop_input *input = NULL;
    make_pipe(ends);
    reading->writes_to = ends[1];
    const runloop_input_config config = {
        .context.info = reading, .descriptor = ends[0], .owns = true, .limit = 10, .received = nest, .ended = note_end};
    REQUIRE(runloop_input_create(&config, &input) == 0);
    REQUIRE(runloop_add_source(runloop_current(), input, MODE) == 0);
    REQUIRE(write(ends[1], "ab", 2) == 2);
    return input;
}

static void end_input(runloop_input *input, const int ends[2]) {
    end_source(input);
    close(ends[1]);
}

TEST("an input that can't be watched again after a call-out ends, and says why") {
    int ends[2];
    struct reading reading = {0};
    keep_mode(MODE);
    runloop_input *input = add_input(ends, &reading);
    // The nested run has more to read, and may not.
    RUN_UNTIL(MODE, reading.calls == 1);
    RUN_UNTIL(MODE, reading.ends == 1);
    EXPECT_EQ(reading.error, -ENOSPC);
    EXPECT_TEXT(reading.rest, "b");
    EXPECT(!runloop_input_is_paused(input));
    end_input(input, ends);
}

struct shared {
    struct reading reading;
    runloop_input *input;
    int ends[2];
};

static void *read_and_exit(void *info) {
    struct shared *shared = info;
    shared->input = add_input(shared->ends, &shared->reading);
    run_for(MODE, 30 * SECOND);
    return NULL;
}

TEST("so it does if its thread ends in the call-out") {
    struct shared shared = {.reading.exits = true};
    on_new_thread(read_and_exit, &shared);
    failures_left = 0;
    EXPECT_EQ(shared.reading.ends, 1);
    EXPECT_EQ(shared.reading.error, -ENOSPC);
    EXPECT_TEXT(shared.reading.rest, "ab");
    end_input(shared.input, shared.ends);
}

static size_t take_all(runloop_input *input, const char *bytes, size_t count, void *info) {
    (void)input, (void)bytes;
    *(size_t *)info += count;
    return count;
}

TEST("an input that can't be watched after a pause stays paused, and can be resumed later") {
    int ends[2];
    size_t count = 0;
    runloop_input *input = NULL;
    make_pipe(ends);
    const runloop_input_config config = {
        .context.info = &count, .descriptor = ends[0], .owns = true, .limit = 10, .received = take_all};
    REQUIRE(runloop_input_create(&config, &input) == 0);
    REQUIRE(runloop_add_source(runloop_current(), input, MODE) == 0);
    EXPECT_EQ(runloop_input_pause(input), 0);
    poll_mode(MODE);
    REQUIRE(write(ends[1], "text", 4) == 4);
    failures_left = 1000;
    EXPECT_EQ(runloop_input_resume(input), -ENOSPC);
    EXPECT(runloop_input_is_paused(input));
    failures_left = 0;
    poll_mode(MODE);
    EXPECT_EQ(count, 0);
    EXPECT_EQ(runloop_input_resume(input), 0);
    RUN_UNTIL(MODE, count == 4);
    end_input(input, ends);
}

TEST("an output whose descriptor can't be watched has failed, and says so with each call") {
    static char bytes[1 << 20];
    int pair[2];
    runloop_output *output = NULL;
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
    REQUIRE(runloop_output_create(&(runloop_output_config){.descriptor = pair[0], .limit = 100}, &output) == 0);
    REQUIRE(runloop_add_source(runloop_current(), output, MODE) == 0);
    poll_mode(MODE);
    failures_left = 1000;
    EXPECT_EQ(runloop_output_write(output, bytes, sizeof bytes), -ENOSPC);
    failures_left = 0;
    EXPECT_EQ(runloop_output_write(output, bytes, 1), -ENOSPC);
    EXPECT_EQ(runloop_output_get_waiting(output), 0);
    end_source(output);
    close(pair[0]);
    close(pair[1]);
}

static void count_connection(runloop_listener *listener, int descriptor, void *info) {
    (void)listener;
    ++*(int *)info;
    close(descriptor);
}

static void note_pause(runloop_listener *listener, int error, void *info) {
    (void)listener, (void)info;
    // The socket has to be watched again, and can't for a while.
    if (error) {
        give_back_descriptors();
        failures_left = 3;
    }
}

TEST("a listener that can't be watched again after a pause tries that until it can") {
    int descriptor = runloop_listen_abstract(own_name(), 0), connections = 0;
    const runloop_listener_config config = {.context.info = &connections,
                                            .descriptor = descriptor,
                                            .owns = true,
                                            .accepted = count_connection,
                                            .paused = note_pause};
    runloop_listener *listener = add_listener(&config);
    int first = connect_to(descriptor);
    use_up_descriptors(0);
    RUN_UNTIL(MODE, connections == 1);
    RUN_UNTIL(MODE, failures_left == 0);
    int second = connect_to(descriptor);
    RUN_UNTIL(MODE, connections == 2);
    close(first);
    close(second);
    end_source(listener);
}
