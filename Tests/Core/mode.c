// mode.c — modes: when they are created, common modes, and when a mode is empty. More of each is in Tests/Rules/modes.c.
#include "trace_helpers.h"

static runloop_source *s;
static runloop_timer *t;

static size_t mode_count(void) {
    return runloop_get_modes(loop, NULL, 0);
}

//===-- creation --------------------------------------------------------------------------------------------------===//

TEST("R14 queries, removals and runs create no mode") {
    begin();
    s = traced_source("s", 0, NULL);
    t = traced_timer("t", LONG, 0, NULL);
    runloop_observer *o = traced_observer(NULL, RUNLOOP_ACTIVITY_ALL, 0, true, NULL);
    EXPECT(!runloop_contains_source(loop, s, "P"));
    EXPECT(!runloop_contains_timer(loop, t, "P"));
    EXPECT(!runloop_contains_observer(loop, o, "P"));
    EXPECT_EQ(runloop_remove_source(loop, s, "P"), 0);
    EXPECT_EQ(runloop_remove_timer(loop, t, "P"), 0);
    EXPECT_EQ(runloop_remove_observer(loop, o, "P"), 0);
    EXPECT_EQ(runloop_next_fire_date(loop, "P"), RUNLOOP_NEVER);
    EXPECT(!runloop_mode_is_common(loop, "P"));
    EXPECT(runloop_mode_name("P") != NULL);
    EXPECT_EQ(runloop_run_in_mode("P", LONG, false), RUNLOOP_RESULT_FINISHED);
    EXPECT_EQ(mode_count(), 1);
    EXPECT(!mode_exists("P"));
}

TEST("R14 a refused addition creates no mode") {
    begin();
    s = traced_source("s", 0, NULL);
    runloop_source_invalidate(s);
    EXPECT_EQ(runloop_add_source(loop, s, "P"), -EINVAL);
    t = traced_timer("t", LONG, 0, NULL);
    runloop_timer_invalidate(t);
    EXPECT_EQ(runloop_add_timer(loop, t, "P"), -EINVAL);
    runloop_observer *o = traced_observer(NULL, RUNLOOP_ACTIVITY_ALL, 0, true, NULL);
    runloop_observer_invalidate(o);
    EXPECT_EQ(runloop_add_observer(loop, o, "P"), -EINVAL);
    start_other_loop();
    t = traced_timer("t", LONG, 0, NULL);
    EXPECT_EQ(runloop_add_timer(other_loop, t, "P"), 0);
    EXPECT_EQ(runloop_add_timer(loop, t, "P"), -EBUSY);
    EXPECT_EQ(runloop_add_source(loop, NULL, "P"), -EINVAL);
    EXPECT_EQ(runloop_perform(loop, "P", NULL, NULL, NULL), -EINVAL);
    EXPECT(!mode_exists("P"));
    end_other_loop();
}

TEST("R15 the list of modes returns how many there are, however few fit") {
    begin();
    watch("A");
    watch("B");
    const char *names[3] = {"untouched", "untouched", "untouched"};
    EXPECT_EQ(runloop_get_modes(loop, names, 1), 3);
    EXPECT(strcmp(names[0], "untouched") != 0);
    EXPECT_TEXT(names[1], "untouched");
    EXPECT_EQ(runloop_get_modes(loop, names, 3), 3);
    for (const char *const *expected = (const char *[]){"A", "B", DEFAULT, NULL}; *expected; expected++) {
        int found = 0;
        for (int i = 0; i < 3; i++)
            found += names[i] == runloop_mode_name(*expected);
        EXPECT_EQ(found, 1);
    }
    EXPECT_EQ(runloop_get_modes(loop, NULL, 0), 3);
    EXPECT_EQ(runloop_get_modes(NULL, names, 3), 0);
}

