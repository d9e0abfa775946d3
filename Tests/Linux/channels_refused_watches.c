// channels_refused_watches.c — epoll_ctl fails where the socket of a channel is watched for something else: the loop comes and tries again.
// Link with -Wl,--wrap=epoll_ctl.
#include <sys/epoll.h>

#include "channels.h"

extern int __real_epoll_ctl(int set, int operation, int descriptor, struct epoll_event *event);

static bool fails;
static int failed_count;

int __wrap_epoll_ctl(int set, int operation, int descriptor, struct epoll_event *event) {
    if (fails && operation != EPOLL_CTL_DEL) {
        failed_count++;
        errno = ENOSPC;
        return -1;
    }
    return __real_epoll_ctl(set, operation, descriptor, event);
}

static void read_all(int socket) {
    static char bytes[70000];
    while (recv(socket, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
        continue;
}

TEST("messages that wait when the socket can't be watched are sent later") {
    int sockets[2];
    make_sockets(sockets);
    runloop_channel *channel = add_channel_with(sockets[0], (runloop_channel_config){0});
    keep_mode(MODE);
    size_t sent = 0, drained = 0;
    fails = true;
    while (tell(channel, "m") == 0)
        sent++;
    EXPECT(failed_count > 0 && sent > 64);
    // It goes on trying.
    failed_count = 0;
    EXPECT_EQ(run_for(MODE, 5 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT(failed_count > 0);
    fails = false;
    for (int64_t limit = runloop_now_ns() + 30 * SECOND; drained < sent && runloop_now_ns() < limit;) {
        char byte[64];
        run_for(MODE, MS);
        while (recv(sockets[1], byte, sizeof byte, MSG_DONTWAIT) > 0)
            drained++;
    }
    EXPECT_EQ(drained, sent);
    // It waits again then, and does not spin.
    EXPECT_EQ(runloop_source_get_events(channel), RUNLOOP_READABLE | RUNLOOP_ERROR);
    EXPECT(!runloop_source_is_signalled(channel));
    end_channel(channel);
    read_all(sockets[1]);
}

TEST("messages that came while the socket could not be watched are received later") {
    runloop_channel *channels[2];
    make_channels(channels, (runloop_channel_config){.max_calls = 1});
    EXPECT_EQ(runloop_channel_hold_message(channels[1]), 0);
    EXPECT_EQ(tell(channels[0], "held back"), 0);
    EXPECT_EQ(run_for(MODE, 5 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(received_count, 0);
    fails = true;
    EXPECT_EQ(runloop_channel_release_message(channels[1]), 0);
    EXPECT_EQ(run_for(MODE, 5 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(received_count, 0);
    fails = false;
    RUN_UNTIL(MODE, received_count == 1);
    end_channels(channels);
}
