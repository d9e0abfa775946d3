// end_current.c — a loop that its thread ends before it ends itself, as threads of other languages do (R8, R10).
#include "items.h"

static runloop *ended;

static void trace_cancel(runloop_source *source, runloop *loop, const char *mode, void *info) {
    (void)source, (void)loop, (void)mode;
    trace(info);
}

static void *end_early(void *unused) {
    EXPECT_EQ(runloop_end_current(), 0); // nothing to end
    runloop *loop = runloop_current();
    ended = runloop_retain(loop);
    runloop_source_config config = {.context = {.info = "cancel"}, .cancel = trace_cancel};
    runloop_source *source = NULL;
    REQUIRE(runloop_source_create(&config, &source) == 0);
    EXPECT_EQ(runloop_add_source(loop, source, MODE), 0);
    runloop_source_release(source);
    EXPECT_EQ(runloop_perform(loop, OTHER_MODE, trace_function, "perform", trace_function), 0);
    EXPECT_EQ(runloop_end_current(), 0);
    EXPECT_TRACE("cancel perform"); // its `discard`
    EXPECT_EQ(runloop_end_current(), 0);
    EXPECT_EQ(runloop_post(ended, MODE, trace_function, "late", NULL), -ESHUTDOWN);
    // A new one.
    EXPECT(runloop_current() && runloop_current() != ended);
    keep_mode(MODE);
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
    return unused;
}

TEST("R8 R10 a thread may end its loop, in order, and get a new one; nothing leaks") {
    int before = count_descriptors();
    on_new_thread(end_early, NULL);
    runloop_release(ended);
    EXPECT_EQ(count_descriptors(), before);
    EXPECT_TRACE("");
}

static void exit_in_cancel(runloop_source *source, runloop *loop, const char *mode, void *info) {
    trace_cancel(source, loop, mode, info);
    pthread_exit(NULL);
}

static void *end_and_exit(void *unused) {
    runloop *loop = runloop_current();
    for (int i = 0; i < 2; i++) {
        runloop_source_config config = {.context = {.info = "cancel"},
                                        .cancel = i == 0 ? exit_in_cancel : trace_cancel};
        runloop_source *source = NULL;
        REQUIRE(runloop_source_create(&config, &source) == 0);
        EXPECT_EQ(runloop_add_source(loop, source, MODE), 0);
        runloop_source_release(source);
    }
    EXPECT_EQ(runloop_perform(loop, OTHER_MODE, trace_function, "perform", trace_function), 0);
    runloop_end_current();
    trace("returned");
    return unused;
}

TEST("R8 R10 a callback that exits the thread, while the thread ends its loop, leaves the rest to the thread's end") {
    int before = count_descriptors();
    on_new_thread(end_and_exit, NULL);
    EXPECT_TRACE("cancel cancel perform");
    EXPECT_EQ(count_descriptors(), before);
}

static void end_in_task(void *unused) {
    (void)unused;
    EXPECT_EQ(runloop_end_current(), -EBUSY);
    trace("busy");
}

static void *end_in_run(void *unused) {
    runloop_post(runloop_current(), MODE, end_in_task, NULL, NULL);
    keep_mode(MODE);
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(runloop_hosted_begin(MODE), 0);
    EXPECT_EQ(runloop_end_current(), -EBUSY);
    EXPECT_EQ(runloop_hosted_end(), 0);
    EXPECT_EQ(runloop_end_current(), 0);
    return unused;
}

static void end_in_callback(runloop_source *source, runloop *loop, const char *mode, void *name) {
    (void)source, (void)loop, (void)mode;
    EXPECT_EQ(runloop_end_current(), -EBUSY);
    trace(name);
}

static void end_in_schedule(runloop_source *source, runloop *loop, const char *mode, void *info) {
    (void)info;
    end_in_callback(source, loop, mode, "schedule");
}

static void end_in_cancel(runloop_source *source, runloop *loop, const char *mode, void *info) {
    (void)info;
    end_in_callback(source, loop, mode, "cancel");
}

static void *end_in_callbacks(void *unused) {
    runloop *loop = runloop_current();
    runloop_source_config config = {.schedule = end_in_schedule, .cancel = end_in_cancel};
    runloop_source *source = NULL;
    REQUIRE(runloop_source_create(&config, &source) == 0);
    EXPECT_EQ(runloop_add_source(loop, source, MODE), 0);
    EXPECT_EQ(runloop_remove_source(loop, source, MODE), 0);
    EXPECT_TRACE("schedule cancel");
    runloop_source_release(source);
    EXPECT_EQ(runloop_end_current(), 0);
    return unused;
}

TEST("R8 a loop is not ended inside a source's schedule or cancel, after which the operation goes on") {
    on_new_thread(end_in_callbacks, NULL);
}

TEST("R8 a loop is not ended inside a run, and the main loop never") {
    on_new_thread(end_in_run, NULL);
    EXPECT_TRACE("busy");
    runloop *loop = runloop_current();
    EXPECT_EQ(runloop_end_current(), -EPERM);
    EXPECT(runloop_current() == loop);
}
