// channels_source.c — what a channel costs and when it is called: its source has the socket and the deadlines, and there is nothing beside it.
#include "../Core/system_calls.h"
#include "channels.h"

//===-- descriptors --------------------------------------------------------------------------------------------------===//

TEST("a channel has no descriptor but the socket and the peer's pidfd, with deadlines neither") {
    int sockets[2];
    make_sockets(sockets);
    runloop_current();
    keep_mode(MODE);
    make_loop();
    int before = count_descriptors();
    runloop_channel *channel = add_channel_with(sockets[0], (runloop_channel_config){0});
    runloop_peer peer;
    EXPECT_EQ(runloop_channel_get_peer(channel, &peer), 0);
    int own = peer.pidfd >= 0;
    EXPECT_EQ(count_descriptors(), before + own);
    EXPECT_EQ(runloop_source_get_descriptor(channel), sockets[0]);
    struct outcome outcome = {0};
    EXPECT_EQ(request(channel, "q", runloop_now_ns() + 5 * MS, &outcome), 0);
    RUN_UNTIL(MODE, outcome.replies);
    EXPECT_EQ(count_descriptors(), before + own);
    runloop_source_invalidate(channel);
    EXPECT_EQ(count_descriptors(), before + own - 1);
    runloop_source_release(channel);
    EXPECT_EQ(count_descriptors(), before - 1);
}

TEST("a channel that is released and was not invalidated closes its socket") {
    int sockets[2], before = count_descriptors();
    make_sockets(sockets);
    runloop_channel *channel = NULL;
    REQUIRE(runloop_channel_create(sockets[0], &(runloop_channel_config){0}, &channel) == 0);
    runloop_source_release(channel);
    EXPECT_EQ(count_descriptors(), before + 1);
}

//===-- system calls -------------------------------------------------------------------------------------------------===//

enum { ROUNDS = 20 };

static void send_messages(void) {
    runloop_channel *channels[2];
    make_channels(channels, (runloop_channel_config){0});
    for (int i = 0; i <= ROUNDS; i++) {
        // What happens once has happened.
        if (i == 1)
            begin_counting();
        EXPECT_EQ(tell(channels[0], "m"), 0);
        handle_one(MODE);
        EXPECT_EQ(received_count, i + 1);
    }
    end_counting();
    end_channels(channels);
}

TEST("a message is three system calls: to send it, to wait for it, and to receive it") {
    struct system_calls calls = count_system_calls(send_messages);
    if (!calls.are_counted)
        return;
    EXPECT_EQ(calls.own, 3 * ROUNDS);
    EXPECT_EQ(calls.own_waits, ROUNDS);
}

static void send_requests(void) {
    runloop_channel *channels[2];
    make_channels(channels, (runloop_channel_config){0});
    for (int i = 0; i <= ROUNDS; i++) {
        struct outcome outcome = {0};
        if (i == 1)
            begin_counting();
        EXPECT_EQ(request(channels[0], "q", runloop_now_ns() + 60 * SECOND, &outcome), 0);
        handle_one(MODE);
        handle_one(MODE);
        EXPECT_EQ(outcome.replies, 1);
    }
    end_counting();
    end_channels(channels);
}

TEST("a request with a deadline is six, with its reply: the deadline is none") {
    struct system_calls calls = count_system_calls(send_requests);
    if (!calls.are_counted)
        return;
    EXPECT_EQ(calls.own, 6 * ROUNDS);
    EXPECT_EQ(calls.own_waits, 2 * ROUNDS);
}

//===-- packets of any length ----------------------------------------------------------------------------------------===//

static size_t expected_length;
static unsigned char expected_byte;
static runloop_channel *nested_sender;

static void check_bytes(runloop_channel *channel, runloop_channel_message *message, void *info) {
    (void)channel, (void)info;
    received_count++;
    EXPECT_EQ(message->length, expected_length);
    EXPECT_EQ((uintptr_t)message->bytes % _Alignof(max_align_t), 0);
    unsigned char byte = expected_byte;
    // A message that is received in a nested run, or by another thread, does not change this one's bytes.
    if (nested_sender) {
        runloop_channel *sender = nested_sender;
        nested_sender = NULL;
        expected_byte = 'n';
        expected_length = 100;
        char bytes[100];
        memset(bytes, 'n', sizeof bytes);
        EXPECT_EQ(runloop_channel_send(sender, bytes, sizeof bytes, NULL, 0), 0);
        size_t before = received_count;
        RUN_UNTIL(MODE, received_count > before);
    }
    for (size_t i = 0; i < message->length; i++)
        REQUIRE(((const unsigned char *)message->bytes)[i] == byte);
}

