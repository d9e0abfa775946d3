// signals_owners.c — something else in the process takes a signal that is caught.
#include "linux_items.h"

/// What is written while the loop is about to sleep now and then.
static const char *notes_of_runs(void) {
    begin_to_read_errors();
    for (int i = 0; i < 3; i++)
        run_for(MODE, 30 * MS);
    return read_errors();
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

TEST("R150 a signal that has left one of its modes is looked at in the others") {
    struct tally tally = {0};
    runloop_signal *caught = add_signal(MODE, SIGINT, &tally);
    REQUIRE(runloop_add_source(runloop_current(), caught, OTHER_MODE) == 0);
    runloop_remove_source(runloop_current(), caught, OTHER_MODE);
    signal(SIGINT, SIG_IGN);
    EXPECT(strstr(notes_of_runs(), "signal 2 (SIGINT)"));
    end_source(caught);
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

/// A thread that has no signal blocked from some moment on, and ends.
struct neighbour {
    _Atomic bool has_begun, is_to_unblock, has_unblocked, is_to_end;
};

static void *be_neighbour(void *info) {
    struct neighbour *neighbour = info;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    neighbour->has_begun = true;
    WAIT_UNTIL(neighbour->is_to_unblock);
    sigemptyset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    neighbour->has_unblocked = true;
    WAIT_UNTIL(neighbour->is_to_end);
    return NULL;
}

static runloop_signal *add_blocked_signal(struct tally *tally) {
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    return add_signal(MODE, SIGUSR2, tally);
}

TEST("R150 a signal that the loop's thread has blocked and another one has not is not noted, and received") {
    need_proc();
    struct tally tally = {0};
    static struct neighbour neighbour = {.is_to_unblock = true};
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, be_neighbour, &neighbour) == 0);
    WAIT_UNTIL(neighbour.has_unblocked);
    runloop_signal *caught = add_blocked_signal(&tally);
    EXPECT_TEXT(notes_of_runs(), "");
    kill(getpid(), SIGUSR2);
    RUN_UNTIL(MODE, tally.calls > 0);
    EXPECT_EQ(tally.arrivals, 1);
    neighbour.is_to_end = true;
    pthread_join(thread, NULL);
    end_source(caught);
}

/// Its steps are some milliseconds.
static int64_t coarse_now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
    return time.tv_sec * SECOND + time.tv_nsec;
}

TEST("R150 a signal that every thread has blocked for a moment, as one that begins has, is not noted") {
    need_proc();
    struct tally tally = {0};
    static struct neighbour neighbour;
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, be_neighbour, &neighbour) == 0);
    WAIT_UNTIL(neighbour.has_begun);
    int64_t begun_ns = runloop_now_ns(), coarse_begun_ns = coarse_now_ns();
    runloop_signal *caught = add_blocked_signal(&tally);
    begin_to_read_errors();
    // The loop looks once, before it sleeps, unless this thread is delayed until a second look is due: before another sleep by the coarse clock, or
    // in this sleep 10 ms after the signal was added.
    run_for(MODE, MS / 10);
    bool has_looked_once = runloop_now_ns() - begun_ns < 10 * MS && coarse_now_ns() - coarse_begun_ns < 10 * MS;
    neighbour.is_to_unblock = true;
    WAIT_UNTIL(neighbour.has_unblocked);
    const char *text = read_errors();
    EXPECT(!has_looked_once || !*text);
    EXPECT_TEXT(notes_of_runs(), "");
    neighbour.is_to_end = true;
    pthread_join(thread, NULL);
    end_source(caught);
}

TEST("R150 a signal that is taken as soon as it is caught is noted by the first loop that is about to sleep") {
    struct tally tally = {0};
    // Others have been looked at for long, so that looks have become rare.
    runloop_signal *former = add_signal(MODE, SIGUSR1, &tally);
    for (int64_t end_ns = runloop_now_ns() + 300 * MS; runloop_now_ns() < end_ns;)
        run_for(MODE, 5 * MS);
    runloop_signal *caught = add_signal(MODE, SIGINT, &tally);
    signal(SIGINT, SIG_IGN);
    begin_to_read_errors();
    // Shorter than until the first look of one that sleeps.
    run_for(MODE, MS);
    EXPECT(strstr(read_errors(), "signal 2 (SIGINT)"));
    end_source(former);
    end_source(caught);
}

//===-- looks of a loop that sleeps ----------------------------------------------------------------------------------===//

static struct {
    runloop *loop;
    pid_t thread;
} sleeper;

static void *ignore_in_sleep(void *unused) {
    WAIT_UNTIL(sleeps(sleeper.loop, sleeper.thread));
    signal(SIGUSR1, SIG_IGN);
    return unused;
}

static void stop_at_note(runloop_source *source, runloop_readiness reasons, void *info) {
    (void)source, (void)reasons, (void)info;
    runloop_stop(runloop_current());
}

