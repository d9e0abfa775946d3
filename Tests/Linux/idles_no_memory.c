// idles_no_memory.c — the limits of streams without memory for their dates: a date is refused, or looked at again.
#include <sys/socket.h>

#include "failing_memory.h"
#include "shown_clock.h"

static size_t count_bytes(runloop_input *input, const char *bytes, size_t count, void *info) {
    (void)input, (void)bytes;
    *(size_t *)info += count;
    return count;
}

static void note_end(runloop_input *input, int error, const char *rest, size_t count, void *info) {
    (void)input, (void)rest, (void)count, (void)info;
    EXPECT_EQ(error, 0);
}

TEST("a deadline for which there is no memory is refused, and is none") {
    use_shown_clock();
    int ends[2];
    size_t count = 0;
    make_pipe(ends);
    const runloop_input_config config = {.context.info = &count,
                                         .descriptor = ends[0],
                                         .owns = true,
                                         .limit = 100,
                                         .loop = runloop_current(),
                                         .received = count_bytes,
                                         .ended = note_end};
    runloop_input *input = NULL;
    REQUIRE(runloop_input_create(&config, &input) == 0);
    REQUIRE(runloop_add_source(runloop_current(), input, MODE) == 0);
    failing = 1;
    EXPECT_EQ(runloop_input_set_deadline(input, LIMIT), -ENOMEM);
    EXPECT_EQ(failing, 0);
    shown_ns = 2 * LIMIT;
    // What had arrived by a deadline would be read all the same.
    for (size_t i = 1; i <= 4; i++) {
        REQUIRE(write(ends[1], "text", 4) == 4);
        LOOK_UNTIL(count == 4 * i);
    }
    end_source(input);
}

static bool is_over;

static void note_drain(runloop_output *output, int error, void *info) {
    (void)output;
    *(int *)info = error;
}

/// On a thread whose loop has had no date before.
static void *be_stuck(void *allocation) {
    static char bytes[1 << 20];
    int pair[2], error = 0;
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) == 0);
    const runloop_output_config config = {.context.info = &error,
                                          .descriptor = pair[0],
                                          .owns = true,
                                          .limit = 1 << 16,
                                          .loop = runloop_current(),
                                          .drained = note_drain,
                                          .idle_ns = MS};
    runloop_output *output = NULL;
    REQUIRE(runloop_output_create(&config, &output) == 0);
    REQUIRE(runloop_add_source(runloop_current(), output, MODE) == 0);
    // Without memory for the bytes none of them waits, and they are written again.
    failing = *(long *)allocation;
    while (runloop_output_get_waiting(output) == 0) {
        ptrdiff_t written = runloop_output_write(output, bytes, sizeof bytes);
        REQUIRE(written > 0 || written == -ENOMEM || written == -EAGAIN);
    }
    RUN_UNTIL(MODE, error);
    is_over = failing > 0;
    failing = 0;
    EXPECT_EQ(error, -ETIMEDOUT);
    end_source(output);
    close(pair[1]);
    return NULL;
}

TEST("an output that is stuck is given up at its limit, whichever allocation fails") {
    for (long allocation = 1; !is_over; allocation++)
        on_new_thread(be_stuck, &allocation);
}
