// children_ends.c — a child is ended by signals with pauses between them.
#include "children.h"
#include "shown_clock.h"

#define STEPS(...) ((const runloop_child_step[]){__VA_ARGS__})
#define COUNT(steps) (sizeof(steps) / sizeof(runloop_child_step))
#define END(child, of_group, ...) runloop_child_end_by(child, STEPS(__VA_ARGS__), COUNT(STEPS(__VA_ARGS__)), of_group)

/// Starts a shell, and waits until it has written a line, which is left in `line`. The pipe is closed.
static runloop_child *start_shell(const char *command, int32_t group, struct ends *ends, char line[64]) {
    int output = -1;
    const runloop_child_descriptor descriptor = {.number = 1, .kind = RUNLOOP_CHILD_OUTPUT_PIPE, .parent_end = &output};
    runloop_child *child = start(
        (runloop_child_start_config){
            .arguments = SHELL(command), .group = group, .descriptors = &descriptor, .descriptor_count = 1},
        ends);
    size_t used = 0;
    while (used == 0 || line[used - 1] != '\n') {
        REQUIRE(used < 63 && poll(&(struct pollfd){.fd = output, .events = POLLIN}, 1, 30000) == 1);
        ssize_t got = read(output, line + used, 1);
        REQUIRE(got == 1);
        used++;
    }
    line[used] = 0;
    close(output);
    return child;
}

/// It ignores SIGTERM, and its program as well.
static runloop_child *start_stubborn(struct ends *ends) {
    char line[64];
    return start_shell("trap '' TERM; echo ready; exec sleep 1000", RUNLOOP_CHILD_NEW_GROUP, ends, line);
}

TEST("a child that ignores the first signal gets the next one, not before the pause has passed") {
    need_proc();
    struct ends ends = {0};
    runloop_child *child = start_stubborn(&ends);
    int descriptors = count_descriptors();
    int64_t begun_ns = runloop_now_ns();
    EXPECT_EQ(END(child, false, {SIGTERM, 150 * MS}, {SIGTERM, 150 * MS}, {SIGKILL, 0}), 0);
    EXPECT_EQ(count_descriptors(), descriptors);
    run_for(MODE, 30 * SECOND);
    EXPECT(runloop_now_ns() - begun_ns >= 300 * MS);
    EXPECT_EQ(ends.count, 1);
    EXPECT_EQ(ends.last.status, SIGKILL);
    runloop_source_release(child);
}

TEST("a child that ends by the first signal gets no further one, and nothing is left of the sequence") {
    struct ends ends = {0};
    runloop_child *child = start((runloop_child_start_config){.arguments = WORDS("sleep", "1000")}, &ends);
    EXPECT_EQ(END(child, false, {SIGTERM, 1000 * SECOND}, {SIGKILL, 0}), 0);
    EXPECT_EQ(run_for(MODE, 30 * SECOND), RUNLOOP_RESULT_FINISHED);
    EXPECT_EQ(ends.last.status, SIGTERM);
    EXPECT_EQ(END(child, false, {SIGTERM, 0}), -ESRCH);
    runloop_source_release(child);
}

/// The signal comes first, or the last step.
static void expect_polite_end(bool of_group) {
    struct ends ends = {0};
    char line[64];
    runloop_child *child = start_shell("trap 'exit 7' TERM; echo ready; while :; do sleep 0.01; done",
                                       RUNLOOP_CHILD_NEW_GROUP, &ends, line);
    EXPECT_EQ(runloop_child_send_signal(child, SIGSTOP), 0);
    siginfo_t stopped;
    REQUIRE(waitid(P_PID, (id_t)runloop_child_get_pid(child), &stopped, WSTOPPED | WNOWAIT) == 0);
    EXPECT_EQ(END(child, of_group, {SIGTERM, 1000 * SECOND}, {SIGKILL, 0}), 0);
    run_for(MODE, 30 * SECOND);
    EXPECT_EQ(ends.last.end, RUNLOOP_CHILD_EXITED);
    EXPECT_EQ(ends.last.status, 7);
    runloop_source_release(child);
}

TEST("a child that is stopped goes on, to receive the signal that asks it to end") {
    expect_polite_end(false);
    expect_polite_end(true);
}

TEST("a pause without an end sends no further signal, whatever the child is called for") {
    struct ends ends = {0};
    runloop_child *child = start_stubborn(&ends);
    EXPECT_EQ(END(child, false, {SIGTERM, INT64_MAX}, {SIGUSR1, 0}), 0);
    for (int i = 0; i < 2; i++) {
        EXPECT_EQ(runloop_source_signal(child), 0);
        EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    }
    // The first fatal signal is what it ends by.
    EXPECT_EQ(END(child, false, {SIGKILL, 0}), 0);
    run_for(MODE, 30 * SECOND);
    EXPECT_EQ(ends.last.status, SIGKILL);
    runloop_source_release(child);
}

