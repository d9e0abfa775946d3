// invalidated.c — what is reported when a source is invalidated (R153), and whose info a source has.
#include <pthread.h>
#include <string.h>

#include "items.h"

static void trace_invalidated(runloop_source *source, void *info) {
    trace(runloop_source_is_valid(source) ? "valid" : "invalidated");
    // Once more, and nothing happens.
    runloop_source_invalidate(source);
    EXPECT(strcmp(info, "info") == 0);
}

static void trace_cancel(runloop_source *source, runloop *loop, const char *mode, void *info) {
    (void)source, (void)loop, (void)mode, (void)info;
    trace("cancel");
}

static void trace_release(void *info) {
    (void)info;
    trace("release");
}

static runloop_source *make_told(void) {
    const runloop_descriptor_config config = {.context = {.info = "info", .release = trace_release},
                                              .descriptor = -1,
                                              .events = RUNLOOP_READABLE,
                                              .ready = trace_ready,
                                              .cancel = trace_cancel,
                                              .invalidated = trace_invalidated};
    runloop_source *source = NULL;
    REQUIRE(runloop_descriptor_source_create(&config, &source) == 0);
    return source;
}

TEST("R153 the call that invalidates a source calls `invalidated`, once, after it has left its modes") {
    runloop_source *source = make_told();
    EXPECT_EQ(runloop_add_source(runloop_current(), source, MODE), 0);
    EXPECT_EQ(runloop_add_source(runloop_current(), source, "other"), 0);
    runloop_source_invalidate(source);
    runloop_source_invalidate(source);
    trace("|");
    runloop_source_release(source);
    EXPECT_TRACE("cancel cancel invalidated | release");
}

TEST("R153 for a source that is released without that it is not called") {
    runloop_source_release(make_told());
    EXPECT_TRACE("release");
}

static void end_thread(runloop_source *source, runloop *loop, const char *mode, void *info) {
    (void)source, (void)loop, (void)mode, (void)info;
    trace("cancel");
    pthread_exit(NULL);
}

static void *invalidate(void *source) {
    runloop_source_invalidate(source);
    return NULL;
}

TEST("R153 it is called even if a cancel ends the thread") {
    const runloop_descriptor_config config = {.context = {.info = "info", .release = trace_release},
                                              .descriptor = -1,
                                              .events = RUNLOOP_READABLE,
                                              .cancel = end_thread,
                                              .invalidated = trace_invalidated};
    runloop_source *source = NULL;
    REQUIRE(runloop_descriptor_source_create(&config, &source) == 0);
    EXPECT_EQ(runloop_add_source(runloop_current(), source, MODE), 0);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, invalidate, source) == 0);
    REQUIRE(pthread_join(thread, NULL) == 0);
    runloop_source_release(source);
    EXPECT_TRACE("cancel invalidated release");
}

static void other_ready(runloop_source *source, runloop_readiness reasons, void *info) {
    (void)source, (void)reasons, (void)info;
}

static void perform(runloop_source *source, void *info) {
    (void)source, (void)info;
}

TEST("the info of a source is known to who made it, also after its end, and to nobody else by mistake") {
    runloop_source *source = make_told(), *by_hand = NULL;
    const runloop_source_config config = {.context = {.info = "other"}, .perform = perform};
    REQUIRE(runloop_source_create(&config, &by_hand) == 0);
    EXPECT(strcmp(runloop_source_get_info_of(source, (void (*)(void))trace_ready), "info") == 0);
    EXPECT(!runloop_source_get_info_of(source, (void (*)(void))other_ready));
    EXPECT(!runloop_source_get_info_of(source, NULL));
    EXPECT(strcmp(runloop_source_get_info_of(by_hand, (void (*)(void))perform), "other") == 0);
    EXPECT(!runloop_source_get_info_of(by_hand, (void (*)(void))trace_ready));
    EXPECT(!runloop_source_get_info_of(source, (void (*)(void))perform));
    EXPECT(!runloop_source_get_info_of(NULL, (void (*)(void))trace_ready));
    runloop_source_invalidate(source);
    EXPECT(strcmp(runloop_source_get_info_of(source, (void (*)(void))trace_ready), "info") == 0);
    runloop_source_release(by_hand);
    runloop_source_release(source);
    EXPECT_TRACE("invalidated release");
}
