// report.c — a loop explained, as text and as JSON.
#include "../Core/forks.h"
#include "runloop_diagnostics.h"

#include <sys/resource.h>
#include <sys/wait.h>

/// The last report.
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
    EXPECT(reports("mode test: a run in it goes on because of 1 source and 1 timer; 1 observer\n"));
    EXPECT(reports("signalled source “keeper”\n"));
    EXPECT(reports("timer “clock.c:3”, due never\n"));
}

TEST("a report says what waits for a run: a signal, a date, a descriptor") {
    runloop_source *source = add_source(MODE, trace_perform, "s");
    runloop_source_set_name(source, "bell", 0);
    runloop_timer_set_name(add_timer(MODE, runloop_now_ns() - SECOND, 10 * SECOND, trace_fire, "t"), "late", 0);
    int counter = make_eventfd(0);
    runloop_source *descriptor = add_descriptor(MODE, counter, RUNLOOP_READABLE, trace_ready, "d");
    runloop_source_set_name(descriptor, "net.c", 12);
    EXPECT(reports("source “bell”\n"));
    EXPECT(reports(": not running\n"));
    EXPECT(reports("every 10 s, overdue for 1."));
    char line[128];
    snprintf(line, sizeof line, "descriptor source “net.c:12”, descriptor %d\n", counter);
    EXPECT(reports(line));
    runloop_source_signal(source);
    bump(counter);
    EXPECT(reports("source “bell”, signalled  <- waits for a run in this mode\n"));
    snprintf(line, sizeof line, "descriptor %d, readable  <- waits for a run in this mode\n", counter);
    EXPECT(reports(line));
    EXPECT(reports("waits longest: the timer “late” in mode test, for 1."));
    runloop_source_set_events(descriptor, 0);
    snprintf(line, sizeof line, "descriptor %d, paused\n", counter);
    EXPECT(reports(line));
}

TEST("a timer whose date is as far in the past as can be is overdue, and waits longest") {
    runloop_timer_set_name(add_timer(MODE, runloop_now_ns() - SECOND, 0, trace_fire, ""), "late", 0);
    runloop_timer_set_name(add_timer(MODE, INT64_MIN, 0, trace_fire, ""), "first", 0);
    EXPECT(reports("timer “first”, overdue for 9223372036."));
    EXPECT(reports("waits longest: the timer “first” in mode test, for 9223372036."));
}

TEST("a timer without a name that waits longest is reported by its address") {
    char line[64];
    snprintf(line, sizeof line, "waits longest: the timer %p in mode test, for ",
             (void *)add_timer(MODE, runloop_now_ns() - SECOND, 0, trace_fire, ""));
    EXPECT(reports(line));
}

TEST("a report says what is readable in a mode with more items than the process may have descriptors") {
    struct rlimit limit;
    REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = 64;
    REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    for (int i = 0; i < 100; i++)
        add_timer(MODE, RUNLOOP_NEVER, 0, trace_fire, "t");
    add_descriptor(MODE, make_eventfd(1), RUNLOOP_READABLE, trace_ready, "d");
    EXPECT(reports(", readable  <- waits for a run in this mode\n"));
}

/// A call-out, in which the loop is reported on.
static void report_in_timer(runloop_timer *timer, void *source) {
    (void)timer;
    runloop_source_signal(source);
    bool is_followed = runloop_get_tracer().trace;
    EXPECT(reports(is_followed ? ": busy in mode test, for " : ": awake in mode test\n"));
    EXPECT(reports("mode test, the current one: a run in it goes on"));
    EXPECT(reports("mode other, in which nobody runs the loop: a run in it goes on because of 1 source and 1 timer"));
    EXPECT(reports("source “elsewhere”, signalled  <- waits for a run in this mode\n"));
    // Listed in both modes, it doesn't wait for a run in the other one.
    EXPECT(reports("timer “shared”, overdue for "));
    const char *shared = strstr(strstr(text, "mode other"), "timer “shared”");
    EXPECT(shared && strcspn(shared, "<") > strcspn(shared, "\n"));
    if (is_followed) {
        EXPECT(reports("  now in the timer “reporter” in mode test, for "));
        EXPECT(reports("timer “reporter”, every 1 s  <- is being called\n"));
        EXPECT(reports("source “bell”, signalled  <- waits for the call-out that runs now\n"));
        EXPECT(reports("waits longest: the timer “shared” in mode test, for "));
    } else {
        EXPECT(!strstr(text, "now in"));
        EXPECT(reports("source “bell”, signalled  <- waits to be called, or is being called\n"));
    }
    EXPECT(!strstr(text, "keeps the loop from sleeping"));
}

