// several_loops_streams.c — one input, output, listener or channel in the loops of several threads. several_loops.h explains it.
#include "broken_pipe.h"
#include "channels.h"
#include "several_loops.h"

#include <poll.h>

static int ends_of_pipe[2];
static _Atomic int inside, next_in_order;

/// Of an object that calls out one at a time, in order.
static void deliver_in_order(int event) {
    EXPECT_EQ(inside++, 0);
    if (situation != INVALIDATED)
        EXPECT_EQ(event, next_in_order++);
    deliver(event);
    inside--;
}

static bool is_over(void) {
    return situation == INVALIDATED && !runloop_source_is_valid(object);
}

static void send_all(int to, const char *bytes, size_t count) {
    for (size_t sent = 0; sent < count && !is_over();) {
        ssize_t result = write(to, bytes + sent, count - sent);
        REQUIRE(result >= 0 || errno == EAGAIN || (errno == EPIPE && is_over()));
        sent += result > 0 ? (size_t)result : 0;
        if (result < 0)
            sched_yield();
    }
}

//===-- input --------------------------------------------------------------------------------------------------------===//

static int fed_end = -1;

static void close_fed_end(void) {
    if (fed_end >= 0)
        close(fed_end);
    fed_end = -1;
}

/// What a call-out that ends its thread does not consume comes again, as thread_ends.c and inputs.c have it. So none does so here.
static void take_line(runloop_input *input, const char *line, size_t count, int error, void *info) {
    (void)input, (void)info;
    char text[20] = "";
    REQUIRE(error == 0 && count < sizeof text);
    memcpy(text, line, count);
    deliver_in_order(atoi(text));
}

static runloop_source *make_input(const runloop_input_config *others) {
    runloop_input_config config = *others;
    close_fed_end();
    make_pipe(ends_of_pipe);
    fed_end = ends_of_pipe[1];
    config.context = (runloop_context)COUNTED;
    config.descriptor = ends_of_pipe[0];
    config.owns = true;
    config.limit = 64;
    runloop_input *input = NULL;
    REQUIRE(runloop_input_create(&config, &input) == 0);
    return input;
}

static runloop_source *make_lines(int event) {
    next_in_order = event;
    return make_input(&(runloop_input_config){.received_line = take_line});
}

static void write_line(int event) {
    char text[20];
    int count = snprintf(text, sizeof text, "%d\n", event);
    send_all(fed_end, text, (size_t)count);
}

/// Three bytes an event, which come one by one. What has not come as a whole is not consumed, and comes again.
static size_t take_bytes(runloop_input *input, const char *bytes, size_t count, void *info) {
    (void)input, (void)info;
    size_t taken = 0;
    for (; count - taken >= 3; taken += 3) {
        const unsigned char *part = (const unsigned char *)bytes + taken;
        EXPECT_EQ(part[1], part[0] ^ 0xff);
        EXPECT_EQ(part[2], part[0]);
        deliver_in_order(part[0]);
    }
    return taken;
}

static runloop_source *make_bytes(int event) {
    next_in_order = event;
    return make_input(&(runloop_input_config){.received = take_bytes});
}

static void write_bytes(int event) {
    const char bytes[3] = {(char)event, (char)(event ^ 0xff), (char)event};
    for (int i = 0; i < 3; i++)
        send_all(fed_end, bytes + i, 1);
}

//===-- output -------------------------------------------------------------------------------------------------------===//

enum { RECORD = 8192 };

static void note_drained(runloop_output *output, int error, void *info) {
    (void)output, (void)info;
    EXPECT_EQ(error, 0);
    deliver_in_order(fed);
    may_end();
}

static runloop_source *make_output(int event) {
    next_in_order = event;
    close_fed_end();
    make_pipe(ends_of_pipe);
    fed_end = ends_of_pipe[0];
    REQUIRE(fcntl(ends_of_pipe[1], F_SETPIPE_SZ, 4096) >= 0);
    const runloop_output_config config = {.context = COUNTED,
                                          .descriptor = ends_of_pipe[1],
                                          .owns = true,
                                          .limit = 2 * (size_t)RECORD,
                                          .drained = note_drained};
    runloop_output *output = NULL;
    REQUIRE(runloop_output_create(&config, &output) == 0);
    return output;
}

/// A record that the pipe does not take at once. The loops send the rest while this thread reads.
static void write_record(int event) {
    char record[RECORD];
    memset(record, event, sizeof record);
    int result = runloop_output_enqueue(object, record, sizeof record);
    // With one that has ended nothing is checked but that it does no harm.
    if (result < 0 && is_over())
        return;
    EXPECT(result == 0 || (situation == INVALIDATED && result == -EAGAIN));
    for (size_t got = 0; got < RECORD && result == 0;) {
        ssize_t count = read(fed_end, record, sizeof record - got);
        if (count == 0 && is_over())
            return;
        REQUIRE(count > 0 || (count < 0 && errno == EAGAIN));
        for (ssize_t i = 0; i < count; i++)
            REQUIRE(record[i] == (char)event);
        got += count > 0 ? (size_t)count : 0;
        if (count < 0)
            sched_yield();
    }
}

//===-- listener -----------------------------------------------------------------------------------------------------===//

static char listening_name[48];

