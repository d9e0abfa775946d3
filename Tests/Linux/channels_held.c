// channels_held.c — back-pressure of channels: messages that are held, and when messages that waited were sent.
#include "channels.h"

/// The two ends of one.
static runloop_channel *channels[2];

static void hold_received(runloop_channel *channel, runloop_channel_message *message, void *info) {
    note_received(channel, message, info);
    if (!message->call)
        EXPECT_EQ(runloop_channel_hold_message(channel), 0);
}

/// The first sends, and the second, with the limit, holds what it receives.
static void make_holding(runloop_channel *channels[2], size_t max_calls) {
    int sockets[2];
    make_sockets(sockets);
    channels[0] = add_channel_with(sockets[0], (runloop_channel_config){0});
    channels[1] = add_channel(
        sockets[1], &(runloop_channel_config){.max_calls = max_calls, .receive = hold_received, .ended = note_end});
}

/// So many are received, and for a while no more.
static void expect_received(size_t count) {
    RUN_UNTIL(MODE, received_count == count);
    EXPECT_EQ(run_for(MODE, 5 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(received_count, count);
}

TEST("messages that are held are received up to the limit, and more when they are released") {
    make_holding(channels, 2);
    for (int i = 0; i < 5; i++)
        EXPECT_EQ(tell(channels[0], "m"), 0);
    for (size_t most = 2; most <= 5; most++) {
        expect_received(most);
        EXPECT_EQ(runloop_channel_release_message(channels[1]), 0);
    }
    EXPECT_EQ(runloop_channel_release_message(channels[1]), 0);
    EXPECT_EQ(runloop_channel_release_message(channels[1]), -EINVAL);
    end_channels(channels);
}

TEST("messages that are held and requests that are not answered have one limit") {
    make_holding(channels, 2);
    keeps_calls = true;
    struct outcome outcome = {0};
    EXPECT_EQ(request(channels[0], "q", 0, &outcome), 0);
    EXPECT_EQ(tell(channels[0], "m"), 0);
    EXPECT_EQ(tell(channels[0], "m"), 0);
    expect_received(2);
    runloop_call_release(kept_call);
    RUN_UNTIL(MODE, received_count == 3 && outcome.replies == 1);
    end_channels(channels);
}

TEST("who awaits a reply goes on receiving until it has come") {
    make_holding(channels, 2);
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(tell(channels[0], "m"), 0);
    RUN_UNTIL(MODE, received_count == 2);
    struct outcome outcome = {0};
    EXPECT_EQ(request(channels[1], "q", 0, &outcome), 0);
    // Behind the third message.
    RUN_UNTIL(MODE, outcome.replies == 1);
    size_t requests = 1;
    EXPECT_EQ(received_count, 3 + requests);
    keeps_calls = true;
    EXPECT_EQ(request(channels[1], "q", 0, &outcome), 0);
    for (int i = 0; i < 5; i++)
        EXPECT_EQ(tell(channels[0], "m"), 0);
    requests++;
    expect_received(8 + requests);
    // Which answers it.
    runloop_call_release(kept_call);
    RUN_UNTIL(MODE, outcome.replies == 2);
    EXPECT_EQ(tell(channels[0], "m"), 0);
    expect_received(8 + requests);
    end_channels(channels);
}

TEST("who awaits a reply receives all that the socket and the sender's queue held before it") {
    int sockets[2];
    make_sockets(sockets);
    channels[0] = add_channel_with(sockets[0], (runloop_channel_config){0});
    size_t sent = 0;
    while (tell(channels[0], "m") == 0)
        sent++;
    channels[1] =
        add_channel(sockets[1], &(runloop_channel_config){.max_calls = 2, .receive = hold_received, .ended = note_end});
    expect_received(2);
    struct outcome outcome = {0};
    EXPECT_EQ(request(channels[1], "q", 0, &outcome), 0);
    RUN_UNTIL(MODE, outcome.replies == 1);
    EXPECT_EQ(received_count, sent + 1);
    end_channels(channels);
}

TEST("the end of the other side is noticed although all messages that are allowed are held") {
    make_holding(channels, 1);
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(tell(channels[0], "m"), 0);
    end_channel(channels[0]);
    RUN_UNTIL(MODE, ends == 1);
    EXPECT_EQ(received_count, 3);
    EXPECT_EQ(runloop_channel_hold_message(channels[1]), -EPIPE);
    EXPECT_EQ(runloop_channel_release_message(channels[1]), 0);
    end_channel(channels[1]);
}

/// What was received, and the messages of `make_waiting` and the socket that they are sent to.
static struct {
    int count, error, ends_before;
    size_t sent;
    int socket;
} drain;

static void note_drained(runloop_channel *channel, int error, void *info) {
    (void)channel, (void)info;
    drain.count++;
    drain.error = error;
    drain.ends_before = ends;
}

/// A channel with messages that wait, as many as it takes.
static runloop_channel *make_waiting(void) {
    static char bytes[30000];
    int sockets[2];
    make_sockets(sockets);
    drain.socket = sockets[1];
    const runloop_channel_config config = {.max_messages = 8, .ended = note_end, .drained = note_drained};
    runloop_channel *channel = add_channel(sockets[0], &config);
    int result;
    while ((result = runloop_channel_send(channel, bytes, sizeof bytes, NULL, 0)) == 0)
        drain.sent++;
    EXPECT_EQ(result, -EAGAIN);
    return channel;
}

TEST("when all messages that had waited were sent, the owner is notified once, and there is space") {
    runloop_channel *channel = make_waiting();
    EXPECT_EQ(run_for(MODE, 5 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(drain.count, 0);
    runloop_channel *receiver = add_channel_with(drain.socket, (runloop_channel_config){0});
    RUN_UNTIL(MODE, received_count == drain.sent);
    EXPECT(drain.count == 1 && drain.error == 0);
    EXPECT_EQ(tell(channel, "more"), 0);
    RUN_UNTIL(MODE, received_count == drain.sent + 1);
    EXPECT_EQ(drain.count, 1);
    end_channel(channel);
    end_channel(receiver);
}

TEST("messages that wait when the other end goes can't be sent, which is notified before the end") {
    runloop_channel *channel = make_waiting();
    close(drain.socket);
    RUN_UNTIL(MODE, ends == 1);
    EXPECT(drain.count == 1 && drain.error == -EPIPE && drain.ends_before == 0);
    end_channel(channel);
}

TEST("a channel that is ended while messages wait is not called for them any more") {
    runloop_channel *channel = make_waiting();
    runloop_source_invalidate(channel);
    EXPECT_EQ(run_for(MODE, 5 * MS), RUNLOOP_RESULT_FINISHED);
    EXPECT_EQ(drain.count, 0);
    runloop_source_release(channel);
}

static pid_t child = -1;
static int child_status = -1;

static void fork_now(runloop_channel *channel, int error, void *info) {
    (void)channel, (void)info;
    EXPECT_EQ(error, 0);
    child = fork();
    // The child comes first to what both have.
    EXPECT(child == 0 || waitpid(child, &child_status, 0) == child);
}

TEST("R123 a child that is forked when messages were sent receives none of its parent's") {
    int sockets[2];
    make_sockets(sockets);
    channels[0] = add_channel(sockets[0], &(runloop_channel_config){.receive = note_received, .drained = fork_now});
    const runloop_channel_config config = {.receive = note_received};
    REQUIRE(runloop_channel_create(sockets[1], &config, &channels[1]) == 0);
    REQUIRE(runloop_add_source(runloop_current(), channels[1], "other") == 0);
    size_t sent = 0;
    while (tell(channels[0], "m") == 0)
        sent++;
    // Both at once: there is space, and something to receive. In its mode the loop would note what comes first.
    REQUIRE(runloop_remove_source(runloop_current(), channels[0], MODE) == 0);
    EXPECT_EQ(tell(channels[1], "for the parent"), 0);
    while (run_for("other", 0) == RUNLOOP_RESULT_TIMED_OUT && received_count < sent - 64)
        continue;
    REQUIRE(runloop_add_source(runloop_current(), channels[0], MODE) == 0);
    size_t before = received_count;
    int result = 0;
    while (child < 0 && result >= 0)
        result = runloop_run_in_mode(MODE, 60 * SECOND, true);
    if (child == 0)
        _exit(result == -ECHILD && received_count == before ? 0 : 1);
    EXPECT_EQ(child_status, 0);
    RUN_UNTIL(MODE, received_count == before + 1);
    end_channels(channels);
}
