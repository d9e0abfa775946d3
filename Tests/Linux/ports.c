// ports.c — ports: messages, space, modes, fairness, ends.
#include <poll.h>

#include "ports.h"

TEST("messages are received in order, one in each iteration, whatever they contain") {
    runloop_port *port = add_port();
    EXPECT_EQ(send_text(port, "one"), 0);
    EXPECT_EQ(send_text(port, "two"), 0);
    EXPECT_EQ(runloop_port_send(port, NULL, 0, 0), 0);
    EXPECT_EQ(runloop_port_get_count(port), 3);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("one");
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(runloop_port_get_count(port), 0);
    EXPECT_EQ(run_for(MODE, 10 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("two ");
    end_port(port);
}

TEST("bad input is refused, and NULL is no port") {
    runloop_port_config config = {.max_bytes = 8};
    runloop_port *port = NULL;
    EXPECT_EQ(runloop_port_create(NULL, &config, &port), -EINVAL);
    EXPECT_EQ(runloop_port_create(runloop_current(), NULL, &port), -EINVAL);
    EXPECT_EQ(runloop_port_create(runloop_current(), &config, NULL), -EINVAL);
    EXPECT_EQ(runloop_request_reply(NULL, "a", 1), -EINVAL);
    EXPECT(!runloop_request_is_awaited(NULL));
    runloop_request_release(NULL);
    port = make_port(runloop_current(), &config);
    EXPECT_EQ(runloop_add_source(runloop_port_get_loop(port), port, NULL), -EINVAL);
    EXPECT_EQ(runloop_port_send(port, NULL, 1, 0), -EINVAL);
    EXPECT_EQ(runloop_port_send(port, "123456789", 9, RUNLOOP_NEVER), -EMSGSIZE);
    EXPECT_EQ(runloop_port_send(port, "a", SIZE_MAX, 0), -EMSGSIZE);
    EXPECT_EQ(runloop_port_request(port, "a", 1, NULL, NULL), -EINVAL);
    EXPECT_EQ(runloop_port_request(port, "a", 1, &(runloop_request_config){0}, NULL), -EINVAL);
    EXPECT_EQ(runloop_port_get_loop(port) == runloop_current(), true);
    end_port(port);
}

TEST("a full port refuses, by count and by bytes; its own thread can't wait for space") {
    runloop_port_config config = {.max_messages = 2, .max_bytes = 10, .receive = trace_message};
    runloop_port *port = add_port_to(runloop_current(), &config);
    EXPECT_EQ(send_text(port, "1"), 0);
    EXPECT_EQ(send_text(port, "2"), 0);
    EXPECT_EQ(send_text(port, "3"), -EAGAIN);
    EXPECT_EQ(runloop_port_send(port, "3", 1, RUNLOOP_NEVER), -EDEADLK);
    poll_mode(MODE);
    EXPECT_EQ(send_text(port, "1234567890"), -EAGAIN);
    EXPECT_EQ(send_text(port, "123456789"), 0);
    EXPECT_EQ(runloop_port_request_and_wait(port, "", 0, RUNLOOP_NEVER, NULL, NULL), -EDEADLK);
    run_until_idle();
    EXPECT_TRACE("1 2 123456789");
    end_port(port);
}

static _Atomic bool has_timed_out;

static void *send_and_wait(void *argument) {
    int64_t deadline = runloop_get_now_ns(NULL) + 30 * MS;
    EXPECT_EQ(runloop_port_send(argument, "late", 4, deadline), -ETIMEDOUT);
    EXPECT(runloop_get_now_ns(NULL) >= deadline);
    has_timed_out = true;
    return (void *)(intptr_t)runloop_port_send(argument, "waited", 6, RUNLOOP_NEVER);
}

TEST("a sender waits for space until its deadline, or until there is space") {
    runloop_port_config config = {.max_messages = 1, .receive = trace_message};
    runloop_port *port = add_port_to(runloop_current(), &config);
    EXPECT_EQ(send_text(port, "first"), 0);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, send_and_wait, port) == 0);
    // Until then there is no space.
    WAIT_UNTIL(has_timed_out);
    RUN_UNTIL(MODE, trace_contains("waited"));
    void *result;
    REQUIRE(pthread_join(thread, &result) == 0);
    EXPECT_EQ((intptr_t)result, 0);
    EXPECT_TRACE("first waited");
    end_port(port);
}

static _Atomic bool is_sending;

static void *send_for_ever(void *argument) {
    is_sending = true;
    return (void *)(intptr_t)runloop_port_send(argument, "more", 4, RUNLOOP_NEVER);
}

static void ignore_interrupt(int number) {
    (void)number;
}

