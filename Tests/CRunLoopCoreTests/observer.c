// observer.c — observers: creation, order, the notification of an activity, once or repeatedly, invalidation.
#include "trace_helpers.h"

static runloop_observer *o, *o1, *o2;

static void begin_in_p(void) {
    begin();
    add_source("quiet", NULL, "P");
}

//===-- notification ----------------------------------------------------------------------------------------------===//

TEST("R93 observers are notified by order and, among equals, in the order of their addition, at every activity") {
    begin_in_p();
    struct {
        const char *name;
        int32_t order;
    } all[] = {{"z", INT32_MAX}, {"b", 0}, {"a", -5}, {"c", 0}, {"y", 7}, {"first", INT32_MIN}, {"d", 0}};
    runloop_activity activities = RUNLOOP_ACTIVITY_BEFORE_TIMERS | RUNLOOP_ACTIVITY_EXIT;
    for (int i = 0; i < 7; i++)
        add_observer(all[i].name, activities, all[i].order, true, NULL, "P");
    run("P", 0, false);
    EXPECT_TRACE("first a b c d y z first a b c d y z -> TimedOut");
}

TEST("R93 an observer that is removed and added again is notified after its equals") {
    begin_in_p();
    o = add_observer("a", RUNLOOP_ACTIVITY_ENTRY, 0, true, NULL, "P");
    add_observer("b", RUNLOOP_ACTIVITY_ENTRY, 0, true, NULL, "P");
    runloop_remove_observer(loop, o, "P");
    runloop_add_observer(loop, o, "P");
    run("P", 0, false);
    EXPECT_TRACE("b a -> TimedOut");
}

TEST("R93 an observer is notified only of the activities it asked for") {
    begin_in_p();
    runloop_activity each[] = {RUNLOOP_ACTIVITY_ENTRY,          RUNLOOP_ACTIVITY_BEFORE_TIMERS,
                               RUNLOOP_ACTIVITY_BEFORE_SOURCES, RUNLOOP_ACTIVITY_BEFORE_WAITING,
                               RUNLOOP_ACTIVITY_AFTER_WAITING,  RUNLOOP_ACTIVITY_EXIT};
    const char *expected[] = {"E -> TimedOut", "T -> TimedOut", "S -> TimedOut",
                              "W -> TimedOut", "A -> TimedOut", "X -> TimedOut"};
    for (int i = 0; i < 6; i++) {
        o = add_observer(NULL, each[i], 0, true, NULL, "P");
        run("P", MS, false);
        EXPECT_TRACE(expected[i]);
        runloop_observer_invalidate(o);
    }
    add_observer("never", 0, 0, true, NULL, "P");
    run("P", MS, false);
    EXPECT_TRACE("-> TimedOut");
}

static void remove_o2(void) {
    runloop_remove_observer(loop, o2, "P");
}

static void invalidate_o2(void) {
    runloop_observer_invalidate(o2);
}

TEST("R94 an observer that an earlier one removes is still notified of that activity, but of no later one") {
    begin_in_p();
    add_observer("o1", RUNLOOP_ACTIVITY_ENTRY, 0, true, remove_o2, "P");
    o2 = add_observer("o2", RUNLOOP_ACTIVITY_ENTRY | RUNLOOP_ACTIVITY_BEFORE_TIMERS, 0, true, NULL, "P");
    run("P", 0, false);
    EXPECT_TRACE("o1 o2 -> TimedOut");
}

TEST("R94 an observer that an earlier one invalidates is not notified") {
    begin_in_p();
    add_observer("o1", RUNLOOP_ACTIVITY_ENTRY, 0, true, invalidate_o2, "P");
    o2 = add_observer("o2", RUNLOOP_ACTIVITY_ENTRY | RUNLOOP_ACTIVITY_BEFORE_TIMERS, 0, true, NULL, "P");
    run("P", 0, false);
    EXPECT_TRACE("o1 -> TimedOut");
}

