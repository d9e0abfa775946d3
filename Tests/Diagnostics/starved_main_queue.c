// starved_main_queue.c — work for the main dispatch queue that a run leaves waiting is reported by the watchdog. Linked with libdispatch.
#include "../Core/items.h"
#include "../Core/main_queue.h"
#include "runloop_diagnostics.h"

static _Atomic int hangs, starvations, releases;
static runloop_diagnosis last;
static char sentence[512], mode[64];
static _Atomic bool has_stack, is_computed;

static void keep(void *context, const runloop_diagnosis *diagnosis) {
    (void)context;
    if (diagnosis->kind != RUNLOOP_DIAGNOSIS_STARVATION) {
        hangs++;
        return;
    }
    last = *diagnosis;
    snprintf(sentence, sizeof sentence, "%s", diagnosis->sentence);
    snprintf(mode, sizeof mode, "%s", diagnosis->mode);
    has_stack = diagnosis->stack;
    starvations++;
    runloop_stop(diagnosis->loop);
}

static void count_release(void *context) {
    (void)context;
    releases++;
}

static void watch_main(int64_t limit_ns) {
    // The core's own line is no subject here.
    runloop_set_diagnostics_enabled(false);
    runloop_watchdog_config config = {.limit_ns = limit_ns, .handler = {.report = keep, .release = count_release}};
    REQUIRE(runloop_watchdog_start(&config) == 0);
}

static void do_nothing(void *info) {
    (void)info;
}

static void nest(void *info) {
    (void)info;
    keep_mode(MODE);
    enqueue(do_nothing, NULL);
    // Until the report stops it.
    EXPECT_EQ(runloop_run_in_mode(MODE, RUNLOOP_FOREVER, false), RUNLOOP_RESULT_STOPPED);
}

TEST("a run inside the main queue's work that leaves other such work waiting is reported once, with its stack") {
    // Where the kernel doesn't say whether a thread waits, none is sent the usual signal.
    need_proc();
    watch_main(100 * MS);
    enqueue(nest, NULL);
    EXPECT_EQ(run_for(RUNLOOP_DEFAULT_MODE, 150 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(starvations, 1);
    EXPECT_EQ(last.callout, RUNLOOP_CALLOUT_MAIN_QUEUE);
    EXPECT(last.loop == runloop_main() && last.duration_ns >= 100 * MS);
    EXPECT(strcmp(mode, MODE) == 0);
    EXPECT(strstr(sentence, "of the main thread has left work for the main dispatch queue waiting for "));
    EXPECT(strstr(sentence, "it is run from inside such work"));
    EXPECT(has_stack);
    runloop_watchdog_stop();
    WAIT_UNTIL(releases == 1);
}

static void nest_before_more(void *info) {
    (void)info;
    keep_mode(MODE);
    EXPECT_EQ(runloop_run_in_mode(MODE, RUNLOOP_FOREVER, false), RUNLOOP_RESULT_STOPPED);
}

TEST("so is one that may have left work behind itself, which was queued before it began") {
    watch_main(100 * MS);
    enqueue(nest_before_more, NULL);
    enqueue(do_nothing, NULL);
    EXPECT_EQ(run_for(RUNLOOP_DEFAULT_MODE, 150 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(starvations, 1);
    EXPECT(last.duration_ns >= 100 * MS);
    EXPECT(strstr(sentence,
                  "from inside work for the main dispatch queue: whatever was queued behind that goes on only when"));
    runloop_watchdog_stop();
    WAIT_UNTIL(releases == 1);
}

TEST("so is a run in a mode that is not common, and again when the queue has been served meanwhile") {
    watch_main(40 * MS);
    keep_mode(MODE);
    for (int time = 1; time <= 2; time++) {
        enqueue(do_nothing, NULL);
        EXPECT_EQ(runloop_run_in_mode(MODE, RUNLOOP_FOREVER, false), RUNLOOP_RESULT_STOPPED);
        EXPECT_EQ(starvations, time);
        EXPECT_EQ(last.callout, -1);
        EXPECT(strstr(sentence, "it is run in mode “" MODE "”, and only runs in common modes serve the queue."));
        // Reported once.
        EXPECT_EQ(run_for(MODE, 100 * MS), RUNLOOP_RESULT_TIMED_OUT);
        EXPECT_EQ(starvations, time);
        EXPECT_EQ(poll_mode(RUNLOOP_DEFAULT_MODE), RUNLOOP_RESULT_TIMED_OUT);
    }
    runloop_watchdog_stop();
    WAIT_UNTIL(releases == 1);
}

static void compute(void *info) {
    (void)info;
    enqueue(do_nothing, NULL);
    // It may have been a hang and its end before, on a machine that is busy.
    int before = hangs;
    WAIT_UNTIL(hangs > before);
    is_computed = true;
}

static void hang(void *info) {
    (void)info;
    int before = hangs;
    WAIT_UNTIL(hangs > before);
}

static void nest_and_hang(void *info) {
    (void)info;
    keep_mode(MODE);
    enqueue(do_nothing, NULL);
    EXPECT_EQ(runloop_run_in_mode(MODE, RUNLOOP_FOREVER, false), RUNLOOP_RESULT_STOPPED);
    EXPECT_EQ(runloop_post(runloop_current(), MODE, hang, NULL, NULL), 0);
    EXPECT_EQ(run_for(MODE, 200 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(starvations, 1);
    is_computed = true;
}

TEST("a hang meanwhile does not make it another starvation") {
    watch_main(40 * MS);
    is_computed = false;
    enqueue(nest_and_hang, NULL);
    RUN_UNTIL(RUNLOOP_DEFAULT_MODE, is_computed);
    runloop_watchdog_stop();
    WAIT_UNTIL(releases == 1);
}

TEST("work that waits for other work to return waits for a hang, and a queue without work for nothing") {
    watch_main(300 * MS);
    keep_mode(MODE);
    EXPECT_EQ(run_for(MODE, 500 * MS), RUNLOOP_RESULT_TIMED_OUT);
    enqueue(compute, NULL);
    RUN_UNTIL(RUNLOOP_DEFAULT_MODE, is_computed);
    EXPECT_EQ(run_for(RUNLOOP_DEFAULT_MODE, 500 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(starvations, 0);
    runloop_watchdog_stop();
    WAIT_UNTIL(releases == 1);
}
