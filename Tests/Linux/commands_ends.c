// commands_ends.c — the ends of commands: in two loops, from another thread, at a timeout, with pipes that others have, with much that is unread.
#include <sys/ioctl.h>

#include "children.h"
#include "shown_clock.h"

struct report {
    _Atomic int count;
    int status;
    bool timed_out;
    uint64_t bytes, dropped;
    runloop_command_output_end end;
};

static void note_result(runloop_command *command, const runloop_command_result *result, void *info) {
    struct report *report = info;
    (void)command;
    report->status = result->exit.status;
    report->timed_out = result->timed_out;
    report->bytes = result->output.count;
    report->dropped = result->output.dropped;
    report->end = result->output.end;
    report->count++;
}

static runloop_command *make_command(runloop_command_config config, struct report *report) {
    runloop_command *command = NULL;
    need_starts();
    config.context.info = report;
    config.ended = note_result;
    config.start.searches = true;
    REQUIRE(runloop_command_create(&config, &command) == 0);
    return command;
}

static runloop_command *add_command(runloop_command_config config, struct report *report) {
    runloop_command *command = make_command(config, report);
    REQUIRE(runloop_add_source(runloop_current(), command, MODE) == 0);
    return command;
}

/// A pipe by which a program tells how far it is, as its descriptor 3.
static int marks[2];

static runloop_child_descriptor mark_descriptor(void) {
    REQUIRE(pipe2(marks, O_CLOEXEC) == 0);
    return (runloop_child_descriptor){.number = 3, .kind = RUNLOOP_CHILD_DESCRIPTOR, .from = marks[1]};
}

static bool is_marked(void) {
    return poll(&(struct pollfd){.fd = marks[0], .events = POLLIN}, 1, 0) == 1;
}

static bool has_something_to_do(runloop_command *command) {
    return poll(&(struct pollfd){.fd = runloop_source_get_descriptor(command), .events = POLLIN}, 1, 0) == 1;
}

static void kill_and_release(runloop_command *command, struct report *report) {
    kill(runloop_command_get_pid(command), SIGKILL);
    RUN_UNTIL(MODE, report->count == 1);
    runloop_source_release(command);
}

TEST("a command in the loops of two threads is reported by one of them") {
    enum { ROUNDS = 30 };
    struct report report = {0};
    for (int round = 1; round <= ROUNDS; round++) {
        struct worker workers[2];
        shared = make_command((runloop_command_config){.start.arguments = WORDS("sleep", "1000")}, &report);
        start_sharing(workers);
        EXPECT_EQ(kill(runloop_command_get_pid(shared), SIGKILL), 0);
        WAIT_UNTIL(report.count >= round);
        stop_sharing(workers);
        EXPECT_EQ(report.count, round);
        runloop_source_release(shared);
    }
}

static void *end_elsewhere(void *command) {
    const runloop_child_step steps[] = {{SIGCONT, 10 * MS}, {SIGKILL, 0}};
    EXPECT_EQ(runloop_command_end_by(command, steps, 2, false), 0);
    return NULL;
}

TEST("a sequence that another thread begins goes on in the loop, which sleeps already") {
    struct report report = {0};
    runloop_command *command =
        add_command((runloop_command_config){.start.arguments = WORDS("sleep", "1000")}, &report);
    pthread_t thread;
    run_for(MODE, MS);
    REQUIRE(pthread_create(&thread, NULL, end_elsewhere, command) == 0);
    run_for(MODE, 30 * SECOND);
    EXPECT_EQ(report.count, 1);
    EXPECT_EQ(report.status, SIGKILL);
    pthread_join(thread, NULL);
    runloop_source_release(command);
}

TEST("a timeout leaves a sequence alone that has begun before") {
    use_shown_clock();
    struct report report = {0};
    const runloop_child_descriptor mark = mark_descriptor();
    runloop_command *command = add_command(
        (runloop_command_config){
            .start = {.arguments = SHELL("trap 'exit 9' TERM; echo >&3; while :; do sleep 0.01; done"),
                      .descriptors = &mark,
                      .descriptor_count = 1},
            .timeout_ns = LIMIT,
            .output_limit_ns = 1},
        &report);
    LOOK_UNTIL(is_marked());
    const runloop_child_step steps[] = {{SIGCONT, 2 * LIMIT}, {SIGKILL, 0}};
    EXPECT_EQ(runloop_command_end_by(command, steps, 2, false), 0);
    poll_mode(MODE);
    shown_ns = LIMIT;
    look_a_while(MODE);
    EXPECT_EQ(report.count, 0);
    shown_ns = 2 * LIMIT;
    LOOK_UNTIL(kill(runloop_command_get_pid(command), 0) < 0);
    shown_ns = 3 * LIMIT;
    LOOK_UNTIL(report.count == 1);
    EXPECT_EQ(report.status, SIGKILL);
    EXPECT(report.timed_out);
    runloop_source_release(command);
}