TEST("R15 mode names are compared by value, and equal names are interned as one pointer") {
    begin();
    char first[] = "P", second[] = "P";
    s = traced_source("s", 0, NULL);
    EXPECT_EQ(runloop_add_source(loop, s, first), 0);
    EXPECT(runloop_contains_source(loop, s, second));
    EXPECT(runloop_contains_source(loop, s, runloop_mode_name(second)));
    EXPECT(runloop_mode_name(first) == runloop_mode_name(second));
    EXPECT(runloop_mode_name("Q") != runloop_mode_name("P"));
    EXPECT_TEXT(runloop_mode_name(first), "P");
    first[0] = 'Q'; // The loop must have copied it.
    EXPECT(runloop_contains_source(loop, s, "P"));
    EXPECT(!runloop_contains_source(loop, s, "Q"));
    EXPECT_EQ(mode_count(), 2);
}

TEST("R15 each of a thousand modes is found by its text and by its interned name, and nothing else is") {
    enum { MODES = 1000 };
    begin();
    char name[32];
    for (int i = 0; i < MODES; i++) {
        snprintf(name, sizeof name, "mode %d", i);
        EXPECT_EQ(runloop_add_common_mode(loop, name), 0);
        EXPECT(runloop_mode_name(name) != name);
    }
    EXPECT_EQ(mode_count(), MODES + 1);
    for (int i = 0; i < 2 * MODES; i++) {
        snprintf(name, sizeof name, "mode %d", i);
        EXPECT_EQ(runloop_mode_is_common(loop, name), i < MODES);
        EXPECT_EQ(runloop_mode_is_common(loop, runloop_mode_name(name)), i < MODES);
        EXPECT_TEXT(runloop_mode_name(name), name);
    }
    EXPECT(runloop_mode_is_common(loop, DEFAULT) && runloop_mode_is_common(loop, runloop_mode_name(DEFAULT)));
    EXPECT(!runloop_mode_is_common(loop, RUNLOOP_COMMON_MODES));
    EXPECT_EQ(mode_count(), MODES + 1);
}

//===-- common modes ----------------------------------------------------------------------------------------------===//

TEST("R16 R21 declaring the pseudo-mode common is ignored, and nothing creates a mode of that name") {
    begin();
    EXPECT_EQ(runloop_add_common_mode(loop, COMMON), 0);
    EXPECT(!runloop_mode_is_common(loop, COMMON));
    add_source("s", NULL, COMMON);
    perform("f", NULL, COMMON);
    EXPECT_EQ(runloop_stop_mode(loop, COMMON), -EINVAL);
    EXPECT(!mode_exists(COMMON));
    EXPECT_EQ(mode_count(), 1);
}

TEST("R17 items of a mode declared common keep the order in which they were added") {
    begin();
    const char *names[] = {"o1", "o2", "o3", "o4"};
    for (int i = 0; i < 4; i++)
        add_observer(names[i], RUNLOOP_ACTIVITY_ENTRY, 0, true, NULL, COMMON);
    runloop_add_common_mode(loop, "C");
    add_source("s", NULL, "C");
    run("C", 0, false);
    EXPECT_TRACE("o1 o2 o3 o4 -> TimedOut");
}

TEST("R19 removal from the pseudo-mode does not affect an item that is not common") {
    begin();
    s = scheduled_source("s", NULL);
    t = add_timer("t", LONG, 0, NULL, DEFAULT);
    runloop_observer *o = watch(DEFAULT);
    runloop_add_source(loop, s, DEFAULT);
    trace_reset();
    EXPECT_EQ(runloop_remove_source(loop, s, COMMON), 0);
    EXPECT_EQ(runloop_remove_timer(loop, t, COMMON), 0);
    EXPECT_EQ(runloop_remove_observer(loop, o, COMMON), 0);
    EXPECT_TRACE("");
    EXPECT(runloop_contains_source(loop, s, DEFAULT));
    EXPECT(runloop_contains_timer(loop, t, DEFAULT));
    EXPECT(runloop_contains_observer(loop, o, DEFAULT));
}