TEST("the end of a port tells a sender that waits, which a signal has not disturbed") {
    runloop_port_config config = {.max_messages = 1, .receive = trace_message};
    runloop_port *port = add_port_to(runloop_current(), &config);
    struct sigaction action = {.sa_handler = ignore_interrupt};
    REQUIRE(sigaction(SIGUSR1, &action, NULL) == 0);
    EXPECT_EQ(send_text(port, "first"), 0);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, send_for_ever, port) == 0);
    WAIT_UNTIL(is_sending);
    for (int i = 0; i < 10; i++) {
        pthread_kill(thread, SIGUSR1);
        pass_time(MS);
    }
    runloop_source_invalidate(port);
    void *result;
    REQUIRE(pthread_join(thread, &result) == 0);
    EXPECT_EQ((intptr_t)result, -EPIPE);
    EXPECT_EQ(send_text(port, "after"), -EPIPE);
    EXPECT(!runloop_port_is_valid(port));
    EXPECT_EQ(runloop_add_source(runloop_port_get_loop(port), port, MODE), -EINVAL);
    end_source(port);
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_FINISHED);
    EXPECT_TRACE("");
}

TEST("a port is received from in its modes only, and keeps them from being empty") {
    runloop_port *port = add_port();
    EXPECT_EQ(runloop_add_source(runloop_port_get_loop(port), port, MODE), 0);
    EXPECT_EQ(runloop_add_source(runloop_port_get_loop(port), port, OTHER_MODE), 0);
    EXPECT_EQ(runloop_remove_source(runloop_port_get_loop(port), port, MODE), 0);
    EXPECT_EQ(runloop_remove_source(runloop_port_get_loop(port), port, MODE), 0);
    EXPECT_EQ(send_text(port, "text"), 0);
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_FINISHED);
    EXPECT_TRACE("");
    EXPECT_EQ(handle_one(OTHER_MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("text");
    EXPECT_EQ(runloop_add_source(runloop_port_get_loop(port), port, RUNLOOP_COMMON_MODES), 0);
    EXPECT_EQ(send_text(port, "common"), 0);
    EXPECT_EQ(handle_one(RUNLOOP_DEFAULT_MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("common");
    end_port(port);
}

static void note_release(void *info) {
    trace(info);
}

TEST("the loop keeps a port that is in a mode; the last reference frees it, with what waits and its context") {
    runloop_port_config config = {.context = {.info = "freed", .release = note_release}, .receive = trace_message};
    runloop_port *port = add_port_to(runloop_current(), &config);
    EXPECT_EQ(send_text(port, "text"), 0);
    runloop_source_release(port);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(send_text(port, "never"), 0);
    EXPECT_TRACE("text");
    EXPECT_EQ(runloop_remove_source(runloop_port_get_loop(port), port, MODE), 0);
    EXPECT_TRACE("freed");
    // In no mode.
    runloop_source_release(make_port(runloop_current(), &config));
    EXPECT_TRACE("freed");
}

static void end_in_call_out(runloop_port *port, const runloop_message *message, void *info) {
    trace_message(port, message, NULL);
    EXPECT_EQ(runloop_remove_source(runloop_port_get_loop(port), port, MODE), 0);
    end_port(port);
    trace(info);
}

TEST("a port may be removed, ended and released in its own call-out") {
    runloop_port_config config = {.context = {.info = "info", .release = note_release}, .receive = end_in_call_out};
    runloop_port *port = add_port_to(runloop_current(), &config);
    EXPECT_EQ(send_text(port, "a"), 0);
    EXPECT_EQ(send_text(port, "b"), 0);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("a info info");
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_FINISHED);
}

static void receive_nested(runloop_port *port, const runloop_message *message, void *info) {
    trace_message(port, message, info);
    if (*(const char *)message->bytes == 'a')
        EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    trace("end");
}

TEST("a run nested in a call-out receives the next message") {
    runloop_port_config config = {.receive = receive_nested};
    runloop_port *port = add_port_to(runloop_current(), &config);
    EXPECT_EQ(send_text(port, "a"), 0);
    EXPECT_EQ(send_text(port, "b"), 0);
    EXPECT_EQ(send_text(port, "c"), 0);
    run_until_idle();
    EXPECT_TRACE("a b end end c end");
    end_port(port);
}

static int flood_count;

static void send_again(runloop_port *port, const runloop_message *message, void *info) {
    (void)info;
    flood_count++;
    EXPECT_EQ(runloop_port_send(port, message->bytes, message->length, 0), 0);
}

TEST("timers and other sources are served in a flood of messages") {
    runloop_port_config config = {.receive = send_again};
    runloop_port *port = add_port_to(runloop_current(), &config);
    for (int i = 0; i < 10; i++)
        EXPECT_EQ(send_text(port, "flood"), 0);
    int ticks = 0;
    add_timer(MODE, runloop_now_ns(), MS, count_firing, &ticks);
    int descriptor = make_eventfd(1);
    add_descriptor(MODE, descriptor, RUNLOOP_READABLE, trace_ready, "ready");
    RUN_UNTIL(MODE, flood_count > 10 && ticks > 1 && trace_contains("ready"));
    end_port(port);
}

enum { BURST = 40 };

static void wait_for_burst(runloop_port *port, const runloop_message *message, void *info) {
    trace_message(port, message, info);
    if (message->length > 1)
        WAIT_UNTIL(runloop_port_get_count(port) == BURST);
}

static _Atomic int wake_ups;

static void count_wake_up(void *context, runloop_trace_point point, const void *object, int64_t value) {
    (void)context, (void)object, (void)value;
    wake_ups += point == RUNLOOP_TRACE_WAKE;
}

static void count_wake_ups(void) {
    const runloop_tracer tracer = {.trace = count_wake_up};
    EXPECT_EQ(runloop_set_tracer(&tracer), 0);
}

TEST("a burst wakes a sleeping loop once") {
    struct worker worker = {.prepare = count_wake_ups};
    start_worker(&worker);
    runloop_port_config config = {.receive = wait_for_burst};
    runloop_port *port = add_port_to(worker.loop, &config);
    wait_for_sleep(&worker);
    wake_ups = 0;
    EXPECT_EQ(send_text(port, "first"), 0);
    for (int i = 0; i < BURST; i++)
        WAIT_UNTIL(send_text(port, ".") == 0);
    WAIT_UNTIL(runloop_port_get_count(port) == 0);
    wait_for_sleep(&worker);
    EXPECT_EQ(wake_ups, 1);
    stop_worker(&worker);
    EXPECT_EQ(strlen(test_trace_text), strlen("first") + 2 * BURST);
    EXPECT(!runloop_port_is_valid(port));
    EXPECT_EQ(send_text(port, "after"), -EPIPE);
    runloop_source_release(port);
}

static void *make_on_thread(void *argument) {
    (void)argument;
    shared = make_port(runloop_current(), &(runloop_port_config){0});
    runloop_retain(runloop_current());
    return NULL;
}

TEST("a loop that has ended has no ports") {
    on_new_thread(make_on_thread, NULL);
    EXPECT(!runloop_port_is_valid(shared));
    runloop *loop = runloop_port_get_loop(shared);
    runloop_port *port;
    EXPECT_EQ(runloop_port_create(loop, &(runloop_port_config){0}, &port), -ESHUTDOWN);
    runloop_source_release(shared);
    runloop_release(loop);
}

static void use_in_child(void) {
    EXPECT_EQ(send_text(shared, "child"), -ECHILD);
    EXPECT_EQ(runloop_add_source(runloop_port_get_loop(shared), shared, MODE), -ECHILD);
    EXPECT_EQ(runloop_port_request_and_wait(shared, "a", 1, RUNLOOP_NEVER, NULL, NULL), -ECHILD);
    EXPECT_EQ(runloop_request_reply(kept, "a", 1), -ECHILD);
    EXPECT(!runloop_port_is_valid(shared));
    end_port(shared);
    runloop_request_release(kept);
    runloop_port *port = add_port();
    EXPECT_EQ(send_text(port, "new"), 0);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT(trace_contains("new"));
    end_port(port);
}

TEST("a forked child has no inherited ports, and changes nothing in its parent") {
    keeps_requests = true;
    shared = add_port();
    struct answer answer = {0};
    ask(shared, shared, "asked", &answer);
    poll_mode(MODE);
    REQUIRE(kept);
    EXPECT_EQ(status_of_child(use_in_child), 0);
    EXPECT(runloop_port_is_valid(shared));
    EXPECT_EQ(runloop_request_reply(kept, "reply", 5), 0);
    poll_mode(MODE);
    EXPECT_ANSWER(answer, 0);
    EXPECT_TEXT(answer.text, "reply");
    runloop_request_release(kept);
    end_port(shared);
}

//===-- hosted runs --------------------------------------------------------------------------------------------------===//

static bool host_is_called(void) {
    struct pollfd host = {.fd = runloop_hosted_descriptor(), .events = POLLIN};
    return poll(&host, 1, 30000) == 1;
}

static void host_until_idle(void) {
    while (runloop_hosted_iterate(RUNLOOP_FOREVER) == -EAGAIN)
        continue;
}

TEST("R104 messages, requests and replies of the host's own code are delivered while its hosted run sleeps") {
    runloop_port *port = add_port();
    EXPECT_EQ(runloop_hosted_begin(MODE), 0);
    host_until_idle();
    EXPECT_EQ(send_text(port, "message"), 0);
    EXPECT(host_is_called());
    host_until_idle();
    EXPECT_TRACE("message");
    keeps_requests = true;
    struct answer answer = {0};
    ask(port, port, "request", &answer);
    EXPECT(host_is_called());
    host_until_idle();
    EXPECT_TRACE("request");
    EXPECT_EQ(runloop_request_reply(kept, "reply", 5), 0);
    EXPECT(host_is_called());
    host_until_idle();
    EXPECT_ANSWER(answer, 0);
    runloop_request_release(kept);
    EXPECT_EQ(runloop_hosted_end(), 0);
    end_port(port);
}

TEST("a port needs no descriptor") {
    runloop_current();
    use_up_descriptors(0);
    runloop_port *port = add_port();
    EXPECT_EQ(send_text(port, "text"), 0);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("text");
    end_port(port);
    give_back_descriptors();
}
