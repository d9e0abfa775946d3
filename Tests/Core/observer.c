// observer.c — observers: in which loop they are, and when their infos are released.
// What they are notified of, in which order and how often is in Tests/Rules/observers.c.
#include "trace_helpers.h"

static runloop_observer *o, *o1, *o2;

static void begin_in_p(void) {
    begin();
    add_source("quiet", NULL, "P");
}

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

TEST("R98 the info is retained once, at creation, and released once, at invalidation") {
    begin_in_p();
    runloop_observer_config config = {.context = {.info = &original, .retain = retain_kept, .release = release_kept},
                                      .activities = RUNLOOP_ACTIVITY_ENTRY,
                                      .repeats = true,
                                      .observe = observe_kept};
    REQUIRE(runloop_observer_create(&config, &o) == 0);
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