TEST("a report that is made in a call-out names it, and what waits for it; without a follower it does not know") {
    runloop_source *source = add_source(MODE, trace_perform, "s"), *other = keep_mode(OTHER_MODE);
    runloop_source_set_name(source, "bell", 0);
    runloop_source_set_name(other, "elsewhere", 0);
    runloop_source_signal(other);
    for (int turn = 0; turn < 2; turn++) {
        runloop_timer *timer = add_timer(MODE, 1, SECOND, report_in_timer, source);
        runloop_timer *shared = add_timer(MODE, 2, 0, trace_fire, "");
        runloop_timer_set_name(shared, "shared", 0);
        EXPECT_EQ(runloop_add_timer(runloop_current(), shared, OTHER_MODE), 0);
        runloop_timer_set_name(timer, "reporter", 0);
        poll_mode(MODE);
        runloop_timer_invalidate(timer);
        poll_mode(MODE);
        EXPECT_EQ(runloop_statistics_start(), 0);
    }
}

static void report_with_stack(void *info) {
    (void)info;
    text = runloop_copy_report(runloop_current(), RUNLOOP_REPORT_STACK);
    REQUIRE(text);
    const char *callout = strstr(text, "  now in a task without a name in mode test, for ");
    REQUIRE(callout);
#if defined(__GLIBC__)
    // A line or more of the stack, which are in this program.
    const char *stack = strchr(callout, '\n') + 1;
    EXPECT(strncmp(stack, "    ", 4) == 0 && strstr(stack, "report"));
#endif
}

TEST("a report has the stack of a loop in a call-out, if it is asked for") {
    EXPECT_EQ(runloop_statistics_start(), 0);
    keep_mode(MODE);
    runloop_post(runloop_current(), MODE, report_with_stack, NULL, NULL);
    poll_mode(MODE);
    EXPECT(reports("mode test: a run in it goes on"));
}

static void report_in_source(runloop_source *source, void *info) {
    (void)source, (void)info;
    EXPECT(reports(": busy in mode other"));
    EXPECT(reports("  now in the signalled source “inner” in mode other, for "));
    EXPECT(reports("  inside a task without a name in mode test, for "));
    EXPECT(reports("mode test, whose run waits for the one inside it: a run"));
    EXPECT(reports("timer “outer”, overdue for "));
    EXPECT(strstr(strstr(text, "timer “outer”"), "<- waits for the end of the run inside\n"));
}

static void run_inner(void *info) {
    (void)info;
    EXPECT(reports("  now in a task without a name in mode test, for "));
    poll_mode(OTHER_MODE);
}

TEST("a report in a nested run lists the call-outs around it, and the mode that waits for it") {
    EXPECT_EQ(runloop_statistics_start(), 0);
    keep_mode(MODE);
    runloop_source *inner = add_source(OTHER_MODE, report_in_source, NULL);
    runloop_source_set_name(inner, "inner", 0);
    runloop_source_signal(inner);
    runloop_post(runloop_current(), MODE, run_inner, NULL, NULL);
    runloop_timer_set_name(add_timer(MODE, 1, 0, trace_fire, ""), "outer", 0);
    poll_mode(MODE);
}

enum { SPINS = 1100 };

static runloop_source *bell;

static void report_in_spin(runloop_source *source, runloop_readiness events, void *info) {
    (void)source, (void)events;
    if (++*(int *)info < SPINS)
        return;
    runloop_source_signal(bell);
    EXPECT(reports(": spinning in mode test, 1100 iterations without a sleep, for "));
    EXPECT(reports(", readable  <- is being called\n"));
    EXPECT(reports("signalled source “bell”, signalled  <- keeps the loop from sleeping\n"));
    EXPECT(reports("1100 iterations with 0 sleeps, call-outs: 0 of observer"));
    runloop_stop(runloop_current());
}

TEST("a loop that has not slept for many iterations is spinning, and what is ready keeps it from sleeping") {
    int turns = 0;
    EXPECT_EQ(runloop_statistics_start(), 0);
    runloop_source_set_name(bell = add_source(MODE, trace_perform, "s"), "bell", 0);
    runloop_source *source = add_descriptor(MODE, make_eventfd(1), RUNLOOP_READABLE, report_in_spin, &turns);
    runloop_source_set_name(source, "never read", 0);
    run_for(MODE, RUNLOOP_FOREVER);
}

static runloop_timer *tolerant;
static _Atomic bool is_seen;

static void *report_on_sleeper(void *loop) {
    for (bool is_asleep = false; !is_asleep;) {
        WAIT_UNTIL(runloop_is_waiting(loop));
        // A loop that is about to sleep may still serve it, as one that is awake.
        if (runloop_timer_get_fire_date(tolerant) > runloop_now_ns())
            runloop_timer_set_fire_date(tolerant, runloop_now_ns());
        free(text);
        text = runloop_copy_report(loop, RUNLOOP_REPORT_TEXT);
        REQUIRE(text);
        is_asleep = strstr(text, ": asleep in mode test, for ") &&
                    strstr(text, "timer “tolerant”, every 3000 s, due for ") &&
                    strstr(text, "s, within its tolerance\n");
    }
    EXPECT(!strstr(text, "<-"));
    is_seen = true;
    runloop_stop(loop);
    return NULL;
}