static void add_o2(void) {
    EXPECT_EQ(runloop_add_observer(loop, o2, "P"), 0);
}

TEST("R94 an observer added during a notification is notified from the next activity on") {
    begin_in_p();
    o2 = traced_observer("o2", RUNLOOP_ACTIVITY_ENTRY | RUNLOOP_ACTIVITY_BEFORE_TIMERS, 5, true, NULL);
    add_observer("o1", RUNLOOP_ACTIVITY_ENTRY, 0, false, add_o2, "P");
    run("P", 0, false);
    EXPECT_TRACE("o1 o2 -> TimedOut");
    run("P", 0, false);
    EXPECT_TRACE("o2 o2 -> TimedOut");
}

//===-- once, and nested ------------------------------------------------------------------------------------------===//

static void expect_o_valid(void) {
    EXPECT(runloop_observer_is_valid(o));
}

TEST("R95 an observer that does not repeat is notified once in all, and is invalid after that callback") {
    begin_in_p();
    o = add_observer("o", RUNLOOP_ACTIVITY_BEFORE_SOURCES | RUNLOOP_ACTIVITY_EXIT, 0, false, expect_o_valid, "P");
    runloop_add_observer(loop, o, "Q");
    EXPECT(!runloop_observer_repeats(o));
    run("P", 0, false);
    EXPECT(!runloop_observer_is_valid(o));
    EXPECT(!runloop_contains_observer(loop, o, "P"));
    EXPECT(!runloop_contains_observer(loop, o, "Q"));
    run("P", 0, false);
    EXPECT_TRACE("o -> TimedOut -> TimedOut");
}

static void poll_q(void) {
    run("Q", 0, false);
}

TEST("R95 an observer that does not repeat is notified once although its callback runs a mode it is in") {
    begin_in_p();
    add_source("quiet", NULL, "Q");
    o = add_observer("o", RUNLOOP_ACTIVITY_ALL, 0, false, poll_q, "P");
    runloop_add_observer(loop, o, "Q");
    run("P", 0, false);
    EXPECT_TRACE("o -> TimedOut -> TimedOut");
}

TEST("R96 an observer is not notified of the runs nested in its callback, but others are") {
    begin_in_p();
    watch("Q");
    add_source("quiet", NULL, "Q");
    o = add_observer("o", RUNLOOP_ACTIVITY_BEFORE_TIMERS | RUNLOOP_ACTIVITY_EXIT, 0, true, poll_q, "P");
    runloop_add_observer(loop, o, "Q");
    run("P", 0, false);
    EXPECT_TRACE("o E T S X -> TimedOut o E T S X -> TimedOut -> TimedOut");
    run("Q", 0, false);
    EXPECT_TRACE("E T o E T S X -> TimedOut S X o E T S X -> TimedOut -> TimedOut");
}

//===-- one loop at a time ----------------------------------------------------------------------------------------===//

TEST("R97 an observer can be in several modes of one loop, and in another loop only after it was removed from all of "
     "them") {
    begin();
    start_other_loop();
    o = traced_observer("o", RUNLOOP_ACTIVITY_ENTRY, 0, true, NULL);
    EXPECT_EQ(runloop_add_observer(loop, o, "P"), 0);
    EXPECT_EQ(runloop_add_observer(loop, o, "Q"), 0);
    EXPECT_EQ(runloop_add_observer(other_loop, o, "P"), -EBUSY);
    EXPECT(!runloop_contains_observer(other_loop, o, "P"));
    EXPECT_EQ(runloop_remove_observer(other_loop, o, "P"), 0);
    EXPECT(runloop_contains_observer(loop, o, "P"));
    EXPECT_EQ(runloop_remove_observer(loop, o, "P"), 0);
    EXPECT_EQ(runloop_add_observer(other_loop, o, "P"), -EBUSY);
    EXPECT_EQ(runloop_remove_observer(loop, o, "Q"), 0);
    EXPECT_EQ(runloop_add_observer(other_loop, o, "P"), 0);
    EXPECT(runloop_contains_observer(other_loop, o, "P"));
    EXPECT_EQ(runloop_add_observer(loop, o, "P"), -EBUSY);
    end_other_loop();
    EXPECT(runloop_observer_is_valid(o));
    EXPECT_EQ(runloop_add_observer(loop, o, "P"), 0); // Its loop has ended, the observer is still valid.
}

