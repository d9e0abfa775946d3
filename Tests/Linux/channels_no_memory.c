// channels_no_memory.c — allocations of a channel in use fail: nothing leaks, and both ends know what has become of it.
#include "channels.h"
#include "failing_memory.h"

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

/// A call that waits for its answer, at an end whose messages wait, so that its answer needs memory.
static runloop_call *make_call(runloop_channel *channels[2], struct outcome *outcome) {
    keeps_calls = true;
    make_channels(channels, (runloop_channel_config){0});
    EXPECT_EQ(request(channels[0], "question", 0, outcome), 0);
    RUN_UNTIL(MODE, kept_call);
    while (tell(channels[1], "m") == 0)
        continue;
    return kept_call;
}

TEST("a reply for which there is no memory is not given, and can be given later") {
    runloop_channel *channels[2];
    struct outcome outcome = {0};
    runloop_call *call = make_call(channels, &outcome);
    failing = 1;
    EXPECT_EQ(runloop_call_reply(call, "answer", 6, NULL, 0), -ENOMEM);
    EXPECT_EQ(runloop_call_reply(call, "answer", 6, NULL, 0), 0);
    EXPECT_EQ(runloop_call_reply(call, "answer", 6, NULL, 0), -EALREADY);
    runloop_call_release(call);
    RUN_UNTIL(MODE, outcome.replies);
    EXPECT(outcome.result == 0 && outcome.length == 6);
    end_channels(channels);
}

TEST("a call that is dropped, which can't be told for want of memory, leaves nobody waiting") {
    runloop_channel *channels[2];
    struct outcome outcome = {0};
    runloop_call *call = make_call(channels, &outcome);
    failing = 1;
    runloop_call_release(call);
    EXPECT_EQ(failing, 0);
    RUN_UNTIL(MODE, outcome.replies);
    EXPECT_EQ(outcome.result, -EPIPE);
    end_channels(channels);
}
