// describe.c — the readable description of a loop. Its format may change, its content may not.
#include <stdarg.h>

#include "trace_helpers.h"

static runloop_source *s;
static runloop_timer *t;
static runloop_observer *o;

static char *describe_actor(void *info) {
    char *text = NULL;
    return asprintf(&text, "an actor called %s", ((struct actor *)info)->name) < 0 ? NULL : text;
}

static runloop_context described(const char *name) {
    return (runloop_context){.info = new_actor(name, NULL), .describe = describe_actor};
}

/// Does the description of the loop contain this?
static bool tells(const char *text) {
    char *account = runloop_copy_description(loop);
    REQUIRE(account);
    bool found = strstr(account, text) != NULL;
    free(account);
    return found;
}

static void add_described_items(const char *mode) {
    s = new_source((runloop_source_config){.context = described("sam"), .order = 4711});
    runloop_timer_config timer = {.context = described("tim"), .order = 4712, .fire_ns = INT64_C(8123456789012345678)};
    runloop_observer_config observer = {.context = described("otto"), .order = 4713, .activities = 128};
    REQUIRE(runloop_timer_create(&timer, &t) == 0 && runloop_observer_create(&observer, &o) == 0);
    new_actor("", NULL)->object = t;
    new_actor("", NULL)->object = o;
    EXPECT_EQ(runloop_add_source(loop, s, mode), 0);
    EXPECT_EQ(runloop_add_timer(loop, t, mode), 0);
    EXPECT_EQ(runloop_add_observer(loop, o, mode), 0);
}

TEST("R61 the description of a loop lists its modes, and the descriptions and orders of their items") {
    begin();
    EXPECT(tells(DEFAULT));
    EXPECT(!tells("a mode of mine"));
    add_described_items("a mode of mine");
    const char *texts[] = {
        "a mode of mine", "an actor called sam", "an actor called tim", "an actor called otto", "4711", "4712", "4713"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        EXPECT(tells(texts[i]));
    runloop_remove_source(loop, s, "a mode of mine");
    EXPECT(!tells("an actor called sam"));
    EXPECT(tells("an actor called tim"));
}

TEST("R61 R62 the description of a loop says which sources are signalled") {
    begin();
    add_described_items("P");
    char *before = runloop_copy_description(loop);
    runloop_source_signal(s);
    char *after = runloop_copy_description(loop);
    REQUIRE(before && after);
    EXPECT(strstr(before, "signalled"));
    EXPECT(strstr(after, "signalled"));
    // The timer's remaining time may differ as well, so only the source's own line is compared.
    char *line_before = strstr(before, "order 4711"), *line_after = strstr(after, "order 4711");
    REQUIRE(line_before && line_after);
    *strchr(line_before, '\n') = *strchr(line_after, '\n') = 0;
    EXPECT(strcmp(line_before, line_after) != 0);
    free(before);
    free(after);
}

/// The seconds until its timer fires, according to the description of the loop.
static double told_seconds(void) {
    char *account = runloop_copy_description(loop);
    REQUIRE(account);
    double seconds = -1;
    const char *told = strstr(account, "fires in ");
    EXPECT(told && sscanf(told, "fires in %lf s", &seconds) == 1);
    free(account);
    return seconds;
}

TEST("R61 R90 the description of a loop says when its timers are due") {
    begin();
    t = add_timer("t", 5000 * SECOND, 0, NULL, "P");
    for (int i = 0; i < 2; i++) {
        double latest = (double)(runloop_timer_get_fire_date(t) - runloop_now_ns()) / 1e9 + 0.001;
        double told = told_seconds();
        double earliest = (double)(runloop_timer_get_fire_date(t) - runloop_now_ns()) / 1e9 - 0.001;
        EXPECT(told >= earliest && told <= latest);
        runloop_timer_set_fire_date(t, runloop_now_ns() + 77 * SECOND);
    }
    runloop_timer_set_fire_date(t, RUNLOOP_NEVER);
    EXPECT(tells("never"));
}

static _Atomic bool described_in_callback;

static void describe_in_callback(void) {
    described_in_callback = tells("firing") && tells("current mode P");
}

TEST("R61 R84 the description of a loop made in a timer's callback includes that timer and the run") {
    begin();
    add_timer("t", 0, 0, describe_in_callback, "P");
    run("P", 0, false);
    EXPECT(described_in_callback);
    EXPECT(!tells("firing"));
}

TEST("R61 the description of a loop lists the common items in each common mode") {
    begin();
    runloop_add_common_mode(loop, "C");
    add_described_items(COMMON);
    char *account = runloop_copy_description(loop);
    REQUIRE(account);
    const char *first = strstr(account, "an actor called sam");
    EXPECT(first && strstr(first + 1, "an actor called sam"));
    EXPECT(strstr(account, "common"));
    free(account);
}

static char *describe_with_the_loop(void *info) {
    runloop_source *source = info;
    runloop_add_source(loop, source, "Q");
    runloop_source_signal(source);
    return NULL; // No text.
}

TEST("R61 R118 a describe callback may use the loop, and may return no text") {
    begin();
    runloop_source *other = traced_source("other", 0, NULL);
    s = new_source((runloop_source_config){.context = {.info = other, .describe = describe_with_the_loop}});
    runloop_add_source(loop, s, "P");
    EXPECT(tells("P"));
    EXPECT(runloop_contains_source(loop, other, "Q"));
}

static runloop_timer *timers[2];
static bool is_freed[2];

static void note_freed(void *info) {
    *(bool *)info = true;
}

/// Ends the other timer, whichever comes first.
static char *describe_and_end_other(void *info) {
    bool is_first = info == &is_freed[0];
    EXPECT(!*(bool *)info);
    runloop_timer_invalidate(timers[is_first]);
    return NULL;
}

TEST("R88 R118 a timer that ends while the loop is described is described no more, as its context is gone") {
    begin();
    for (int i = 0; i < 2; i++) {
        runloop_timer_config config = {
            .fire_ns = RUNLOOP_NEVER - 1,
            .context = {.info = &is_freed[i], .release = note_freed, .describe = describe_and_end_other}};
        REQUIRE(runloop_timer_create(&config, &timers[i]) == 0);
        REQUIRE(runloop_add_timer(loop, timers[i], "P") == 0);
    }
    free(runloop_copy_description(loop));
    EXPECT(is_freed[0] != is_freed[1]);
    runloop_timer_release(timers[0]);
    runloop_timer_release(timers[1]);
}

static _Atomic bool over;

static void describe_until_over(void) {
    while (!over)
        EXPECT(tells(DEFAULT));
}

TEST("R61 R116 a loop can be described while it runs and its items are added and removed") {
    begin();
    start_helper(describe_until_over);
    int64_t deadline = runloop_now_ns() + 200 * MS;
    runloop_source_config config = {.context = described("brief")};
    while (runloop_now_ns() < deadline) {
        runloop_source *brief = NULL;
        REQUIRE(runloop_source_create(&config, &brief) == 0);
        runloop_add_source(loop, brief, COMMON);
        runloop_source_signal(brief);
        runloop_run_in_mode(DEFAULT, 0, false);
        runloop_source_invalidate(brief);
        runloop_source_release(brief);
    }
    over = true;
    join_helper();
    EXPECT(runloop_copy_description(NULL) == NULL);
}
