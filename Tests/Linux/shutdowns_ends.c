// shutdowns_ends.c — how a shutdown ends the process: as the first of its container, with all that was printed, after work that takes time.
#include "linux_items.h"

/// What a child printed to a pipe, and how it ended.
struct report {
    int status;
    char text[128];
};

static void (*body_in_child)(void);

static void print_to_pipe(int output) {
    dup2(output, STDOUT_FILENO);
    REQUIRE(setvbuf(stdout, NULL, _IOFBF, 4096) == 0);
    body_in_child();
    _exit(99);
}

static int output_end;

static void run_body(void) {
    print_to_pipe(output_end);
}

/// A namespace of pids ends its first process by status only: what ended it by a signal, which it must not be, is 98.
static void run_body_in_namespace(void) {
    if (unshare(CLONE_NEWPID) && unshare(CLONE_NEWUSER | CLONE_NEWPID))
        _exit(TEST_LEFT_OUT);
    int status = status_of_child(run_body);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 98);
}

static struct report report_of(void (*body)(void), bool as_first) {
    struct report report = {0};
    int ends[2];
    if (as_first)
        need_no_emulator("The emulator waits for ever for the signal that ends a process.");
    REQUIRE(pipe(ends) == 0);
    body_in_child = body;
    output_end = ends[1];
    report.status = status_of_child(as_first ? run_body_in_namespace : run_body);
    close(ends[1]);
    test_read_all(ends[0], report.text, sizeof report.text);
    if (as_first && WIFEXITED(report.status) && WEXITSTATUS(report.status) == TEST_LEFT_OUT)
        LEAVE_OUT("This process may not make a pid namespace.");
    return report;
}

#define EXPECT_ENDED_BY(report, number) EXPECT(WIFSIGNALED((report).status) && WTERMSIG((report).status) == (number))
#define EXPECT_EXITED_WITH(report, number)                                                                             \
    EXPECT(WIFEXITED((report).status) && WEXITSTATUS((report).status) == (number))

static runloop_shutdown *current;

static void add_shutdown(int64_t limit_ns) {
    const int32_t numbers[] = {SIGINT, SIGTERM};
    runloop_shutdown_config config = {.numbers = numbers, .count = 2, .limit_ns = limit_ns};
    REQUIRE(runloop_shutdown_create(&config, &current) == 0);
    REQUIRE(runloop_add_source(runloop_current(), current, MODE) == 0);
}

static void add_work(int32_t order, runloop_function work, void *info) {
    REQUIRE(runloop_shutdown_add_work(current, order, work, info, NULL) == 0);
}

static void print(void *text) {
    printf("%s", (char *)text);
}

static void print_and_end(void) {
    add_shutdown(60 * SECOND);
    add_work(0, print, " saved");
    print("served");
    raise(SIGTERM);
    run_for(MODE, 30 * SECOND);
}

TEST("what was printed to a pipe is there after a shutdown") {
    struct report report = report_of(print_and_end, false);
    EXPECT_TEXT(report.text, "served saved");
    EXPECT_ENDED_BY(report, SIGTERM);
}

TEST("the first process of a container, which no default action ends, exits with 128 and the signal") {
    struct report report = report_of(print_and_end, true);
    EXPECT_TEXT(report.text, "served saved");
    EXPECT_EXITED_WITH(report, 128 + SIGTERM);
}

static void start_detached(void *(*body)(void *), void *info) {
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, body, info) == 0);
    pthread_detach(thread);
}

static void *read_input(void *unused) {
    getchar();
    return unused;
}

/// The lock of a stream is held by a thread that waits for input.
static void print_beside_reader(void) {
    int input[2];
    REQUIRE(pipe(input) == 0 && dup2(input[0], STDIN_FILENO) == STDIN_FILENO);
    start_detached(read_input, NULL);
    while (ftrylockfile(stdin) == 0) {
        funlockfile(stdin);
        usleep(1000);
    }
    print_and_end();
}

TEST("a thread that waits for standard input does not keep the process from ending") {
    struct report report = report_of(print_beside_reader, false);
    EXPECT_TEXT(report.text, "served saved");
    EXPECT_ENDED_BY(report, SIGTERM);
}

static void print_to_nobody(void) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    close(ends[0]);
    dup2(ends[1], STDOUT_FILENO);
    print_and_end();
}

TEST("a pipe that nobody reads any more changes nothing about the end") {
    EXPECT_ENDED_BY(report_of(print_to_nobody, false), SIGTERM);
}

static void hang(void *unused) {
    (void)unused;
    for (;;)
        raise(SIGINT);
}

static void second_signal(void) {
    add_shutdown(RUNLOOP_FOREVER);
    add_work(0, hang, NULL);
    raise(SIGTERM);
    run_for(MODE, 30 * SECOND);
}

static void pause_for_ever(void *unused) {
    (void)unused;
    for (;;)
        pause();
}

static void pass_limit(void) {
    add_shutdown(300 * MS);
    add_work(0, pause_for_ever, NULL);
    raise(SIGTERM);
    run_for(MODE, 30 * SECOND);
}

TEST("a second signal and the limit end the first process of a container, too") {
    EXPECT_EXITED_WITH(report_of(second_signal, true), 128 + SIGINT);
    EXPECT_EXITED_WITH(report_of(pass_limit, true), 128 + SIGTERM);
}