TEST("a loop that sleeps is asleep, and a timer within its tolerance does not keep it from that") {
    EXPECT_EQ(runloop_statistics_start(), 0);
    tolerant = add_timer(MODE, RUNLOOP_NEVER, 3000 * SECOND, trace_fire, "");
    runloop_timer_set_tolerance(tolerant, 1000 * SECOND);
    runloop_timer_set_name(tolerant, "tolerant", 0);
    pthread_t reporter;
    REQUIRE(pthread_create(&reporter, NULL, report_on_sleeper, runloop_current()) == 0);
    EXPECT_EQ(run_for(MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_STOPPED);
    pthread_join(reporter, NULL);
    EXPECT(is_seen);
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

/// Of the letter that the text begins with; 0 if that is none. Not by a locale, whose files an emulator of another byte order can't read.
static size_t utf8_length(const char *text) {
    const unsigned char *byte = (const unsigned char *)text;
    size_t length = *byte < 0x80 ? 1 : *byte >> 5 == 6 ? 2 : *byte >> 4 == 14 ? 3 : *byte >> 3 == 30 ? 4 : 0;
    uint32_t letter = length < 2 ? *byte : *byte & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if (byte[i] >> 6 != 2)
            return 0;
        letter = letter << 6 | (byte[i] & 0x3fu);
    }
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    bool is_letter = letter >= least[length] && letter <= 0x10ffff && (letter < 0xd800 || letter > 0xdfff);
    return is_letter ? length : 0;
}

static bool is_utf8(char *json) {
    size_t place = 0;
    while (json && json[place] && utf8_length(json + place))
        place += utf8_length(json + place);
    bool is_whole = json && !json[place];
    if (!is_whole)
        fprintf(stderr, "    the JSON is:\n%s\n", json);
    free(json);
    return is_whole;
}

TEST("reports and traces as JSON are UTF-8, whatever names are and wherever they are cut") {
    runloop *loop = runloop_current();
    runloop_source *source = add_source(MODE, trace_perform, "");
    EXPECT_EQ(runloop_recorder_start(0), 0);
    char name[80] = "é";
    // One of them is cut inside the letter, wherever a form cuts.
    for (size_t length = 2; length < 70; length++) {
        memset(name + 2, 'a', length - 2);
        runloop_source_set_name(source, name, 0);
        runloop_source_signal(source);
        poll_mode(MODE);
        EXPECT(is_utf8(runloop_copy_report(loop, RUNLOOP_REPORT_JSON)));
    }
    static const char *const odd[] = {"\xff",
                                      "\x80",
                                      "\xc3",
                                      "\xc3(",
                                      "\xc0\xaf",
                                      "\xe0\x80\xaf",
                                      "\xe2\x82",
                                      "\xed\xa0\x80",
                                      "\xf0\x8f\xbf\xbf",
                                      "\xf4\x90\x80\x80",
                                      "\xf5\x80\x80\x80"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        EXPECT_EQ(utf8_length(odd[i]), 0);
        runloop_source_set_name(source, odd[i], 0);
        EXPECT(is_utf8(runloop_copy_report(loop, RUNLOOP_REPORT_JSON)));
    }
    runloop_source_set_name(source, "a\xffz “€” \U0001f552", 0);
    char *report = runloop_copy_report(loop, RUNLOOP_REPORT_JSON);
    EXPECT(report && strstr(report, "\"a\\ufffdz “€” \U0001f552\""));
    free(report);
    EXPECT(is_utf8(runloop_copy_trace(&loop, 1)));
}

static char *copy_tasks(runloop *loop) {
    return loop == runloop_current() ? strdup("task 1 awaits \"x\"\ntask 2 runs") : NULL;
}

static char *copy_long_task(runloop *loop) {
    (void)loop;
    char line[600];
    memset(line, 'x', sizeof line);
    memcpy(line + sizeof line - 4, "éz", 4);
    return strdup(line);
}

TEST("a report lists the tasks that whoever has them gives, a line each, until nobody does") {
    keep_mode(MODE);
    EXPECT(!reports("  tasks:\n"));
    runloop_report_set_tasks(copy_tasks);
    EXPECT(reports("\n  tasks:\n    task 1 awaits \"x\"\n    task 2 runs\n"));
    char *report = runloop_copy_report(runloop_current(), RUNLOOP_REPORT_JSON);
    REQUIRE(report);
    EXPECT(strstr(report, ",\"tasks\":[\"task 1 awaits \\\"x\\\"\",\"task 2 runs\"]"));
    free(report);
    runloop_report_set_tasks(copy_long_task);
    report = runloop_copy_report(runloop_current(), RUNLOOP_REPORT_JSON);
    REQUIRE(report);
    EXPECT(strstr(report, "xxéz\"]"));
    free(report);
    runloop_report_set_tasks(NULL);
    EXPECT(!reports("  tasks:\n"));
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

static runloop *inherited;

static void report_on_inherited(void) {
    EXPECT(!runloop_copy_report(inherited, RUNLOOP_REPORT_TEXT));
}

TEST("there is no report about nothing, and none about a loop of the parent process") {
    EXPECT(!runloop_copy_report(NULL, RUNLOOP_REPORT_TEXT));
    keep_mode(MODE);
    inherited = runloop_current();
    expect_in_child(fork, report_on_inherited);
}
