// clock_asked.c — what the program does while its clock is asked, and when its loop ends (R74, R123).
#include <sys/wait.h>

#include "items.h"

static runloop *loop;
static int asked;
static void (*when_asked)(void);

static int64_t now(void *unused) {
    (void)unused;
    return SECOND;
}

/// Lets the kernel wait.
static int64_t wait_by_kernel(void *unused, int64_t duration_ns) {
    (void)unused, (void)duration_ns;
    asked++;
    when_asked();
    return RUNLOOP_FOREVER;
}

static const runloop_clock sleepy_clock = {NULL, now, wait_by_kernel};

static void set_up(void (*does)(void)) {
    loop = runloop_current();
    when_asked = does;
    EXPECT_EQ(runloop_set_clock(&sleepy_clock), 0);
}

static pid_t child = -1;

static void fork_and_stop(void) {
    if (child == 0)
        _exit(2);
    child = fork();
    if (child > 0)
        runloop_stop(loop);
}

static void expect_end_in_child(bool is_hosted) {
    child = -1;
    int status, result;
    REQUIRE(!is_hosted || runloop_hosted_begin(MODE) == 0);
    do
        result =
            is_hosted ? runloop_hosted_iterate(RUNLOOP_FOREVER) : runloop_run_in_mode(MODE, RUNLOOP_FOREVER, false);
    while (result == 0 && child > 0);
    if (child == 0)
        _exit(result == -ECHILD ? 0 : 1);
    EXPECT_EQ(result, RUNLOOP_RESULT_STOPPED);
    REQUIRE(waitpid(child, &status, 0) == child);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST("R123 a child of a fork while the clock is asked does nothing more, though nothing has come for it") {
    set_up(fork_and_stop);
    keep_mode(MODE);
    expect_end_in_child(false);
    expect_end_in_child(true);
}

static void *stop_loop(void *unused) {
    runloop_stop(loop);
    return unused;
}

static void stop_and_look(void) {
    on_new_thread(stop_loop, NULL);
    EXPECT(!runloop_has_work(MODE));
}

TEST("R52 a stop that comes while the clock is asked ends the wait, also if the clock looks for work after it") {
    set_up(stop_and_look);
    add_descriptor(MODE, make_eventfd(0), RUNLOOP_READABLE, NULL, NULL);
    EXPECT_EQ(run_for(MODE, 60 * SECOND), RUNLOOP_RESULT_STOPPED);
    EXPECT_EQ(asked, 1);
}

static void cancel_at_end(runloop_source *source, runloop *ending, const char *mode, void *info) {
    (void)source, (void)ending, (void)mode, (void)info;
    EXPECT_EQ(runloop_set_clock(&sleepy_clock), -ESHUTDOWN);
    EXPECT_EQ(runloop_set_tracer(NULL), -ESHUTDOWN);
    EXPECT_EQ(runloop_hosted_descriptor(), -ESHUTDOWN);
    asked++;
}

static void *end_with_source(void *unused) {
    runloop_source *source;
    runloop_source_config config = {.cancel = cancel_at_end};
    REQUIRE(runloop_source_create(&config, &source) == 0);
    REQUIRE(runloop_add_source(runloop_current(), source, MODE) == 0);
    runloop_source_release(source);
    loop = runloop_retain(runloop_current());
    return unused;
}

TEST("R126 a loop that ends takes no clock, no tracer and no host any more, and needs no wake-up") {
    on_new_thread(end_with_source, NULL);
    EXPECT_EQ(asked, 1);
    EXPECT(!runloop_needs_wake_up(loop));
    runloop_release(loop);
}
