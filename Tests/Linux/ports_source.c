// ports_source.c — a port is a source: in several loops, with deadlines in its modes, and called whatever a call-out did before.
#include "callouts.h"
#include "ports.h"

static runloop_port *subject, *silent;

static runloop_port *add_silent(void) {
    keeps_requests = true;
    return make_port(runloop_current(), &(runloop_port_config){0});
}

//===-- deadlines ----------------------------------------------------------------------------------------------------===//

TEST("a deadline is kept in the modes of the port, and not in others, and takes no descriptor") {
    runloop_port *asker = add_port();
    silent = add_silent();
    struct answer answer = {0};
    keep_mode(OTHER_MODE);
    make_loop();
    int before = count_descriptors();
    int64_t deadline = runloop_now_ns() + 10 * MS;
    ask_until(silent, asker, "q", deadline, &answer);
    EXPECT_EQ(run_for(OTHER_MODE, 20 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT(runloop_now_ns() >= deadline);
    EXPECT_EQ(answer.replies, 0);
    RUN_UNTIL(MODE, answer.replies);
    EXPECT_ANSWER(answer, -ETIMEDOUT);
    EXPECT_EQ(count_descriptors(), before);
    end_port(asker);
    end_port(silent);
}

//===-- several loops ------------------------------------------------------------------------------------------------===//

static pthread_t receiver_thread;

static void note_thread(runloop_port *port, const runloop_message *message, void *info) {
    (void)port, (void)message, (void)info;
    receiver_thread = pthread_self();
    calls++;
}

static void *receive_elsewhere(void *port) {
    REQUIRE(runloop_add_source(runloop_current(), port, MODE) == 0);
    while (calls == 0)
        run_for(MODE, MS);
    return NULL;
}

TEST(
    "a port in a mode of another loop is received from there, also if that sleeps, and its own loop's end is its end") {
    runloop_port *port = make_port(runloop_current(), &(runloop_port_config){.receive = note_thread});
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, receive_elsewhere, port) == 0);
    EXPECT_EQ(send_text(port, "m"), 0);
    REQUIRE(pthread_join(thread, NULL) == 0);
    EXPECT(calls == 1 && pthread_equal(receiver_thread, thread));
    EXPECT(runloop_port_is_valid(port));
    EXPECT_EQ(send_text(port, "m"), 0);
    REQUIRE(runloop_add_source(runloop_current(), port, MODE) == 0);
    RUN_UNTIL(MODE, calls == 2);
    EXPECT(pthread_equal(receiver_thread, pthread_self()));
    end_port(port);
}

TEST("a loop that sleeps receives at once what waits in a port that another thread adds") {
    struct worker worker = {0};
    start_worker(&worker);
    wait_for_sleep(&worker);
    runloop_port *port = make_port(worker.loop, &(runloop_port_config){.receive = note_thread});
    EXPECT_EQ(send_text(port, "m"), 0);
    wait_for_sleep(&worker);
    REQUIRE(runloop_add_source(worker.loop, port, MODE) == 0);
    WAIT_UNTIL(calls == 1);
    stop_worker(&worker);
    runloop_source_release(port);
}

TEST("a port is asked by a port, is no channel, has no descriptor, and a signal that means nothing does no harm") {
    runloop_port *port = add_port();
    runloop_counter *other = NULL;
    REQUIRE(runloop_counter_create(&(runloop_counter_config){0}, &other) == 0);
    EXPECT_EQ(runloop_port_request(port, "a", 1, &(runloop_request_config){.asker = other}, NULL), -EINVAL);
    EXPECT_EQ(runloop_channel_send(port, "a", 1, NULL, 0), -EINVAL);
    EXPECT_EQ(runloop_source_get_descriptor(port), -1);
    EXPECT_EQ(runloop_source_signal(port), 0);
    EXPECT_EQ(send_text(port, "m"), 0);
    run_until_idle();
    EXPECT_TRACE("m");
    runloop_source_release(other);
    end_port(port);
}

//===-- its end ------------------------------------------------------------------------------------------------------===//

