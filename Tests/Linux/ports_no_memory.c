// ports_no_memory.c — each allocation of a port fails once: nothing leaks, and what was refused can be tried again.
#include "failing_memory.h"
#include "ports.h"

static int contexts;

static void *count_context(void *info) {
    contexts++;
    return info;
}

static void uncount_context(void *info) {
    (void)info;
    contexts--;
}

TEST("a port that finds no memory is not made or not added") {
    runloop_current();
    runloop_port_config config = {.context = {.retain = count_context, .release = uncount_context}};
    int result = -ENOMEM;
    long allocation = 1;
    for (; result < 0 && allocation < 100; allocation++) {
        runloop_port *port = NULL;
        failing = allocation;
        result = runloop_port_create(runloop_current(), &config, &port);
        if (result == 0)
            result = runloop_add_source(runloop_port_get_loop(port), port, "new mode");
        failing = 0;
        EXPECT(result == 0 || result == -ENOMEM);
        if (port)
            end_port(port);
        EXPECT_EQ(contexts, 0);
        EXPECT_EQ(poll_mode("new mode"), RUNLOOP_RESULT_FINISHED);
    }
    EXPECT(result == 0 && allocation > 3);
}

TEST("what finds no memory is refused, and can be sent again") {
    keeps_requests = true;
    runloop_port *port = add_port();
    struct answer answer = {0};
    const runloop_request_config config = {
        .asker = port, .replied = note_reply, .discard = note_discard, .info = &answer};
    failing = 1;
    EXPECT_EQ(send_text(port, "text"), -ENOMEM);
    failing = 1;
    EXPECT_EQ(runloop_port_request(port, "request", 7, &config, NULL), -ENOMEM);
    EXPECT_EQ(runloop_port_request(port, "request", 7, &config, NULL), 0);
    poll_mode(MODE);
    EXPECT_TRACE("request");
    failing = 1;
    EXPECT_EQ(runloop_request_reply(kept, "reply", 5), -ENOMEM);
    EXPECT(runloop_request_is_awaited(kept));
    EXPECT_EQ(runloop_request_reply(kept, "reply", 5), 0);
    runloop_request_release(kept);
    poll_mode(MODE);
    EXPECT_ANSWER(answer, 0);
    EXPECT_TEXT(answer.text, "reply");
    end_port(port);
}

TEST("a message costs one allocation, and so does a reply") {
    runloop_port *port = add_port();
    struct answer answer = {0};
    ask(port, port, "warm", &answer);
    run_until_idle();
    allocations = 0;
    for (int i = 0; i < 10; i++) {
        EXPECT_EQ(send_text(port, "text"), 0);
        poll_mode(MODE);
    }
    EXPECT_EQ(allocations, 10);
    allocations = 0;
    struct answer other = {0};
    ask(port, port, "request", &other);
    run_until_idle();
    EXPECT_ANSWER(other, 0);
    EXPECT_EQ(allocations, 2);
    end_port(port);
}
