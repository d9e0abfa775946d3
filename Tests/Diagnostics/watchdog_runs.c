// watchdog_runs.c — what the ends of runs and sleeps mean to a watchdog.
#include "../Core/items.h"
#include "runloop_diagnostics.h"

#include <sys/syscall.h>

static _Atomic int hangs, ends, spins, share;
static char name[64];

static void note(void *context, const runloop_diagnosis *diagnosis) {
    (void)context;
    if (diagnosis->kind == RUNLOOP_DIAGNOSIS_SPIN) {
        share = diagnosis->share_percent;
        snprintf(name, sizeof name, "%s", diagnosis->name);
    }
    hangs += diagnosis->kind == RUNLOOP_DIAGNOSIS_HANG;
    ends += diagnosis->kind == RUNLOOP_DIAGNOSIS_HANG_ENDED;
    spins += diagnosis->kind == RUNLOOP_DIAGNOSIS_SPIN;
}

static void watch(int64_t limit_ns, uint32_t spin_limit) {
    const runloop_watchdog_config config = {
        .limit_ns = limit_ns, .spin_limit = spin_limit, .handler.report = note, .omits_stack = true};
    REQUIRE(runloop_watchdog_start(&config) == 0);
}

static void do_nothing(void *info) {
    (void)info;
}

TEST("the shortest limit is ten milliseconds, for which there are four looks") {
    runloop_watchdog_config config = {.limit_ns = 10 * MS - 1, .handler.report = note, .omits_stack = true};
    EXPECT_EQ(runloop_watchdog_start(&config), -EINVAL);
    config.limit_ns = 10 * MS;
    EXPECT_EQ(runloop_watchdog_start(&config), 0);
    runloop_watchdog_stop();
}

TEST("a thread that does something else after its run does not hang") {
    watch(400 * MS, 0);
    keep_mode(MODE);
    for (int i = 0; i < 2; i++) {
        poll_mode(MODE);
        // Longer than the limit, with some looks of the watchdog.
        usleep(900000);
    }
    EXPECT_EQ(hangs, 0);
}

static void hang_after_nested_run(void *info) {
    (void)info;
    poll_mode(OTHER_MODE);
    WAIT_UNTIL(hangs == 1);
}

TEST("a call-out that hangs after a run that is nested in it is reported") {
    watch(20 * MS, 0);
    keep_mode(MODE);
    keep_mode(OTHER_MODE);
    runloop_post(runloop_current(), MODE, hang_after_nested_run, NULL, NULL);
    poll_mode(MODE);
    EXPECT_EQ(hangs, 1);
    runloop_post(runloop_current(), MODE, do_nothing, NULL, NULL);
    poll_mode(MODE);
    WAIT_UNTIL(ends == 1);
}

enum { LIMIT = 1000 };

static _Atomic int turns;
static runloop_source *second;

static void spin_a_while(runloop_source *source, void *info) {
    (void)info;
    if (++turns < LIMIT * 3 / 4)
        runloop_source_signal(source);
}

static void spin_on(runloop_source *source, void *info) {
    (void)info;
    if (spins == 0)
        runloop_source_signal(source);
    else
        runloop_stop(runloop_current());
}

static pid_t looper;

/// In the first sleep of the loop after the other spin.
static void *begin_second(void *loop) {
    WAIT_UNTIL(turns == LIMIT * 3 / 4 && sleeps(loop, looper));
    runloop_source_signal(second);
    runloop_wake_up(loop);
    return NULL;
}

TEST("a spin's shares are those of its own calls, and not of others before the last sleep") {
    pthread_t thread;
    watch(0, LIMIT);
    runloop_source *first = add_source(MODE, spin_a_while, NULL);
    second = add_source(MODE, spin_on, NULL);
    runloop_source_set_name(first, "first", 0);
    runloop_source_set_name(second, "second", 0);
    runloop_source_signal(first);
    looper = (pid_t)syscall(SYS_gettid);
    REQUIRE(pthread_create(&thread, NULL, begin_second, runloop_current()) == 0);
    EXPECT_EQ(run_for(MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_STOPPED);
    pthread_join(thread, NULL);
    EXPECT_EQ(spins, 1);
    EXPECT_TEXT(name, "second");
    EXPECT(share >= 99);
}