TEST("the signals of a group reach a grandchild, too") {
    struct ends ends = {0};
    char line[64];
    // It becomes ours, to wait for, when its parent has ended.
    need_starts();
    REQUIRE(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
    runloop_child *child =
        start_shell("sleep 1000 & trap '' TERM; echo $!; exec sleep 1000", RUNLOOP_CHILD_NEW_GROUP, &ends, line);
    int grandchild = atoi(line);
    REQUIRE(grandchild > 0 && kill(grandchild, 0) == 0);
    EXPECT_EQ(END(child, true, {SIGTERM, 10 * MS}, {SIGKILL, 0}), 0);
    run_for(MODE, 30 * SECOND);
    EXPECT_EQ(ends.last.status, SIGKILL);
    // If the shell was signalled before it had become another program, it has waited for it.
    EXPECT(waitpid(grandchild, NULL, 0) == grandchild || errno == ECHILD);
    EXPECT(kill(grandchild, 0) == -1 && errno == ESRCH);
    runloop_source_release(child);
}

TEST("a child alone gets the signals that are not its group's") {
    struct ends ends = {0};
    char line[64];
    need_starts();
    REQUIRE(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
    runloop_child *child = start_shell("sleep 1000 & echo $!; exec sleep 1000", RUNLOOP_CHILD_NEW_GROUP, &ends, line);
    int grandchild = atoi(line);
    EXPECT_EQ(END(child, false, {SIGTERM, 0}), 0);
    run_for(MODE, 30 * SECOND);
    EXPECT_EQ(ends.last.status, SIGTERM);
    EXPECT_EQ(waitpid(grandchild, NULL, WNOHANG), 0);
    kill(grandchild, SIGKILL);
    EXPECT_EQ(waitpid(grandchild, NULL, 0), grandchild);
    runloop_source_release(child);
}

TEST("a second sequence takes the place of the first, from any thread") {
    struct ends ends = {0};
    runloop_child *child = start_stubborn(&ends);
    EXPECT_EQ(END(child, false, {SIGTERM, 1000 * SECOND}, {SIGUSR1, 0}), 0);
    int64_t begun_ns = runloop_now_ns();
    EXPECT_EQ(END(child, true, {SIGTERM, 50 * MS}, {SIGKILL, 0}), 0);
    run_for(MODE, 30 * SECOND);
    EXPECT(runloop_now_ns() - begun_ns >= 50 * MS);
    EXPECT_EQ(ends.last.status, SIGKILL);
    runloop_source_release(child);
}

static void *end_elsewhere(void *child) {
    EXPECT_EQ(END(child, false, {SIGTERM, 30 * MS}, {SIGKILL, 0}), 0);
    return NULL;
}

TEST("a sequence that another thread begins goes on in the loop, which sleeps already") {
    struct ends ends = {0};
    runloop_child *child = start_stubborn(&ends);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, end_elsewhere, child) == 0);
    run_for(MODE, 30 * SECOND);
    EXPECT_EQ(ends.last.status, SIGKILL);
    pthread_join(thread, NULL);
    runloop_source_release(child);
}

TEST("a sequence for a process that has ended unseen is begun, and nothing comes of it") {
    struct ends ends = {0};
    runloop_child *child = start((runloop_child_start_config){.arguments = WORDS("true")}, &ends);
    siginfo_t info;
    REQUIRE(waitid(P_PID, (id_t)runloop_child_get_pid(child), &info, WEXITED | WNOWAIT) == 0);
    EXPECT_EQ(END(child, false, {SIGTERM, 0}, {SIGKILL, 0}), 0);
    RUN_UNTIL(MODE, ends.count == 1);
    EXPECT_EQ(ends.last.end, RUNLOOP_CHILD_EXITED);
    EXPECT_EQ(END(child, false, {SIGTERM, 0}), -ESRCH);
    runloop_source_release(child);
}

static void *end_by_limit(void *child) {
    EXPECT_EQ(END(child, false, {SIGTERM, LIMIT}, {SIGKILL, 0}), 0);
    return NULL;
}

TEST("the pauses of a sequence that another thread begins are of the loop's clock") {
    use_shown_clock();
    struct ends ends = {0};
    runloop_child *child = start_stubborn(&ends);
    on_new_thread(end_by_limit, child);
    look_a_while(MODE);
    EXPECT_EQ(ends.count, 0);
    shown_ns = LIMIT;
    LOOK_UNTIL(ends.count == 1);
    EXPECT_EQ(ends.last.status, SIGKILL);
    runloop_source_release(child);
}

static void release_at_end(runloop_child *child, const runloop_child_exit *exit, void *info) {
    (void)exit;
    EXPECT_EQ(END(child, false, {SIGTERM, 0}), -ESRCH);
    ++*(int *)info;
    runloop_source_release(child);
}

