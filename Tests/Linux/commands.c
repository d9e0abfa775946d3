// commands.c — programs that are run to their end: fed, read and awaited, by a loop and by a thread.
#include "children.h"

/// What was reported by a loop, with copies of what is valid during the call.
struct report {
    int count;
    runloop_command_result result;
    char output[1024], error[1024];
};

static void copy(char *text, size_t size, const runloop_command_output *output) {
    size_t count = output->count < size ? output->count : size - 1;
    memcpy(text, output->bytes, count);
    text[count] = 0;
    EXPECT_EQ(output->bytes[output->count], 0);
}

static void note_result(runloop_command *command, const runloop_command_result *result, void *info) {
    struct report *report = info;
    EXPECT(!runloop_source_is_valid(command));
    EXPECT_EQ(runloop_command_get_pid(command), result->pid);
    report->count++;
    report->result = *result;
    copy(report->output, sizeof report->output, &result->output);
    copy(report->error, sizeof report->error, &result->error);
}

static runloop_command *add_command(runloop_command_config config, struct report *report) {
    char failed[256];
    runloop_command *command = NULL;
    need_starts();
    config.context.info = report;
    config.ended = note_result;
    config.start.searches = true;
    config.start.failed = failed;
    config.start.failed_size = sizeof failed;
    int result = runloop_command_create(&config, &command);
    if (result < 0)
        fprintf(stderr, "    %s: %s\n", failed, strerror(-result));
    REQUIRE(result == 0);
    REQUIRE(runloop_add_source(runloop_current(), command, MODE) == 0);
    return command;
}