TEST("a program that reads no more leaves nothing to do for its input") {
    static char input[300000];
    struct report report = {0};
    const runloop_child_descriptor mark = mark_descriptor();
    runloop_command *command =
        add_command((runloop_command_config){.start = {.arguments = SHELL("exec 0<&-; echo >&3; exec sleep 1000"),
                                                       .descriptors = &mark,
                                                       .descriptor_count = 1},
                                             .input = input,
                                             .input_count = sizeof input},
                    &report);
    RUN_UNTIL(MODE, is_marked());
    RUN_UNTIL(MODE, !has_something_to_do(command));
    kill_and_release(command, &report);
}

TEST("a pipe that a forked child has as well leaves nothing to do once it is closed here") {
    struct report report = {0};
    const runloop_child_descriptor mark = mark_descriptor();
    runloop_command *command =
        add_command((runloop_command_config){.start = {.arguments = SHELL("read word; echo >&3; exec sleep 1000"),
                                                       .descriptors = &mark,
                                                       .descriptor_count = 1},
                                             .input = "word\n",
                                             .input_count = 5,
                                             .output_limit_ns = 1},
                    &report);
    pid_t copy = fork_child();
    RUN_UNTIL(MODE, is_marked());
    RUN_UNTIL(MODE, !has_something_to_do(command));
    EXPECT(kill(copy, SIGKILL) == 0 && waitpid(copy, NULL, 0) == copy);
    kill_and_release(command, &report);
}

static void release_inherited(void) {
    runloop_source_release(shared);
}

TEST("a forked child that frees its copy leaves the pipes of its parent's command in the parent's set") {
    // More than a pipe has space for.
    static char input[300000];
    struct report report = {0};
    shared = make_command(
        (runloop_command_config){
            .start.arguments = SHELL("sleep 0.05; wc -c"), .input = input, .input_count = sizeof input, .limit = 100},
        &report);
    EXPECT_EQ(status_of_child(release_inherited), 0);
    REQUIRE(runloop_add_source(runloop_current(), shared, MODE) == 0);
    EXPECT_EQ(run_for(MODE, 30 * SECOND), RUNLOOP_RESULT_FINISHED);
    EXPECT_EQ(report.count, 1);
    EXPECT_EQ(report.bytes, strlen("300000\n"));
    runloop_source_release(shared);
}

/// The pipes of this process have space for all that a program writes.
static int widen_pipes(int size) {
    int widest = -1;
    for (int descriptor = 3; descriptor < 64; descriptor++)
        if (fcntl(descriptor, F_GETPIPE_SZ) > 0 && fcntl(descriptor, F_SETPIPE_SZ, size) >= size)
            widest = descriptor;
    return widest;
}

TEST("what is unread at the limit of the output is counted, and a turn of the loop reads a part of it") {
    enum { COUNT = 300000, KEPT = 1000, SPACE = 1 << 20 };
    use_shown_clock();
    struct report report = {0};
    runloop_command *command = add_command(
        (runloop_command_config){
            .start.arguments = WORDS("head", "-c", "300000", "/dev/zero"), .limit = KEPT, .output_limit_ns = 1},
        &report);
    if (widen_pipes(SPACE) < 0)
        LEAVE_OUT("A pipe has no such space here.");
    siginfo_t ended;
    REQUIRE(waitid(P_PID, (id_t)runloop_command_get_pid(command), &ended, WEXITED | WNOWAIT) == 0);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(report.count, 0);
    shown_ns = 1;
    LOOK_UNTIL(report.count == 1);
    EXPECT_EQ(report.end, RUNLOOP_COMMAND_OVER_LIMIT);
    EXPECT_EQ(report.bytes, KEPT);
    EXPECT_EQ(report.dropped, COUNT - KEPT);
    runloop_source_release(command);
}
