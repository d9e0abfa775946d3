// source_sharing.c — identity of sources, sources of the common modes, and sources that several threads use.
#include "trace_helpers.h"

static runloop_source *s, *a, *b;

TEST("R60 sources are compared by identity: of two that are alike each is a member, and leaves alone") {
    begin();
    s = traced_source("s", 0, NULL);
    a = new_source((runloop_source_config){.perform = source_acts, .context.info = new_actor("twin", NULL)});
    b = new_source((runloop_source_config){.perform = source_acts, .context.info = runloop_source_get_info(a)});
    EXPECT_EQ(runloop_add_source(loop, a, "P"), 0);
    EXPECT(!runloop_contains_source(loop, b, "P"));
    EXPECT_EQ(runloop_add_source(loop, b, "P"), 0);
    EXPECT_EQ(runloop_remove_source(loop, a, "P"), 0);
    EXPECT(!runloop_contains_source(loop, a, "P"));
    EXPECT(runloop_contains_source(loop, b, "P"));
}

//===-- common operations, one mode at a time ---------------------------------------------------------------------===//

static _Atomic int scheduled, cancels;

static void begin_with_common_modes(void) {
    begin();
    runloop_add_common_mode(loop, "C1");
    runloop_add_common_mode(loop, "C2");
}

static int memberships(runloop_source *source) {
    const char *modes[] = {DEFAULT, "C1", "C2", "P"};
    int found = 0;
    for (int i = 0; i < 4; i++)
        found += runloop_contains_source(loop, source, modes[i]);
    return found;
}

static void count_scheduled(runloop_source *source, runloop *in, const char *mode, void *info) {
    (void)source, (void)in, (void)info;
    EXPECT(strcmp(mode, COMMON) != 0);
    scheduled++;
}

static void count_cancelled(runloop_source *source, runloop *in, const char *mode, void *info) {
    (void)source, (void)in, (void)info;
    EXPECT(strcmp(mode, COMMON) != 0);
    cancels++;
}

static void count_scheduled_and_remove(runloop_source *source, runloop *in, const char *mode, void *info) {
    count_scheduled(source, in, mode, info);
    runloop_remove_source(in, source, COMMON);
}

TEST("R18 R58 an addition to the pseudo-mode stops where a schedule callback undoes it") {
    begin_with_common_modes();
    s = new_source((runloop_source_config){.schedule = count_scheduled_and_remove, .cancel = count_cancelled});
    runloop_add_source(loop, s, COMMON);
    EXPECT_EQ(scheduled, 1);
    EXPECT_EQ(cancels, 1);
    EXPECT_EQ(memberships(s), 0);
    EXPECT(!runloop_contains_source(loop, s, COMMON));
}

static void count_scheduled_and_invalidate(runloop_source *source, runloop *in, const char *mode, void *info) {
    count_scheduled(source, in, mode, info);
    runloop_source_invalidate(source);
}

TEST("R18 R67 an addition to the pseudo-mode stops where a schedule callback invalidates the source") {
    begin_with_common_modes();
    s = new_source((runloop_source_config){.schedule = count_scheduled_and_invalidate, .cancel = count_cancelled});
    runloop_add_source(loop, s, COMMON);
    EXPECT_EQ(scheduled, 1);
    EXPECT_EQ(cancels, 1);
    EXPECT_EQ(memberships(s), 0);
    EXPECT(!runloop_contains_source(loop, s, COMMON));
}

static void count_cancelled_and_add(runloop_source *source, runloop *in, const char *mode, void *info) {
    count_cancelled(source, in, mode, info);
    if (cancels == 1)
        runloop_add_source(in, source, COMMON);
}

TEST("R19 R59 a removal from the pseudo-mode stops where a cancel callback adds the source again") {
    begin_with_common_modes();
    s = new_source((runloop_source_config){.schedule = count_scheduled, .cancel = count_cancelled_and_add});
    runloop_add_source(loop, s, COMMON);
    EXPECT_EQ(scheduled, 3);
    runloop_remove_source(loop, s, COMMON);
    EXPECT_EQ(cancels, 1);
    EXPECT_EQ(scheduled, 4);
    EXPECT_EQ(memberships(s), 3);
    EXPECT(runloop_contains_source(loop, s, COMMON));
}

//===-- several threads -------------------------------------------------------------------------------------------===//

static _Atomic bool in_perform, may_leave;

static void stay_inside(void) {
    in_perform = true;
    WAIT_UNTIL(may_leave);
}

static void remove_during_perform(void) {
    WAIT_UNTIL(in_perform);
    EXPECT_EQ(runloop_remove_source(loop, s, "P"), 0);
    runloop_source_signal(s);
    trace("removed");
    may_leave = true;
}

TEST("R62 R119 a source removed and signalled during its callback keeps the mark for its next mode") {
    begin();
    s = add_source("s", stay_inside, "P");
    runloop_source_signal(s);
    start_helper(remove_during_perform);
    run("P", 0, true);
    join_helper();
    run("P", 0, true);
    runloop_add_source(loop, s, "Q");
    run("Q", 0, true);
    EXPECT_TRACE("s removed -> HandledSource -> Finished s -> HandledSource");
}

