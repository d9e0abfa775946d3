// main_queue_modes.c — which modes the main dispatch queue keeps from being empty. Linked with libdispatch, found by nobody
// but the loop itself: its functions are declared here, as a C program without its headers would.
#include "trace_helpers.h"

struct dispatch_queue_s;
extern struct dispatch_queue_s _dispatch_main_q;
extern void dispatch_async_f(struct dispatch_queue_s *queue, void *context, void (*work)(void *));

static void enqueue(const char *name, action act) {
    dispatch_async_f(&_dispatch_main_q, new_actor(name, act), actor_acts);
}

TEST("R23 R24 the main queue keeps the main loop's common modes from being empty, and only them") {
    begin();
    watch(DEFAULT);
    run(DEFAULT, 20 * MS, false);
    EXPECT_TRACE("E T S W A X -> TimedOut");
    EXPECT_EQ(runloop_add_common_mode(loop, "C"), 0);
    run("C", 20 * MS, false);
    EXPECT_TRACE("-> TimedOut");
    watch("P");
    run("P", LONG, false);
    EXPECT_TRACE("-> Finished");
}

static void run_default_inside(void) {
    run(DEFAULT, LONG, false);
}

TEST("R24 inside work of the main queue the default mode can be empty") {
    begin();
    enqueue("block", run_default_inside);
    run(DEFAULT, LONG, true);
    EXPECT_TRACE("block -> Finished -> HandledSource");
}

static void *run_default_elsewhere(void *unused) {
    begin();
    run(DEFAULT, LONG, false);
    return unused;
}

TEST("R23 the main queue is no item of another thread's loop") {
    on_new_thread(run_default_elsewhere, NULL);
    EXPECT_TRACE("-> Finished");
}