TEST("R21 the pseudo-mode is recognised by value in every call") {
    begin();
    char text[sizeof COMMON];
    memcpy(text, COMMON, sizeof COMMON);
    s = traced_source("s", 0, NULL);
    EXPECT_EQ(runloop_add_source(loop, s, text), 0);
    EXPECT(runloop_contains_source(loop, s, text));
    EXPECT(runloop_contains_source(loop, s, DEFAULT));
    EXPECT_EQ(runloop_remove_source(loop, s, text), 0);
    EXPECT(!runloop_contains_source(loop, s, DEFAULT));
    t = traced_timer("t", LONG, 0, NULL);
    EXPECT_EQ(runloop_add_timer(loop, t, text), 0);
    EXPECT(runloop_contains_timer(loop, t, DEFAULT));
    runloop_observer *o = traced_observer(NULL, RUNLOOP_ACTIVITY_ALL, 0, true, NULL);
    EXPECT_EQ(runloop_add_observer(loop, o, text), 0);
    EXPECT(runloop_contains_observer(loop, o, DEFAULT));
    perform("f", NULL, text);
    run(DEFAULT, 0, false);
    EXPECT_TRACE("E T S f X -> TimedOut");
    run(text, LONG, false);
    EXPECT_TRACE("-> Finished");
    EXPECT(!mode_exists(COMMON));
}

//===-- emptiness -------------------------------------------------------------------------------------------------===//

static void *ask_from_another_thread(void *unused) {
    (void)unused;
    EXPECT(!runloop_mode_is_empty(loop, "P"));
    EXPECT(runloop_mode_is_empty(loop, "Q"));
    return NULL;
}

TEST("R23 whether a run would finish at once can be queried; from other threads, for sources and timers alone") {
    begin();
    watch("Q");
    EXPECT(runloop_mode_is_empty(loop, "P"));
    s = add_source("s", NULL, "P");
    EXPECT(!runloop_mode_is_empty(loop, "P"));
    perform("q", NULL, "Q");
    EXPECT(!runloop_mode_is_empty(loop, "Q"));
    on_new_thread(ask_from_another_thread, NULL);
    runloop_source_invalidate(s);
    EXPECT(runloop_mode_is_empty(loop, "P"));
}

//===-- when it is checked ----------------------------------------------------------------------------------------===//

static void remove_s(void) {
    runloop_remove_source(loop, s, "P");
}

static void add_s(void) {
    EXPECT_EQ(runloop_add_source(loop, s, "P"), 0);
}

TEST("R25 a polling run whose mode is emptied before the wait times out") {
    begin();
    watch("P");
    s = add_source("s", NULL, "P");
    once("P", RUNLOOP_ACTIVITY_BEFORE_SOURCES, remove_s);
    run("P", 0, false);
    EXPECT_TRACE("E T S X -> TimedOut");
}

static void perform_add_s(void) {
    perform("b", add_s, "P");
}

TEST("R25 a last task that adds an item keeps the run going") {
    begin();
    watch("P");
    s = add_source("s", NULL, "P");
    once("P", RUNLOOP_ACTIVITY_BEFORE_WAITING, remove_s);
    once("P", RUNLOOP_ACTIVITY_AFTER_WAITING, perform_add_s);
    stop_at_wait("P", 2);
    run("P", LONG, false);
    EXPECT_TRACE("E T S W A b T S W A X -> Stopped");
}

static void remove_s_and_wake(void) {
    remove_s();
    wake_loop();
}

TEST("R25 a run whose mode a BeforeWaiting observer empties finishes after one AfterWaiting, woken or not, without "
     "waiting for its limit") {
    action actions[] = {remove_s, remove_s_and_wake};
    begin();
    watch("P");
    for (int i = 0; i < 2; i++) {
        s = add_source("s", NULL, "P");
        once("P", RUNLOOP_ACTIVITY_BEFORE_WAITING, actions[i]);
        run("P", LONG, false);
        EXPECT_TRACE("E T S W A X -> Finished");
    }
}
