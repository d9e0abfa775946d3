// ports.c — messages and requests between threads (CRunLoopLinux/src/ports), with ends, cancellations and waits for space.

#include <errno.h>

#include "runloop_port.h"
#include "scene.h"

static runloop *loop;
static runloop_port *port, *asker;
static int received, to_come;
static bool is_written;

static void receive(runloop_port *of, const runloop_message *message, void *info) {
    (void)of, (void)info;
    EXPECT(is_written && message->length == 1);
    if (message->request)
        EXPECT(runloop_request_reply(message->request, "y", 1) == 0 || !runloop_request_is_awaited(message->request));
    if (++received == to_come)
        runloop_stop(loop);
}

static runloop_port *make_port(runloop *of, size_t max_messages) {
    runloop_port *made = NULL;
    runloop_port_config config = {.max_messages = max_messages, .receive = receive};
    EXPECT(runloop_port_create(of, &config, &made) == 0);
    return made;
}

static void make(int expected) {
    to_come = expected;
    loop = loop_with(source_with(NULL, NULL));
    port = make_port(loop, 1);
    runloop_add_source(loop, port, MODE);
}

//===-- messages -----------------------------------------------------------------------------------------------------===//

static void run_for_one(void) {
    make(1);
    meet();
    EXPECT(run_and_part() == RUNLOOP_RESULT_STOPPED);
}
static void run_for_two(void) {
    make(2);
    is_written = true;
    meet();
    EXPECT(run_and_part() == RUNLOOP_RESULT_STOPPED);
}
static void send(void) {
    meet();
    is_written = true;
    EXPECT(runloop_port_send(port, "x", 1, 0) == 0);
}
static void wait_and_send(void) {
    meet();
    EXPECT(runloop_port_send(port, "x", 1, RUNLOOP_NEVER) == 0);
}
SCENE(message_to_port, "a message ends the sleep, and what was written before it is seen",
      .threads = {run_for_one, send});
SCENE(messages_wait_for_space, "who waits for space gets it", .threads = {run_for_two, wait_and_send, wait_and_send});

static void end_at_once(void) {
    make(0);
    EXPECT(runloop_port_send(port, "x", 1, 0) == 0);
    meet();
}
static void wait_until_end(void) {
    meet();
    EXPECT(runloop_port_send(port, "x", 1, RUNLOOP_NEVER) == -EPIPE);
}
SCENE(port_that_ends, "who waits for space of a port that ends is told",
      .threads = {end_at_once, wait_until_end, wait_until_end});

static void run_for_three(void) {
    make(3);
    runloop_port *small = port;
    port = make_port(loop, 3);
    runloop_add_source(loop, port, MODE);
    runloop_source_release(small);
    is_written = true;
    meet();
    EXPECT(run_and_part() == RUNLOOP_RESULT_STOPPED);
}
static void send_three(void) {
    meet();
    for (int i = 0; i < 3; i++)
        EXPECT(runloop_port_send(port, "x", 1, 0) == 0);
}
SCENE(messages_of_many, "a burst of messages is received", .threads = {run_for_three, send_three});

static void end_with_loop(void) {
    loop = runloop_retain(runloop_current());
    port = make_port(loop, 0);
    meet();
}
static void make_another(void) {
    runloop_port *made = NULL;
    meet();
    int result = runloop_port_create(loop, &(runloop_port_config){.receive = receive}, &made);
    EXPECT(result == 0 || result == -ESHUTDOWN);
    asker = made;
}
static void both_have_ended(void) {
    EXPECT(!runloop_port_is_valid(port) && !(asker && runloop_port_is_valid(asker)));
}
SCENE(port_made_at_end, "a port that is made while its loop ends ends with it, or is refused",
      .threads = {end_with_loop, make_another}, .at_rest = both_have_ended);

//===-- requests -----------------------------------------------------------------------------------------------------===//

static _Atomic int discarded;
static int replied, cancelled, replied_result;

static void note_reply(const runloop_reply *reply, void *info) {
    (void)info;
    replied++;
    replied_result = reply->result;
    runloop_stop(loop);
}
static void note_discard(void *info) {
    (void)info;
    discarded++;
    runloop_stop_latched(loop);
}

static uint64_t request(void) {
    uint64_t id = 0;
    runloop_request_config config = {.asker = asker, .replied = note_reply, .discard = note_discard};
    EXPECT(runloop_port_request(port, "x", 1, &config, &id) == 0);
    return id;
}

/// The asker's loop runs until the answer is there, while the receiver's does.
static void ask_and_run(void) {
    loop = loop_with(source_with(NULL, NULL));
    asker = make_port(loop, 0);
    runloop_add_source(loop, asker, MODE);
    tell(0);
    meet();
    request();
    EXPECT(run_and_part() == RUNLOOP_RESULT_STOPPED);
    EXPECT(replied == 1 && replied_result == 0);
}
static runloop *receiver;
static void stop_receiver(runloop_port *of, const runloop_message *message, void *info) {
    (void)of, (void)info;
    EXPECT(runloop_request_reply(message->request, "y", 1) == 0);
    runloop_stop(receiver);
}
static void run_receiver(void) {
    await(0);
    receiver = loop_with(source_with(NULL, NULL));
    EXPECT(runloop_port_create(receiver, &(runloop_port_config){.receive = stop_receiver}, &port) == 0);
    runloop_add_source(receiver, port, MODE);
    meet();
    EXPECT(run_and_part() == RUNLOOP_RESULT_STOPPED);
}
SCENE(request_and_reply, "a request is answered on its own loop", .threads = {ask_and_run, run_receiver});

/// Both ports are of the loop that answers; another thread cancels what a third one has sent.
static void run_with_both(void) {
    make(0);
    asker = make_port(loop, 0);
    runloop_add_source(loop, asker, MODE);
    is_written = true;
    meet();
    while (replied + discarded == 0)
        run_for_ever();
    part();
}
static void ask_and_cancel(void) {
    meet();
    int result = runloop_port_cancel(asker, request());
    EXPECT(result == 0 || result == -ENOENT);
    cancelled = result == 0;
}
static void one_outcome(void) {
    EXPECT(replied + discarded == 1 && discarded == cancelled);
}
SCENE(request_and_cancel, "a request that is cancelled is discarded, or it was answered",
      .threads = {run_with_both, ask_and_cancel}, .at_rest = one_outcome);

static void ask_and_wait(void) {
    meet();
    int result = runloop_port_request_and_wait(port, "x", 1, RUNLOOP_NEVER, NULL, NULL);
    EXPECT(result == 0 || result == -EPIPE);
}
static void run_until_asked(void) {
    make(1);
    is_written = true;
    meet();
    EXPECT(run_and_part() == RUNLOOP_RESULT_STOPPED);
}
static void end_after_poll(void) {
    make(1);
    is_written = true;
    meet();
    runloop_run_in_mode(MODE, 0, false);
}
SCENE(wait_for_reply, "a thread that waits for the answer gets it", .threads = {run_until_asked, ask_and_wait});
SCENE(wait_and_end, "or is told that the port has ended", .threads = {end_after_poll, ask_and_wait});
