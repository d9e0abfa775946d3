// shutdowns.c — the end of a program by a signal: work in order, a limit, a second signal. Each program is a forked child.
#include "linux_items.h"

/// What a child wrote before it ended; its first `size` bytes.
struct report {
    int status;
    char text[64];
};

static int ends[2];

static void write_text(void *text) {
    REQUIRE(write(ends[1], text, strlen(text)) == (ssize_t)strlen(text));
}

static struct report report_of(void (*body)(void)) {
    struct report report = {0};
    REQUIRE(pipe(ends) == 0);
    report.status = status_of_child(body);
    close(ends[1]);
    test_read_all(ends[0], report.text, sizeof report.text);
    return report;
}

static bool was_ended_by(struct report report, int number) {
    return WIFSIGNALED(report.status) && WTERMSIG(report.status) == number;
}

static runloop_shutdown *add_shutdown(int64_t limit_ns) {
    const int32_t numbers[] = {SIGINT, SIGTERM};
    runloop_shutdown_config config = {.numbers = numbers, .count = 2, .limit_ns = limit_ns};
    runloop_shutdown *shutdown = NULL;
    REQUIRE(runloop_shutdown_create(&config, &shutdown) == 0 && shutdown);
    REQUIRE(runloop_add_source(runloop_current(), shutdown, MODE) == 0);
    return shutdown;
}

static runloop_shutdown *current;

static void add_more(void *info) {
    write_text(info);
    REQUIRE(runloop_shutdown_add_work(current, 2, write_text, "3", NULL) == 0);
}

static void work_in_order(void) {
    current = add_shutdown(RUNLOOP_FOREVER);
    EXPECT_EQ(runloop_shutdown_get_signal(current), 0);
    REQUIRE(runloop_shutdown_add_work(current, 3, write_text, "4", NULL) == 0);
    REQUIRE(runloop_shutdown_add_work(current, -1, write_text, "0", NULL) == 0);
    REQUIRE(runloop_shutdown_add_work(current, 0, write_text, "1", NULL) == 0);
    REQUIRE(runloop_shutdown_add_work(current, 0, add_more, "2", NULL) == 0);
    raise(SIGINT);
    run_for(MODE, 30 * SECOND);
}

TEST("the work is performed in order, and then the signal ends the process") {
    struct report report = report_of(work_in_order);
    EXPECT_TEXT(report.text, "01234");
    EXPECT(was_ended_by(report, SIGINT));
}

static void fork_in_work(void *unused) {
    (void)unused;
    pid_t child = fork();
    REQUIRE(child >= 0);
    EXPECT(child == 0 || waitpid(child, NULL, 0) == child);
}

static void work_that_forks(void) {
    current = add_shutdown(RUNLOOP_FOREVER);
    REQUIRE(runloop_shutdown_add_work(current, 0, fork_in_work, NULL, NULL) == 0);
    REQUIRE(runloop_shutdown_add_work(current, 1, write_text, "work", NULL) == 0);
    raise(SIGINT);
    if (runloop_run_in_mode(MODE, 30 * SECOND, false) == -ECHILD)
        write_text("child ");
}

TEST("R123 a child that is forked by the work does not perform the rest of it") {
    struct report report = report_of(work_that_forks);
    EXPECT_TEXT(report.text, "child work");
    EXPECT(was_ended_by(report, SIGINT));
}

static void end_thread(void *text) {
    write_text(text);
    pthread_exit(NULL);
}

static void work_that_ends_the_thread(void) {
    current = add_shutdown(RUNLOOP_FOREVER);
    REQUIRE(runloop_shutdown_add_work(current, 0, end_thread, "1", NULL) == 0);
    REQUIRE(runloop_shutdown_add_work(current, 1, write_text, "2", NULL) == 0);
    REQUIRE(runloop_shutdown_add_work(current, 2, write_text, "3", NULL) == 0);
    raise(SIGINT);
    run_for(MODE, 30 * SECOND);
}

TEST("work that ends the thread leaves nothing undone") {
    struct report report = report_of(work_that_ends_the_thread);
    EXPECT_TEXT(report.text, "123");
    EXPECT(was_ended_by(report, SIGINT));
}

static void run_in_work(void *info) {
    (void)info;
    EXPECT_EQ(runloop_shutdown_get_signal(current), SIGTERM);
    add_timer(OTHER_MODE, runloop_now_ns() + 5 * MS, 0, NULL, NULL);
    EXPECT_EQ(run_for(OTHER_MODE, 30 * SECOND), RUNLOOP_RESULT_FINISHED);
    write_text("flushed");
    _exit(test_failures ? 99 : 7);
}

