// channels_limits.c — the limits of channels to the byte, and what is left of one whose other end is gone.
#include "channels.h"
#include "shown_clock.h"

TEST("as many bytes wait as are allowed, and not one more") {
    enum { LENGTH = 100, COUNT = 10 };
    char message[LENGTH] = {0}, packet[4096];
    int sockets[2], sent = 0, in_socket = 0;
    make_sockets(sockets);
    runloop_channel *channel =
        add_channel_with(sockets[0], (runloop_channel_config){.max_messages = 1000, .max_bytes = COUNT * LENGTH});
    while (runloop_channel_send(channel, message, LENGTH, NULL, 0) == 0)
        sent++;
    EXPECT_EQ(runloop_channel_send(channel, message, 1, NULL, 0), -EAGAIN);
    while (recv(sockets[1], packet, sizeof packet, MSG_DONTWAIT) > 0)
        in_socket++;
    EXPECT_EQ(sent - in_socket, COUNT);
    end_channel(channel);
    close(sockets[1]);
}

static size_t held;

static void hold_message(runloop_channel *channel, runloop_channel_message *message, void *info) {
    (void)message, (void)info;
    EXPECT_EQ(runloop_channel_hold_message(channel), 0);
    held++;
}

TEST("who awaits a reply holds no more than a thousand messages beyond the limit") {
    enum { CALLS = 1, MOST_BEFORE_A_REPLY = 1024 };
    int sockets[2];
    struct outcome outcome = {0};
    make_sockets(sockets);
    keeps_calls = true;
    runloop_channel *asker =
        add_channel(sockets[0], &(runloop_channel_config){.max_calls = CALLS, .receive = hold_message});
    runloop_channel *other = add_channel_with(sockets[1], (runloop_channel_config){0});
    EXPECT_EQ(request(asker, "question", 0, &outcome), 0);
    RUN_UNTIL(MODE, kept_call);
    for (int rest = 0; rest < 10; rest++) {
        size_t before = held;
        while (tell(other, "m") == 0)
            continue;
        poll_mode(MODE);
        if (held > before)
            rest = 0;
    }
    EXPECT_EQ(held, CALLS + MOST_BEFORE_A_REPLY);
    runloop_call_release(kept_call);
    end_channel(asker);
    end_channel(other);
}

TEST("what the other end has sent before it went is received, though messages wait that can't be sent any more") {
    int sockets[2];
    make_sockets(sockets);
    runloop_channel *channel = add_channel_with(sockets[0], (runloop_channel_config){0});
    runloop_channel *other = add_channel_with(sockets[1], (runloop_channel_config){0});
    while (tell(channel, "m") == 0)
        continue;
    EXPECT_EQ(tell(other, "last"), 0);
    end_channel(other);
    RUN_UNTIL(MODE, ends == 1);
    EXPECT_TRACE("last");
    EXPECT_EQ(end_reason, -EPIPE);
    end_channel(channel);
}

TEST("what the other end has sent is received, though it has gone without reading, which resets the connection") {
    int sockets[2];
    make_sockets(sockets);
    runloop_channel *channel = add_channel_with(sockets[0], (runloop_channel_config){0});
    runloop_channel *other = add_channel_with(sockets[1], (runloop_channel_config){0});
    EXPECT_EQ(tell(channel, "unread"), 0);
    EXPECT_EQ(tell(other, "last"), 0);
    end_channel(other);
    RUN_UNTIL(MODE, ends == 1);
    EXPECT_TRACE("last");
    EXPECT_EQ(end_reason, -EPIPE);
    end_channel(channel);
}

