// channels_cancelled.c — threads are cancelled in the calls and call-outs of a channel: others go on, and nothing is left behind.
#include "channels.h"

static char large[100000];

/// The first cancellation point ends the thread.
static void *send_cancelled(void *channel) {
    pthread_cancel(pthread_self());
    EXPECT_EQ(runloop_channel_send(channel, "small", 5, NULL, 0), 0);
    EXPECT_EQ(runloop_channel_send(channel, large, sizeof large, NULL, 0), 0);
    static struct outcome outcome;
    EXPECT_EQ(request(channel, "ask", 0, &outcome), 0);
    pthread_testcancel();
    return NULL;
}

/// On a thread that is cancelled in it.
static void on_cancelled_thread(void *(*body)(void *), void *argument) {
    pthread_t thread;
    void *result;
    REQUIRE(pthread_create(&thread, NULL, body, argument) == 0);
    REQUIRE(pthread_join(thread, &result) == 0);
    EXPECT(result == PTHREAD_CANCELED);
}

TEST("no call is a cancellation point, so a thread that is cancelled has sent, and others can send after it") {
    runloop_channel *channels[2];
    make_channels(channels, (runloop_channel_config){0});
    keeps_calls = true;
    int before = count_descriptors();
    on_cancelled_thread(send_cancelled, channels[0]);
    EXPECT_EQ(tell(channels[0], "after"), 0);
    RUN_UNTIL(MODE, received_count == 4);
    EXPECT_EQ(received_bytes, 5 + sizeof large + 3 + 5);
    EXPECT_EQ(count_descriptors(), before);
    runloop_call_release(kept_call);
    end_channels(channels);
}

static void *invalidate_cancelled(void *channel) {
    pthread_cancel(pthread_self());
    runloop_source_invalidate(channel);
    pthread_testcancel();
    return NULL;
}

TEST("a channel is ended by a thread that is cancelled") {
    runloop_channel *channels[2];
    make_channels(channels, (runloop_channel_config){0});
    on_cancelled_thread(invalidate_cancelled, channels[0]);
    EXPECT_EQ(tell(channels[0], "late"), -EPIPE);
    RUN_UNTIL(MODE, ends);
    EXPECT_EQ(end_reason, -EPIPE);
    runloop_source_release(channels[0]);
    runloop_source_release(channels[1]);
}

static void cancel_in_call(runloop_channel *channel, runloop_channel_message *message, void *info) {
    (void)channel, (void)info;
    EXPECT_EQ(message->descriptor_count, 3);
    pthread_cancel(pthread_self());
}

static void *receive_cancelled(void *socket) {
    const runloop_channel_config config = {.receive = cancel_in_call};
    runloop_channel *channel = add_channel(*(int *)socket, &config);
    runloop_source_release(channel);
    runloop_run_in_mode(MODE, RUNLOOP_FOREVER, false);
    return NULL;
}

TEST("descriptors that a cancelled call-out has not taken are closed") {
    int sockets[2], before = count_descriptors();
    make_sockets(sockets);
    runloop_channel *channel;
    REQUIRE(runloop_channel_create(sockets[0], &(runloop_channel_config){0}, &channel) == 0);
    EXPECT_EQ(runloop_channel_send(channel, "d", 1, (int[]){0, 0, 0}, 3), 0);
    on_cancelled_thread(receive_cancelled, &sockets[1]);
    end_channel(channel);
    EXPECT_EQ(count_descriptors(), before);
}