TEST("a child that somebody else started can be ended, too, in its own call it has ended, and released there") {
    int count = 0;
    pid_t pid = fork_child();
    runloop_child *child = NULL;
    const runloop_child_config config = {.context.info = &count, .pid = pid, .reaps = true, .exited = release_at_end};
    REQUIRE(runloop_child_create(&config, &child) == 0 && runloop_add_source(runloop_current(), child, MODE) == 0);
    // It leads no group.
    EXPECT_EQ(END(child, true, {SIGTERM, 0}), -EINVAL);
    EXPECT_EQ(END(child, false, {SIGSTOP, 10 * MS}, {SIGTERM, 10 * MS}, {SIGCONT, SECOND}, {SIGKILL, 0}), 0);
    run_for(MODE, 30 * SECOND);
    EXPECT_EQ(count, 1);
    EXPECT(waitpid(pid, NULL, WNOHANG) == -1);
}

TEST("a process that is not a child gets each step, and is reported when it has ended, and not before") {
    struct ends ends = {0};
    pid_t grandchild = 0;
    int told[2];
    REQUIRE(pipe(told) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGTERM, SIG_IGN);
        grandchild = fork_child();
        _exit(write(told[1], &grandchild, sizeof grandchild) != sizeof grandchild);
    }
    REQUIRE(read(told[0], &grandchild, sizeof grandchild) == sizeof grandchild && waitpid(pid, NULL, 0) == pid);
    const runloop_child_config config = {.context.info = &ends, .pid = grandchild, .exited = note_end};
    runloop_child *child = NULL;
    REQUIRE(runloop_child_create(&config, &child) == 0 && runloop_add_source(runloop_current(), child, MODE) == 0);
    struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, grandchild, 0), .events = POLLIN};
    REQUIRE(end.fd >= 0 && runloop_source_signal(child) == 0);
    poll_mode(MODE);
    EXPECT_EQ(ends.count, 0);
    EXPECT_EQ(END(child, false, {SIGTERM, 10 * MS}, {SIGKILL, 0}), 0);
    run_for(MODE, 30 * SECOND);
    EXPECT_EQ(ends.count, 1);
    EXPECT_EQ(poll(&end, 1, 0), 1);
    runloop_source_release(child);
}

TEST("the group of a process that somebody else has reaped is not signalled") {
    struct ends ends = {0};
    runloop_child *child = start_stubborn(&ends);
    EXPECT_EQ(runloop_child_send_signal(child, SIGKILL), 0);
    EXPECT(waitpid(runloop_child_get_pid(child), NULL, 0) > 0);
    EXPECT_EQ(END(child, true, {SIGTERM, 0}), -ESRCH);
    runloop_source_release(child);
}

TEST("a sequence that makes no sense is refused, and the former one goes on") {
    struct ends ends = {0};
    runloop_child *child = start_stubborn(&ends);
    static const runloop_child_step many[9] = {{SIGTERM, 0}, {SIGTERM, 0}, {SIGTERM, 0}, {SIGTERM, 0}, {SIGTERM, 0},
                                               {SIGTERM, 0}, {SIGTERM, 0}, {SIGTERM, 0}, {SIGTERM, 0}};
    EXPECT_EQ(END(child, false, {SIGTERM, 30 * MS}, {SIGKILL, 0}), 0);
    EXPECT_EQ(runloop_child_end_by(child, many, 9, false), -EINVAL);
    EXPECT_EQ(runloop_child_end_by(child, many, 0, false), -EINVAL);
    EXPECT_EQ(runloop_child_end_by(child, NULL, 1, false), -EINVAL);
    EXPECT_EQ(END(child, false, {0, 0}), -EINVAL);
    EXPECT_EQ(END(child, false, {1000, 0}), -EINVAL);
    EXPECT_EQ(END(child, false, {SIGTERM, 0}, {1000, 0}), -EINVAL);
    EXPECT_EQ(END(child, false, {SIGTERM, -1}), -EINVAL);
    run_for(MODE, 30 * SECOND);
    EXPECT_EQ(ends.last.status, SIGKILL);
    runloop_source_release(child);
}

static runloop_child *inherited;

static void end_inherited(void) {
    EXPECT_EQ(END(inherited, false, {SIGKILL, 0}), -ECHILD);
}

TEST("a forked child ends nothing that it inherited") {
    struct ends ends = {0};
    inherited = start_stubborn(&ends);
    EXPECT_EQ(status_of_child(end_inherited), 0);
    EXPECT_EQ(END(inherited, false, {SIGKILL, 0}), 0);
    run_for(MODE, 30 * SECOND);
    EXPECT_EQ(ends.last.status, SIGKILL);
    runloop_source_release(inherited);
}
