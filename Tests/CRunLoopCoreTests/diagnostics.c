// diagnostics.c — what a thread that nobody ran the loop of is told at its end. (For the main queue's diagnostic see main_queue.c.)
#include "items.h"

static void *add_only(void *unused) {
    add_timer(MODE, runloop_now_ns(), 0, trace_fire, "fire");
    return unused;
}

static void *add_observer_only(void *unused) {
    trace_activities(MODE);
    return unused;
}

static void *add_and_remove(void *unused) {
    runloop_timer_invalidate(add_timer(MODE, runloop_now_ns(), 0, trace_fire, "fire"));
    return unused;
}

static void *add_and_run(void *unused) {
    add_timer(MODE, runloop_now_ns() + 3600 * SECOND, 0, trace_fire, "fire");
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
    return unused;
}

/// How often standard error is told of items that never happened while a thread does this and ends.
static int notes_of_thread(void *(*body)(void *)) {
    int ends[2], saved = dup(STDERR_FILENO);
    make_pipe(ends);
    REQUIRE(dup2(ends[1], STDERR_FILENO) >= 0);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, body, NULL) == 0);
    pthread_join(thread, NULL);
    REQUIRE(dup2(saved, STDERR_FILENO) >= 0);
    static char text[65536];
    ssize_t length = read(ends[0], text, sizeof text - 1);
    text[length > 0 ? length : 0] = 0;
    int count = 0;
    for (const char *note = text; (note = strstr(note, "which was never run")); note++)
        count++;
    close(ends[0]);
    close(ends[1]);
    close(saved);
    return count;
}

TEST("R150 a thread that ends with items in a loop that was never run causes one diagnostic") {
    EXPECT_EQ(notes_of_thread(add_only), 1);
    EXPECT_EQ(notes_of_thread(add_only), 0);
    EXPECT_TRACE("");
}

TEST("R150 a run, observers alone, and items that were removed cause none") {
    EXPECT_EQ(notes_of_thread(add_and_run), 0);
    EXPECT_EQ(notes_of_thread(add_observer_only), 0);
    EXPECT_EQ(notes_of_thread(add_and_remove), 0);
}

TEST("R150 diagnostics that are disabled tell nothing") {
    runloop_set_diagnostics_enabled(false);
    EXPECT_EQ(notes_of_thread(add_only), 0);
    runloop_set_diagnostics_enabled(true);
    EXPECT_EQ(notes_of_thread(add_only), 1);
}
