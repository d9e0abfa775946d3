// ports_requests.c — requests: each is answered once, by whoever is first.
#include "ports.h"

static runloop_port *add_answers(void) {
    return add_port_to(runloop_current(), &(runloop_port_config){0});
}

TEST("a request is replied to on the asker's loop, in its modes") {
    struct worker worker = {0};
    start_worker(&worker);
    runloop_port *port = add_port_to(worker.loop, &(runloop_port_config){.receive = trace_message});
    runloop_port *asker = add_answers();
    struct answer answer = {0};
    EXPECT_EQ(ask(port, asker, "text", &answer), 1);
    WAIT_UNTIL(trace_contains("text"));
    keep_mode(OTHER_MODE);
    run_for(OTHER_MODE, 10 * MS);
    EXPECT_EQ(answer.replies, 0);
    RUN_UNTIL(MODE, answer.replies);
    EXPECT_ANSWER(answer, 0);
    EXPECT_TEXT(answer.text, "text");
    stop_worker(&worker);
    runloop_source_release(port);
    end_port(asker);
}

TEST("a request that is released without a reply is dropped, also where nobody receives") {
    runloop_port *asker = add_answers();
    struct answer answer = {0};
    ask(asker, asker, "", &answer);
    run_until_idle();
    EXPECT_ANSWER(answer, -ENOMSG);
    keeps_requests = true;
    runloop_port *port = add_port();
    struct answer other = {0};
    ask(port, asker, "kept", &other);
    run_until_idle();
    EXPECT_EQ(other.replies, 0);
    EXPECT(runloop_request_is_awaited(kept));
    runloop_request_release(kept);
    run_until_idle();
    EXPECT_ANSWER(other, -ENOMSG);
    end_port(port);
    end_port(asker);
}

TEST("a second reply is refused") {
    keeps_requests = true;
    runloop_port *port = add_port();
    struct answer answer = {0};
    ask(port, port, "q", &answer);
    poll_mode(MODE);
    EXPECT_EQ(runloop_request_reply(kept, NULL, 0), 0);
    EXPECT(!runloop_request_is_awaited(kept));
    EXPECT_EQ(runloop_request_reply(kept, "b", 1), -EPIPE);
    EXPECT_EQ(runloop_request_reply(kept, NULL, 1), -EINVAL);
    runloop_request_release(kept);
    run_until_idle();
    EXPECT_ANSWER(answer, 0);
    EXPECT_EQ(answer.length, 0);
    end_port(port);
}

TEST("the end of a port answers what waits in it and what it has received") {
    keeps_requests = true;
    runloop_port *port = add_port(), *asker = add_answers();
    struct answer answers[3] = {0};
    ask(port, asker, "received", &answers[0]);
    poll_mode(MODE);
    ask(port, asker, "waits", &answers[1]);
    ask(port, asker, "waits", &answers[2]);
    end_port(port);
    EXPECT_EQ(runloop_request_reply(kept, "late", 4), -EPIPE);
    runloop_request_release(kept);
    run_until_idle();
    for (int i = 0; i < 3; i++)
        EXPECT_ANSWER(answers[i], -EPIPE);
    const runloop_request_config config = {.asker = asker};
    EXPECT_EQ(runloop_port_request(asker, "", 0, &config, NULL), 0);
    end_port(asker);
    EXPECT_TRACE("received");
}

TEST("the last reference to a port answers what waits in it") {
    runloop_port *port = make_port(runloop_current(), &(runloop_port_config){0}), *asker = add_answers();
    struct answer answer = {0};
    ask(port, asker, "waits", &answer);
    runloop_source_release(port);
    run_until_idle();
    EXPECT_ANSWER(answer, -EPIPE);
    end_port(asker);
}

static runloop_port *of_thread;

