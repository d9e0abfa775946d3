// run_nested.c — nested runs: which limit counts.
#include "trace_helpers.h"

static runloop_source *s;
static int64_t inner_limit;

static void run_inner(void) {
    int64_t start = runloop_now_ns();
    run("inner", inner_limit, false);
    EXPECT(runloop_now_ns() - start >= inner_limit);
}

static void begin_nested(int64_t limit) {
    begin();
    watch("P");
    watch("inner");
    add_source("quiet", NULL, "inner");
    s = add_source("s", run_inner, "P");
    runloop_source_signal(s);
    inner_limit = limit;
}

TEST("R34 an outer limit that is reached while an inner run sleeps doesn't affect the inner run") {
    begin_nested(100 * MS);
    run("P", 10 * MS, false);
    EXPECT_TRACE("E T S s E T S W A X -> TimedOut X -> TimedOut");
}

TEST("R34 an outer limit still holds after an inner run with a shorter one") {
    begin_nested(10 * MS);
    int64_t start = runloop_now_ns();
    run("P", 500 * MS, false);
    EXPECT(runloop_now_ns() - start >= 500 * MS);
    EXPECT_TRACE("E T S s E T S W A X -> TimedOut T S W A X -> TimedOut");
}

TEST("R34 an inner limit ends the inner run when the outer run has none") {
    begin_nested(10 * MS);
    stop_at_wait("P", 1);
    run("P", RUNLOOP_FOREVER, false);
    EXPECT_TRACE("E T S s E T S W A X -> TimedOut T S W A X -> Stopped");
}

TEST("R34 a polling run inside a limited one doesn't change its limit") {
    begin_nested(0);
    int64_t start = runloop_now_ns();
    run("P", 300 * MS, false);
    EXPECT(runloop_now_ns() - start >= 300 * MS);
    EXPECT_TRACE("E T S s E T S X -> TimedOut T S W A X -> TimedOut");
}