TEST("packets of every length arrive whole, one after the other and nested") {
    static char bytes[70000];
    const size_t lengths[] = {0, 1, 4079, 4096, 4097, 65535, 65536, 65537, 70000, 1};
    int sockets[2];
    make_sockets(sockets);
    const runloop_channel_config config = {.receive = check_bytes};
    runloop_channel *sender = add_channel_with(sockets[0], (runloop_channel_config){0});
    runloop_channel *receiver = add_channel(sockets[1], &config);
    for (size_t i = 0; i < 2 * sizeof lengths / sizeof *lengths; i++) {
        expected_length = lengths[i / 2];
        expected_byte = (unsigned char)('a' + i);
        nested_sender = i % 2 ? sender : NULL;
        memset(bytes, (int)expected_byte, expected_length);
        size_t before = received_count;
        EXPECT_EQ(runloop_channel_send(sender, bytes, expected_length, NULL, 0), 0);
        RUN_UNTIL(MODE, received_count == before + 1 + i % 2);
    }
    EXPECT_EQ(ends, 0);
    end_channel(sender);
    end_channel(receiver);
}

static void check_own_bytes(runloop_channel *channel, runloop_channel_message *message, void *info) {
    (void)channel;
    struct {
        unsigned char byte;
        int count;
    } *own = info;
    own->count++;
    for (size_t i = 0; i < message->length; i++)
        REQUIRE(((const unsigned char *)message->bytes)[i] == own->byte);
}

static void *send_to_itself(void *argument) {
    struct {
        unsigned char byte;
        int count;
    } own = {.byte = (unsigned char)(intptr_t)argument};
    int sockets[2];
    make_sockets(sockets);
    runloop_channel *ends_of_it[2];
    for (int i = 0; i < 2; i++) {
        const runloop_channel_config config = {.context.info = &own, .receive = check_own_bytes};
        ends_of_it[i] = add_channel(sockets[i], &config);
    }
    static const int lengths[] = {1, 5000, 60000};
    for (int i = 0; i < 300; i++) {
        unsigned char bytes[60000];
        memset(bytes, own.byte, sizeof bytes);
        EXPECT_EQ(runloop_channel_send(ends_of_it[i % 2], bytes, (size_t)lengths[i % 3], NULL, 0), 0);
        RUN_UNTIL(MODE, own.count == i + 1);
    }
    end_channels(ends_of_it);
    return NULL;
}

TEST("threads that receive at the same time have their own bytes") {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        REQUIRE(pthread_create(&threads[i], NULL, send_to_itself, (void *)(intptr_t)('a' + i)) == 0);
    for (int i = 0; i < 4; i++)
        REQUIRE(pthread_join(threads[i], NULL) == 0);
}

//===-- deadlines ----------------------------------------------------------------------------------------------------===//

/// A channel whose other end replies to nothing.
static runloop_channel *make_silent(int *far_end) {
    int sockets[2];
    make_sockets(sockets);
    *far_end = sockets[1];
    return add_channel_with(sockets[0], (runloop_channel_config){0});
}

TEST("a deadline is kept in the modes of the channel, and not in others") {
    int far_end;
    runloop_channel *channel = make_silent(&far_end);
    keep_mode(OTHER_MODE);
    struct outcome outcome = {0};
    int64_t deadline = runloop_now_ns() + 10 * MS;
    EXPECT_EQ(request(channel, "q", deadline, &outcome), 0);
    EXPECT_EQ(run_for(OTHER_MODE, 20 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT(runloop_now_ns() >= deadline);
    EXPECT_EQ(outcome.replies, 0);
    RUN_UNTIL(MODE, outcome.replies);
    EXPECT_EQ(outcome.result, -ETIMEDOUT);
    end_channel(channel);
}

TEST("a deadline that was set in no mode holds in one that the channel comes to") {
    int far_end;
    runloop_channel *channel = make_silent(&far_end);
    keep_mode(MODE);
    REQUIRE(runloop_remove_source(runloop_current(), channel, MODE) == 0);
    struct outcome outcome = {0};
    EXPECT_EQ(request(channel, "q", runloop_now_ns() + 5 * MS, &outcome), 0);
    EXPECT_EQ(run_for(MODE, 10 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(outcome.replies, 0);
    REQUIRE(runloop_add_source(runloop_current(), channel, MODE) == 0);
    RUN_UNTIL(MODE, outcome.replies);
    EXPECT_EQ(outcome.result, -ETIMEDOUT);
    end_channel(channel);
}

TEST("a request that is sent when an earlier one is due, and was not reported yet, changes nothing for that") {
    int far_end;
    runloop_channel *channel = make_silent(&far_end);
    // Not told in this mode, but known to be due.
    REQUIRE(runloop_add_source(runloop_current(), channel, OTHER_MODE) == 0);
    struct outcome first = {0}, second = {0};
    EXPECT_EQ(request(channel, "q", 1, &first), 0);
    EXPECT_EQ(request(channel, "q", runloop_now_ns() + 60 * SECOND, &second), 0);
    RUN_UNTIL(MODE, first.replies);
    EXPECT(first.result == -ETIMEDOUT && second.replies == 0);
    end_channel(channel);
    EXPECT_EQ(second.discards, 1);
}