static void note_accepted(runloop_listener *listener, int descriptor, void *info) {
    (void)listener, (void)info;
    int event = -1;
    // The client sends it as soon as it is connected.
    REQUIRE(poll(&(struct pollfd){.fd = descriptor, .events = POLLIN}, 1, 30000) == 1);
    EXPECT_EQ(read(descriptor, &event, sizeof event), sizeof event);
    close(descriptor);
    deliver(event);
    may_end();
}

static runloop_source *make_listener(int event) {
    static int number;
    (void)event;
    snprintf(listening_name, sizeof listening_name, "%s-%d", own_name(), number++);
    const runloop_listener_config config = {.context = COUNTED,
                                            .descriptor = runloop_listen_abstract(listening_name, 100),
                                            .owns = true,
                                            .accepted = note_accepted};
    runloop_listener *listener = NULL;
    REQUIRE(runloop_listener_create(&config, &listener) == 0);
    return listener;
}

static void connect_and_say(int event) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(listening_name);
    memcpy(address.sun_path + 1, listening_name, length);
    int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(client >= 0);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
    if (connect(client, (struct sockaddr *)&address, size) == 0)
        (void)!write(client, &event, sizeof event);
    else
        REQUIRE(situation == INVALIDATED);
    close(client);
}

//===-- channels -----------------------------------------------------------------------------------------------------===//

/// The other end, in the main thread's loop.
static runloop_channel *peer;
static pid_t parent;

static void run_peer(int event) {
    (void)event;
    run_for(MODE, MS / 5);
}

static void end_peer(void) {
    if (peer)
        end_source(peer);
    peer = NULL;
}

/// Of a request that this thread has made. Nothing is discarded in a forked child.
static void note_reply(const runloop_reply *reply, int *descriptors, size_t count, void *info) {
    (void)descriptors, (void)count;
    int event = (int)(intptr_t)info;
    EXPECT(situation == INVALIDATED || reply->result == (event % 4 == 3 ? -ENOMSG : 0));
    deliver(event);
    may_end();
}

static void note_discard(void *info) {
    EXPECT_EQ(situation, INVALIDATED);
    EXPECT_EQ(getpid(), parent);
    deliver((int)(intptr_t)info);
}

/// Every fourth request is dropped.
static void answer(runloop_channel *channel, runloop_channel_message *message, void *info) {
    (void)channel, (void)info;
    int event;
    REQUIRE(message->length == sizeof event);
    memcpy(&event, message->bytes, sizeof event);
    if (!message->call)
        deliver(event);
    else if (event % 4 != 3)
        EXPECT(runloop_call_reply(message->call, &event, sizeof event, NULL, 0) == 0 || situation == INVALIDATED);
    // The peer's is the main thread.
    may_end();
}

static runloop_source *make_channel(int event) {
    int sockets[2];
    runloop_channel *made[2];
    (void)event;
    end_peer();
    make_sockets(sockets);
    for (int i = 0; i < 2; i++) {
        const runloop_channel_config config = {
            .context = COUNTED, .max_messages = 1000, .max_calls = 1000, .receive = answer};
        REQUIRE(runloop_channel_create(sockets[i], &config, &made[i]) == 0);
    }
    peer = made[1];
    REQUIRE(runloop_add_source(runloop_current(), peer, MODE) == 0);
    return made[0];
}

static int ask(runloop_channel *from, int event) {
    const runloop_channel_request_config config = {
        .replied = note_reply, .discard = note_discard, .info = (void *)(intptr_t)event};
    return runloop_channel_request(from, &event, sizeof event, NULL, 0, &config, NULL);
}

/// To the loops: messages, and requests that they answer.
static void send_to_loops(int event) {
    int result = event % 2 ? ask(peer, event) : runloop_channel_send(peer, &event, sizeof event, NULL, 0);
    EXPECT(result == 0 || (situation == INVALIDATED && result == -EPIPE));
}

/// From the loops' channel: the answers come to them.
static void ask_from_loops(int event) {
    int result = ask(object, event);
    EXPECT(result == 0 || (situation == INVALIDATED && result == -EPIPE));
}

static void begin_channels(void) {
    parent = getpid();
}

static struct kind kinds[] = {
    {.name = "an input of lines", .make = make_lines, .feed = write_line, .end = close_fed_end, .lifetime = LIFETIME},
    {.name = "an input of bytes", .make = make_bytes, .feed = write_bytes, .end = close_fed_end, .lifetime = LIFETIME},
    {.name = "an output",
     .make = make_output,
     .feed = write_record,
     .end = close_fed_end,
     .lifetime = LIFETIME,
     .merges = true},
    {.name = "a listener", .make = make_listener, .feed = connect_and_say, .lifetime = LIFETIME},
    {.name = "a channel that receives",
     .make = make_channel,
     .feed = send_to_loops,
     .begin = begin_channels,
     .end = end_peer,
     .wait = run_peer,
     .lifetime = LIFETIME},
    {.name = "a channel that asks",
     .make = make_channel,
     .feed = ask_from_loops,
     .begin = begin_channels,
     .end = end_peer,
     .wait = run_peer,
     .lifetime = LIFETIME}};

TEST_SEVERAL_LOOPS("a stream", kinds)
