// main_queue.c — the main dispatch queue, served by the main thread's runs (R24, R106–R110). Linked with libdispatch.
#include "items.h"

#include <poll.h>

// The functions of libdispatch that the tests need; its headers require a compiler with blocks.
typedef struct dispatch_queue_s *dispatch_queue;
extern struct dispatch_queue_s _dispatch_main_q;
extern void dispatch_async_f(dispatch_queue queue, void *context, void (*work)(void *));
extern int _dispatch_get_main_queue_handle_4CF(void);
extern void dispatch_sync_f(dispatch_queue queue, void *context, void (*work)(void *));
#define MAIN_QUEUE (&_dispatch_main_q)

static int turns;

static void enqueue(void (*work)(void *), void *info) {
    dispatch_async_f(MAIN_QUEUE, info, work);
}

static void trace_default_activities(void) {
    trace_activities(RUNLOOP_DEFAULT_MODE);
}

TEST("R24 on the main thread the default mode is never empty") {
    int64_t start = runloop_now_ns();
    EXPECT_EQ(run_for(RUNLOOP_DEFAULT_MODE, 20 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT(runloop_now_ns() - start >= 20 * MS);
    EXPECT_EQ(poll_mode(RUNLOOP_DEFAULT_MODE), RUNLOOP_RESULT_TIMED_OUT);
}

TEST("R24 R106 a mode that isn't common is empty without items, until it is declared common") {
    EXPECT_EQ(run_for(MODE, 20 * SECOND), RUNLOOP_RESULT_FINISHED);
    EXPECT_EQ(runloop_add_common_mode(runloop_current(), MODE), 0);
    EXPECT_EQ(run_for(MODE, 20 * MS), RUNLOOP_RESULT_TIMED_OUT);
}

static void *run_default(void *unused) {
    (void)unused;
    EXPECT_EQ(run_for(RUNLOOP_DEFAULT_MODE, 20 * SECOND), RUNLOOP_RESULT_FINISHED);
    return NULL;
}

TEST("R24 on another thread the default mode is empty without items") {
    on_new_thread(run_default, NULL);
}

TEST("R106 the main thread serves the main queue in a common mode, as a handled source") {
    enqueue(trace_function, "work");
    EXPECT_EQ(handle_one(RUNLOOP_DEFAULT_MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("work");
    runloop_add_common_mode(runloop_current(), MODE);
    enqueue(trace_function, "more");
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("more");
}

TEST("R106 in a mode that isn't common the main queue waits") {
    keep_mode(MODE);
    enqueue(trace_function, "work");
    EXPECT_EQ(run_for(MODE, 20 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("");
    EXPECT_EQ(handle_one(RUNLOOP_DEFAULT_MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("work");
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

TEST("R107 all blocks that are queued run as one batch, in order") {
    trace_default_activities();
    enqueue(trace_function, "a");
    enqueue(trace_function, "b");
    enqueue(trace_function, "c");
    EXPECT_EQ(handle_one(RUNLOOP_DEFAULT_MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("Entry T S W A a b c Exit");
}

TEST("R151 R107 a pass serves what is ready and then all blocks that are queued, after one wait") {
    add_descriptor(RUNLOOP_DEFAULT_MODE, make_eventfd(1), RUNLOOP_READABLE, trace_ready, "ready");
    trace_default_activities();
    enqueue(trace_function, "a");
    enqueue(trace_function, "b");
    EXPECT_EQ(runloop_run_pass(RUNLOOP_DEFAULT_MODE, 60 * SECOND), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("Entry T S W A ready a b Exit");
}

static void enqueue_more(void *info) {
    trace(info);
    enqueue(trace_function, "later");
}

TEST("R107 a block that the batch adds runs in a later iteration") {
    trace_default_activities();
    enqueue(enqueue_more, "first");
    enqueue(trace_function, "second");
    EXPECT_EQ(handle_one(RUNLOOP_DEFAULT_MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("Entry T S W A first second Exit");
    EXPECT_EQ(handle_one(RUNLOOP_DEFAULT_MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("Entry T S W A later Exit");
}

static void stop_here(void *info) {
    trace(info);
    runloop_stop(runloop_current());
}

TEST("R107 a stop in the batch ends the run after the batch") {
    enqueue(stop_here, "stop");
    enqueue(trace_function, "after");
    EXPECT_EQ(run_for(RUNLOOP_DEFAULT_MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_STOPPED);
    EXPECT_TRACE("stop after");
}

static void perform_more(void *info) {
    trace(info);
    runloop_perform(runloop_current(), RUNLOOP_DEFAULT_MODE, trace_function, "performed", NULL);
}

TEST("R107 a task that the batch queues runs in the same iteration") {
    trace_default_activities();
    enqueue(perform_more, "batch");
    EXPECT_EQ(handle_one(RUNLOOP_DEFAULT_MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("Entry T S W A batch performed Exit");
}

static void enqueue_from_timer(runloop_timer *timer, void *info) {
    trace_fire(timer, info);
    enqueue(trace_function, "work");
}

TEST("R108 in the first iteration only the wait checks the main queue; later ones check it before the wait") {
    trace_default_activities();
    enqueue(trace_function, "work");
    EXPECT_EQ(handle_one(RUNLOOP_DEFAULT_MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("Entry T S W A work Exit");
    add_timer(RUNLOOP_DEFAULT_MODE, 0, 0, enqueue_from_timer, "timer");
    EXPECT_EQ(run_a_while(RUNLOOP_DEFAULT_MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("Entry T S W A timer T S work T S W A Exit");
}

TEST("R108 a polling run serves the main queue without notifying BeforeWaiting and AfterWaiting") {
    trace_default_activities();
    enqueue(trace_function, "work");
    EXPECT_EQ(poll_mode(RUNLOOP_DEFAULT_MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("Entry T S work Exit");
}

static void enqueue_for_ever(void *info) {
    trace(info);
    if (++turns < 20)
        enqueue(enqueue_for_ever, info);
}

static void stop_after_three(runloop_timer *timer, void *info) {
    trace_fire(timer, info);
    static int fired;
    if (++fired == 3)
        runloop_stop(runloop_current());
}

TEST("R108 a block that queues itself again does not starve timers and descriptors") {
    add_timer(RUNLOOP_DEFAULT_MODE, 0, 1, stop_after_three, "t");
    enqueue(enqueue_for_ever, "w");
    EXPECT_EQ(run_for(RUNLOOP_DEFAULT_MODE, 20 * SECOND), RUNLOOP_RESULT_STOPPED);
    EXPECT(turns >= 1 && turns <= 4);
    turns = 10;
    int descriptor = make_eventfd(1);
    trace_reset();
    add_descriptor(RUNLOOP_DEFAULT_MODE, descriptor, RUNLOOP_READABLE, trace_ready, "d");
    enqueue(enqueue_for_ever, "w");
    for (int i = 0; i < 12; i++)
        EXPECT_EQ(handle_one(RUNLOOP_DEFAULT_MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    int served = 0, worked = 0;
    for (const char *word = test_trace_text; *word; word++)
        served += *word == 'd', worked += *word == 'w';
    EXPECT(served >= 2 && worked >= 2);
}

static void run_nested(void *info) {
    trace(info);
    trace("(");
    EXPECT_EQ(run_for(RUNLOOP_DEFAULT_MODE, 20 * SECOND), RUNLOOP_RESULT_FINISHED);
    runloop_source *kept = keep_mode(RUNLOOP_DEFAULT_MODE);
    EXPECT_EQ(run_for(RUNLOOP_DEFAULT_MODE, 20 * MS), RUNLOOP_RESULT_TIMED_OUT);
    runloop_source_invalidate(kept);
    trace(")");
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

TEST("R109 R24 a run nested in a main-queue block neither serves the queue nor counts it as an item") {
    enqueue(run_nested, "outer");
    enqueue(trace_function, "next");
    EXPECT_EQ(handle_one(RUNLOOP_DEFAULT_MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("outer ( ) next");
}

static void run_and_handle(void *info) {
    trace(info);
    trace("(");
    EXPECT_EQ(handle_one(RUNLOOP_DEFAULT_MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    trace(")");
}

TEST("R109 a run nested in any other callback serves the queue") {
    enqueue(trace_function, "work");
    runloop_perform(runloop_current(), RUNLOOP_DEFAULT_MODE, run_and_handle, "function", NULL);
    EXPECT_EQ(poll_mode(RUNLOOP_DEFAULT_MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("function ( work )");
}

static void *queue_when_asleep(void *synchronously) {
    for (int i = 0; i < 3; i++) {
        WAIT_UNTIL(sleeps(runloop_main(), getpid()));
        (synchronously ? dispatch_sync_f : dispatch_async_f)(MAIN_QUEUE, i < 2 ? "work" : "end",
                                                             i < 2 ? trace_function : stop_here);
    }
    return NULL;
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
    for (const char *note = text; (note = strstr(note, "main dispatch queue or the main actor has ")); note++)
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

TEST("R110 a block queued by another thread wakes the sleeping main loop") {
    for (intptr_t synchronously = 0; synchronously < 2; synchronously++) {
        pthread_t thread;
        REQUIRE(runloop_current());
        REQUIRE(pthread_create(&thread, NULL, queue_when_asleep, (void *)synchronously) == 0);
        EXPECT_EQ(run_for(RUNLOOP_DEFAULT_MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_STOPPED);
        pthread_join(thread, NULL);
        EXPECT_TRACE("work work end");
    }
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