static void *make_and_end(void *argument) {
    (void)argument;
    keeps_requests = true;
    __atomic_store_n(&of_thread, add_port(), __ATOMIC_SEQ_CST);
    handle_one(MODE);
    WAIT_UNTIL(runloop_port_get_count(of_thread) == 1);
    return NULL;
}

TEST("the end of the receiver's thread answers what it has received and not received") {
    struct answer answers[2] = {0};
    runloop_port *asker = add_answers();
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, make_and_end, NULL) == 0);
    WAIT_UNTIL(__atomic_load_n(&of_thread, __ATOMIC_SEQ_CST));
    ask(of_thread, asker, "received", &answers[0]);
    WAIT_UNTIL(trace_contains("received"));
    ask(of_thread, asker, "waits", &answers[1]);
    RUN_UNTIL(MODE, answers[0].replies && answers[1].replies);
    REQUIRE(pthread_join(thread, NULL) == 0);
    EXPECT_ANSWER(answers[0], -EPIPE);
    EXPECT_ANSWER(answers[1], -EPIPE);
    EXPECT_EQ(runloop_request_reply(kept, "late", 4), -EPIPE);
    runloop_request_release(kept);
    runloop_source_release(of_thread);
    end_port(asker);
}

static struct answer asked[3];

static void *ask_and_end(void *argument) {
    runloop_port *asker = add_answers();
    for (int i = 0; i < 3; i++)
        ask(argument, asker, "question", &asked[i]);
    runloop_source_release(asker);
    return NULL;
}

TEST("a replier learns that the asker's thread has ended, and what is not received any more is skipped") {
    keeps_requests = true;
    runloop_port *port = add_port();
    on_new_thread(ask_and_end, port);
    for (int i = 0; i < 3; i++)
        EXPECT_DISCARDED(asked[i]);
    run_until_idle();
    EXPECT_TRACE("");
    runloop_port *asker = add_answers();
    struct answer answer = {0};
    ask(port, asker, "q", &answer);
    poll_mode(MODE);
    end_port(asker);
    EXPECT_DISCARDED(answer);
    EXPECT(!runloop_request_is_awaited(kept));
    EXPECT_EQ(runloop_request_reply(kept, "r", 1), -EPIPE);
    runloop_request_release(kept);
    end_port(port);
    EXPECT_DISCARDED(answer);
}

TEST("a reply that waits to be called out when its asker ends is discarded") {
    runloop_port *port = add_port(), *asker = make_port(runloop_current(), &(runloop_port_config){0});
    struct answer answer = {0};
    ask(port, asker, "q", &answer);
    run_until_idle();
    EXPECT_TRACE("q");
    EXPECT_EQ(answer.replies, 0);
    end_port(asker);
    EXPECT_DISCARDED(answer);
    end_port(port);
}

TEST("deadlines answer in order, not before, and a reply prevents them") {
    keeps_requests = true;
    runloop_port *port = add_port(), *asker = add_answers();
    int64_t now = runloop_now_ns();
    struct answer late = {0}, early = {0}, never = {0}, past = {0}, replied = {0};
    ask_until(port, asker, "replied", now + 500 * MS, &replied);
    poll_mode(MODE);
    EXPECT_EQ(runloop_request_reply(kept, "r", 1), 0);
    runloop_request_release(kept);
    keeps_requests = false;
    EXPECT_EQ(runloop_remove_source(runloop_port_get_loop(port), port, MODE), 0);
    ask_until(port, asker, "late", now + 700 * MS, &late);
    ask_until(port, asker, "early", now + 600 * MS, &early);
    ask(port, asker, "never", &never);
    ask_until(port, asker, "past", 1, &past);
    RUN_UNTIL(MODE, past.replies);
    EXPECT_ANSWER(past, -ETIMEDOUT);
    RUN_UNTIL(MODE, early.replies);
    EXPECT(runloop_now_ns() >= now + 600 * MS);
    RUN_UNTIL(MODE, late.replies);
    EXPECT(runloop_now_ns() >= now + 700 * MS);
    EXPECT_ANSWER(early, -ETIMEDOUT);
    EXPECT_ANSWER(late, -ETIMEDOUT);
    EXPECT(past.rank < early.rank && early.rank < late.rank);
    EXPECT_ANSWER(replied, 0);
    EXPECT_EQ(never.replies, 0);
    EXPECT_EQ(runloop_add_source(runloop_port_get_loop(port), port, MODE), 0);
    RUN_UNTIL(MODE, never.replies);
    EXPECT_TRACE("replied never");
    // The timer still serves further ones.
    struct answer again = {0};
    runloop_remove_source(runloop_port_get_loop(port), port, MODE);
    ask_until(port, asker, "again", runloop_now_ns() + 5 * MS, &again);
    RUN_UNTIL(MODE, again.replies);
    EXPECT_ANSWER(again, -ETIMEDOUT);
    end_port(port);
    end_port(asker);
}

