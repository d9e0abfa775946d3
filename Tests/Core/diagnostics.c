// diagnostics.c — what is written about a loop that nobody ran, or a run in a mode that doesn't exist. (The main queue: main_queue.c.)
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

/// As a device that is closed right after it was opened, whose thread does not begin its run any more.
static void *add_and_stop(void *unused) {
    add_timer(MODE, runloop_now_ns() + 3600 * SECOND, 0, trace_fire, "fire");
    EXPECT_EQ(runloop_stop_latched(runloop_current()), 0);
    return unused;
}

/// What is written to standard error while a thread does this and ends. Valid until the next call.
static const char *text_of_thread(void *(*body)(void *)) {
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
    close(ends[0]);
    close(ends[1]);
    close(saved);
    return text;
}

static int occurrences(const char *words, const char *text) {
    int count = 0;
    for (const char *found = text; (found = strstr(found, words)); found++)
        count++;
    return count;
}

/// How often items are reported that never happened.
static int notes_of_thread(void *(*body)(void *)) {
    return occurrences("which was never run", text_of_thread(body));
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

TEST("R150 a loop whose first run was stopped before it began causes none") {
    EXPECT_EQ(notes_of_thread(add_and_stop), 0);
    EXPECT_EQ(notes_of_thread(add_only), 1);
}

TEST("R150 diagnostics that are disabled write nothing") {
    runloop_set_diagnostics_enabled(false);
    EXPECT_EQ(notes_of_thread(add_only), 0);
    runloop_set_diagnostics_enabled(true);
    EXPECT_EQ(notes_of_thread(add_only), 1);
}

static void *run_mistyped(void *unused) {
    add_timer(MODE, runloop_now_ns() + 3600 * SECOND, 0, trace_fire, "fire");
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(poll_mode("tset"), RUNLOOP_RESULT_FINISHED);
    EXPECT_EQ(runloop_hosted_begin("tset"), RUNLOOP_RESULT_FINISHED);
    EXPECT_EQ(runloop_hosted_begin("text"), RUNLOOP_RESULT_FINISHED);
    EXPECT_EQ(poll_mode(RUNLOOP_COMMON_MODES), RUNLOOP_RESULT_FINISHED);
    return unused;
}

TEST("R150 a run in a mode that never had an item is reported once for each name, with the modes that there are") {
    const char *text = text_of_thread(run_mistyped);
    EXPECT_EQ(occurrences("runloop: A run in the mode", text), 3);
    EXPECT_EQ(occurrences("\"tset\" has ended at once: nothing was ever added to it.", text), 1);
    EXPECT_EQ(occurrences("\"text\" has ended at once: nothing was ever added to it.", text), 1);
    EXPECT_EQ(occurrences("\"kCFRunLoopCommonModes\" has ended at once: that stands for all common modes", text), 1);
    EXPECT_EQ(occurrences("This loop has the modes \"kCFRunLoopDefaultMode\", \"test\".", text), 3);
    EXPECT_EQ(text_of_thread(run_mistyped)[0], 0);
}

static void *run_emptied(void *unused) {
    // A mode whose items are gone, the default mode, and a loop in which nothing waits.
    EXPECT_EQ(poll_mode("a mode of nothing"), RUNLOOP_RESULT_FINISHED);
    runloop_timer_invalidate(add_timer(OTHER_MODE, runloop_now_ns(), 0, trace_fire, "fire"));
    runloop_timer *timer = add_timer(MODE, runloop_now_ns() + 3600 * SECOND, 0, trace_fire, "fire");
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(poll_mode(OTHER_MODE), RUNLOOP_RESULT_FINISHED);
    EXPECT_EQ(poll_mode(RUNLOOP_DEFAULT_MODE), RUNLOOP_RESULT_FINISHED);
    EXPECT_EQ(runloop_run_in_mode(NULL, 0, false), RUNLOOP_RESULT_FINISHED);
    runloop_timer_invalidate(timer);
    EXPECT_EQ(poll_mode("no mode"), RUNLOOP_RESULT_FINISHED);
    return unused;
}

static void *run_many(void *unused) {
    add_timer(MODE, runloop_now_ns() + 3600 * SECOND, 0, trace_fire, "fire");
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
    for (int i = 0; i < 100; i++) {
        char name[2000];
        memset(name, 'x', sizeof name);
        snprintf(name + sizeof name - 8, 8, "%d", i);
        EXPECT_EQ(poll_mode(name), RUNLOOP_RESULT_FINISHED);
    }
    return unused;
}

TEST("R150 a mode that had items once, and a run that misses nothing, are not reported; and many names are cut") {
    EXPECT_EQ(text_of_thread(run_emptied)[0], 0);
    runloop_set_diagnostics_enabled(false);
    EXPECT_EQ(text_of_thread(run_many)[0], 0);
    runloop_set_diagnostics_enabled(true);
    EXPECT_EQ(occurrences("runloop: A run in the mode", text_of_thread(run_many)), 16);
}

static void *use_number_again(void *unused) {
    for (int i = 0; i < 2; i++) {
        int first = make_eventfd(0), second = make_eventfd(0);
        runloop_source_set_name(add_descriptor(MODE, first, RUNLOOP_READABLE, NULL, NULL), "Modem.c", 12);
        REQUIRE(dup(first) >= 0 && dup2(second, first) == first);
        add_descriptor(MODE, first, RUNLOOP_READABLE, NULL, NULL);
        EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
    }
    return unused;
}

static struct worker worker;

TEST("R73 a number that was closed before its source was removed causes one diagnostic") {
    EXPECT_EQ(occurrences("was closed while the source “Modem.c:12” watched it", text_of_thread(use_number_again)), 1);
}

static bool is_used_again;

static void *use_closed_number(void *unused) {
    int first = make_eventfd(0), second = make_eventfd(0);
    runloop_source *source = add_descriptor(MODE, first, RUNLOOP_READABLE, NULL, NULL);
    runloop *loop = runloop_current();
    runloop_source_retain(source);
    runloop_source_set_name(source, "Modem.c", 12);
    EXPECT(!runloop_source_is_lost(source, loop));
    REQUIRE(dup(first) >= 0 && (is_used_again ? dup2(second, first) == first : close(first) == 0));
    EXPECT(runloop_source_is_lost(source, loop) && runloop_source_is_lost(source, loop));
    // The question has woken the loop.
    EXPECT_EQ(run_for(MODE, 10 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT(runloop_source_is_lost(source, loop));
    runloop_remove_source(loop, source, MODE);
    EXPECT(!runloop_source_is_lost(source, loop));
    runloop_source_release(source);
    return unused;
}

TEST("R73 whether a descriptor was closed is asked of the kernel, and the diagnostic names the source") {
    EXPECT_EQ(occurrences("was closed while the source “Modem.c:12” watched it", text_of_thread(use_closed_number)), 1);
}

TEST("R73 a source that is paused, in no loop, in another loop, or not a descriptor's is not lost") {
    runloop *loop = runloop_current();
    runloop_source *source = add_descriptor(MODE, make_eventfd(0), RUNLOOP_READABLE, NULL, NULL);
    runloop_source *signalled = add_source(MODE, NULL, NULL);
    int number = runloop_source_get_descriptor(source);
    EXPECT(!runloop_source_is_lost(signalled, loop) && !runloop_source_is_lost(NULL, loop));
    EXPECT(!runloop_source_is_lost(source, NULL));
    start_worker(&worker);
    EXPECT(!runloop_source_is_lost(source, worker.loop));
    stop_worker(&worker);
    EXPECT_EQ(runloop_source_set_events(source, 0), 0);
    close(number);
    EXPECT(!runloop_source_is_lost(source, loop));
}

TEST("R73 the same if the number stands for another file by then") {
    is_used_again = true;
    EXPECT_EQ(occurrences("was closed while the source “Modem.c:12” watched it", text_of_thread(use_closed_number)), 1);
}

static void *add_newer(void *newer) {
    EXPECT_EQ(runloop_add_source(worker.loop, newer, MODE), 0);
    return NULL;
}

TEST("R73 a standard error that is full holds up nobody who adds a source for a number that was used again") {
    int ends[2], first = make_eventfd(0), second = make_eventfd(0), saved = dup(STDERR_FILENO);
    pthread_t thread;
    make_pipe(ends);
    while (write(ends[1], "x", 1) == 1)
        continue;
    start_worker(&worker);
    runloop_source *older = make_descriptor(first, RUNLOOP_READABLE, NULL, NULL);
    runloop_source *newer = make_descriptor(first, RUNLOOP_READABLE, NULL, NULL);
    EXPECT_EQ(runloop_add_source(worker.loop, older, MODE), 0);
    REQUIRE(dup(first) >= 0 && dup2(second, first) == first);
    REQUIRE(fcntl(ends[1], F_SETFL, 0) == 0 && dup2(ends[1], STDERR_FILENO) >= 0);
    REQUIRE(pthread_create(&thread, NULL, add_newer, newer) == 0);
    // It would not end while the lock is held.
    pthread_join(thread, NULL);
    EXPECT(runloop_contains_source(worker.loop, newer, MODE));
    char bytes[65536];
    REQUIRE(read(ends[0], bytes, sizeof bytes) > 0);
    stop_worker(&worker);
    REQUIRE(dup2(saved, STDERR_FILENO) >= 0);
    runloop_source_release(older);
    runloop_source_release(newer);
}
