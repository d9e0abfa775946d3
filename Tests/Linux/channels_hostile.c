// channels_hostile.c — the other end of a channel breaks the protocol: the channel ends with the reason, and nothing is left of it.
#include "channels.h"

struct header {
    uint8_t version, kind, is_large, zero;
    uint32_t descriptors;
    uint64_t id;
};

/// The channel, the socket at the other end, and how many descriptors there were before a message.
static runloop_channel *channel;
static int hostile, descriptors_before;

static void begin_with(runloop_channel_config config) {
    int sockets[2];
    make_sockets(sockets);
    channel = add_channel_with(sockets[0], config);
    hostile = sockets[1];
    descriptors_before = count_descriptors();
}

static void begin(void) {
    begin_with((runloop_channel_config){0});
}

/// Sends a packet with copies of a descriptor.
static ssize_t throw_packet(struct header header, const void *bytes, size_t length, int descriptor, size_t count) {
    struct iovec parts[] = {{&header, sizeof header}, {(void *)bytes, length}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    union {
        char bytes[CMSG_SPACE(1000 * sizeof(int))];
        struct cmsghdr alignment;
    } control = {0};
    if (count > 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(count * sizeof(int));
        struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(count * sizeof(int));
        for (size_t i = 0; i < count; i++)
            memcpy(CMSG_DATA(rights) + i * sizeof(int), &descriptor, sizeof(int));
    }
    return sendmsg(hostile, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/// The channel has ended for the reason, without having received anything, and left no descriptors.
static void expect_end(int reason) {
    int left = 0;
    runloop_peer peer;
    EXPECT_EQ(runloop_channel_get_peer(channel, &peer), 0);
    RUN_UNTIL(MODE, ends);
    EXPECT_EQ(end_reason, reason);
    EXPECT_EQ(ends, 1);
    EXPECT_EQ(received_count, 0);
    // The socket; and the peer's pidfd, which is there until the release.
    left = count_descriptors();
    EXPECT_EQ(left, descriptors_before - 1);
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_FINISHED);
    EXPECT(send(hostile, "x", 1, MSG_NOSIGNAL) < 0);
    runloop_source_release(channel);
    EXPECT_EQ(count_descriptors(), left - (peer.pidfd >= 0));
    close(hostile);
}

TEST("a truncated header") {
    begin();
    REQUIRE(send(hostile, "\1\1", 2, 0) == 2);
    expect_end(-EPROTO);
}

TEST("an empty packet is taken for the end") {
    begin();
    REQUIRE(send(hostile, "", 0, 0) == 0);
    expect_end(-EPIPE);
}

TEST("headers that no channel sends") {
    const struct header headers[] = {
        {.version = 2, .kind = 1},
        {.version = 1, .kind = 0},
        {.version = 1, .kind = 5},
        {.version = 1, .kind = 1, .zero = 1},
        {.version = 1, .kind = 1, .id = 1},
        {.version = 1, .kind = 2},
        {.version = 1, .kind = 3},
        {.version = 1, .kind = 1, .is_large = 2},
        {.version = 1, .kind = 1, .descriptors = 1},
        {.version = 1, .kind = 4, .id = 1},
        {.version = 1, .kind = 1, .is_large = 1},
    };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        ends = 0;
        begin();
        REQUIRE(throw_packet(headers[i], "bytes", 5, -1, 0) > 0);
        expect_end(-EPROTO);
    }
}

TEST("a packet that is larger than packets are, and a message that is larger than allowed") {
    static char bytes[100000];
    begin();
    REQUIRE(throw_packet((struct header){.version = 1, .kind = 1}, bytes, sizeof bytes, -1, 0) > 0);
    expect_end(-EPROTO);
    ends = 0;
    begin_with((runloop_channel_config){.max_bytes = 10});
    REQUIRE(throw_packet((struct header){.version = 1, .kind = 1}, bytes, 11, -1, 0) > 0);
    expect_end(-EPROTO);
}

TEST("a reply to a request that there never was") {
    begin();
    REQUIRE(throw_packet((struct header){.version = 1, .kind = 3, .id = 7}, "r", 1, -1, 0) > 0);
    expect_end(-EPROTO);
}

TEST("a dropped call that has bytes, or descriptors, in answer to a request") {
    for (int has_descriptor = 0; has_descriptor < 2; has_descriptor++) {
        struct outcome outcome = {0};
        ends = 0;
        begin();
        EXPECT_EQ(request(channel, "q", 0, &outcome), 0);
        const struct header header = {.version = 1, .kind = 4, .id = 1, .descriptors = (uint32_t)has_descriptor};
        REQUIRE(throw_packet(header, "x", !has_descriptor, 0, (size_t)has_descriptor) > 0);
        expect_end(-EPROTO);
        EXPECT(outcome.replies == 1 && outcome.result == -EPIPE);
    }
}

TEST("descriptors: more than allowed, other than announced, and 1,000") {
    begin();
    REQUIRE(throw_packet((struct header){.version = 1, .kind = 1, .descriptors = 17}, "d", 1, 0, 17) > 0);
    expect_end(-EPROTO);
    ends = 0;
    begin();
    REQUIRE(throw_packet((struct header){.version = 1, .kind = 1, .descriptors = 252}, "d", 1, 0, 252) > 0);
    expect_end(-EPROTO);
    ends = 0;
    begin();
    REQUIRE(throw_packet((struct header){.version = 1, .kind = 1, .descriptors = 2}, "d", 1, 0, 3) > 0);
    expect_end(-EPROTO);
    ends = 0;
    begin();
    // The kernel does not pass so many with a packet, so they come in four.
    EXPECT(throw_packet((struct header){.version = 1, .kind = 1, .descriptors = 1000}, "d", 1, 0, 1000) < 0);
    for (int i = 0; i < 4; i++)
        REQUIRE(throw_packet((struct header){.version = 1, .kind = 1, .descriptors = 250}, "d", 1, 0, 250) > 0);
    expect_end(-EPROTO);
}

TEST("a message whose descriptors find no number is an error, and those that did are closed") {
    begin();
    REQUIRE(throw_packet((struct header){.version = 1, .kind = 1, .descriptors = 3}, "d", 1, 0, 3) > 0);
    use_up_descriptors(1);
    RUN_UNTIL(MODE, ends);
    EXPECT_EQ(end_reason, -EMFILE);
    EXPECT_EQ(received_count, 0);
    // The one that was free, and that of the socket.
    int again = dup(0), further = dup(0);
    EXPECT(again >= 0 && further >= 0);
    EXPECT(dup(0) < 0);
    give_back_descriptors();
    runloop_source_release(channel);
}

TEST("what a socket's options add to each message costs neither descriptors nor their space") {
    enum { PASS_PIDFD = 76, MOST = 250 };
    static const struct header header = {.version = 1, .kind = 1, .descriptors = MOST};
    int sockets[2], yes = 1;
    make_sockets(sockets);
    REQUIRE(setsockopt(sockets[0], SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) == 0);
    // Without security modules there are no labels, and before Linux 6.5 no pidfds.
    setsockopt(sockets[0], SOL_SOCKET, SO_PASSSEC, &yes, sizeof yes);
    setsockopt(sockets[0], SOL_SOCKET, PASS_PIDFD, &yes, sizeof yes);
    channel = add_channel_with(sockets[0], (runloop_channel_config){.max_descriptors = MOST});
    hostile = sockets[1];
    descriptors_before = count_descriptors();
    for (size_t i = 1; i <= 20; i++) {
        REQUIRE(throw_packet(header, "d", 1, 0, MOST) > 0);
        RUN_UNTIL(MODE, received_count == i || ends);
        EXPECT_EQ(received_descriptors, i * MOST);
    }
    EXPECT_EQ(ends, 0);
    close(taken);
    EXPECT_EQ(count_descriptors(), descriptors_before);
    end_channel(channel);
}

static int make_memory(size_t length, int seals) {
    int memory = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    REQUIRE(memory >= 0 && ftruncate(memory, (off_t)length) == 0);
    REQUIRE(seals == 0 || fcntl(memory, F_ADD_SEALS, seals) == 0);
    return memory;
}

TEST("large messages: unsealed, of another length, too large, empty, in a pipe, without length") {
    const struct header header = {.version = 1, .kind = 1, .is_large = 1, .descriptors = 1};
    const int all = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
    int pipe[2];
    make_pipe(pipe);
    const struct {
        int descriptor;
        uint64_t length;
        size_t bytes;
    } cases[] = {
        {make_memory(100000, 0), 100000, 8},
        {make_memory(100000, F_SEAL_SHRINK), 100000, 8},
        {make_memory(100000, all), 200000, 8},
        {make_memory(50000, all), 100000, 8},
        {make_memory(2 << 20, all), 2 << 20, 8},
        {make_memory(0, all), 0, 8},
        {pipe[0], 100000, 8},
        {make_memory(100000, all), 100000, 4},
        {make_memory(100000, all), UINT64_MAX, 8},
        {make_memory(200000, all), 100000, 8},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ends = 0;
        begin();
        REQUIRE(throw_packet(header, &cases[i].length, cases[i].bytes, cases[i].descriptor, 1) > 0);
        expect_end(-EPROTO);
    }
}

TEST("the other end dies with requests in both directions") {
    int sockets[2];
    make_sockets(sockets);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        close(sockets[0]);
        hostile = sockets[1];
        throw_packet((struct header){.version = 1, .kind = 2, .id = 1}, "q", 1, -1, 0);
        char bytes[100];
        recv(hostile, bytes, sizeof bytes, 0);
        kill(getpid(), SIGKILL);
    }
    channel = add_channel_with(sockets[0], (runloop_channel_config){0});
    close(sockets[1]);
    keeps_calls = true;
    RUN_UNTIL(MODE, kept_call);
    struct outcome outcome = {0};
    EXPECT_EQ(request(channel, "asked", 0, &outcome), 0);
    RUN_UNTIL(MODE, ends);
    EXPECT_EQ(end_reason, -EPIPE);
    EXPECT(outcome.replies == 1 && outcome.result == -EPIPE);
    EXPECT_EQ(runloop_call_reply(kept_call, "r", 1, NULL, 0), -EPIPE);
    runloop_call_release(kept_call);
    runloop_source_release(channel);
    REQUIRE(waitpid(child, NULL, 0) == child);
}