TEST("R97 adding an observer twice has the effect of once, and adding an invalid one is refused") {
    begin_in_p();
    o = add_observer("o", RUNLOOP_ACTIVITY_ENTRY, 0, true, NULL, "P");
    EXPECT_EQ(runloop_add_observer(loop, o, "P"), 0);
    run("P", 0, false);
    EXPECT_TRACE("o -> TimedOut");
    runloop_observer_invalidate(o);
    EXPECT_EQ(runloop_add_observer(loop, o, "P"), -EINVAL);
    EXPECT_EQ(runloop_add_observer(loop, o, COMMON), -EINVAL);
    EXPECT(!runloop_contains_observer(loop, o, "P"));
    run("P", 0, false);
    EXPECT_TRACE("-> TimedOut");
}

TEST("R97 observers with the same info are different observers") {
    begin_in_p();
    runloop_observer_config config = {.context.info = new_actor("o", NULL),
                                      .activities = RUNLOOP_ACTIVITY_ENTRY,
                                      .repeats = true,
                                      .observe = observer_acts};
    REQUIRE(runloop_observer_create(&config, &o1) == 0);
    REQUIRE(runloop_observer_create(&config, &o2) == 0);
    EXPECT_EQ(runloop_add_observer(loop, o1, "P"), 0);
    EXPECT(!runloop_contains_observer(loop, o2, "P"));
    EXPECT_EQ(runloop_add_observer(loop, o2, "P"), 0);
    run("P", 0, false);
    EXPECT_TRACE("o o -> TimedOut");
}

//===-- context and invalidation ----------------------------------------------------------------------------------===//

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

static void observe_kept(runloop_observer *observer, runloop_activity activity, void *info) {
    EXPECT(observer == o);
    EXPECT(info == &kept);
    trace(activity_letter(activity));
}

static runloop_observer *kept_observer(bool repeats, void (*observe)(runloop_observer *, runloop_activity, void *)) {
    runloop_observer_config config = {.context = {.info = &original, .retain = retain_kept, .release = release_kept},
                                      .activities = RUNLOOP_ACTIVITY_ENTRY,
                                      .repeats = repeats,
                                      .observe = observe};
    runloop_observer *observer = NULL;
    REQUIRE(runloop_observer_create(&config, &observer) == 0);
    new_actor("", NULL)->object = observer;
    return observer;
}

TEST("R98 the info is retained once, at creation, and released once, at invalidation") {
    begin_in_p();
    o = kept_observer(true, observe_kept);
    EXPECT(runloop_observer_get_info(o) == &kept);
    runloop_add_observer(loop, o, "P");
    run("P", 0, false);
    EXPECT_TRACE("retain E -> TimedOut");
    runloop_observer_invalidate(o);
    EXPECT_TRACE("release");
    runloop_observer_invalidate(o);
    runloop_observer_release(o);
    EXPECT_TRACE("");
}

TEST("R98 the info of an observer that is freed without invalidation is released then") {
    begin();
    o = kept_observer(true, observe_kept);
    runloop_add_observer(loop, o, "P");
    EXPECT(runloop_observer_retain(o) == o);
    runloop_observer_release(o);
    runloop_observer_release(o);
    EXPECT_TRACE("retain");
    runloop_remove_observer(loop, o, "P");
    EXPECT_TRACE("release");
}

static runloop_observer *dropped[3];

static void add_observers(void *unused) {
    (void)unused;
    trace("release");
    for (int i = 0; i < 16; i++)
        runloop_observer_release(add_observer("", RUNLOOP_ACTIVITY_EXIT, 0, true, NULL, "P"));
}

