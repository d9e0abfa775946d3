// connects_begin.c — where an attempt begins, if nothing has to be looked up for it, and what a connection costs.
#include <poll.h>

#include "../Core/system_calls.h"
#include "connects.h"
#include "shown_clock.h"

TEST("a target that is not looked up is connected to where the source is added, and the outcome comes with a run") {
    make_loop();
    int listening = runloop_listen_tcp("127.0.0.1", 0, 0);
    REQUIRE(listening >= 0);
    struct outcome outcome = {.descriptor = -1};
    runloop_connect *connect =
        add_connect((runloop_connect_config){.host = "127.0.0.1", .port = port_of(listening)}, &outcome);
    EXPECT_EQ(poll(&(struct pollfd){.fd = listening, .events = POLLIN}, 1, 30000), 1);
    EXPECT_EQ(outcome.calls, 0);
    // What another mode adds to it is no other attempt.
    REQUIRE(runloop_add_source(runloop_current(), connect, "other") == 0);
    RUN_UNTIL(MODE, outcome.calls > 0);
    EXPECT_EQ(outcome.error, 0);
    expect_talk(outcome.descriptor, listening);
    EXPECT_EQ(poll(&(struct pollfd){.fd = listening, .events = POLLIN}, 1, 0), 0);
    close(listening);
    end_source(connect);
}

TEST("one that is refused, or there, as soon as the source is added is reported by a run, and once") {
    make_loop();
    int listening = runloop_listen_abstract(own_name(), 0);
    REQUIRE(listening >= 0);
    const struct {
        runloop_connect_config config;
        int error;
    } cases[] = {{{.path = "/nobody/is/here"}, -ENOENT}, {{.abstract_name = own_name()}, 0}};
    for (int i = 0; i < 2; i++) {
        struct outcome outcome = {.descriptor = -1};
        runloop_connect *connect = add_connect(cases[i].config, &outcome);
        EXPECT_EQ(outcome.calls, 0);
        RUN_UNTIL(MODE, outcome.calls > 0);
        runloop_source_signal(connect);
        run_for(MODE, 1);
        EXPECT_EQ(outcome.calls, 1);
        EXPECT_EQ(outcome.error, cases[i].error);
        EXPECT_EQ(outcome.count, cases[i].error ? 1 : 0);
        if (outcome.descriptor >= 0)
            expect_talk(outcome.descriptor, listening);
        end_source(connect);
    }
    close(listening);
}

TEST("one that is there as soon as the source is added, and is invalidated before a run, is closed at once") {
    int listening = runloop_listen_abstract(own_name(), 0);
    struct outcome outcome = {.descriptor = -1};
    runloop_connect *connect = add_connect((runloop_connect_config){.abstract_name = own_name()}, &outcome);
    int peer = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
    REQUIRE(peer >= 0);
    char byte;
    EXPECT_EQ(recv(peer, &byte, 1, MSG_DONTWAIT), -1);
    runloop_source_invalidate(connect);
    EXPECT_EQ(recv(peer, &byte, 1, MSG_DONTWAIT), 0);
    run_for(MODE, 1);
    EXPECT_EQ(outcome.calls, 0);
    runloop_source_release(connect);
    close(peer);
    close(listening);
}

static runloop *test_loop;

static void *add_elsewhere(void *connect) {
    REQUIRE(runloop_add_source(test_loop, connect, MODE) == 0);
    return NULL;
}

TEST("the deadline of a source that another thread adds is an instant of the loop's clock") {
    use_shown_clock();
    test_loop = runloop_current();
    struct black_hole hole = make_black_hole("127.0.0.1", 0);
    struct outcome outcome = {.descriptor = -1};
    const runloop_connect_config config = {
        .context.info = &outcome,
        .host = "127.0.0.1",
        .port = port_of(hole.listening),
        .deadline_ns = LIMIT,
        .connected = note_outcome,
    };
    runloop_connect *connect = NULL;
    REQUIRE(runloop_connect_create(&config, &connect) == 0);
    on_new_thread(add_elsewhere, connect);
    look_a_while(MODE);
    EXPECT_EQ(outcome.calls, 0);
    shown_ns = LIMIT;
    LOOK_UNTIL(outcome.calls > 0);
    EXPECT_EQ(outcome.error, -ETIMEDOUT);
    runloop_source_release(connect);
    end_black_hole(hole);
}

enum { ROUNDS = 10 };

static void note_and_close(runloop_connect *connect, int descriptor, int error, void *info) {
    (void)connect;
    EXPECT_EQ(error, 0);
    close(descriptor);
    ((struct outcome *)info)->calls++;
}

static void make_connections(void) {
    make_loop();
    int listening = runloop_listen_tcp("127.0.0.1", 0, 0);
    REQUIRE(listening >= 0);
    const runloop_connect_config config = {
        .host = "127.0.0.1", .port = port_of(listening), .connected = note_and_close};
    for (int i = 0; i <= ROUNDS; i++) {
        struct outcome outcome = {0};
        // What happens once has happened.
        if (i == 1)
            begin_counting();
        runloop_connect *connect = add_connect(config, &outcome);
        handle_one(MODE);
        EXPECT_EQ(outcome.calls, 1);
        runloop_source_release(connect);
    }
    end_counting();
    close(listening);
}

TEST("a connection is eight system calls: a socket, its option, connect, a watch, a wait, whose port it has, and the "
     "end of the two") {
    // The scene leaves itself out without it, in a child.
    need_proc();
    struct system_calls calls = count_system_calls(make_connections);
    if (!calls.are_counted)
        return;
    EXPECT_EQ(calls.own, 8 * ROUNDS);
    EXPECT_EQ(calls.own_waits, ROUNDS);
}
