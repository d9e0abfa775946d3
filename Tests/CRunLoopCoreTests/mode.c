// mode.c — modes: when they are created, common modes, and when a mode is empty.
#include "trace_helpers.h"

static runloop_source *s;
static runloop_timer *t;

static size_t mode_count(void) {
    return runloop_get_modes(loop, NULL, 0);
}

//===-- creation --------------------------------------------------------------------------------------------------===//

TEST("R14 the first source, timer, observer, task or stop of a mode creates it") {
    begin();
    EXPECT_EQ(mode_count(), 1);
    add_source("s", NULL, "sources");
    EXPECT(mode_exists("sources"));
    add_timer("t", LONG, 0, NULL, "timers");
    EXPECT(mode_exists("timers"));
    watch("observers");
    EXPECT(mode_exists("observers"));
    perform("f", NULL, "functions");
    EXPECT(mode_exists("functions"));
    EXPECT_EQ(runloop_stop_mode(loop, "stopped"), 0);
    EXPECT(mode_exists("stopped"));
    EXPECT_EQ(mode_count(), 6);
}

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

TEST("R15 a mode exists as long as its loop, emptied or not") {
    begin();
    s = add_source("s", NULL, "P");
    EXPECT_EQ(runloop_remove_source(loop, s, "P"), 0);
    EXPECT(mode_exists("P"));
    runloop_source_invalidate(s);
    EXPECT_EQ(runloop_run_in_mode("P", 0, false), RUNLOOP_RESULT_FINISHED);
    EXPECT(mode_exists("P"));
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

TEST("R16 a mode declared common exists from then on, and finishes at once while it is empty") {
    begin();
    EXPECT(runloop_mode_is_common(loop, DEFAULT));
    EXPECT(!runloop_mode_is_common(loop, "C"));
    EXPECT_EQ(runloop_add_common_mode(loop, "C"), 0);
    EXPECT(runloop_mode_is_common(loop, "C"));
    EXPECT(mode_exists("C"));
    run("C", LONG, false);
    add_source("s", NULL, "C");
    run("C", 0, false);
    EXPECT_TRACE("-> Finished -> TimedOut");
}

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

TEST("R17 the first declaration adds every common item to the mode, a second one adds nothing") {
    begin();
    s = scheduled_source("s", NULL);
    EXPECT_EQ(runloop_add_source(loop, s, COMMON), 0);
    t = add_timer("t", LONG, 0, NULL, COMMON);
    runloop_observer *o = watch(COMMON);
    EXPECT_TRACE("+s@" DEFAULT);
    EXPECT_EQ(runloop_add_common_mode(loop, "C"), 0);
    EXPECT_TRACE("+s@C");
    EXPECT(runloop_contains_source(loop, s, "C"));
    EXPECT(runloop_contains_timer(loop, t, "C"));
    EXPECT(runloop_contains_observer(loop, o, "C"));
    EXPECT_EQ(runloop_add_common_mode(loop, "C"), 0);
    EXPECT_TRACE("");
}

TEST("R17 a common item that is already in the mode is not added twice") {
    begin();
    s = scheduled_source("s", NULL);
    runloop_add_source(loop, s, "C");
    runloop_add_source(loop, s, COMMON);
    EXPECT_TRACE("+s@C +s@" DEFAULT);
    runloop_add_common_mode(loop, "C");
    EXPECT_TRACE("");
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

TEST("R18 a common item is in every mode that is common now or later, and in no other") {
    begin();
    runloop_add_common_mode(loop, "C");
    watch("P");
    s = scheduled_source("s", NULL);
    EXPECT_EQ(runloop_add_source(loop, s, COMMON), 0);
    EXPECT(trace_is("+s@" DEFAULT " +s@C") || trace_is("+s@C +s@" DEFAULT)); // Concrete names only, each once.
    EXPECT(runloop_contains_source(loop, s, DEFAULT));
    EXPECT(runloop_contains_source(loop, s, "C"));
    EXPECT(!runloop_contains_source(loop, s, "P"));
    EXPECT(runloop_contains_source(loop, s, COMMON));
    trace_reset();
    runloop_add_common_mode(loop, "P");
    EXPECT_TRACE("+s@P");
    EXPECT_EQ(runloop_add_source(loop, s, COMMON), 0);
    EXPECT_TRACE("");
}

TEST("R18 an item of the common modes works in each of them") {
    begin();
    runloop_add_common_mode(loop, "C");
    s = add_source("s", NULL, COMMON);
    const char *modes[] = {DEFAULT, "C"};
    for (int i = 0; i < 2; i++) {
        runloop_source_signal(s);
        add_timer("t", 0, 0, NULL, COMMON);
        run(modes[i], 0, true);
        EXPECT_TRACE("s t -> HandledSource");
    }
}

TEST("R19 removal from the pseudo-mode removes an item from every common mode, even one it was added to by name") {
    begin();
    runloop_add_common_mode(loop, "C");
    s = scheduled_source("s", NULL);
    runloop_add_source(loop, s, "C");
    runloop_add_source(loop, s, "P");
    runloop_add_source(loop, s, COMMON);
    EXPECT_TRACE("+s@C +s@P +s@" DEFAULT);
    EXPECT_EQ(runloop_remove_source(loop, s, COMMON), 0);
    EXPECT(trace_is("-s@" DEFAULT " -s@C") || trace_is("-s@C -s@" DEFAULT));
    EXPECT(!runloop_contains_source(loop, s, "C"));
    EXPECT(!runloop_contains_source(loop, s, DEFAULT));
    EXPECT(!runloop_contains_source(loop, s, COMMON));
    EXPECT(runloop_contains_source(loop, s, "P"));
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

TEST("R20 an item removed from one common mode stays common, and is added to modes declared later") {
    begin();
    s = scheduled_source("s", NULL);
    runloop_observer *o = watch(COMMON);
    runloop_add_source(loop, s, COMMON);
    runloop_remove_source(loop, s, DEFAULT);
    runloop_remove_observer(loop, o, DEFAULT);
    EXPECT_TRACE("+s@" DEFAULT " -s@" DEFAULT);
    EXPECT(!runloop_contains_source(loop, s, DEFAULT));
    EXPECT(runloop_contains_source(loop, s, COMMON));
    EXPECT(runloop_contains_observer(loop, o, COMMON));
    runloop_add_common_mode(loop, "C");
    EXPECT_TRACE("+s@C");
    EXPECT(runloop_contains_source(loop, s, "C"));
}

TEST("R20 an item added by name to every common mode is not a common item") {
    begin();
    s = add_source("s", NULL, DEFAULT);
    t = add_timer("t", LONG, 0, NULL, DEFAULT);
    EXPECT(!runloop_contains_source(loop, s, COMMON));
    EXPECT(!runloop_contains_timer(loop, t, COMMON));
}

TEST("R20 a common timer that is in no mode of the loop is not contained in the pseudo-mode") {
    begin();
    t = add_timer("t", LONG, 0, NULL, COMMON);
    EXPECT(runloop_contains_timer(loop, t, COMMON));
    runloop_remove_timer(loop, t, DEFAULT);
    EXPECT(!runloop_contains_timer(loop, t, COMMON));
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

TEST("R22 a run in the pseudo-mode or without a mode finishes at once, with no observer notified") {
    begin();
    watch(COMMON);
    add_source("s", NULL, COMMON);
    run(COMMON, LONG, false);
    run(NULL, LONG, false);
    EXPECT_TRACE("-> Finished -> Finished");
}

TEST("R18 R20 a common item that is added to the pseudo-mode again returns to the modes it was removed from") {
    begin();
    runloop_add_common_mode(loop, "C");
    runloop_source *source = scheduled_source("s", NULL);
    runloop_timer *timer = traced_timer("t", LONG, 0, NULL);
    runloop_observer *observer = traced_observer("o", RUNLOOP_ACTIVITY_ALL, 0, true, NULL);
    for (int i = 0; i < 2; i++) {
        EXPECT_EQ(runloop_add_source(loop, source, COMMON), 0);
        EXPECT_EQ(runloop_add_timer(loop, timer, COMMON), 0);
        EXPECT_EQ(runloop_add_observer(loop, observer, COMMON), 0);
        EXPECT(runloop_contains_source(loop, source, "C"));
        EXPECT(runloop_contains_timer(loop, timer, "C"));
        EXPECT(runloop_contains_observer(loop, observer, "C"));
        runloop_remove_source(loop, source, "C");
        runloop_remove_timer(loop, timer, "C");
        runloop_remove_observer(loop, observer, "C");
    }
    EXPECT_TRACE("+s@" DEFAULT " +s@C -s@C +s@C -s@C");
}
