// channels_callouts.c — a channel is invalidated in each of its call-outs, the process forked in each, and the thread ended in each: the next
// call-out comes, once, wherever it still can.
#include "callouts.h"
#include "channels.h"

enum event { MESSAGE, REQUEST, ANSWER, TIMEOUT, DRAINED, ENDED, EVENTS };

static runloop_channel *subject, *other;
static _Atomic int discards, last_result;

static void act_on_message(runloop_channel *channel, runloop_channel_message *message, void *info) {
    (void)message, (void)info;
    act(channel);
}

static void act_on_answer(const runloop_reply *reply, int *descriptors, size_t count, void *info) {
    (void)descriptors, (void)count, (void)info;
    last_result = reply->result;
    act(subject);
}

static void act_on_space(runloop_channel *channel, int error, void *info) {
    (void)channel, (void)info;
    EXPECT_EQ(error, 0);
    act(subject);
}

static void act_on_end(runloop_channel *channel, int32_t reason, void *info) {
    (void)channel, (void)info;
    EXPECT_EQ(reason, -EPIPE);
    act(subject);
}

static void note_one_discarded(void *info) {
    (void)info;
    discards++;
}

static void make_subject(int socket) {
    const runloop_channel_config config = {
        .context = COUNTED, .receive = act_on_message, .ended = act_on_end, .drained = act_on_space};
    REQUIRE(runloop_channel_create(socket, &config, &subject) == 0);
}

static void ask_subject(int64_t deadline_ns) {
    const runloop_channel_request_config config = {
        .deadline_ns = deadline_ns, .replied = act_on_answer, .discard = note_one_discarded};
    EXPECT_EQ(runloop_channel_request(subject, "q", 1, NULL, 0, &config, NULL), 0);
}

/// What `other` is to receive, in a mode of its own.
static void run_other(size_t count) {
    REQUIRE(runloop_add_source(runloop_current(), other, OTHER_MODE) == 0);
    RUN_UNTIL(OTHER_MODE, received_count >= count);
    REQUIRE(runloop_remove_source(runloop_current(), other, OTHER_MODE) == 0);
}

/// What will call out. How often, in all: `subject` is in no loop yet.
static int prepare(enum event event) {
    static struct outcome outcomes[2];
    size_t sent = 0;
    switch (event) {
    case MESSAGE: EXPECT(tell(other, "m") == 0 && tell(other, "m") == 0); return 2;
    case REQUEST:
        EXPECT_EQ(request(other, "q", 0, &outcomes[0]), 0);
        EXPECT_EQ(request(other, "q", 0, &outcomes[1]), 0);
        return 2;
    case ANSWER:
        ask_subject(0);
        ask_subject(0);
        run_other(2);
        return 2;
    case TIMEOUT:
        ask_subject(1);
        ask_subject(2);
        return 2;
    case DRAINED:
        while (tell(subject, "m") == 0)
            sent++;
        run_other(sent - 64);
        return 1;
    case ENDED: end_channel(other); return 1;
    case EVENTS: break;
    }
    return 0;
}

static void *run_subject(void *until) {
    REQUIRE(runloop_add_source(runloop_current(), subject, MODE) == 0);
    keep_mode(MODE);
    run_through(action == INVALIDATE ? 1 : *(int *)until);
    runloop_remove_source(runloop_current(), subject, MODE);
    return NULL;
}

static void play(enum event event) {
    int sockets[2], before = count_descriptors();
    make_sockets(sockets);
    make_subject(sockets[0]);
    REQUIRE(runloop_channel_create(sockets[1], &(runloop_channel_config){.receive = note_received}, &other) == 0);
    begin_calls();
    discards = 0;
    received_count = 0;
    int expected = prepare(event);
    on_new_thread(run_subject, &expected);
    // The channel has left the loop of a thread that has ended, and comes to this one's.
    if (action == EXIT && event != ENDED) {
        EXPECT_EQ(calls, 1);
        run_subject(&expected);
    }
    if (action == FORK)
        EXPECT_EQ(child_status, 0);
    EXPECT_EQ(calls, action == INVALIDATE ? 1 : expected);
    if (event == TIMEOUT)
        EXPECT_EQ(last_result, -ETIMEDOUT);
    if (event != ENDED)
        end_channel(other);
    end_channel(subject);
    EXPECT_EQ(contexts, 0);
    EXPECT_EQ(discards, action == INVALIDATE && (event == ANSWER || event == TIMEOUT) ? 1 : 0);
    EXPECT_EQ(count_descriptors(), before);
}

static void play_all(enum action what) {
    action = what;
    runloop_current();
    keep_mode(MODE);
    keep_mode(OTHER_MODE);
    for (enum event event = MESSAGE; event < EVENTS; event++)
        play(event);
}

TEST("a channel that is invalidated in a call-out is not called again") {
    play_all(INVALIDATE);
}

TEST("R123 a child that is forked in a call-out is not called, and its parent is") {
    play_all(FORK);
}

TEST("what a thread that ends in a call-out leaves comes in another loop") {
    play_all(EXIT);
}

static void exit_once(const runloop_reply *reply, int *descriptors, size_t count, void *info) {
    (void)descriptors, (void)count, (void)info;
    EXPECT_EQ(reply->result, -EPIPE);
    calls++;
    pthread_exit(NULL);
}

TEST("a thread that ends in the call-out for the end of a channel leaves no request without an outcome") {
    runloop_current();
    int sockets[2], most = 3, before = count_descriptors();
    make_sockets(sockets);
    make_subject(sockets[0]);
    const runloop_channel_request_config config = {.replied = exit_once, .discard = note_one_discarded};
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(runloop_channel_request(subject, "q", 1, NULL, 0, &config, NULL), 0);
    close(sockets[1]);
    on_new_thread(run_subject, &most);
    EXPECT(calls == 1 && discards == 0);
    runloop_source_release(subject);
    EXPECT(calls == 1 && discards == 1 && contexts == 0);
    EXPECT_EQ(count_descriptors(), before);
}
