// report.c — a loop explained, as text and as JSON.
#include "../CRunLoopCoreTests/items.h"
#include "runloop_diagnostics.h"

#include <sys/wait.h>

static char *text;

static bool reports(const char *part) {
    free(text);
    text = runloop_copy_report(runloop_current(), RUNLOOP_REPORT_TEXT);
    REQUIRE(text);
    if (!strstr(text, part))
        fprintf(stderr, "    the report is:\n%s", text);
    return strstr(text, part);
}

TEST("a report says what keeps a mode alive, by name") {
    runloop_source_set_name(keep_mode(MODE), "keeper", 0);
    runloop_timer_set_name(add_timer(MODE, RUNLOOP_NEVER, 0, trace_fire, "t"), "clock.c", 3);
    add_observer(MODE, RUNLOOP_ACTIVITY_EXIT, trace_activity, NULL);
    EXPECT(reports("mode test: alive because of 1 source and 1 timer; 1 observer\n"));
    EXPECT(reports("signalled source “keeper”\n"));
    EXPECT(reports("timer “clock.c:3”, due never\n"));
    free(text);
}

TEST("a report says of an empty mode that a run in it would end") {
    runloop_source_invalidate(keep_mode(MODE));
    EXPECT(reports("mode test: a run in it would end, unless there are tasks for it; 0 observers\n"));
    free(text);
}

TEST("a report says what keeps a loop from sleeping: a signal, a date, a descriptor") {
    runloop_source *source = add_source(MODE, trace_perform, "s");
    runloop_source_set_name(source, "bell", 0);
    runloop_timer_set_name(add_timer(MODE, runloop_now_ns() - SECOND, 10 * SECOND, trace_fire, "t"), "late", 0);
    int counter = make_eventfd(0);
    runloop_source *descriptor = add_descriptor(MODE, counter, RUNLOOP_READABLE, trace_ready, "d");
    runloop_source_set_name(descriptor, "net.c", 12);
    EXPECT(reports("source “bell”\n"));
    EXPECT(reports("every 10 s, overdue for 1."));
    char line[128];
    snprintf(line, sizeof line, "descriptor source “net.c:12”, descriptor %d\n", counter);
    EXPECT(reports(line));
    runloop_source_signal(source);
    bump(counter);
    EXPECT(reports("source “bell”, signalled  <- keeps the loop from sleeping\n"));
    snprintf(line, sizeof line, "descriptor %d, readable  <- keeps the loop from sleeping\n", counter);
    EXPECT(reports(line));
    EXPECT(reports("waits longest: the timer “late”, for 1."));
    runloop_source_set_events(descriptor, 0);
    snprintf(line, sizeof line, "descriptor %d, paused\n", counter);
    EXPECT(reports(line));
    free(text);
}

static void report_here(void *info) {
    (void)info;
    EXPECT(reports("mode test, the current one: alive"));
}

TEST("a report can be made in a call-out, and says in which mode the loop runs") {
    keep_mode(MODE);
    runloop_post(runloop_current(), MODE, report_here, NULL, NULL);
    poll_mode(MODE);
    EXPECT(reports("mode test: alive"));
    free(text);
}

TEST("a report has the statistics, if they were started") {
    keep_mode(MODE);
    EXPECT_EQ(runloop_statistics_start(), 0);
    poll_mode(MODE);
    EXPECT(reports("1 iterations, 0 sleeps, call-outs: 0 of observer"));
    free(text);
}

TEST("as JSON, a report is one line, and odd names do no harm") {
    runloop_source_set_name(keep_mode("m\"o\\de\n"), "a \"b\"", 0);
    EXPECT_EQ(runloop_statistics_start(), 0);
    char *report = runloop_copy_report(runloop_current(), RUNLOOP_REPORT_JSON);
    REQUIRE(report);
    EXPECT(!strchr(report, '\n'));
    EXPECT(strstr(report, "\"m\\\"o\\\\de\\u000a\"") && strstr(report, "\"name\":\"a \\\"b\\\"\""));
    EXPECT(report[0] == '{' && report[strlen(report) - 1] == '}');
    EXPECT(strstr(report, "\"callouts\":{\"observer\":0,"));
    free(report);
}

static void *report_all_the_time(void *loop) {
    for (int i = 0; i < 200; i++)
        free(runloop_copy_report(loop, i % 2 ? RUNLOOP_REPORT_TEXT : RUNLOOP_REPORT_JSON));
    __atomic_store_n(&text, (char *)loop, __ATOMIC_RELEASE);
    return NULL;
}

TEST("another thread makes reports while the loop runs and its items come and go") {
    keep_mode(MODE);
    EXPECT_EQ(runloop_statistics_start(), 0);
    pthread_t reporter;
    REQUIRE(pthread_create(&reporter, NULL, report_all_the_time, runloop_current()) == 0);
    while (!__atomic_load_n(&text, __ATOMIC_ACQUIRE)) {
        runloop_timer *timer = add_timer(MODE, RUNLOOP_NEVER, 0, trace_fire, "");
        add_timer(MODE, 0, 0, trace_fire, "");
        runloop_source *source = add_descriptor(MODE, make_eventfd(1), RUNLOOP_READABLE, trace_ready, "");
        poll_mode(MODE);
        runloop_timer_invalidate(timer);
        int descriptor = runloop_source_get_descriptor(source);
        runloop_source_invalidate(source);
        close(descriptor);
        trace_reset();
    }
    pthread_join(reporter, NULL);
}

TEST("there is no report about nothing, and none about a loop of the parent process") {
    EXPECT(!runloop_copy_report(NULL, RUNLOOP_REPORT_TEXT));
    keep_mode(MODE);
    runloop *loop = runloop_current();
    pid_t child = fork();
    if (child == 0)
        _exit(runloop_copy_report(loop, RUNLOOP_REPORT_TEXT) ? 1 : 0);
    int status;
    REQUIRE(waitpid(child, &status, 0) == child);
    EXPECT_EQ(status, 0);
}
