// ports.h — what the tests of ports share.
#ifndef RUNLOOP_TEST_PORTS_H
#define RUNLOOP_TEST_PORTS_H

#include "linux_items.h"

/// What a port has received, in texts of the trace; a request is kept, or replied to with its own bytes.
static runloop_request *kept;
static bool keeps_requests;

static inline void trace_message(runloop_port *port, const runloop_message *message, void *info) {
    (void)port, (void)info;
    char text[64];
    snprintf(text, sizeof text, "%.*s", (int)message->length, (const char *)message->bytes);
    trace(text);
    if (message->request && keeps_requests)
        kept = runloop_request_retain(message->request);
    else if (message->request)
        EXPECT_EQ(runloop_request_reply(message->request, message->bytes, message->length), 0);
}

/// Until nothing has been received for a while.
static inline void run_until_idle(void) {
    while (runloop_run_in_mode(MODE, 10 * MS, true) == RUNLOOP_RESULT_HANDLED_SOURCE) {
    }
}

static inline runloop_port *make_port(runloop *loop, const runloop_port_config *config) {
    runloop_port *port = NULL;
    REQUIRE(runloop_port_create(loop, config, &port) == 0 && port);
    return port;
}

/// A port in MODE of a loop. One reference.
static inline runloop_port *add_port_to(runloop *loop, const runloop_port_config *config) {
    runloop_port *port = make_port(loop, config);
    REQUIRE(runloop_add_source(loop, port, MODE) == 0);
    return port;
}

static inline runloop_port *add_port(void) {
    return add_port_to(runloop_current(), &(runloop_port_config){.receive = trace_message});
}

static inline void end_port(runloop_port *port) {
    end_source(port);
}

static inline int send_text(runloop_port *port, const char *text) {
    return runloop_port_send(port, text, strlen(text), 0);
}

/// How a request was answered: one of the two is called, once.
struct answer {
    _Atomic int replies, discards;
    int rank; ///< among the replies on this thread
    int result;
    size_t length;
    char text[64];
};

static inline void note_reply(const runloop_reply *reply, void *info) {
    static _Thread_local int rank;
    struct answer *answer = info;
    answer->rank = ++rank;
    answer->result = reply->result;
    answer->length = reply->length;
    snprintf(answer->text, sizeof answer->text, "%.*s", (int)reply->length,
             reply->bytes ? (const char *)reply->bytes : "");
    answer->replies++;
}

static inline void note_discard(void *info) {
    struct answer *answer = info;
    answer->discards++;
}

static inline uint64_t ask_until(runloop_port *port, runloop_port *asker, const char *text, int64_t deadline_ns,
                                 struct answer *answer) {
    const runloop_request_config config = {
        .asker = asker, .deadline_ns = deadline_ns, .replied = note_reply, .discard = note_discard, .info = answer};
    uint64_t id = 0;
    EXPECT_EQ(runloop_port_request(port, text, strlen(text), &config, &id), 0);
    return id;
}

static inline uint64_t ask(runloop_port *port, runloop_port *asker, const char *text, struct answer *answer) {
    return ask_until(port, asker, text, RUNLOOP_NEVER, answer);
}

#define EXPECT_ANSWER(answer, expected)                                                                                \
    do {                                                                                                               \
        EXPECT_EQ((answer).replies, 1);                                                                                \
        EXPECT_EQ((answer).discards, 0);                                                                               \
        EXPECT_EQ((answer).result, expected);                                                                          \
    } while (0)

#define EXPECT_DISCARDED(answer)                                                                                       \
    do {                                                                                                               \
        EXPECT_EQ((answer).replies, 0);                                                                                \
        EXPECT_EQ((answer).discards, 1);                                                                               \
    } while (0)

#endif // RUNLOOP_TEST_PORTS_H
