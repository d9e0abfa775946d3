// main_queue.c — the main dispatch queue, served by the main thread's runs (R24, R106–R110). Linked with libdispatch. In which order that is
// done, and in which runs, Tests/Rules compares.
#include <poll.h>

#include "items.h"
#include "main_queue.h"

TEST("R24 R106 a mode that isn't common is empty without items, until it is declared common") {
    EXPECT_EQ(run_for(MODE, 20 * SECOND), RUNLOOP_RESULT_FINISHED);
    EXPECT_EQ(runloop_add_common_mode(runloop_current(), MODE), 0);
    EXPECT_EQ(run_for(MODE, 20 * MS), RUNLOOP_RESULT_TIMED_OUT);
}

static void *run_default_with_item(void *unused) {
    (void)unused;
    keep_mode(RUNLOOP_DEFAULT_MODE);
    EXPECT_EQ(run_for(RUNLOOP_DEFAULT_MODE, 20 * MS), RUNLOOP_RESULT_TIMED_OUT);
    return NULL;
}

TEST("R106 no other thread's loop serves the main queue") {
    enqueue(trace_function, "work");
    on_new_thread(run_default_with_item, NULL);
    EXPECT_TRACE("");
    EXPECT_EQ(handle_one(RUNLOOP_DEFAULT_MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("work");
}

static void declare_common(void *unused) {
    (void)unused;
    EXPECT_EQ(runloop_add_common_mode(runloop_current(), MODE), 0);
    enqueue(trace_function, "work");
}

TEST("R106 whether a run serves the main queue is decided at its start") {
    keep_mode(MODE);
    runloop_perform(runloop_current(), MODE, declare_common, NULL, NULL);
    EXPECT_EQ(run_for(MODE, 20 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("");
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("work");
}

TEST("R151 R107 a pass serves what is ready and then all blocks that are queued, after one wait") {
    add_descriptor(RUNLOOP_DEFAULT_MODE, make_eventfd(1), RUNLOOP_READABLE, trace_ready, "ready");
    trace_activities(RUNLOOP_DEFAULT_MODE);
    enqueue(trace_function, "a");
    enqueue(trace_function, "b");
    EXPECT_EQ(runloop_run_pass(RUNLOOP_DEFAULT_MODE, 60 * SECOND), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("Entry T S W A ready a b Exit");
}

TEST("R25 R106 there is work while blocks are queued, in common modes") {
    keep_mode(MODE);
    EXPECT(!runloop_has_work(RUNLOOP_DEFAULT_MODE));
    enqueue(trace_function, "work");
    EXPECT(runloop_has_work(RUNLOOP_DEFAULT_MODE));
    EXPECT(runloop_has_work(RUNLOOP_DEFAULT_MODE));
    EXPECT(!runloop_has_work(MODE));
    EXPECT_EQ(handle_one(RUNLOOP_DEFAULT_MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("work");
    EXPECT(!runloop_has_work(RUNLOOP_DEFAULT_MODE));
}

static void ask_whether_idle(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer, (void)activity, (void)info;
    trace(runloop_is_idle(runloop_current()) ? "idle" : "busy");
}

/// Fills the stack below with a non-zero pattern.
static __attribute__((noinline)) void litter_stack(void) {
    volatile char litter[4096];
    for (size_t i = 0; i < sizeof litter; i++)
        litter[i] = 1;
}

TEST("R148 R106 a run that has queued blocks to serve is not idle, from its Entry on") {
    runloop_observer *observer = add_observer(RUNLOOP_DEFAULT_MODE, RUNLOOP_ACTIVITY_ENTRY, ask_whether_idle, NULL);
    poll_mode(RUNLOOP_DEFAULT_MODE);
    trace_reset();
    enqueue(trace_function, "block");
    litter_stack();
    run_a_while(RUNLOOP_DEFAULT_MODE);
    EXPECT_TRACE("busy block");
    runloop_observer_invalidate(observer);
}

//===-- the diagnostic about work that a nested run leaves waiting ---------------------------------------------------===//

static int note_reader;

/// How often the diagnostic was written to standard error while `work` was served.
static int notes_during(void (*work)(void *)) {
    int ends[2], saved = dup(STDERR_FILENO);
    make_pipe(ends);
    note_reader = ends[0];
    REQUIRE(dup2(ends[1], STDERR_FILENO) >= 0);
    enqueue(work, NULL);
    EXPECT_EQ(handle_one(RUNLOOP_DEFAULT_MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    REQUIRE(dup2(saved, STDERR_FILENO) >= 0);
    static char text[65536];
    ssize_t length = read(ends[0], text, sizeof text - 1);
    int count = 0;
    text[length > 0 ? length : 0] = 0;
    for (const char *note = text; (note = strstr(note, "runloop: ")); note++)
        count++;
    return count;
}

static void no_work(void *unused) {
    (void)unused;
}

static void sleep_over_work(void *unused) {
    (void)unused;
    keep_mode(MODE);
    enqueue(no_work, NULL);
    EXPECT_EQ(run_for(MODE, 400 * MS), RUNLOOP_RESULT_TIMED_OUT);
}

static void sleep_over_nothing(void *unused) {
    (void)unused;
    keep_mode(MODE);
    EXPECT_EQ(run_for(MODE, 400 * MS), RUNLOOP_RESULT_TIMED_OUT);
}

static void poll_over_work(void *unused) {
    (void)unused;
    keep_mode(MODE);
    enqueue(no_work, NULL);
    struct pollfd note = {.fd = note_reader, .events = POLLIN};
    for (int64_t end = runloop_now_ns() + 30000 * MS; poll(&note, 1, 10) == 0 && runloop_now_ns() < end;)
        poll_mode(MODE);
}

/// What came before the run, and is not in the queue any more.
static void sleep_over_earlier_work(void *unused) {
    (void)unused;
    keep_mode(MODE);
    EXPECT_EQ(runloop_main_queue_batch(), 3);
    EXPECT_EQ(run_for(MODE, 400 * MS), RUNLOOP_RESULT_TIMED_OUT);
}

static void *enqueue_when_asleep(void *unused) {
    WAIT_UNTIL(runloop_is_waiting(runloop_main()));
    enqueue(no_work, NULL);
    return unused;
}

static void *stop_when_noted(void *unused) {
    struct pollfd note = {.fd = note_reader, .events = POLLIN};
    EXPECT_EQ(poll(&note, 1, 30000), 1);
    runloop_stop(runloop_main());
    return unused;
}

static void sleep_while_work_comes(void *unused) {
    (void)unused;
    pthread_t enqueuer, stopper;
    keep_mode(MODE);
    REQUIRE(pthread_create(&enqueuer, NULL, enqueue_when_asleep, NULL) == 0);
    REQUIRE(pthread_create(&stopper, NULL, stop_when_noted, NULL) == 0);
    trace_activities(MODE);
    EXPECT_EQ(run_for(MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_STOPPED);
    EXPECT_TRACE("Entry T S W A Exit");
    pthread_join(enqueuer, NULL);
    pthread_join(stopper, NULL);
}

static void run_inside_timer(runloop_timer *timer, void *info) {
    (void)timer, (void)info;
    sleep_over_work(NULL);
}

TEST("R109 work that waits for a nested run to end causes one diagnostic") {
    EXPECT_EQ(notes_during(sleep_over_work), 1);
    EXPECT_EQ(notes_during(sleep_over_work), 0);
}

TEST("R109 so does work that was queued before the run, behind the work that it is in") {
    EXPECT_EQ(runloop_main_queue_batch(), 0);
    enqueue(no_work, NULL);
    enqueue(sleep_over_earlier_work, NULL);
    EXPECT_EQ(notes_during(no_work), 1);
    EXPECT_EQ(runloop_main_queue_batch(), 0);
}

TEST("R109 the diagnostic is written while the run sleeps, and no observer is notified") {
    EXPECT_EQ(notes_during(sleep_while_work_comes), 1);
}

TEST("R109 the time until the diagnostic counts from the first of several short runs") {
    EXPECT_EQ(notes_during(poll_over_work), 1);
}

TEST("R109 there is no diagnostic without waiting work, nor for a run nested in any other call-out") {
    EXPECT_EQ(notes_during(sleep_over_nothing), 0);
    add_timer(RUNLOOP_DEFAULT_MODE, runloop_now_ns(), 0, run_inside_timer, NULL);
    EXPECT_EQ(notes_during(no_work), 0);
}

static void *enqueue_soon(void *unused) {
    enqueue(no_work, NULL);
    return unused;
}

/// As a dialog of another library's does, in whose loop nothing of ours is called.
static void run_loop_of_others(void *work_comes) {
    pthread_t enqueuer;
    if (work_comes)
        REQUIRE(pthread_create(&enqueuer, NULL, enqueue_soon, NULL) == 0);
    poll(NULL, 0, 1100);
    if (work_comes)
        pthread_join(enqueuer, NULL);
}

static void run_loop_over_work(void *unused) {
    (void)unused;
    run_loop_of_others("work comes");
}

TEST("R109 the diagnostic is written as well for somebody else's loop inside a block, when that has returned") {
    EXPECT_EQ(notes_during(run_loop_of_others), 0);
    EXPECT_EQ(notes_during(run_loop_over_work), 1);
    EXPECT_EQ(notes_during(run_loop_over_work), 0);
}

TEST("R109 diagnostics can be disabled by a call and by the environment") {
    EXPECT(runloop_diagnostics_are_enabled());
    runloop_set_diagnostics_enabled(false);
    EXPECT(!runloop_diagnostics_are_enabled());
    EXPECT_EQ(notes_during(sleep_over_work), 0);
    runloop_set_diagnostics_enabled(true);
    EXPECT_EQ(notes_during(sleep_over_work), 1);
}

TEST("R109 diagnostics are disabled where the environment says so") {
    setenv("RUNLOOP_DIAGNOSTICS", "0", 1);
    EXPECT(!runloop_diagnostics_are_enabled());
    EXPECT_EQ(notes_during(sleep_over_work), 0);
}

TEST("R106 a block queued before the loop was first asked for is not lost") {
    enqueue(trace_function, "early");
    REQUIRE(runloop_main());
    EXPECT_EQ(handle_one(RUNLOOP_DEFAULT_MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("early");
}

static int ready_in_second_iteration = -1;

static void make_ready_and_ask(runloop_timer *timer, void *info) {
    (void)timer;
    int *iterations = info;
    trace(runloop_is_idle(runloop_current()) ? "idle" : "busy");
    if (++*iterations < 2)
        return;
    REQUIRE(write(ready_in_second_iteration, &(uint64_t){1}, 8) == 8);
    trace(runloop_is_idle(runloop_current()) ? "idle" : "busy");
    runloop_stop(runloop_current());
}

TEST("R148 a descriptor that is ready since the main queue was polled keeps the loop from being idle") {
    int iterations = 0;
    ready_in_second_iteration = make_eventfd(0);
    add_descriptor(RUNLOOP_DEFAULT_MODE, ready_in_second_iteration, RUNLOOP_READABLE, trace_ready, "ready");
    add_timer(RUNLOOP_DEFAULT_MODE, runloop_now_ns(), 50 * MS, make_ready_and_ask, &iterations);
    EXPECT_EQ(run_for(RUNLOOP_DEFAULT_MODE, 20 * SECOND), RUNLOOP_RESULT_STOPPED);
    EXPECT_TRACE("idle idle busy");
}

static void *use_after_main(void *unused) {
    (void)unused;
    WAIT_UNTIL(runloop_perform(runloop_main(), MODE, trace_function, "late", NULL) == -ESHUTDOWN);
    WAIT_UNTIL(_dispatch_get_main_queue_handle_4CF() == -1); // libdispatch has noticed too.
    enqueue(trace_function, "work");
    WAIT_UNTIL(trace_contains("work"));
    EXPECT_EQ(run_for(RUNLOOP_DEFAULT_MODE, 20 * SECOND), RUNLOOP_RESULT_FINISHED);
    fflush(NULL);
    _exit(test_failures ? 1 : 0);
}

TEST("R13 R106 after the main thread has ended, libdispatch drains the queue and the loop leaves it alone") {
    pthread_t thread;
    poll_mode(RUNLOOP_DEFAULT_MODE);
    REQUIRE(pthread_create(&thread, NULL, use_after_main, NULL) == 0);
    pthread_exit(NULL);
}

static void trace_and_stop(void *word) {
    trace(word);
    EXPECT_EQ(runloop_stop(runloop_current()), 0);
}

static void drain_and_look_elsewhere(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)activity, (void)info;
    runloop_observer_invalidate(observer);
    EXPECT_EQ(handle_one(RUNLOOP_DEFAULT_MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    enqueue(trace_and_stop, "b");
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
}

TEST("R106 what the main queue gets after a nested run has drained it is served by the outer run, though a run of "
     "another "
     "mode was notified") {
    add_descriptor(MODE, make_eventfd(0), RUNLOOP_READABLE, trace_ready, "elsewhere");
    add_observer(RUNLOOP_DEFAULT_MODE, RUNLOOP_ACTIVITY_AFTER_WAITING, drain_and_look_elsewhere, NULL);
    enqueue(trace_function, "a");
    EXPECT_EQ(runloop_run_in_mode(RUNLOOP_DEFAULT_MODE, 20 * SECOND, false), RUNLOOP_RESULT_STOPPED);
    EXPECT_TRACE("a b");
}
