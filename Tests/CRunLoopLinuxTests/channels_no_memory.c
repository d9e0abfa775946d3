// channels_no_memory.c — each allocation of a channel fails once: nothing leaks, and both ends know what has become of it.
#include "channels.h"
#include "failing_memory.h"

TEST("a channel that finds no memory is not made, and the socket remains the caller's") {
    int sockets[2], result = -ENOMEM;
    make_sockets(sockets);
    int before = count_descriptors();
    const runloop_channel_config config = {0};
    runloop_channel *channel = NULL;
    long allocation = 1;
    for (; result < 0 && allocation < 100; allocation++) {
        failing = allocation;
        result = runloop_channel_create(sockets[0], &config, &channel);
        failing = 0;
        EXPECT(result == 0 || result == -ENOMEM);
        if (result < 0)
            EXPECT_EQ(count_descriptors(), before);
    }
    EXPECT(result == 0 && allocation > 2);
    end_channel(channel);
    EXPECT_EQ(count_descriptors(), before - 1);
    close(sockets[1]);
}

TEST("what can't be received for want of memory ends the channel, and what can't be sent is refused") {
    int pipe[2];
    make_pipe(pipe);
    keep_mode(MODE);
    int before = count_descriptors();
    int ended = 0;
    for (long allocation = 0; allocation < 10; allocation++) {
        runloop_channel *channels[2];
        struct outcome outcome = {0};
        make_channels(channels, (runloop_channel_config){0});
        const runloop_channel_request_config config = {
            .replied = note_answer, .discard = note_discarded, .info = &outcome};
        failing = 1;
        EXPECT_EQ(runloop_channel_request(channels[0], "q", 1, pipe, 2, &config, NULL), -ENOMEM);
        EXPECT_EQ(runloop_channel_request(channels[0], "q", 1, pipe, 2, &config, NULL), 0);
        ends = 0;
        failing = allocation;
        RUN_UNTIL(MODE, outcome.replies);
        failing = 0;
        EXPECT_EQ(outcome.result, ends ? -EPIPE : 0);
        run_for(MODE, 5 * MS);
        if (ends > 0)
            RUN_UNTIL(MODE, ends == 2);
        ended += ends > 0;
        for (int i = 0; i < 2; i++)
            end_channel(channels[i]);
        if (taken >= 0)
            close(taken);
        taken = -1;
        EXPECT_EQ(count_descriptors(), before);
    }
    // The call. What the loop itself allocates, and the space for packets, are there after the first time, when nothing fails.
    EXPECT_EQ(ended, 1);
}

static long failing_first;
enum { RECEIVED = 3, ENDED = 4 };

static void receive_first(void) {
    runloop_channel *channels[2];
    make_channels(channels, (runloop_channel_config){0});
    EXPECT_EQ(tell(channels[0], "m"), 0);
    REQUIRE(runloop_remove_source(runloop_current(), channels[0], MODE) == 0);
    failing = failing_first;
    RUN_UNTIL(MODE, ends > 0 || received_count > 0);
    EXPECT(received_count > 0 || end_reason == -ENOMEM);
    if (test_failures == 0)
        _exit(ends > 0 ? ENDED : RECEIVED);
}

TEST("a channel that finds no space for the first packet of its process ends") {
    int ended = 0;
    for (failing_first = 1; failing_first < 10; failing_first++) {
        int status = status_of_child(receive_first);
        EXPECT(WIFEXITED(status) && (WEXITSTATUS(status) == RECEIVED || WEXITSTATUS(status) == ENDED));
        ended += WEXITSTATUS(status) == ENDED;
    }
    // What the loop itself can't allocate, it tries again.
    EXPECT_EQ(ended, 1);
}

TEST("a request whose deadline finds no memory is refused, and nothing was sent") {
    runloop_channel *channels[2];
    make_channels(channels, (runloop_channel_config){0});
    struct outcome outcome = {0}, next = {0};
    uint64_t id = 0;
    int64_t soon = runloop_get_now_ns(NULL) + 10 * MS;
    // The request itself, and its place among what the mode is to do.
    for (failing = 2; failing; failing = 0)
        EXPECT_EQ(request(channels[0], "q", soon, &outcome), -ENOMEM);
    EXPECT_EQ(request_with_id(channels[0], "next", 0, &next, &id), 0);
    EXPECT_EQ(id, 1);
    RUN_UNTIL(MODE, next.replies);
    EXPECT_TRACE("next");
    EXPECT_EQ(run_for(MODE, 20 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT(outcome.replies == 0 && outcome.discards == 0);
    for (int i = 0; i < 2; i++)
        end_channel(channels[i]);
}
