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
    // The packet, the call, and the reply. What the loop itself allocates, it has after the first time, when nothing fails.
    EXPECT_EQ(ended, 3);
}