static _Atomic bool is_over;

static void *flood(void *argument) {
    (void)argument;
    for (uint64_t id = 1; !is_over; id++)
        if (throw_packet((struct header){.version = 1, .kind = 2, .id = id}, "flood", 5, -1, 0) < 0)
            usleep(10);
    return NULL;
}

TEST("a flood of requests: calls are limited, replies are not read by the other end, and timers are served") {
    begin_with((runloop_channel_config){.max_calls = 4});
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, flood, NULL) == 0);
    int ticks = 0;
    add_timer(MODE, runloop_now_ns(), MS, count_firing, &ticks);
    RUN_UNTIL(MODE, ticks > 1 && received_count > 10);
    is_over = true;
    REQUIRE(pthread_join(thread, NULL) == 0);
    end_channel(channel);
    EXPECT_EQ(ends, 0);
}

/// Sends a request. Whether the socket had space for it.
static bool throw_request(uint64_t id) {
    return throw_packet((struct header){.version = 1, .kind = 2, .id = id}, "flood", 5, -1, 0) > 0;
}

TEST("an end that reads no replies can send no more requests, until it does") {
    enum { TOO_MANY = 20000 };
    begin_with((runloop_channel_config){.max_calls = 4});
    uint64_t sent = 0;
    size_t before;
    do {
        while (throw_request(sent + 1))
            REQUIRE(++sent < TOO_MANY);
        before = received_count;
        poll_mode(MODE);
    } while (received_count > before);
    EXPECT(sent > received_count);
    for (uint64_t id = 1; id <= sent; id++) {
        struct header answer = {0};
        RUN_UNTIL(MODE, recv(hostile, &answer, sizeof answer, MSG_DONTWAIT) > 0);
        EXPECT(answer.kind == 3 && answer.id == id);
    }
    EXPECT_EQ(received_count, sent);
    EXPECT_EQ(ends, 0);
    end_channel(channel);
}

static void drop_call(runloop_channel *of, runloop_channel_message *message, void *info) {
    (void)of, (void)message, (void)info;
    received_count++;
}

TEST("a call that is dropped is reported to the other end") {
    int sockets[2];
    make_sockets(sockets);
    hostile = sockets[1];
    channel = add_channel(sockets[0], &(runloop_channel_config){.receive = drop_call});
    REQUIRE(throw_packet((struct header){.version = 1, .kind = 2, .id = 77}, "q", 1, -1, 0) > 0);
    RUN_UNTIL(MODE, received_count == 1);
    struct header answer = {0};
    EXPECT_EQ(recv(hostile, &answer, sizeof answer, 0), sizeof answer);
    EXPECT(answer.kind == 4 && answer.id == 77);
    end_channel(channel);
}
