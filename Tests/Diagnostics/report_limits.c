// report_limits.c — reports at their limits: when a loop spins, how deep its call-outs are, what is paused.
#include "../Core/items.h"
#include "runloop_diagnostics.h"

static char *report(void) {
    char *text = runloop_copy_report(runloop_current(), RUNLOOP_REPORT_TEXT);
    REQUIRE(text);
    return text;
}

static bool says(const char *part) {
    char *text = report();
    bool does = strstr(text, part);
    free(text);
    return does;
}

enum { SPINNING = 1000 };

static void look_in_spin(runloop_source *source, runloop_readiness events, void *turns) {
    (void)source, (void)events;
    ++*(int *)turns;
    if (*(int *)turns == SPINNING - 1)
        EXPECT(says(": busy in mode test, for ") && !says("spinning"));
    if (*(int *)turns < SPINNING)
        return;
    EXPECT(says(": spinning in mode test, 1000 iterations without a sleep"));
    runloop_stop(runloop_current());
}

TEST("a loop spins from its thousandth iteration without a sleep on") {
    int turns = 0;
    EXPECT_EQ(runloop_statistics_start(), 0);
    add_descriptor(MODE, make_eventfd(1), RUNLOOP_READABLE, look_in_spin, &turns);
    EXPECT_EQ(run_for(MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_STOPPED);
}

enum { DEEPEST = 16 };

static void go_deeper(void *depth) {
    int level = ++*(int *)depth;
    char mode[24], last[64];
    if (level == DEEPEST) {
        snprintf(last, sizeof last, "in mode level %d, for ", DEEPEST - 1);
        char *text = report();
        int lines = 0;
        for (const char *place = text; (place = strstr(place, "in mode level ")); place++)
            lines++;
        // One line of the state, one of each call-out but the outermost, which is in MODE.
        EXPECT_EQ(lines, DEEPEST);
        EXPECT(strstr(text, last));
        free(text);
        return;
    }
    snprintf(mode, sizeof mode, "level %d", level);
    keep_mode(mode);
    runloop_post(runloop_current(), mode, go_deeper, depth, NULL);
    poll_mode(mode);
}

TEST("a report has sixteen call-outs, one in the other, each in its mode") {
    int depth = 0;
    keep_mode(MODE);
    EXPECT_EQ(runloop_statistics_start(), 0);
    runloop_post(runloop_current(), MODE, go_deeper, &depth, NULL);
    poll_mode(MODE);
    EXPECT_EQ(depth, DEEPEST);
}

TEST("a descriptor that is paused is not asked, and keeps nobody waiting, though its other end is gone") {
    int ends[2];
    char line[64];
    make_pipe(ends);
    runloop_source *source = add_descriptor(MODE, ends[0], RUNLOOP_READABLE, trace_ready, "d");
    runloop_source_set_events(source, 0);
    close(ends[1]);
    snprintf(line, sizeof line, "descriptor %d, paused\n", ends[0]);
    EXPECT(says(line));
    runloop_source_set_events(source, RUNLOOP_READABLE);
    snprintf(line, sizeof line, "descriptor %d, hung up  <- waits", ends[0]);
    EXPECT(says(line));
}