static _Atomic int discards;

static void discard_and_end_thread(void *info) {
    (void)info;
    if (++discards == 1)
        pthread_exit(NULL);
}

static void *end_asker(void *asker) {
    runloop_source_invalidate(asker);
    REQUIRE(!"the thread should have ended in the call-out");
    return NULL;
}

TEST("a port that ends discards each request, though the first discard ends the thread") {
    subject = add_port();
    silent = add_silent();
    const runloop_request_config config = {
        .asker = subject, .deadline_ns = RUNLOOP_NEVER, .discard = discard_and_end_thread};
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(runloop_port_request(silent, "q", 1, &config, NULL), 0);
    on_new_thread(end_asker, subject);
    EXPECT_EQ(discards, 3);
    end_port(subject);
    end_port(silent);
}

//===-- in call-outs -------------------------------------------------------------------------------------------------===//

enum event { MESSAGE, REPLY, TIMEOUT, EVENTS };

static void act_on_message(runloop_port *port, const runloop_message *message, void *info) {
    (void)message, (void)info;
    act(port);
}

static void act_on_reply(const runloop_reply *reply, void *info) {
    EXPECT_EQ(reply->result, *(const int *)info);
    act(subject);
}

static void note_one_discard(void *info) {
    (void)info;
    discards++;
}

/// Two of what will call out.
static void prepare(enum event event) {
    static const int replied = 0, timed_out = -ETIMEDOUT;
    const runloop_request_config config = {.asker = subject,
                                           .deadline_ns = event == TIMEOUT ? 1 : RUNLOOP_NEVER,
                                           .replied = act_on_reply,
                                           .discard = note_one_discard,
                                           .info = (void *)(event == TIMEOUT ? &timed_out : &replied)};
    for (int i = 0; i < 2; i++) {
        if (event == MESSAGE)
            EXPECT_EQ(send_text(subject, "m"), 0);
        else
            EXPECT_EQ(runloop_port_request(silent, "q", 1, &config, NULL), 0);
    }
    // Whose loop is this thread's: it replies to both.
    if (event == REPLY)
        run_until_idle();
}

static void *play_on_thread(void *argument) {
    enum event event = *(const enum event *)argument;
    const runloop_port_config config = {.context = COUNTED, .receive = act_on_message};
    subject = make_port(runloop_current(), &config);
    runloop_source_retain(subject);
    silent = make_port(runloop_current(), &(runloop_port_config){.receive = trace_message});
    REQUIRE(runloop_add_source(runloop_current(), silent, event == REPLY ? MODE : OTHER_MODE) == 0);
    prepare(event);
    REQUIRE(runloop_add_source(runloop_current(), subject, MODE) == 0);
    keep_mode(MODE);
    run_through(action == INVALIDATE ? 1 : 2);
    end_port(subject);
    end_port(silent);
    return NULL;
}

static void play_all(enum action what) {
    action = what;
    for (enum event event = MESSAGE; event < EVENTS; event++) {
        begin_calls();
        discards = 0;
        on_new_thread(play_on_thread, &event);
        EXPECT_EQ(calls, action == FORK ? 2 : 1);
        if (action == FORK)
            EXPECT_EQ(child_status, 0);
        // A port ends with its loop, so each request has its one outcome.
        EXPECT_EQ(discards, action != FORK && event != MESSAGE ? 1 : 0);
        EXPECT(!runloop_port_is_valid(subject));
        EXPECT_EQ(send_text(subject, "late"), -EPIPE);
        if (action == EXIT) {
            runloop_source_release(subject);
            runloop_source_release(silent);
        }
        EXPECT_EQ(contexts, 1);
        runloop_source_release(subject);
        EXPECT_EQ(contexts, 0);
    }
}

TEST("a port that is invalidated in a call-out is not called again") {
    play_all(INVALIDATE);
}

TEST("R123 a child that is forked in a call-out is not called, and its parent is") {
    play_all(FORK);
}

TEST("a thread that ends in a call-out ends its port, and each request has one outcome") {
    play_all(EXIT);
}