TEST("R150 a signal that is taken while the loop sleeps is noted, and nothing else has to wake it") {
    struct tally tally = {0};
    runloop_signal *caught = add_signal(MODE, SIGUSR1, &tally);
    sleeper.loop = runloop_current();
    sleeper.thread = (pid_t)syscall(SYS_gettid);
    begin_to_read_errors();
    runloop_source *note = NULL;
    const runloop_descriptor_config config = {
        .descriptor = errors[0], .events = RUNLOOP_READABLE, .ready = stop_at_note};
    REQUIRE(runloop_descriptor_source_create(&config, &note) == 0);
    REQUIRE(runloop_add_source(sleeper.loop, note, MODE) == 0);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, ignore_in_sleep, NULL) == 0);
    EXPECT_EQ(run_for(MODE, 30 * SECOND), RUNLOOP_RESULT_STOPPED);
    EXPECT(strstr(read_errors(), "signal 10 (SIGUSR1)"));
    pthread_join(thread, NULL);
    end_source(note);
    end_source(caught);
}

static runloop_timer *found;

static void find_timer(void *context, runloop_item_kind kind, void *item) {
    (void)context;
    if (kind == RUNLOOP_ITEM_TIMER)
        found = item;
}

TEST("a loop that sleeps looks for its signals a few times, and then no more") {
    struct tally tally = {0};
    int64_t before = runloop_now_ns(), pause = 0;
    runloop_signal *caught = add_signal(MODE, SIGUSR1, &tally);
    int looks = 0;
    for (; runloop_next_fire_date(runloop_current(), MODE) != RUNLOOP_NEVER && looks < 20; looks++) {
        runloop_visit_items(runloop_current(), MODE, find_timer, NULL);
        EXPECT(runloop_timer_get_fire_date(found) >= before + pause * 4);
        pause = pause ? pause * 4 : 10 * MS;
        before = runloop_now_ns();
        runloop_timer_set_fire_date(found, before);
        run_for(MODE, 0);
    }
    EXPECT_EQ(looks, 8);
    EXPECT_EQ(run_for(MODE, MS), RUNLOOP_RESULT_TIMED_OUT);
    end_source(caught);
}

static void count_item(void *context, runloop_item_kind kind, void *item) {
    (void)item;
    *(int *)context += kind == RUNLOOP_ITEM_OBSERVER || kind == RUNLOOP_ITEM_TIMER;
}

/// What looks for signals in a loop.
static int count_sentries(runloop *loop) {
    int count = 0;
    REQUIRE(runloop_visit_items(loop, MODE, count_item, &count) >= 0);
    return count;
}

TEST("each of two loops looks for a signal that is in both, for as long as it has it") {
    struct tally tally = {0};
    struct worker worker = {0};
    start_worker(&worker);
    runloop_signal *caught = add_signal(MODE, SIGUSR1, &tally);
    REQUIRE(runloop_add_source(worker.loop, caught, MODE) == 0);
    REQUIRE(runloop_add_source(worker.loop, caught, "other") == 0);
    EXPECT_EQ(count_sentries(runloop_current()), 2);
    EXPECT_EQ(count_sentries(worker.loop), 2);
    EXPECT_EQ(runloop_remove_source(runloop_current(), caught, MODE), 0);
    EXPECT_EQ(count_sentries(runloop_current()), 0);
    EXPECT_EQ(count_sentries(worker.loop), 2);
    EXPECT_EQ(runloop_remove_source(worker.loop, caught, MODE), 0);
    EXPECT_EQ(count_sentries(worker.loop), 0);
    EXPECT_EQ(runloop_add_source(worker.loop, caught, MODE), 0);
    EXPECT_EQ(count_sentries(worker.loop), 2);
    end_source(caught);
    EXPECT_EQ(count_sentries(worker.loop), 0);
    stop_worker(&worker);
}

static int64_t frozen(void *context) {
    return *(const int64_t *)context;
}

static int64_t wait_in_real_time(void *context, int64_t duration_ns) {
    (void)context;
    return duration_ns;
}

TEST("looking for signals sets no date of a clock that is the program's") {
    int64_t instant = 5;
    REQUIRE(runloop_set_clock(&(runloop_clock){.context = &instant, .now = frozen, .wait = wait_in_real_time}) == 0);
    struct tally tally = {0};
    runloop_signal *caught = add_signal(MODE, SIGUSR1, &tally);
    EXPECT_EQ(runloop_next_fire_date(runloop_current(), MODE), RUNLOOP_NEVER);
    end_source(caught);
    EXPECT_EQ(runloop_set_clock(NULL), 0);
}

TEST("looking for its signals gives a loop nothing more to wait for, and is not handled") {
    struct tally tally = {0};
    runloop_signal *caught = add_signal(MODE, SIGUSR1, &tally);
    EXPECT_EQ(run_for(MODE, 100 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(runloop_run_in_mode(MODE, 400 * MS, true), RUNLOOP_RESULT_TIMED_OUT);
    end_source(caught);
    EXPECT_EQ(run_for(MODE, SECOND), RUNLOOP_RESULT_FINISHED);
}
