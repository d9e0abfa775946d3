// source.c — signalled sources: creation, membership, invalidation.
// Signals and their dispatch are in Tests/Rules/sources.c; equality, concurrent operations on common modes, and several threads are
// tested in source_sharing.c.
#include "trace_helpers.h"

static runloop_source *s, *a;

//===-- creation --------------------------------------------------------------------------------------------------===//

static int kept, original;

static void *retain_kept(void *info) {
    EXPECT(info == &original);
    trace("retain");
    return &kept;
}

static void release_kept(void *info) {
    EXPECT(info == &kept);
    trace("release");
}

static void perform_kept(runloop_source *source, void *info) {
    EXPECT(source == s);
    EXPECT(info == &kept);
    trace("perform");
}

TEST("R56 a source is valid, unsignalled and in no loop, and its info is what retain returned, once") {
    begin();
    s = new_source((runloop_source_config){
        .context = {.info = &original, .retain = retain_kept, .release = release_kept},
        .order = 7,
        .perform = perform_kept,
    });
    EXPECT_TRACE("retain");
    EXPECT(runloop_source_get_info(s) == &kept);
    EXPECT_EQ(runloop_source_get_order(s), 7);
    EXPECT(runloop_source_is_valid(s));
    EXPECT(!runloop_source_is_signalled(s));
    EXPECT_EQ(runloop_source_get_descriptor(s), -1);
    EXPECT_EQ(runloop_source_get_events(s), 0);
    runloop_add_source(loop, s, "P");
    runloop_source_signal(s);
    run("P", 0, true);
    EXPECT_TRACE("perform -> HandledSource");
}

TEST("R56 the configuration is copied, and without retain the info is as given") {
    begin();
    runloop_source_config config = {.context.info = &original, .order = 3};
    s = new_source(config);
    config = (runloop_source_config){.context.info = NULL};
    EXPECT(runloop_source_get_info(s) == &original);
    EXPECT_EQ(runloop_source_get_order(s), 3);
}

//===-- membership ------------------------------------------------------------------------------------------------===//

static void *expected_loop;
static pthread_t expected_thread;

static void check_schedule(runloop_source *source, runloop *in, const char *mode, void *info) {
    EXPECT(source == s);
    EXPECT(in == expected_loop);
    EXPECT(pthread_equal(pthread_self(), expected_thread));
    EXPECT(runloop_contains_source(in, source, mode)); // After the addition.
    EXPECT(mode == runloop_mode_name(mode));
    trace_membership('+', info, mode);
}

static void check_cancel(runloop_source *source, runloop *in, const char *mode, void *info) {
    EXPECT(source == s);
    EXPECT(in == expected_loop);
    EXPECT(pthread_equal(pthread_self(), expected_thread));
    EXPECT(!runloop_contains_source(in, source, mode)); // After the removal.
    trace_membership('-', info, mode);
}

TEST("R58 R59 schedule and cancel are called after each change of membership, on the thread that makes it") {
    begin();
    s = new_source((runloop_source_config){
        .context.info = new_actor("s", NULL), .schedule = check_schedule, .cancel = check_cancel});
    expected_thread = pthread_self();
    start_other_loop();
    runloop *loops[] = {loop, other_loop};
    for (int i = 0; i < 2; i++) { // In several modes of several loops at a time.
        expected_loop = loops[i];
        EXPECT_EQ(runloop_add_source(loops[i], s, "P"), 0);
        EXPECT_EQ(runloop_add_source(loops[i], s, "Q"), 0);
    }
    EXPECT_TRACE("+s@P +s@Q +s@P +s@Q");
    for (int i = 0; i < 2; i++) {
        expected_loop = loops[i];
        EXPECT_EQ(runloop_remove_source(loops[i], s, "P"), 0);
        EXPECT_EQ(runloop_remove_source(loops[i], s, "Q"), 0);
    }
    EXPECT_TRACE("-s@P -s@Q -s@P -s@Q");
    end_other_loop();
}

TEST("R58 a second addition to a mode and the addition of an invalid source call nothing") {
    begin();
    s = scheduled_source("s", NULL);
    EXPECT_EQ(runloop_add_source(loop, s, "P"), 0);
    EXPECT_EQ(runloop_add_source(loop, s, "P"), 0);
    EXPECT_TRACE("+s@P");
    a = scheduled_source("a", NULL);
    runloop_source_invalidate(a);
    EXPECT_EQ(runloop_add_source(loop, a, "P"), -EINVAL);
    EXPECT_EQ(runloop_add_source(loop, a, COMMON), -EINVAL);
    EXPECT(!runloop_contains_source(loop, a, "P"));
    EXPECT(!runloop_contains_source(loop, a, COMMON));
    EXPECT_TRACE("");
}

//===-- invalidation ----------------------------------------------------------------------------------------------===//

TEST("R67 invalidation removes the source from every mode of every loop, once, and clears its mark") {
    begin();
    s = scheduled_source("s", NULL);
    start_other_loop();
    runloop_add_source(loop, s, "P");
    runloop_add_source(loop, s, COMMON);
    runloop_add_source(other_loop, s, "O");
    runloop_source_signal(s);
    trace_reset();
    runloop_source_invalidate(s);
    EXPECT(strstr(test_trace_text, "-s@P") && strstr(test_trace_text, "-s@O") &&
           strstr(test_trace_text, "-s@" DEFAULT));                      // In any order, ...
    EXPECT_EQ(strlen(test_trace_text), strlen("-s@P -s@O -s@" DEFAULT)); // ... each once.
    trace_reset();
    runloop_source_invalidate(s);
    EXPECT_TRACE("");
    EXPECT(!runloop_source_is_valid(s));
    EXPECT(!runloop_source_is_signalled(s));
    EXPECT(!runloop_contains_source(loop, s, "P"));
    EXPECT(!runloop_contains_source(loop, s, COMMON));
    EXPECT(!runloop_contains_source(other_loop, s, "O"));
    runloop_add_common_mode(loop, "C");
    EXPECT_TRACE("");
    end_other_loop();
}

TEST("R111 an invalid source still reports its order and info, and ignores signals") {
    begin();
    s = new_source((runloop_source_config){.context.info = &original, .order = 5});
    runloop_source_invalidate(s);
    EXPECT_EQ(runloop_source_get_order(s), 5);
    EXPECT(runloop_source_get_info(s) == &original);
    runloop_source_signal(s);
    EXPECT(!runloop_source_is_signalled(s));
    EXPECT_EQ(runloop_add_source(loop, s, "P"), -EINVAL);
}