static void end_now(void) {
    runloop_end_process_by_signal(SIGKILL);
}

TEST("the first process of a container ends by SIGKILL, which the kernel does not let it send itself") {
    EXPECT_EXITED_WITH(report_of(end_now, true), 128 + SIGKILL);
}

//===-- work that takes time -----------------------------------------------------------------------------------------===//

static void resume(runloop_timer *timer, void *info) {
    (void)timer;
    print(info);
    EXPECT_EQ(runloop_shutdown_resume(current), 0);
}

/// What it begins is finished by a timer of the loop.
static void hold(void *text) {
    print("(");
    EXPECT_EQ(runloop_shutdown_hold(current), 0);
    add_timer(MODE, runloop_now_ns() + 20 * MS, 0, resume, text);
}

static void wait_for_timers(void) {
    add_shutdown(RUNLOOP_FOREVER);
    add_work(0, hold, "1)");
    add_work(0, hold, "2)");
    add_work(1, print, "3");
    raise(SIGTERM);
    run_for(MODE, 30 * SECOND);
}

TEST("held work is served by the loop until it has finished, and only then the next is performed") {
    struct report report = report_of(wait_for_timers, false);
    EXPECT_TEXT(report.text, "(1)(2)3");
    EXPECT_ENDED_BY(report, SIGTERM);
}

static void *resume_later(void *unused) {
    usleep(20000);
    print("thread ");
    runloop_shutdown_resume(current);
    return unused;
}

static bool has_begun;

static void hold_for_thread(void *unused) {
    has_begun = true;
    EXPECT_EQ(runloop_shutdown_hold(current), 0);
    start_detached(resume_later, unused);
}

static void wait_for_thread(void) {
    add_shutdown(RUNLOOP_FOREVER);
    add_work(0, hold_for_thread, NULL);
    add_work(1, print, "rest");
    raise(SIGINT);
    run_for(MODE, 30 * SECOND);
}

TEST("another thread may finish held work") {
    struct report report = report_of(wait_for_thread, false);
    EXPECT_TEXT(report.text, "thread rest");
    EXPECT_ENDED_BY(report, SIGINT);
}

static void invalidate(void *unused) {
    (void)unused;
    runloop_source_invalidate(current);
}

static void lose_source(void) {
    add_shutdown(RUNLOOP_FOREVER);
    add_work(0, hold_for_thread, NULL);
    add_work(0, invalidate, NULL);
    add_work(1, print, "rest");
    raise(SIGINT);
    run_for(MODE, SECOND);
    pause_for_ever(NULL);
}

static void *begin_on_thread(void *unused) {
    add_shutdown(RUNLOOP_FOREVER);
    add_work(0, hold_for_thread, NULL);
    add_work(1, print, "rest");
    raise(SIGINT);
    RUN_UNTIL(MODE, has_begun);
    return unused;
}

static void lose_thread(void) {
    start_detached(begin_on_thread, NULL);
    pause_for_ever(NULL);
}

TEST("a shutdown that has begun goes on without its loop") {
    need_no_emulator("The emulator waits for ever for the signal that ends a process of several threads.");
    void (*const bodies[])(void) = {lose_source, lose_thread};
    for (size_t i = 0; i < 2; i++) {
        struct report report = report_of(bodies[i], false);
        EXPECT_TEXT(report.text, "thread rest");
        EXPECT_ENDED_BY(report, SIGINT);
    }
}

/// A nested run inside of work serves the source, too: it leaves the rest to the work's caller.
static void run_nested(void *unused) {
    (void)unused;
    EXPECT_EQ(runloop_shutdown_hold(current), 0);
    EXPECT_EQ(runloop_shutdown_resume(current), 0);
    run_for(MODE, 20 * MS);
    print("nested ");
}

static void run_in_work(void) {
    add_shutdown(RUNLOOP_FOREVER);
    add_work(0, run_nested, NULL);
    add_work(1, print, "rest");
    raise(SIGINT);
    run_for(MODE, 30 * SECOND);
}

TEST("work that runs the loop in the shutdown's own mode is finished before the next is performed") {
    struct report report = report_of(run_in_work, false);
    EXPECT_TEXT(report.text, "nested rest");
    EXPECT_ENDED_BY(report, SIGINT);
}

static void pass_limit_while_held(void) {
    add_shutdown(300 * MS);
    EXPECT_EQ(runloop_shutdown_hold(current), 0);
    add_work(0, print, "never");
    raise(SIGTERM);
    run_for(MODE, 30 * SECOND);
}

TEST("a shutdown that is held before it begins performs nothing, and the limit ends it") {
    int64_t before_ns = runloop_now_ns();
    struct report report = report_of(pass_limit_while_held, false);
    EXPECT_TEXT(report.text, "");
    EXPECT_ENDED_BY(report, SIGTERM);
    EXPECT(runloop_now_ns() - before_ns >= 300 * MS);
}

TEST("to resume what nobody holds is an error") {
    add_shutdown(SECOND);
    EXPECT_EQ(runloop_shutdown_resume(current), -EINVAL);
    EXPECT_EQ(runloop_shutdown_hold(NULL), -EINVAL);
    EXPECT_EQ(runloop_shutdown_resume(NULL), -EINVAL);
}
