// source.c — signalled sources: creation, membership, signals, dispatch, invalidation.
// Equality, concurrent operations on common modes, and several threads are tested in source_sharing.c.
#include "trace_helpers.h"

static runloop_source *s, *a, *b, *c;

static void begin_in_p(void) {
    begin();
    watch("P");
}

//===-- creation and release --------------------------------------------------------------------------------------===//

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

static runloop_source_config kept_config(void) {
    return (runloop_source_config){
        .context = {.info = &original, .retain = retain_kept, .release = release_kept},
        .order = 7,
        .perform = perform_kept,
    };
}

TEST("R56 a source is valid, unsignalled and in no loop, and its info is what retain returned, once") {
    begin();
    s = new_source(kept_config());
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

TEST("R57 the info is released once, when the source is freed and not when it is invalidated") {
    begin();
    s = new_source(kept_config());
    runloop_add_source(loop, s, "P");
    runloop_source_invalidate(s);
    EXPECT_TRACE("retain");
    EXPECT(runloop_source_retain(s) == s);
    runloop_source_release(s);
    EXPECT_TRACE("");
    runloop_source_release(s);
    EXPECT_TRACE("release");
}

TEST("R57 a source that its creator released lives until it is removed from its last mode") {
    begin();
    s = new_source(kept_config());
    runloop_add_source(loop, s, "P");
    runloop_add_source(loop, s, "Q");
    runloop_source_signal(s);
    runloop_source_release(s);
    runloop_remove_source(loop, s, "Q");
    run("P", 0, true);
    EXPECT_TRACE("retain perform -> HandledSource");
    runloop_remove_source(loop, s, "P");
    EXPECT_TRACE("release");
}

static void perform_last_time(runloop_source *source, void *info) {
    runloop_remove_source(loop, source, "P");
    trace("performed");
    EXPECT(info == &kept);
}

TEST("R57 a source that its own callback removes and releases is freed after the callback") {
    begin();
    runloop_source_config config = kept_config();
    config.perform = perform_last_time;
    s = new_source(config);
    runloop_add_source(loop, s, "P");
    runloop_source_signal(s);
    runloop_source_release(s);
    run("P", 0, false);
    EXPECT_TRACE("retain performed release -> TimedOut");
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

TEST("R59 removing a source that is not there calls nothing") {
    begin();
    s = scheduled_source("s", NULL);
    EXPECT_EQ(runloop_remove_source(loop, s, "P"), 0);
    runloop_add_source(loop, s, "Q");
    EXPECT_EQ(runloop_remove_source(loop, s, "P"), 0);
    EXPECT_EQ(runloop_remove_source(loop, s, COMMON), 0);
    EXPECT_TRACE("+s@Q");
    EXPECT_EQ(runloop_remove_source(loop, s, "Q"), 0);
    EXPECT_EQ(runloop_remove_source(loop, s, "Q"), 0);
    EXPECT_TRACE("-s@Q");
}

//===-- signals ---------------------------------------------------------------------------------------------------===//

TEST("R62 signals before a dispatch count as one, and the mark is clear when the source performs") {
    begin();
    s = add_source("s", NULL, "P");
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(runloop_source_signal(s), 0);
    EXPECT(runloop_source_is_signalled(s));
    run("P", 0, false);
    EXPECT(!runloop_source_is_signalled(s));
    run("P", 0, false);
    EXPECT_TRACE("s -> TimedOut -> TimedOut");
}

TEST("R62 a signal made while the source is in no mode lasts until it is in the running one") {
    begin();
    s = traced_source("s", 0, NULL);
    runloop_source_signal(s);
    runloop_add_source(loop, s, "Q");
    add_source("quiet", NULL, "P");
    run("P", 0, false);
    runloop_remove_source(loop, s, "Q");
    EXPECT(runloop_source_is_signalled(s));
    runloop_add_source(loop, s, "P");
    run("P", 0, false);
    EXPECT_TRACE("-> TimedOut s -> TimedOut");
}

TEST("R62 a source in several modes performs once per signal, in whichever runs first") {
    begin();
    s = add_source("s", NULL, "P");
    runloop_add_source(loop, s, "Q");
    runloop_source_signal(s);
    run("Q", 0, false);
    run("P", 0, false);
    EXPECT_TRACE("s -> TimedOut -> TimedOut");
}

TEST("R62 R63 a signal made before the source was added to the mode still counts as its first") {
    begin();
    a = traced_source("a", 0, NULL);
    b = add_source("b", NULL, "P");
    runloop_source_signal(a);
    runloop_source_signal(b);
    runloop_add_source(loop, a, "P");
    run("P", 0, false);
    EXPECT_TRACE("a b -> TimedOut");
}

//===-- dispatch --------------------------------------------------------------------------------------------------===//

TEST("R63 the dispatch is sorted by order, then by the first signal since the last callback") {
    begin();
    a = add_source("a", NULL, "P");
    b = add_source("b", NULL, "P");
    c = traced_source("c", INT32_MIN, NULL);
    s = traced_source("s", INT32_MAX, NULL);
    runloop_add_source(loop, s, "P");
    runloop_add_source(loop, c, "P");
    runloop_source_signal(s);
    runloop_source_signal(b);
    runloop_source_signal(a);
    runloop_source_signal(b);
    runloop_source_signal(c);
    run("P", 0, false);
    EXPECT_TRACE("c b a s -> TimedOut");
    runloop_source_signal(a); // A signal after the callback counts as a first signal again.
    runloop_source_signal(b);
    run("P", 0, false);
    EXPECT_TRACE("a b -> TimedOut");
}

static int repeats;

static void signal_s_again(void) {
    if (repeats-- > 0)
        runloop_source_signal(s);
}

TEST("R64 a source that signals itself performs in the next iteration, with no wait in between") {
    begin_in_p();
    s = add_source("s", signal_s_again, "P");
    repeats = 2;
    runloop_source_signal(s);
    stop_at_wait("P", 1);
    run("P", LONG, false);
    EXPECT_TRACE("E T S s T S s T S s T S W A X -> Stopped");
}

TEST("R64 a source that signals itself in a polling run performs in the next run") {
    begin_in_p();
    s = add_source("s", signal_s_again, "P");
    repeats = 1;
    runloop_source_signal(s);
    run("P", 0, false);
    EXPECT(runloop_source_is_signalled(s));
    run("P", 0, false);
    EXPECT_TRACE("E T S s X -> TimedOut E T S s X -> TimedOut");
}

static void signal_b(void) {
    runloop_source_signal(b);
}

TEST("R64 a source signalled by another one during the dispatch performs in the next iteration") {
    begin_in_p();
    a = add_source("a", signal_b, "P");
    b = traced_source("b", 1, NULL);
    runloop_add_source(loop, b, "P");
    runloop_source_signal(a);
    stop_at_wait("P", 1);
    run("P", LONG, false);
    EXPECT_TRACE("E T S a T S b T S W A X -> Stopped");
}

static void remove_b(void) {
    runloop_remove_source(loop, b, "P");
}

TEST("R64 a source removed by an earlier one of the dispatch still performs, after its cancel") {
    begin();
    a = add_source("a", remove_b, "P");
    b = scheduled_source("b", NULL);
    runloop_add_source(loop, b, "P");
    runloop_source_signal(a);
    runloop_source_signal(b);
    run("P", 0, false);
    EXPECT_TRACE("+b@P a -b@P b -> TimedOut");
}

static void invalidate_b(void) {
    runloop_source_invalidate(b);
}

TEST("R64 a source invalidated by an earlier one of the dispatch does not perform") {
    begin();
    a = add_source("a", invalidate_b, "P");
    b = scheduled_source("b", NULL);
    runloop_add_source(loop, b, "P");
    runloop_source_signal(a);
    runloop_source_signal(b);
    run("P", 0, false);
    EXPECT_TRACE("+b@P a -b@P -> TimedOut");
}

static void poll_p(void) {
    run("P", 0, false);
}

TEST("R64 a source that a nested run has performed does not perform twice") {
    begin();
    a = add_source("a", poll_p, "P");
    b = add_source("b", NULL, "P");
    runloop_source_signal(a);
    runloop_source_signal(b);
    run("P", 0, false);
    EXPECT_TRACE("a b -> TimedOut -> TimedOut");
}

TEST("R65 a run that returns after a source performs one per run, in order") {
    begin();
    a = add_source("a", NULL, "P");
    b = add_source("b", NULL, "P");
    c = traced_source("c", -1, NULL);
    runloop_add_source(loop, c, "P");
    runloop_source_signal(b);
    runloop_source_signal(a);
    runloop_source_signal(c);
    for (int i = 0; i < 3; i++)
        run("P", LONG, true);
    run("P", 0, true);
    EXPECT_TRACE("c -> HandledSource b -> HandledSource a -> HandledSource -> TimedOut");
}

TEST("R65 a source that could not perform does not end the dispatch") {
    begin();
    b = add_source("b", NULL, "P");
    a = add_source("a", invalidate_b, "P");
    c = add_source("c", NULL, "P");
    runloop_source_signal(a);
    runloop_source_signal(b);
    runloop_source_signal(c);
    run("P", LONG, true);
    run("P", LONG, true);
    EXPECT_TRACE("a -> HandledSource c -> HandledSource");
}

static void signal_again_and_poll(void) {
    if (repeats-- > 0) {
        runloop_source_signal(s);
        poll_p();
    }
}

TEST("R66 a source performs recursively if its callback signals it and runs its mode") {
    begin();
    s = add_source("s", signal_again_and_poll, "P");
    repeats = 2;
    runloop_source_signal(s);
    run("P", 0, true);
    EXPECT_TRACE("s s s -> TimedOut -> TimedOut -> HandledSource");
}

TEST("R66 a source that its callback does not signal does not perform recursively") {
    begin();
    s = add_source("s", poll_p, "P");
    runloop_source_signal(s);
    run("P", 0, true);
    EXPECT_TRACE("s -> TimedOut -> HandledSource");
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

static void invalidate_itself(void) {
    runloop_source_invalidate(s);
    EXPECT(!runloop_source_is_valid(s));
    trace("still here");
}

TEST("R67 a source can invalidate itself in its callback, which continues") {
    begin();
    s = scheduled_source("s", invalidate_itself);
    runloop_add_source(loop, s, "P");
    runloop_source_signal(s);
    run("P", LONG, true);
    EXPECT_TRACE("+s@P s -s@P still here -> HandledSource");
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