static void remove_dropped(void) {
    for (int i = 0; i < 3; i++)
        runloop_remove_observer(loop, dropped[i], "P");
}

TEST("R94 R98 what is removed during a notification is released, even if that adds observers") {
    begin_in_p();
    once("P", RUNLOOP_ACTIVITY_ENTRY, remove_dropped);
    for (int i = 0; i < 3; i++) {
        runloop_observer_config config = {.context = {.release = add_observers}, .activities = RUNLOOP_ACTIVITY_EXIT};
        REQUIRE(runloop_observer_create(&config, &dropped[i]) == 0);
        runloop_add_observer(loop, dropped[i], "P");
        runloop_observer_release(dropped[i]);
    }
    run("P", 0, false);
    EXPECT_TRACE("release release release -> TimedOut");
}

static void invalidate_in_callback(runloop_observer *observer, runloop_activity activity, void *info) {
    observe_kept(observer, activity, info);
    runloop_observer_invalidate(observer);
    EXPECT(!runloop_observer_is_valid(observer));
    trace("still here");
}

TEST("R98 an observer may invalidate itself in its callback; its info is released after that") {
    begin_in_p();
    o = kept_observer(true, invalidate_in_callback);
    runloop_add_observer(loop, o, "P");
    run("P", 0, false);
    EXPECT_TRACE("retain E still here release -> TimedOut");
}

TEST("R95 R98 an observer that does not repeat releases its info after its only callback") {
    begin_in_p();
    o = kept_observer(false, observe_kept);
    runloop_add_observer(loop, o, "P");
    run("P", 0, false);
    EXPECT_TRACE("retain E release -> TimedOut");
}

TEST("R98 an observer needs neither callback nor info") {
    begin_in_p();
    runloop_observer_config config = {.activities = RUNLOOP_ACTIVITY_ALL};
    REQUIRE(runloop_observer_create(&config, &o) == 0);
    EXPECT_EQ(runloop_add_observer(loop, o, "P"), 0);
    run("P", 0, false);
    EXPECT(!runloop_observer_is_valid(o)); // It counts as notified.
    EXPECT_TRACE("-> TimedOut");
}

//===-- runs ------------------------------------------------------------------------------------------------------===//

static void trace_mode(void) {
    trace(runloop_current_mode(loop));
}

TEST("R99 Entry and Exit are notified once per run, nested ones too, with the mode of that run") {
    begin();
    runloop_source *s = add_source("s", poll_q, "P");
    add_source("quiet", NULL, "Q");
    o = add_observer(NULL, RUNLOOP_ACTIVITY_ENTRY | RUNLOOP_ACTIVITY_EXIT, 0, true, trace_mode, "P");
    runloop_add_observer(loop, o, "Q");
    runloop_source_signal(s);
    run("P", 20 * MS, false); // Two iterations.
    EXPECT_TRACE("E P s E Q X Q -> TimedOut X P -> TimedOut");
}

TEST("R113 an invalid observer still reports what it was created with, except for its info") {
    begin();
    runloop_activity activities = RUNLOOP_ACTIVITY_ENTRY | RUNLOOP_ACTIVITY_EXIT;
    o = traced_observer("o", activities, -3, true, NULL);
    EXPECT(runloop_observer_get_info(o) != NULL);
    for (int i = 0; i < 2; i++) {
        EXPECT_EQ(runloop_observer_get_activities(o), activities);
        EXPECT_EQ(runloop_observer_get_order(o), -3);
        EXPECT(runloop_observer_repeats(o));
        runloop_observer_invalidate(o);
    }
    EXPECT(runloop_observer_get_info(o) == NULL);
    EXPECT_EQ(runloop_observer_get_activities(NULL), 0);
    EXPECT_EQ(runloop_observer_get_order(NULL), 0);
    EXPECT(!runloop_observer_repeats(NULL));
    EXPECT(runloop_observer_get_info(NULL) == NULL);
}