enum { ROUNDS = 2000 };
static _Atomic int threads_at_work;

static void *add_and_remove(void *kind) {
    const char *mode = kind;
    for (int i = 0; i < ROUNDS; i++) {
        EXPECT(runloop_add_source(loop, s, mode) == 0);
        runloop_source_signal(s);
        runloop_wake_up(loop);
        EXPECT(runloop_remove_source(loop, s, mode) == 0);
    }
    if (--threads_at_work == 0)
        runloop_stop_latched(loop);
    return NULL;
}

TEST("R58 R59 R116 while many threads change a source, every schedule is followed by at most one cancel") {
    begin_with_common_modes();
    add_source("quiet", NULL, DEFAULT);
    s = new_source((runloop_source_config){.schedule = count_scheduled, .cancel = count_cancelled});
    const char *modes[] = {COMMON, COMMON, "C1", DEFAULT, "P"};
    enum { COUNT = sizeof modes / sizeof *modes };
    pthread_t threads[COUNT];
    threads_at_work = COUNT;
    for (int i = 0; i < COUNT; i++)
        REQUIRE(pthread_create(&threads[i], NULL, add_and_remove, (void *)modes[i]) == 0);
    EXPECT_EQ(runloop_run_in_mode(DEFAULT, RUNLOOP_FOREVER, false), RUNLOOP_RESULT_STOPPED);
    for (int i = 0; i < COUNT; i++)
        pthread_join(threads[i], NULL);
    EXPECT_EQ(scheduled - cancels, memberships(s));
    runloop_source_invalidate(s);
    EXPECT_EQ(scheduled, cancels);
    EXPECT(scheduled > 0);
}

static void invalidate_in_rounds(void) {
    for (int i = 0; i < ROUNDS; i++) {
        runloop_source *source =
            new_source((runloop_source_config){.schedule = count_scheduled, .cancel = count_cancelled});
        runloop_add_source(loop, source, COMMON);
        runloop_source_signal(source);
        runloop_wake_up(loop);
        runloop_source_invalidate(source);
        runloop_source_release(source);
    }
    runloop_stop_latched(loop);
}

TEST("R67 R116 sources that another thread invalidates while they are signalled do no harm") {
    begin_with_common_modes();
    add_source("quiet", NULL, DEFAULT);
    start_helper(invalidate_in_rounds);
    EXPECT_EQ(runloop_run_in_mode(DEFAULT, RUNLOOP_FOREVER, false), RUNLOOP_RESULT_STOPPED);
    join_helper();
    EXPECT_EQ(scheduled, 3 * ROUNDS);
    EXPECT_EQ(cancels, 3 * ROUNDS);
}

static _Atomic int performed;

static void count_performed(void) {
    performed++;
}

/// Signals and wakes many times, and then until a signal of its own has certainly been performed: an earlier one may count, so the mark
/// has to be gone, too.
static void *signal_often(void *unused) {
    for (int i = 0; i < 5 * ROUNDS; i++) {
        runloop_source_signal(s);
        if (i % 4 == 0)
            runloop_wake_up(loop);
    }
    int before = performed;
    runloop_source_signal(s);
    runloop_wake_up(loop);
    WAIT_UNTIL(performed > before && !runloop_source_is_signalled(s));
    if (--threads_at_work == 0)
        runloop_stop_latched(loop);
    return unused;
}

TEST("R49 R62 R116 none of the signals that several threads make at once is lost") {
    begin();
    s = add_source("", count_performed, "P");
    enum { COUNT = 4 };
    pthread_t threads[COUNT];
    threads_at_work = COUNT;
    for (int i = 0; i < COUNT; i++)
        REQUIRE(pthread_create(&threads[i], NULL, signal_often, NULL) == 0);
    EXPECT_EQ(runloop_run_in_mode("P", RUNLOOP_FOREVER, false), RUNLOOP_RESULT_STOPPED);
    for (int i = 0; i < COUNT; i++)
        pthread_join(threads[i], NULL);
    EXPECT(!runloop_source_is_signalled(s));
}

static void *perform_in_other(void *unused) {
    runloop *mine = runloop_current();
    EXPECT_EQ(runloop_add_source(mine, s, "P"), 0);
    EXPECT_EQ(runloop_run_in_mode("P", 0, true), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(runloop_remove_source(mine, s, "P"), 0);
    return unused;
}

TEST("R58 R62 a source in two loops performs once per signal, in the first loop that runs") {
    begin();
    s = add_source("s", NULL, "P");
    runloop_source_signal(s);
    on_new_thread(perform_in_other, NULL);
    run("P", 0, true);
    EXPECT_TRACE("s -> TimedOut");
    EXPECT(runloop_contains_source(loop, s, "P"));
}