TEST("the end of a channel is noticed by the other end, though a forked child has the socket still") {
    runloop_channel *channels[2];
    make_channels(channels, (runloop_channel_config){0});
    pid_t child = fork_child();
    end_channel(channels[0]);
    RUN_UNTIL(MODE, ends == 1);
    EXPECT_EQ(end_reason, -EPIPE);
    EXPECT(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
    end_channel(channels[1]);
}

TEST("a message without bytes does not overtake those that wait, also when the socket has space again") {
    char packet[4096];
    int sockets[2];
    make_sockets(sockets);
    runloop_channel *channel = add_channel_with(sockets[0], (runloop_channel_config){0});
    while (!(runloop_source_get_events(channel) & RUNLOOP_WRITABLE))
        EXPECT_EQ(tell(channel, "m"), 0);
    ssize_t size = 0, next;
    while ((next = recv(sockets[1], packet, sizeof packet, MSG_DONTWAIT)) > 0)
        size = next;
    EXPECT_EQ(runloop_channel_send(channel, NULL, 0, NULL, 0), 0);
    EXPECT_EQ(recv(sockets[1], packet, sizeof packet, MSG_DONTWAIT), -1);
    RUN_UNTIL(MODE, !(runloop_source_get_events(channel) & RUNLOOP_WRITABLE));
    EXPECT_EQ(recv(sockets[1], packet, sizeof packet, MSG_DONTWAIT), size);
    EXPECT_EQ(recv(sockets[1], packet, sizeof packet, MSG_DONTWAIT), size - 1);
    end_channel(channel);
    close(sockets[1]);
}

TEST("a large message leaves no descriptor at either end") {
    enum { LARGE = 300000 };
    static char bytes[LARGE];
    runloop_channel *channels[2];
    make_channels(channels, (runloop_channel_config){0});
    EXPECT_EQ(tell(channels[0], "first"), 0);
    RUN_UNTIL(MODE, received_count == 1);
    int before = count_descriptors();
    EXPECT_EQ(runloop_channel_send(channels[0], bytes, LARGE, NULL, 0), 0);
    RUN_UNTIL(MODE, received_count == 2);
    EXPECT_EQ(received_bytes, 5 + LARGE);
    EXPECT_EQ(count_descriptors(), before);
    end_channels(channels);
}

TEST("a path as long as an address takes is taken, and one that is longer is not cut off") {
    char path[sizeof((struct sockaddr_un *)0)->sun_path + 1];
    memset(path, 0, sizeof path);
    memset(path, 'p', sizeof path - 1);
    int length = snprintf(path, sizeof path, "/tmp/runloop-test-%d-", (int)getpid());
    path[length] = 'p';
    runloop_channel *channel = NULL;
    EXPECT_EQ(strlen(path), sizeof path - 1);
    EXPECT_EQ(runloop_channel_listen(path, 0, 1), -ENAMETOOLONG);
    EXPECT_EQ(runloop_channel_connect(path, &(runloop_channel_config){0}, &channel), -ENAMETOOLONG);
    path[sizeof path - 2] = 0;
    int listening = runloop_channel_listen(path, 0, 1);
    EXPECT(listening >= 0);
    EXPECT_EQ(runloop_channel_connect(path, &(runloop_channel_config){0}, &channel), 0);
    runloop_source_release(channel);
    close(listening);
    unlink(path);
}

//===-- deadlines ----------------------------------------------------------------------------------------------------===//

static void trace_reply(const runloop_reply *reply, int *descriptors, size_t count, void *info) {
    (void)descriptors, (void)count;
    trace(info);
    EXPECT(reply->result == 0 || reply->result == -ETIMEDOUT);
}

static void ask_until(runloop_channel *channel, const char *name, int64_t deadline_ns) {
    const runloop_channel_request_config config = {
        .deadline_ns = deadline_ns, .replied = trace_reply, .info = (void *)(uintptr_t)name};
    EXPECT_EQ(runloop_channel_request(channel, name, strlen(name), NULL, 0, &config, NULL), 0);
}

/// Of several requests.
static void answer_first(runloop_channel *channel, runloop_channel_message *message, void *info) {
    (void)channel, (void)info;
    if (received_count++ == 0)
        EXPECT_EQ(runloop_call_reply(message->call, "a", 1, NULL, 0), 0);
    else
        kept_call = runloop_call_retain(message->call);
}

static runloop_channel *make_asker(runloop_channel **other) {
    int sockets[2];
    use_shown_clock();
    make_sockets(sockets);
    *other = add_channel(sockets[1], &(runloop_channel_config){.receive = answer_first});
    return add_channel(sockets[0], &(runloop_channel_config){.receive = NULL});
}

TEST("requests of one deadline time out in their order, and one of an earlier deadline before those sent before it") {
    runloop_channel *other, *channel = make_asker(&other);
    // Nobody answers.
    REQUIRE(runloop_remove_source(runloop_current(), other, MODE) == 0);
    ask_until(channel, "late", 3 * LIMIT);
    ask_until(channel, "1", 2 * LIMIT);
    ask_until(channel, "2", 2 * LIMIT);
    ask_until(channel, "early", LIMIT);
    ask_until(channel, "3", 2 * LIMIT);
    shown_ns = LIMIT;
    LOOK_UNTIL(trace_contains("early"));
    look_a_while(MODE);
    EXPECT_TRACE("early");
    shown_ns = 2 * LIMIT;
    LOOK_UNTIL(trace_contains("3"));
    look_a_while(MODE);
    EXPECT_TRACE("1 2 3");
    end_channel(channel);
    end_channel(other);
}

TEST("a call for the deadline of a request that was answered is early for no other") {
    runloop_channel *other, *channel = make_asker(&other);
    ask_until(channel, "answered", LIMIT);
    ask_until(channel, "next", LIMIT + 1);
    LOOK_UNTIL(kept_call && trace_contains("answered"));
    shown_ns = LIMIT;
    look_a_while(MODE);
    EXPECT_TRACE("answered");
    shown_ns = LIMIT + 1;
    LOOK_UNTIL(trace_contains("next"));
    runloop_call_release(kept_call);
    end_channel(channel);
    end_channel(other);
}
