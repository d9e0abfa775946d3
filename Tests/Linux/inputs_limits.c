// inputs_limits.c — an input at its limits: a full buffer in a pause, a deadline that has passed, a run in its call-out, a call for nothing.
#include "shown_clock.h"

static int ends[2];

struct taking {
    int calls, ends, error;
    size_t consumed;
    bool pauses, nests, forks;
};

static size_t take_bytes(runloop_input *input, const char *bytes, size_t count, void *info) {
    struct taking *taking = info;
    (void)bytes;
    taking->calls++;
    if (taking->nests) {
        taking->nests = false;
        REQUIRE(write(ends[1], "more", 4) == 4);
        // The run is called for the descriptor once, and then it sleeps.
        EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
        EXPECT_EQ(runloop_run_in_mode(MODE, MS, true), RUNLOOP_RESULT_TIMED_OUT);
        EXPECT_EQ(taking->calls, 1);
    }
    if (taking->pauses) {
        taking->pauses = false;
        EXPECT_EQ(runloop_input_pause(input), 0);
        return 0;
    }
    taking->consumed += count;
    return count;
}

static void note_end(runloop_input *input, int error, const char *rest, size_t count, void *info) {
    struct taking *taking = info;
    (void)input, (void)rest, (void)count;
    taking->ends++;
    taking->error = error;
}

static runloop_input *add_input(int descriptor, bool owns, size_t limit, struct taking *taking) {
    const runloop_input_config config = {.context.info = taking,
                                         .descriptor = descriptor,
                                         .owns = owns,
                                         .limit = limit,
                                         .loop = runloop_current(),
                                         .received = take_bytes,
                                         .ended = note_end};
    runloop_input *input = NULL;
    REQUIRE(runloop_input_create(&config, &input) == 0);
    REQUIRE(runloop_add_source(runloop_current(), input, MODE) == 0);
    return input;
}

TEST("a client that pauses with a full buffer, of which it takes nothing, goes on with that after the pause") {
    struct taking taking = {.pauses = true};
    make_pipe(ends);
    runloop_input *input = add_input(ends[0], true, 8, &taking);
    REQUIRE(write(ends[1], "12345678", 8) == 8);
    RUN_UNTIL(MODE, taking.calls == 1);
    poll_mode(MODE);
    EXPECT_EQ(taking.ends, 0);
    EXPECT_EQ(runloop_input_resume(input), 0);
    RUN_UNTIL(MODE, taking.consumed == 8);
    EXPECT_EQ(taking.calls, 2);
    end_source(input);
}

TEST("a paused input of a file does not wake a loop that it comes to") {
    char path[] = "/tmp/runloop-test-XXXXXX";
    int file = mkstemp(path);
    struct taking taking = {0};
    REQUIRE(file >= 0 && unlink(path) == 0 && write(file, "text", 4) == 4 && lseek(file, 0, SEEK_SET) == 0);
    runloop_input *input = add_input(file, true, 8, &taking);
    EXPECT_EQ(runloop_input_pause(input), 0);
    // It was woken to read before.
    while (handle_one(MODE) == RUNLOOP_RESULT_HANDLED_SOURCE)
        continue;
    REQUIRE(runloop_add_source(runloop_current(), input, "other") == 0);
    EXPECT_EQ(runloop_run_in_mode("other", MS, true), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(taking.calls, 0);
    EXPECT_EQ(runloop_input_resume(input), 0);
    RUN_UNTIL("other", taking.consumed == 4);
    end_source(input);
}

TEST("a run in the call-out is called once for what comes meanwhile, and sleeps then") {
    struct taking taking = {.nests = true};
    make_pipe(ends);
    runloop_input *input = add_input(ends[0], true, 8, &taking);
    REQUIRE(write(ends[1], "text", 4) == 4);
    RUN_UNTIL(MODE, taking.consumed == 8);
    EXPECT_EQ(taking.calls, 2);
    end_source(input);
}

TEST("what had arrived by a deadline that the loop finds late is read before it is over") {
    use_shown_clock();
    struct taking taking = {0};
    make_pipe(ends);
    runloop_input *input = add_input(ends[0], true, 8, &taking);
    EXPECT_EQ(runloop_input_set_deadline(input, LIMIT), 0);
    REQUIRE(write(ends[1], "12345678", 8) == 8);
    shown_ns = 2 * LIMIT;
    LOOK_UNTIL(taking.ends == 1);
    EXPECT_EQ(taking.error, -ETIMEDOUT);
    EXPECT_EQ(taking.consumed, 8);
    end_source(input);
}

TEST("a descriptor that may block is not waited for when the input is called for nothing") {
    struct taking taking = {0};
    REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
    runloop_input *input = add_input(ends[0], true, 8, &taking);
    for (int i = 0; i < 2; i++) {
        EXPECT_EQ(runloop_source_signal(input), 0);
        EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    }
    EXPECT_EQ(taking.calls, 0);
    REQUIRE(write(ends[1], "text", 4) == 4);
    RUN_UNTIL(MODE, taking.consumed == 4);
    end_source(input);
}

TEST("a descriptor that an input owns is closed when that is invalidated, though somebody has a reference") {
    struct taking taking = {0};
    make_pipe(ends);
    runloop_input *input = add_input(ends[0], true, 8, &taking);
    runloop_source_invalidate(input);
    EXPECT(fcntl(ends[0], F_GETFD) == -1 && errno == EBADF);
    EXPECT_EQ(taking.ends, 0);
    runloop_source_release(input);
}

static bool is_in_child;

static void fork_in_line(runloop_input *input, const char *line, size_t count, int error, void *info) {
    (void)input, (void)line, (void)count, (void)error;
    struct taking *taking = info;
    taking->calls++;
    pid_t child = fork();
    REQUIRE(child >= 0);
    is_in_child = child == 0;
    int status = -1;
    if (child > 0) {
        REQUIRE(waitpid(child, &status, 0) == child);
        EXPECT_EQ(status, 0);
    }
}

TEST("R123 a child that is forked in the call for the last line is not called for the end") {
    struct taking taking = {0};
    make_pipe(ends);
    const runloop_input_config config = {.context.info = &taking,
                                         .descriptor = ends[0],
                                         .owns = true,
                                         .limit = 100,
                                         .received_line = fork_in_line,
                                         .ended = note_end};
    runloop_input *input = NULL;
    REQUIRE(runloop_input_create(&config, &input) == 0);
    REQUIRE(runloop_add_source(runloop_current(), input, MODE) == 0);
    REQUIRE(write(ends[1], "last", 4) == 4);
    close(ends[1]);
    int result = 0;
    while (taking.ends == 0 && result >= 0 && !is_in_child)
        result = runloop_run_in_mode(MODE, 10 * SECOND, true);
    if (is_in_child)
        _exit(taking.ends == 0 && result == -ECHILD ? 0 : 1);
    EXPECT_EQ(taking.calls, 1);
    EXPECT_EQ(taking.ends, 1);
    EXPECT_EQ(taking.error, 0);
    end_source(input);
}