static void exit_in_work(void) {
    current = add_shutdown(60 * SECOND);
    REQUIRE(runloop_shutdown_add_work(current, 0, run_in_work, NULL, NULL) == 0);
    raise(SIGTERM);
    run_for(MODE, 30 * SECOND);
}

TEST("work may run the loop, and end the process with a status of its own") {
    struct report report = report_of(exit_in_work);
    EXPECT_TEXT(report.text, "flushed");
    EXPECT(WIFEXITED(report.status) && WEXITSTATUS(report.status) == 7);
}

/// Also in a loop that never runs, or hangs in other code.
static void hang(void *info) {
    write_text(info);
    for (;;)
        raise(SIGINT);
}

static void second_signal_in_work(void) {
    current = add_shutdown(RUNLOOP_FOREVER);
    REQUIRE(runloop_shutdown_add_work(current, 0, hang, "w", NULL) == 0);
    raise(SIGTERM);
    run_for(MODE, 30 * SECOND);
}

static void second_signal_without_a_run(void) {
    add_shutdown(RUNLOOP_FOREVER);
    hang("w");
}

TEST("a second signal ends the process while the work hangs, and even if no loop has served the first") {
    int64_t before_ns = runloop_now_ns();
    struct report report = report_of(second_signal_in_work);
    EXPECT_TEXT(report.text, "w");
    EXPECT(was_ended_by(report, SIGINT));
    // Copies of the first signal are none.
    EXPECT(runloop_now_ns() - before_ns >= 250 * MS);
    EXPECT(was_ended_by(report_of(second_signal_without_a_run), SIGINT));
}

static void wait_for_ever(void *info) {
    write_text(info);
    for (;;)
        pause();
}

static void pass_limit(void) {
    current = add_shutdown(300 * MS);
    REQUIRE(runloop_shutdown_add_work(current, 0, wait_for_ever, "w", NULL) == 0);
    raise(SIGTERM);
    run_for(MODE, 30 * SECOND);
}

TEST("a limit that has passed ends the process by the signal, though the work hangs") {
    int64_t before_ns = runloop_now_ns();
    struct report report = report_of(pass_limit);
    EXPECT_TEXT(report.text, "w");
    EXPECT(was_ended_by(report, SIGTERM));
    EXPECT(runloop_now_ns() - before_ns >= 300 * MS);
}

static void trace_discard(void *info) {
    trace(info);
}

TEST("an ended shutdown gives the signals back, and discards its work when it is freed") {
    runloop_shutdown *shutdown = add_shutdown(SECOND);
    EXPECT(action_of(SIGINT).sa_handler != SIG_DFL);
    REQUIRE(runloop_shutdown_add_work(shutdown, 0, write_text, "a", trace_discard) == 0);
    REQUIRE(runloop_shutdown_add_work(shutdown, 0, write_text, "b", NULL) == 0);
    runloop_source_invalidate(shutdown);
    runloop_source_invalidate(shutdown);
    EXPECT(action_of(SIGINT).sa_handler == SIG_DFL);
    EXPECT(action_of(SIGTERM).sa_handler == SIG_DFL);
    EXPECT_TRACE("");
    runloop_source_release(shutdown);
    EXPECT_TRACE("a");
}

TEST("a signal that is ignored does not begin a shutdown") {
    signal(SIGINT, SIG_IGN);
    runloop_shutdown *shutdown = add_shutdown(SECOND);
    EXPECT(action_of(SIGINT).sa_handler == SIG_IGN);
    raise(SIGINT);
    EXPECT_EQ(run_for(MODE, 10 * MS), RUNLOOP_RESULT_TIMED_OUT);
    runloop_source_release(shutdown);
    EXPECT(!runloop_mode_is_empty(runloop_current(), MODE));
}

TEST("a shutdown of nothing, or without time, is refused") {
    const int32_t numbers[] = {SIGTERM, SIGKILL};
    runloop_shutdown *shutdown = NULL;
    runloop_shutdown_config none = {.numbers = numbers, .limit_ns = SECOND}, null = {.count = 1, .limit_ns = SECOND},
                            no_time = {.numbers = numbers, .count = 1},
                            killed = {.numbers = numbers, .count = 2, .limit_ns = SECOND};
    const runloop_shutdown_config *configs[] = {NULL, &none, &null, &no_time, &killed};
    for (size_t i = 0; i < 5; i++)
        EXPECT_EQ(runloop_shutdown_create(configs[i], &shutdown), -EINVAL);
    use_up_descriptors(1);
    EXPECT_EQ(
        runloop_shutdown_create(&(runloop_shutdown_config){.numbers = numbers, .count = 1, .limit_ns = 1}, &shutdown),
        -EMFILE);
    give_back_descriptors();
}
