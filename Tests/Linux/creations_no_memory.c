// creations_no_memory.c — signals for which there is no memory on a thread that ends, and outputs that find none when they are used. What else
// is made is tried by Tests/Proof/Faults.
#include <sys/socket.h>

#include "failing_memory.h"

static int create_signal(void) {
    runloop_signal *signal = NULL;
    int result = runloop_signal_create(&(runloop_signal_config){.number = SIGUSR1}, &signal);
    runloop_source_invalidate(signal);
    runloop_source_release(signal);
    EXPECT(action_of(SIGUSR1).sa_handler == SIG_DFL);
    return result;
}

TEST("a signal, on a thread that is to be cancelled, which keeps nobody from making others") {
    expect_failures_of_cancelled_threads(create_signal);
}

TEST("an output that finds no memory takes nothing, and takes it when there is some") {
    int ends[2];
    char text[8192], read_back[sizeof text];
    memset(text, 'x', sizeof text);
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    runloop_output *output = NULL;
    REQUIRE(runloop_output_create(&(runloop_output_config){.descriptor = ends[0], .owns = true, .limit = sizeof text},
                                  &output) == 0);
    REQUIRE(runloop_add_source(runloop_current(), output, MODE) == 0);
    failing = 1;
    EXPECT_EQ(runloop_output_enqueue(output, text, sizeof text), -ENOMEM);
    EXPECT_EQ(runloop_output_get_waiting(output), 0);
    EXPECT_EQ(runloop_output_enqueue(output, text, sizeof text), 0);
    RUN_UNTIL(MODE, runloop_output_get_waiting(output) == 0);
    EXPECT_EQ(recv(ends[1], read_back, sizeof read_back, MSG_WAITALL), (ssize_t)sizeof text);
    EXPECT_EQ(memcmp(text, read_back, sizeof text), 0);
    runloop_source_invalidate(output);
    runloop_source_release(output);
    close(ends[1]);
}

static void count_drain(runloop_output *output, int error, void *info) {
    (void)output;
    EXPECT_EQ(error, 0);
    ++*(int *)info;
}

TEST("an output that finds no memory for what the kernel does not take calls `drained` when it is time to go on") {
    static char much[1 << 20], read_back[1 << 16];
    int ends[2], drains = 0;
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
    const runloop_output_config config = {
        .context.info = &drains, .descriptor = ends[0], .owns = true, .limit = sizeof much, .drained = count_drain};
    runloop_output *output = NULL;
    REQUIRE(runloop_output_create(&config, &output) == 0);
    REQUIRE(runloop_add_source(runloop_current(), output, MODE) == 0);
    failing = 1;
    ptrdiff_t sent = runloop_output_write(output, much, sizeof much);
    failing = 0;
    EXPECT(sent > 0 && sent < (ptrdiff_t)sizeof much);
    EXPECT_EQ(runloop_output_get_waiting(output), 0);
    while (recv(ends[1], read_back, sizeof read_back, 0) > 0)
        continue;
    RUN_UNTIL(MODE, drains == 1);
    EXPECT_EQ(runloop_output_write(output, "more", 4), 4);
    EXPECT_EQ(drains, 1);
    runloop_source_invalidate(output);
    runloop_source_release(output);
    close(ends[1]);
}
