// clock_reads.c — how often a loop reads the clock for those who follow it. Linked so that all of its reads come by here.
#include "../CRunLoopCoreTests/items.h"
#include "runloop_diagnostics.h"

static _Atomic long reads;
static pthread_t reader;

extern int __real_clock_gettime(clockid_t clock, struct timespec *time);

int __wrap_clock_gettime(clockid_t clock, struct timespec *time);

/// The watchdog's thread has its own times.
int __wrap_clock_gettime(clockid_t clock, struct timespec *time) {
    reads += pthread_equal(pthread_self(), reader) != 0;
    return __real_clock_gettime(clock, time);
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
