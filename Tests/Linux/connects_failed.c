// connects_failed.c — attempts that fail one after the other: which error counts, and what is left of one that has failed.
#include <poll.h>

#include "fake_names.h"
#include "shown_clock.h"

#define DELAY (250 * MS)

/// For a loop whose clock stands still.
#define RUN_PASSES_UNTIL(condition) WAIT_UNTIL((runloop_run_pass(MODE, 0), (condition)))

static bool has_something_to_do(runloop_connect *connect) {
    return poll(&(struct pollfd){.fd = runloop_source_get_descriptor(connect), .events = POLLIN}, 1, 0) == 1;
}

TEST("the error is that of the first address, whatever the others' are") {
    int reserved;
    struct outcome outcome =
        outcome_of((runloop_connect_config){.host = "127.0.0.2,255.255.255.255", .port = dead_port(&reserved)});
    REQUIRE(outcome.count == 2);
    EXPECT_EQ(outcome.failures[0].error, -ECONNREFUSED);
    EXPECT(outcome.failures[1].error != -ECONNREFUSED);
    EXPECT_EQ(outcome.error, -ECONNREFUSED);
    close(reserved);
}

TEST("an attempt that fails after the next has begun hurries none, and leaves nothing to do though a child has its "
     "socket") {
    struct outcome outcome = {0};
    runloop_connect_failure failure;
    int listening = listen_on("127.0.0.1", 0);
    struct black_hole first = make_black_hole("127.0.0.2", port_of(listening)),
                      second = make_black_hole("127.0.0.3", port_of(listening));
    use_shown_clock();
    runloop_connect_config config = {.host = "127.0.0.2,127.0.0.3,127.0.0.1", .port = port_of(listening)};
    runloop_connect *connect = add_connect(config, &outcome);
    WAIT_UNTIL(results == 1);
    // The attempts are their descriptors.
    int before = count_descriptors();
    RUN_PASSES_UNTIL(count_descriptors() == before + 1);
    shown_ns = DELAY;
    RUN_PASSES_UNTIL(count_descriptors() == before + 2);
    pid_t child = fork();
    // In both processes.
    end_black_hole(first);
    while (child == 0)
        pause();
    shown_ns = 2 * DELAY - 1;
    RUN_PASSES_UNTIL(runloop_connect_get_failures(connect, &failure, 1) == 1);
    EXPECT_EQ(failure.error, -ECONNREFUSED);
    RUN_PASSES_UNTIL(!has_something_to_do(connect));
    EXPECT_EQ(outcome.calls, 0);
    shown_ns = 2 * DELAY;
    RUN_PASSES_UNTIL(outcome.calls == 1);
    EXPECT_EQ(outcome.error, 0);
    EXPECT(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
    runloop_source_release(connect);
    expect_talk(outcome.descriptor, listening);
    end_black_hole(second);
    close(listening);
}

TEST("a full queue is asked again after ten milliseconds, and not before") {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct outcome outcome = {0};
    int listening = runloop_listen_abstract(own_name(), 1), last = -1;
    REQUIRE(listening >= 0);
    socklen_t size = sizeof address;
    REQUIRE(getsockname(listening, (struct sockaddr *)&address, &size) == 0);
    for (int is_full = 0; !is_full;) {
        last = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        is_full = connect(last, (struct sockaddr *)&address, size) < 0;
        REQUIRE(!is_full || errno == EAGAIN);
    }
    close(last);
    use_shown_clock();
    runloop_connect *connect = add_connect((runloop_connect_config){.abstract_name = own_name()}, &outcome);
    look_a_while(MODE);
    close(accept4(listening, NULL, NULL, SOCK_CLOEXEC));
    shown_ns = 10 * MS - 1;
    look_a_while(MODE);
    EXPECT_EQ(outcome.calls, 0);
    shown_ns = 10 * MS;
    LOOK_UNTIL(outcome.calls == 1);
    EXPECT_EQ(outcome.error, 0);
    close(outcome.descriptor);
    runloop_source_release(connect);
    close(listening);
}

TEST("options have the greatest values that the kernel takes") {
    int listening = listen_on("127.0.0.1", 0);
    struct outcome outcome = outcome_of((runloop_connect_config){.host = "127.0.0.1",
                                                                 .port = port_of(listening),
                                                                 .keepalive_idle_ns = 32767 * SECOND,
                                                                 .keepalive_interval_ns = 32767 * SECOND,
                                                                 .keepalive_count = 127});
    EXPECT_EQ(outcome.error, 0);
    int value = 0;
    socklen_t size = sizeof value;
    EXPECT(getsockopt(outcome.descriptor, IPPROTO_TCP, TCP_KEEPIDLE, &value, &size) == 0 && value == 32767);
    EXPECT(getsockopt(outcome.descriptor, IPPROTO_TCP, TCP_KEEPCNT, &value, &size) == 0 && value == 127);
    expect_talk(outcome.descriptor, listening);
    close(listening);
}