TEST("a deadline is brought forward by a later request, and one that was cancelled brings no other forward") {
    runloop_port *port = add_port(), *asker = add_answers();
    EXPECT_EQ(runloop_remove_source(runloop_port_get_loop(port), port, MODE), 0);
    int64_t now = runloop_now_ns();
    struct answer far = {0}, cancelled = {0}, near = {0};
    ask_until(port, asker, "far", now + 3600 * SECOND, &far);
    ask_until(port, asker, "near", now + 100 * MS, &near);
    EXPECT_EQ(runloop_port_cancel(asker, ask_until(port, asker, "cancelled", now + 10 * MS, &cancelled)), 0);
    RUN_UNTIL(MODE, near.replies);
    EXPECT(runloop_now_ns() >= now + 100 * MS);
    EXPECT_ANSWER(near, -ETIMEDOUT);
    EXPECT_EQ(far.replies, 0);
    EXPECT_DISCARDED(cancelled);
    end_port(port);
    end_port(asker);
}

TEST("a cancelled request is discarded, whether it waits, is being replied to or was replied to") {
    keeps_requests = true;
    runloop_port *port = add_port(), *asker = add_answers();
    struct answer waits = {0}, received = {0}, replied = {0}, timed = {0};
    uint64_t second = ask(port, asker, "received", &received);
    poll_mode(MODE);
    uint64_t first = ask(port, asker, "waits", &waits);
    uint64_t third = ask_until(port, asker, "timed", runloop_now_ns() + 3600 * SECOND, &timed);
    EXPECT_EQ(runloop_port_cancel(asker, first), 0);
    EXPECT_EQ(runloop_port_cancel(asker, third), 0);
    EXPECT_EQ(runloop_port_cancel(asker, first), -ENOENT);
    EXPECT_EQ(runloop_port_cancel(asker, 99), -ENOENT);
    EXPECT_EQ(runloop_port_cancel(asker, second), 0);
    EXPECT_EQ(runloop_request_reply(kept, "r", 1), -EPIPE);
    runloop_request_release(kept);
    run_until_idle();
    EXPECT_TRACE("received");
    uint64_t fourth = ask(port, asker, "replied", &replied);
    poll_mode(MODE);
    EXPECT_EQ(runloop_request_reply(kept, "r", 1), 0);
    runloop_request_release(kept);
    EXPECT_EQ(runloop_port_cancel(asker, fourth), 0);
    run_until_idle();
    EXPECT_DISCARDED(waits);
    EXPECT_DISCARDED(received);
    EXPECT_DISCARDED(timed);
    EXPECT_DISCARDED(replied);
    end_port(port);
    end_port(asker);
}

struct dialog {
    runloop_port *port;
    int64_t patience_ns;
    int result;
    char *reply;
    size_t length;
    int64_t took_ns;
};

