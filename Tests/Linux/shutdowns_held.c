// shutdowns_held.c — a shutdown that is held: in no loop, with a loop that ends, for long, and past a short limit.
#include <poll.h>

#include "linux_items.h"
#include "shown_clock.h"

static runloop_shutdown *current;
static int output;

static void write_text(void *text) {
    REQUIRE(write(output, text, strlen(text)) == (ssize_t)strlen(text));
}

static void hold(void *unused) {
    (void)unused;
    EXPECT_EQ(runloop_shutdown_hold(current), 0);
}

/// What a child has written before it ended.
static const char *text_of(void (*body)(void), int *status) {
    static char text[64];
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    output = ends[1];
    *status = status_of_child(body);
    close(ends[1]);
    test_read_all(ends[0], text, sizeof text);
    return text;
}

static bool is_end_by(int status, int number) {
    return WIFSIGNALED(status) && WTERMSIG(status) == number;
}

static void make_shutdown(int64_t limit_ns) {
    const int32_t number = SIGTERM;
    const runloop_shutdown_config config = {.numbers = &number, .count = 1, .limit_ns = limit_ns};
    REQUIRE(runloop_shutdown_create(&config, &current) == 0);
}

static void add_shutdown(int64_t limit_ns) {
    make_shutdown(limit_ns);
    REQUIRE(runloop_add_source(runloop_current(), current, MODE) == 0);
}

/// It has begun, and is held.
static void begin_held(int64_t limit_ns) {
    add_shutdown(limit_ns);
    REQUIRE(runloop_shutdown_add_work(current, 0, hold, NULL, NULL) == 0);
    REQUIRE(runloop_shutdown_add_work(current, 1, write_text, (void *)"rest", NULL) == 0);
    raise(SIGTERM);
    LOOK_UNTIL(runloop_shutdown_get_signal(current) != 0);
}

static void resume_before_it_begins(void) {
    make_shutdown(SECOND);
    REQUIRE(runloop_shutdown_add_work(current, 0, write_text, (void *)"work", NULL) == 0);
    EXPECT_EQ(runloop_shutdown_hold(current), 0);
    EXPECT_EQ(runloop_shutdown_resume(current), 0);
    EXPECT_EQ(runloop_shutdown_get_signal(current), 0);
    runloop_source_release(current);
}

TEST("the end of a hold begins no shutdown, also of one that is in no loop") {
    int status;
    EXPECT_TEXT(text_of(resume_before_it_begins, &status), "");
    EXPECT_EQ(status, 0);
}

static void lose_the_loop(void) {
    begin_held(RUNLOOP_FOREVER);
    // The loop is to be called for it, and never runs again.
    EXPECT_EQ(runloop_shutdown_resume(current), 0);
    REQUIRE(runloop_remove_source(runloop_current(), current, MODE) == 0);
}

TEST("a shutdown that loses its last loop before that has served the end of a hold goes on by itself") {
    int status;
    EXPECT_TEXT(text_of(lose_the_loop, &status), "rest");
    EXPECT(is_end_by(status, SIGTERM));
}

static void ignore(int number) {
    (void)number;
}

static void signal_again(void) {
    // The former handler does not end the process.
    signal(SIGTERM, ignore);
    begin_held(RUNLOOP_FOREVER);
    runloop_source_invalidate(current);
    // Later than that it might be a copy of the first.
    usleep(300000);
    raise(SIGTERM);
    write_text((void *)"on");
}

TEST("a second signal ends the process at once, though the shutdown that has begun was invalidated") {
    int status;
    EXPECT_TEXT(text_of(signal_again, &status), "");
    EXPECT(is_end_by(status, SIGTERM));
}

static void wait_for_long(void) {
    use_shown_clock();
    begin_held(RUNLOOP_FOREVER);
    begin_to_read_errors();
    shown_ns = 10 * SECOND - 1;
    look_a_while(MODE);
    EXPECT_EQ(poll(&(struct pollfd){.fd = errors[0], .events = POLLIN}, 1, 0), 0);
    shown_ns = 10 * SECOND;
    LOOK_UNTIL(poll(&(struct pollfd){.fd = errors[0], .events = POLLIN}, 1, 0) == 1);
    look_a_while(MODE);
    const char *text = read_errors();
    EXPECT(strstr(text, "waits for work of its shutdown"));
    EXPECT_EQ(count_of(text, "A second signal ends it at once"), 1);
}

TEST("a shutdown that has waited for ten seconds says so, once") {
    int status;
    EXPECT_TEXT(text_of(wait_for_long, &status), "");
    EXPECT_EQ(status, 0);
}

static void pass_short_limit(void) {
    begin_held(20 * MS);
    run_for(MODE, 20 * SECOND);
}

TEST("a limit holds that is shorter than the time in which a second signal counts as a copy of the first") {
    int status;
    EXPECT_TEXT(text_of(pass_short_limit, &status), "");
    EXPECT(is_end_by(status, SIGTERM));
}