/// Runs it in a loop, and then by this thread: both must come to the same, which is the result, without bytes.
static runloop_command_result run_both(runloop_command_config config, struct report *report) {
    runloop_command_result result;
    runloop_command *command = add_command(config, report);
    RUN_UNTIL(MODE, report->count > 0);
    EXPECT(runloop_mode_is_empty(runloop_current(), MODE));
    EXPECT(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
    runloop_source_release(command);
    config.start.searches = true;
    int before = count_descriptors();
    REQUIRE(runloop_command_run(&config, &result) == 0);
    EXPECT_EQ(count_descriptors(), before);
    EXPECT(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
    EXPECT_EQ(result.exit.end, report->result.exit.end);
    EXPECT_EQ(result.exit.status, report->result.exit.status);
    EXPECT_EQ(result.output.count, report->result.output.count);
    EXPECT_EQ(result.output.end, report->result.output.end);
    EXPECT_EQ(result.error.count, report->result.error.count);
    EXPECT_EQ(result.error.end, report->result.error.end);
    EXPECT_EQ(result.timed_out, report->result.timed_out);
    EXPECT_EQ(strncmp(result.output.bytes, report->output, 1000), 0);
    runloop_command_result_free(&result);
    runloop_command_result_free(&result);
    EXPECT(!result.output.bytes && result.output.count == 0);
    return report->result;
}

TEST("a command is fed, both outputs are read, and its end is reported") {
    struct report report = {0};
    runloop_command_result result = run_both(
        (runloop_command_config){
            .start.arguments = SHELL("sort; echo $0 >&2; exit 3"), .input = "b\na\n", .input_count = 4, .limit = 1000},
        &report);
    EXPECT_TEXT(report.output, "a\nb\n");
    EXPECT_TEXT(report.error, "sh\n");
    EXPECT(result.pid > 0 && result.exit.has_usage);
    EXPECT_EQ(result.exit.end, RUNLOOP_CHILD_EXITED);
    EXPECT_EQ(result.exit.status, 3);
    EXPECT_EQ(result.output.end, RUNLOOP_COMMAND_COMPLETE);
    EXPECT_EQ(result.error.end, RUNLOOP_COMMAND_COMPLETE);
    EXPECT_EQ(result.input_left, 0);
    EXPECT(!result.timed_out);
}

TEST("a command without input reads from /dev/null, and has the descriptors that are listed") {
    struct report report = {0};
    const runloop_child_descriptor listed[] = {{.number = 2, .kind = RUNLOOP_CHILD_SAME, .from = 1},
                                               {.number = 5, .kind = RUNLOOP_CHILD_NULL}};
    run_both((runloop_command_config){.start = {.arguments = SHELL("cat; echo out; echo err >&2; echo five >&5"),
                                                .descriptors = listed,
                                                .descriptor_count = 2},
                                      .limit = 1000},
             &report);
    EXPECT_TEXT(report.output, "out\nerr\n");
    EXPECT_TEXT(report.error, "");
}

TEST("much on both outputs and the input at once holds up nobody, and what is beyond the limit is dropped") {
    struct report report = {0};
    enum { COUNT = 400000 };
    char *input = calloc(COUNT, 1);
    REQUIRE(input);
    runloop_command_result result = run_both(
        (runloop_command_config){.start.arguments =
                                     SHELL("head -c 300000 /dev/zero >&2; cat; head -c 300000 /dev/zero >&2; exit 7"),
                                 .input = input,
                                 .input_count = COUNT,
                                 .limit = 1000},
        &report);
    EXPECT_EQ(result.exit.status, 7);
    EXPECT_EQ(result.output.count, 1000);
    EXPECT_EQ(result.output.dropped, COUNT - 1000);
    EXPECT_EQ(result.output.end, RUNLOOP_COMMAND_OVER_LIMIT);
    EXPECT_EQ(result.error.count, 1000);
    EXPECT_EQ(result.error.dropped, 600000 - 1000);
    result = run_both(
        (runloop_command_config){.start.arguments = WORDS("cat"), .input = input, .input_count = COUNT, .limit = COUNT},
        &(struct report){0});
    EXPECT_EQ(result.output.count, COUNT);
    EXPECT_EQ(result.output.end, RUNLOOP_COMMAND_COMPLETE);
    free(input);
}

TEST("a pipe is closed at the limit if that is asked for, and not by what is as long as the limit") {
    runloop_command_result result = run_both(
        (runloop_command_config){.start.arguments = WORDS("yes"), .limit = 10, .excess = RUNLOOP_COMMAND_CLOSE},
        &(struct report){0});
    EXPECT_EQ(result.exit.end, RUNLOOP_CHILD_SIGNALLED);
    EXPECT_EQ(result.exit.status, SIGPIPE);
    EXPECT_EQ(result.output.count, 10);
    EXPECT_EQ(result.output.end, RUNLOOP_COMMAND_OVER_LIMIT);
    for (size_t limit = 4; limit <= 6; limit++) {
        result = run_both((runloop_command_config){.start.arguments = WORDS("printf", "12345"),
                                                   .limit = limit,
                                                   .excess = RUNLOOP_COMMAND_CLOSE},
                          &(struct report){0});
        EXPECT_EQ(result.exit.status, 0);
        EXPECT_EQ(result.output.count, limit < 5 ? limit : 5);
        EXPECT_EQ(result.output.end, limit < 5 ? RUNLOOP_COMMAND_OVER_LIMIT : RUNLOOP_COMMAND_COMPLETE);
    }
    result = run_both((runloop_command_config){.start.arguments = WORDS("printf", "12345")}, &(struct report){0});
    EXPECT_EQ(result.output.count, 0);
    EXPECT_EQ(result.output.dropped, 5);
}

TEST("input that is not read is left, and a broken pipe ends nobody") {
    enum { COUNT = 400000 };
    char *input = calloc(COUNT, 1);
    REQUIRE(input);
    runloop_command_result result = run_both(
        (runloop_command_config){
            .start.arguments = SHELL("exec <&-; sleep 0.02"), .input = input, .input_count = COUNT, .limit = 10},
        &(struct report){0});
    EXPECT_EQ(result.exit.status, 0);
    EXPECT(result.input_left > 0 && result.input_left <= COUNT);
    free(input);
}

static pid_t number_in(const char *text) {
    return (pid_t)strtol(text, NULL, 10);
}

TEST("what another process writes later than the limit is cut off, which is not complete; earlier, it is") {
    struct report report = {0};
    runloop_command_config config = {
        .start.arguments = SHELL("sleep 1000 & echo $!; printf last"), .limit = 1000, .output_limit_ns = 50 * MS};
    int64_t begun_ns = runloop_now_ns();
    runloop_command *command = add_command(config, &report);
    RUN_UNTIL(MODE, report.count > 0);
    EXPECT(runloop_now_ns() >= begun_ns + 50 * MS);
    EXPECT_EQ(report.result.output.end, RUNLOOP_COMMAND_CUT_OFF);
    EXPECT_EQ(report.result.error.end, RUNLOOP_COMMAND_CUT_OFF);
    EXPECT(strstr(report.output, "\nlast"));
    EXPECT_EQ(kill(number_in(report.output), SIGKILL), 0);
    runloop_source_release(command);
    runloop_command_result result;
    config.start.searches = true;
    REQUIRE(runloop_command_run(&config, &result) == 0);
    EXPECT_EQ(result.output.end, RUNLOOP_COMMAND_CUT_OFF);
    EXPECT_EQ(kill(number_in(result.output.bytes), SIGKILL), 0);
    runloop_command_result_free(&result);
    config.start.arguments = SHELL("(sleep 0.05; echo late) & echo hi");
    config.output_limit_ns = RUNLOOP_NEVER;
    report.count = 0;
    run_both(config, &report);
    EXPECT_TEXT(report.output, "hi\nlate\n");
    EXPECT_EQ(report.result.output.end, RUNLOOP_COMMAND_COMPLETE);
}

TEST("a command whose end was seen has nothing to do while it waits for others that have its pipes") {
    struct report report = {0};
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const runloop_child_descriptor number = {.number = 3, .kind = RUNLOOP_CHILD_DESCRIPTOR, .from = ends[1]};
    runloop_command *command = add_command(
        (runloop_command_config){
            .start = {.arguments = SHELL("sleep 1000 & echo $! >&3"), .descriptors = &number, .descriptor_count = 1},
            .limit = 1000,
            .output_limit_ns = RUNLOOP_NEVER},
        &report);
    // It has been reaped.
    RUN_UNTIL(MODE, kill(runloop_command_get_pid(command), 0) < 0);
    struct pollfd set = {.fd = runloop_source_get_descriptor(command), .events = POLLIN};
    EXPECT_EQ(poll(&set, 1, 0), 0);
    char text[16] = "";
    REQUIRE(read(ends[0], text, sizeof text - 1) > 0);
    EXPECT_EQ(kill(number_in(text), SIGKILL), 0);
    RUN_UNTIL(MODE, report.count > 0);
    EXPECT_EQ(report.result.output.end, RUNLOOP_COMMAND_COMPLETE);
    runloop_source_release(command);
    close(ends[0]);
    close(ends[1]);
}

TEST("one that writes for ever does not put off the end of the output") {
    struct report report = {0};
    runloop_command *command = add_command(
        (runloop_command_config){
            .start.arguments = SHELL("yes | head -c 2000; yes &"), .limit = 1000, .output_limit_ns = 20 * MS},
        &report);
    RUN_UNTIL(MODE, report.count > 0);
    EXPECT_EQ(report.result.output.end, RUNLOOP_COMMAND_OVER_LIMIT);
    runloop_source_release(command);
}

TEST("a command that takes too long is ended, with its group if it leads one, and that is said") {
    struct report report = {0};
    int64_t begun_ns = runloop_now_ns();
    runloop_command_result result = run_both(
        (runloop_command_config){.start = {.arguments = SHELL("sleep 1000 & wait"), .group = RUNLOOP_CHILD_NEW_GROUP},
                                 .limit = 1000,
                                 .timeout_ns = 30 * MS,
                                 .output_limit_ns = RUNLOOP_NEVER},
        &report);
    EXPECT(runloop_now_ns() >= begun_ns + 60 * MS);
    EXPECT(result.timed_out);
    EXPECT_EQ(result.exit.end, RUNLOOP_CHILD_SIGNALLED);
    EXPECT_EQ(result.exit.status, SIGTERM);
    EXPECT_EQ(result.output.end, RUNLOOP_COMMAND_COMPLETE);
    // In time.
    result = run_both((runloop_command_config){.start.arguments = WORDS("true"), .timeout_ns = RUNLOOP_NEVER},
                      &(struct report){0});
    EXPECT(!result.timed_out);
}

TEST("a command is ended earlier by signals with pauses, from any thread") {
    struct report report = {0};
    runloop_command *command = add_command(
        (runloop_command_config){.start.arguments = SHELL("trap '' TERM; echo ready; while :; do sleep 1; done"),
                                 .limit = 1000,
                                 .output_limit_ns = 1},
        &report);
    const runloop_child_step steps[] = {{SIGTERM, 30 * MS}, {SIGKILL, 0}};
    int64_t begun_ns = runloop_now_ns();
    EXPECT_EQ(runloop_command_end_by(command, steps, 0, false), -EINVAL);
    EXPECT_EQ(runloop_command_end_by(command, steps, 2, true), -EINVAL);
    EXPECT_EQ(runloop_command_end_by(NULL, steps, 2, false), -EINVAL);
    EXPECT_EQ(runloop_command_end_by(command, steps, 2, false), 0);
    RUN_UNTIL(MODE, report.count > 0);
    EXPECT(runloop_now_ns() >= begun_ns + 30 * MS || report.result.exit.status == SIGTERM);
    EXPECT_EQ(report.result.exit.end, RUNLOOP_CHILD_SIGNALLED);
    EXPECT_EQ(runloop_command_end_by(command, steps, 2, false), -ESRCH);
    runloop_source_release(command);
}

TEST("a command that can't be started is an error with what it is about, and leaves nothing") {
    need_starts();
    runloop_current();
    char failed[64];
    runloop_command *command = NULL;
    runloop_command_result result;
    const runloop_child_step step = {SIGTERM, 0};
    int before = count_descriptors();
    const struct {
        int error;
        const char *about;
        runloop_command_config config;
    } refused[] = {
        {-ENOENT, "/no/program", {.start.arguments = WORDS("/no/program"), .input = "x", .input_count = 1}},
        {-EINVAL, "no arguments", {.limit = 1}},
        {-EINVAL, "timeout", {.start.arguments = WORDS("/bin/true"), .timeout_ns = -1}},
        {-EINVAL, "output limit", {.start.arguments = WORDS("/bin/true"), .output_limit_ns = -1}},
        {-EINVAL, "input", {.start.arguments = WORDS("/bin/true"), .input_count = 1}},
        {-EINVAL, "limit", {.start.arguments = WORDS("/bin/true"), .limit = SIZE_MAX}},
        {-EINVAL, "descriptors", {.start.arguments = WORDS("/bin/true"), .start.descriptor_count = 1}},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        runloop_command_config config = refused[i].config;
        config.start.failed = failed;
        config.start.failed_size = sizeof failed;
        EXPECT_EQ(runloop_command_create(&config, &command), refused[i].error);
        EXPECT_TEXT(failed, refused[i].about);
        EXPECT_EQ(runloop_command_run(&config, &result), refused[i].error);
        EXPECT_EQ(runloop_command_run(&config, NULL), -EINVAL);
        EXPECT_EQ(runloop_command_create(&config, NULL), -EINVAL);
    }
    EXPECT_EQ(runloop_command_run(NULL, &result), -EINVAL);
    EXPECT_EQ(runloop_command_get_pid(NULL), 0);
    EXPECT_EQ(runloop_command_end_by(NULL, &step, 1, false), -EINVAL);
    EXPECT(!command);
    EXPECT_EQ(count_descriptors(), before);
    EXPECT(waitpid(-1, NULL, WNOHANG | __WALL) == -1 && errno == ECHILD);
}

TEST("an invalidated command closes its pipes, and leaves the process to its owner") {
    struct report report = {0};
    runloop_command *command =
        add_command((runloop_command_config){.start.arguments = WORDS("cat"), .input = "", .limit = 9}, &report);
    pid_t pid = runloop_command_get_pid(command);
    int before = count_descriptors();
    runloop_source_invalidate(command);
    // Its set and its pidfd are closed with it.
    EXPECT_EQ(count_descriptors(), before - 3);
    runloop_source_release(command);
    EXPECT_EQ(count_descriptors(), before - 5);
    EXPECT_EQ(report.count, 0);
    EXPECT_EQ(waitpid(pid, NULL, 0), pid);
}

static void *run_sleep(void *pid) {
    (void)pid;
    runloop_command_result result;
    const runloop_command_config config = {.start = {.arguments = WORDS("sleep", "1000"), .searches = true}};
    runloop_command_run(&config, &result);
    return NULL;
}

TEST("a thread that is cancelled while it runs a command has killed and reaped it") {
    need_starts();
    pthread_t thread;
    void *outcome;
    int before = count_descriptors();
    REQUIRE(pthread_create(&thread, NULL, run_sleep, NULL) == 0);
    // Its epoll set, pidfd and pipes: it waits.
    while (count_descriptors() < before + 4)
        sched_yield();
    pthread_cancel(thread);
    REQUIRE(pthread_join(thread, &outcome) == 0);
    EXPECT(outcome == PTHREAD_CANCELED);
    EXPECT_EQ(count_descriptors(), before);
    EXPECT(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}

static void release_inherited(void) {
    runloop_source_release(shared);
}

TEST("a forked child takes nothing of its parent's command") {
    struct report report = {0};
    const runloop_command_config config = {
        .context.info = &report,
        .ended = note_result,
        .start = {.arguments = SHELL("read word; echo $word"), .searches = true},
        .input = "word\n",
        .input_count = 5,
        .limit = 100,
    };
    need_starts();
    REQUIRE(runloop_command_create(&config, &shared) == 0);
    // In no mode, so that the release frees the child's copy.
    EXPECT_EQ(status_of_child(release_inherited), 0);
    REQUIRE(runloop_add_source(runloop_current(), shared, MODE) == 0);
    RUN_UNTIL(MODE, report.count > 0);
    EXPECT_TEXT(report.output, "word\n");
    runloop_source_release(shared);
}