static void *ask_and_wait(void *argument) {
    struct dialog *dialog = argument;
    int64_t begun = runloop_get_now_ns(NULL);
    int64_t deadline = dialog->patience_ns ? begun + dialog->patience_ns : RUNLOOP_NEVER;
    dialog->result =
        runloop_port_request_and_wait(dialog->port, "question", 8, deadline, (void **)&dialog->reply, &dialog->length);
    dialog->took_ns = runloop_get_now_ns(NULL) - begun;
    return NULL;
}

TEST("a thread waits for its reply") {
    runloop_port *port = add_port();
    struct dialog dialog = {.port = port};
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, ask_and_wait, &dialog) == 0);
    RUN_UNTIL(MODE, trace_contains("question"));
    REQUIRE(pthread_join(thread, NULL) == 0);
    EXPECT_EQ(dialog.result, 0);
    EXPECT(dialog.length == 8 && memcmp(dialog.reply, "question", 8) == 0);
    free(dialog.reply);
    end_port(port);
}

TEST("a thread waits until its deadline, the end of the port, or the drop of its request") {
    keeps_requests = true;
    runloop_port *port = add_port();
    struct dialog dialog = {.port = port, .patience_ns = 20 * MS};
    on_new_thread(ask_and_wait, &dialog);
    EXPECT_EQ(dialog.result, -ETIMEDOUT);
    EXPECT(dialog.took_ns >= 20 * MS && !dialog.reply);
    run_until_idle();
    EXPECT_TRACE("");
    dialog.patience_ns = 0;
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, ask_and_wait, &dialog) == 0);
    RUN_UNTIL(MODE, kept);
    runloop_request_release(kept);
    REQUIRE(pthread_join(thread, NULL) == 0);
    EXPECT_EQ(dialog.result, -ENOMSG);
    REQUIRE(pthread_create(&thread, NULL, ask_and_wait, &dialog) == 0);
    WAIT_UNTIL(runloop_port_get_count(port) == 1);
    runloop_source_invalidate(port);
    REQUIRE(pthread_join(thread, NULL) == 0);
    EXPECT_EQ(dialog.result, -EPIPE);
    on_new_thread(ask_and_wait, &dialog);
    EXPECT_EQ(dialog.result, -EPIPE);
    runloop_source_release(port);
}

static void end_asker(const runloop_reply *reply, void *info) {
    EXPECT_EQ(reply->result, 0);
    trace("replied");
    end_port(info);
}

TEST("an asker may be ended and released in the call-out of a reply") {
    runloop_port *port = add_port(), *asker = add_answers();
    const runloop_request_config config = {.asker = asker, .replied = end_asker, .info = asker};
    EXPECT_EQ(runloop_port_request(port, "a", 1, &config, NULL), 0);
    EXPECT_EQ(runloop_port_request(port, "b", 1, &config, NULL), 0);
    run_until_idle();
    EXPECT_TEXT(test_trace_text, "a b replied");
    end_port(port);
}

TEST("an error of a request leaves nothing to be called") {
    runloop_port *port = add_port_to(runloop_current(), &(runloop_port_config){.max_messages = 1}),
                 *asker = add_answers();
    struct answer answer = {0};
    const runloop_request_config config = {
        .asker = asker, .replied = note_reply, .discard = note_discard, .info = &answer};
    EXPECT_EQ(send_text(port, "full"), 0);
    EXPECT_EQ(runloop_port_request(port, "a", 1, &config, NULL), -EAGAIN);
    EXPECT_EQ(runloop_port_request(port, NULL, 1, &config, NULL), -EINVAL);
    EXPECT_EQ(runloop_port_request(port, "a", SIZE_MAX, &config, NULL), -EMSGSIZE);
    runloop_source_invalidate(port);
    EXPECT_EQ(runloop_port_request(port, "a", 1, &config, NULL), -EPIPE);
    runloop_source_invalidate(asker);
    EXPECT_EQ(runloop_port_request(asker, "a", 1, &config, NULL), -EPIPE);
    EXPECT_EQ(answer.replies + answer.discards, 0);
    runloop_source_release(port);
    runloop_source_release(asker);
}
