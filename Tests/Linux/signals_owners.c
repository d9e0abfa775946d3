// signals_owners.c — something else in the process takes a signal that is caught.
#include "linux_items.h"

static int former_error, errors[2];

static void begin_to_read_errors(void) {
    former_error = dup(STDERR_FILENO);
    REQUIRE(pipe2(errors, O_NONBLOCK | O_CLOEXEC) == 0 && dup2(errors[1], STDERR_FILENO) >= 0);
}

static const char *read_errors(void) {
    static char text[8192];
    ssize_t length = read(errors[0], text, sizeof text - 1);
    text[length > 0 ? length : 0] = 0;
    REQUIRE(dup2(former_error, STDERR_FILENO) >= 0);
    close(errors[0]);
    close(errors[1]);
    close(former_error);
    return text;
}

/// What is written while the loop is about to sleep now and then.
static const char *notes_of_runs(void) {
    begin_to_read_errors();
    for (int i = 0; i < 3; i++)
        run_for(MODE, 30 * MS);
    return read_errors();
}

static int count_of(const char *text, const char *part) {
    int count = 0;
    while ((text = strstr(text, part))) {
        count++;
        text++;
    }
    return count;
}

static _Atomic int handled;

static void handle(int number) {
    (void)number;
    handled++;
}

TEST("R150 a signal that is ignored after it was caught is noted, once") {
    struct tally tally = {0};
    runloop_signal *caught = add_signal(MODE, SIGINT, &tally);
    EXPECT_TEXT(notes_of_runs(), "");
    runloop_signal *another = add_signal(MODE, SIGINT, &tally);
    signal(SIGINT, SIG_IGN);
    const char *text = notes_of_runs();
    EXPECT_EQ(count_of(text, "signal 2 (SIGINT)"), 1);
    EXPECT(strstr(text, "it is ignored") && strstr(text, "Remove that call"));
    EXPECT_TEXT(notes_of_runs(), "");
    EXPECT(action_of(SIGINT).sa_handler == SIG_IGN);
    end_source(caught);
    end_source(another);
}

TEST("R150 a handler that came later is named, and left alone; caught after that, both receive the signal") {
    struct tally tally = {0};
    runloop_signal *caught = add_signal(MODE, SIGUSR1, &tally);
    signal(SIGUSR1, handle);
    const char *text = notes_of_runs();
    EXPECT(strstr(text, "signal 10 (SIGUSR1)") && strstr(text, "signals_owners") && strstr(text, "both are called"));
    EXPECT(action_of(SIGUSR1).sa_handler == handle);
    end_source(caught);
    caught = add_signal(MODE, SIGUSR1, &tally);
    raise(SIGUSR1);
    run_a_while(MODE);
    EXPECT_EQ(tally.arrivals, 1);
    EXPECT_EQ(handled, 1);
    end_source(caught);
}

TEST("a shutdown notes each of its signals that somebody has taken, and goes on with the others") {
    const int32_t numbers[] = {SIGINT, SIGTERM};
    runloop_shutdown *shutdown = NULL;
    REQUIRE(runloop_shutdown_create(&(runloop_shutdown_config){.numbers = numbers, .count = 2, .limit_ns = SECOND},
                                    &shutdown) == 0);
    REQUIRE(runloop_add_source(runloop_current(), shutdown, MODE) == 0);
    signal(SIGINT, SIG_IGN);
    const char *text = notes_of_runs();
    EXPECT(strstr(text, "(SIGINT)") && !strstr(text, "(SIGTERM)"));
    end_source(shutdown);
}

TEST("a signal that was forced is caught again after it was ignored") {
    struct tally tally = {0};
    runloop_signal_config forced = {.context.info = &tally, .number = SIGHUP, .force = true, .receive = tally_arrival};
    runloop_signal *caught = add_signal_with(&forced, MODE);
    signal(SIGHUP, SIG_IGN);
    EXPECT_TEXT(notes_of_runs(), "");
    raise(SIGHUP);
    run_a_while(MODE);
    EXPECT_EQ(tally.arrivals, 1);
    end_source(caught);
    EXPECT(action_of(SIGHUP).sa_handler == SIG_IGN);
    const int32_t number = SIGHUP;
    runloop_shutdown *shutdown = NULL;
    EXPECT_EQ(
        runloop_shutdown_create(
            &(runloop_shutdown_config){.numbers = &number, .count = 1, .limit_ns = SECOND, .force = true}, &shutdown),
        0);
    EXPECT(action_of(SIGHUP).sa_handler != SIG_IGN);
    runloop_source_release(shutdown);
}

TEST("a description says whether a signal is still caught, and who has it") {
    struct tally tally = {0};
    runloop_signal *caught = add_signal(MODE, SIGUSR1, &tally);
    char *text = runloop_copy_description(runloop_current());
    EXPECT(strstr(text, "signal 10 (SIGUSR1) caught"));
    free(text);
    signal(SIGUSR1, handle);
    text = runloop_copy_description(runloop_current());
    EXPECT(strstr(text, "signal 10 (SIGUSR1) handled by ") && strstr(text, "signals_owners"));
    free(text);
    end_source(caught);
}

TEST("R150 a signal that every thread has blocked is noted") {
    need_proc();
    struct tally tally = {0};
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    sigaddset(&blocked, SIGTERM);
    runloop_signal *caught = add_signal(MODE, SIGUSR2, &tally);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    EXPECT(strstr(notes_of_runs(), "Every thread of this process has blocked the signal 12 (SIGUSR2)"));
    EXPECT_TEXT(notes_of_runs(), "");
    end_source(caught);
}

TEST("checking its signals gives a loop nothing more to wait for") {
    struct tally tally = {0};
    runloop_signal *caught = add_signal(MODE, SIGUSR1, &tally);
    EXPECT_EQ(run_for(MODE, 100 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_TIMED_OUT);
    end_source(caught);
    EXPECT_EQ(run_for(MODE, SECOND), RUNLOOP_RESULT_FINISHED);
}
