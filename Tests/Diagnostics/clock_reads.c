// clock_reads.c — how often a loop reads the clock for those who follow it, and when a report does. Linked so that all reads come by here.
#include "../Core/items.h"
#include "runloop_diagnostics.h"

#include <stdatomic.h>

static _Atomic long reads;
static _Atomic pthread_t reader;
/// Called once, after the reader has read the time.
static void (*_Atomic after_read)(void);

extern int __real_clock_gettime(clockid_t clock, struct timespec *time);

int __wrap_clock_gettime(clockid_t clock, struct timespec *time);

/// The watchdog's thread has its own times.
int __wrap_clock_gettime(clockid_t clock, struct timespec *time) {
    bool is_reader = pthread_equal(pthread_self(), reader);
    int result = __real_clock_gettime(clock, time);
    reads += is_reader;
    void (*call)(void) = is_reader ? atomic_exchange(&after_read, NULL) : NULL;
    if (call)
        call();
    return result;
}

static void do_nothing(void *info) {
    (void)info;
}

static void add_task(void) {
    runloop_post(runloop_current(), MODE, do_nothing, NULL, NULL);
}

static void add_due_timer(void) {
    add_timer(MODE, 1, 0, trace_fire, "");
}

static void add_signalled(void) {
    runloop_source_signal(add_source(MODE, trace_perform, ""));
}

static long reads_of(void (*add)(void), int callouts) {
    for (int i = 0; i < callouts; i++)
        add();
    long before = reads;
    poll_mode(MODE);
    trace_reset();
    return reads - before;
}

/// What ten more call-outs cost.
static long reads_of_ten(void (*add)(void)) {
    long of_ten = reads_of(add, 10);
    return reads_of(add, 20) - of_ten;
}

TEST("three who follow a loop read the clock once at each point: twice for a call-out, whatever it is of") {
    void (*const adds[])(void) = {add_task, add_due_timer, add_signalled};
    enum { KINDS = sizeof adds / sizeof *adds };
    long unfollowed[KINDS];
    reader = pthread_self();
    keep_mode(MODE);
    for (int kind = 0; kind < KINDS; kind++)
        unfollowed[kind] = reads_of_ten(adds[kind]);
    EXPECT_EQ(runloop_statistics_start(), 0);
    EXPECT_EQ(runloop_recorder_start(0), 0);
    runloop_watchdog_config config = {.limit_ns = 100 * SECOND, .spin_limit = 1000000};
    EXPECT_EQ(runloop_watchdog_start(&config), 0);
    for (int kind = 0; kind < KINDS; kind++)
        EXPECT_EQ(reads_of_ten(adds[kind]) - unfollowed[kind], 20);
    runloop_watchdog_stop();
}

static runloop *reported;
static _Atomic bool is_in_task, is_over;

static void stay_in_task(void *unused) {
    (void)unused;
    is_in_task = true;
    WAIT_UNTIL(is_over);
    runloop_stop(runloop_current());
}

static void let_task_begin(void) {
    runloop_post(reported, MODE, stay_in_task, NULL, NULL);
    WAIT_UNTIL(is_in_task);
}

static void *report(void *unused) {
    reader = pthread_self();
    after_read = let_task_begin;
    char *text = runloop_copy_report(reported, RUNLOOP_REPORT_TEXT);
    EXPECT(text && is_in_task && !strstr(text, ", for -"));
    free(text);
    is_over = true;
    return unused;
}

TEST("a call-out that begins while a report is made has not lasted since before it began") {
    pthread_t thread;
    keep_mode(MODE);
    EXPECT_EQ(runloop_statistics_start(), 0);
    reported = runloop_current();
    REQUIRE(pthread_create(&thread, NULL, report, NULL) == 0);
    EXPECT_EQ(runloop_run_in_mode(MODE, RUNLOOP_FOREVER, false), RUNLOOP_RESULT_STOPPED);
    pthread_join(thread, NULL);
}
