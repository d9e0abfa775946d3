// main_queue_foreign.c — the main dispatch queue is drained by another loop, and one of its blocks runs ours (R106, R109). Linked with
// libdispatch, which does not say that a drain is under way.
#include <poll.h>

#include "items.h"
#include "main_queue.h"
#include "runloop_overlay.h"

extern void _dispatch_main_queue_callback_4CF(void *unused);

static bool foundation_drains;

/// As Foundation's: its loop sets this slot of the thread's data while it drains the queue.
RUNLOOP_EXPORT void *_CFGetTSD(uint32_t slot) {
    return slot == 4 && foundation_drains ? &foundation_drains : NULL;
}

static void drain_as_foundation(void) {
    uint64_t count;
    REQUIRE(read(_dispatch_get_main_queue_handle_4CF(), &count, sizeof count) == (ssize_t)sizeof count);
    foundation_drains = true;
    _dispatch_main_queue_callback_4CF(NULL);
    foundation_drains = false;
}

static void run_without_items(void *info) {
    trace(info);
    EXPECT_EQ(run_for(RUNLOOP_DEFAULT_MODE, 20 * SECOND), RUNLOOP_RESULT_FINISHED);
    EXPECT_EQ(runloop_run(), RUNLOOP_RESULT_FINISHED);
    EXPECT(runloop_mode_is_empty(runloop_main(), RUNLOOP_DEFAULT_MODE));
}

TEST("R109 R24 inside a block that Foundation's loop drains, a run without items finishes") {
    REQUIRE(runloop_current());
    enqueue(run_without_items, "block");
    drain_as_foundation();
    EXPECT_TRACE("block");
    EXPECT(!runloop_mode_is_empty(runloop_main(), RUNLOOP_DEFAULT_MODE));
}

static void run_over_block(void *info) {
    trace(info);
    keep_mode(RUNLOOP_DEFAULT_MODE);
    enqueue(trace_function, "next");
    EXPECT(!runloop_has_work(RUNLOOP_DEFAULT_MODE));
    EXPECT_EQ(runloop_run_in_mode(RUNLOOP_DEFAULT_MODE, 20 * MS, true), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(runloop_main_queue_serve(), -EBUSY);
}

TEST("R109 R106 inside a block that Foundation's loop drains, a run leaves the other blocks to that") {
    REQUIRE(runloop_current());
    // Watched before, as in a program whose loops take turns.
    EXPECT_EQ(poll_mode(RUNLOOP_DEFAULT_MODE), RUNLOOP_RESULT_TIMED_OUT);
    enqueue(run_over_block, "block");
    drain_as_foundation();
    EXPECT_TRACE("block");
    EXPECT_EQ(handle_one(RUNLOOP_DEFAULT_MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("next");
}

static void sleep_over_block(void *reader) {
    int ends[2], saved = dup(STDERR_FILENO);
    make_pipe(ends);
    *(int *)reader = ends[0];
    REQUIRE(dup2(ends[1], STDERR_FILENO) >= 0);
    keep_mode(RUNLOOP_DEFAULT_MODE);
    enqueue(trace_function, "next");
    EXPECT_EQ(run_for(RUNLOOP_DEFAULT_MODE, 800 * MS), RUNLOOP_RESULT_TIMED_OUT);
    REQUIRE(dup2(saved, STDERR_FILENO) >= 0);
}

TEST("R109 work that waits for a run inside Foundation's drain to end causes the diagnostic") {
    int reader = -1;
    char text[1024] = "";
    enqueue(sleep_over_block, &reader);
    drain_as_foundation();
    EXPECT(read(reader, text, sizeof text - 1) > 0);
    EXPECT(strstr(text, "250 ms"));
}

static void be_guest(void *unused) {
    (void)unused;
    EXPECT_EQ(runloop_hosted_begin(RUNLOOP_DEFAULT_MODE), RUNLOOP_RESULT_FINISHED);
    EXPECT_EQ(runloop__hosted_begin_as_guest(), 0);
    EXPECT_EQ(runloop_hosted_iterate(RUNLOOP_FOREVER), 0);
}

TEST("R106 R24 a guest of who serves the queue is neither over for lack of items, nor woken by the queue's work") {
    REQUIRE(runloop_current());
    EXPECT_EQ(poll_mode(RUNLOOP_DEFAULT_MODE), RUNLOOP_RESULT_TIMED_OUT);
    enqueue(be_guest, NULL);
    drain_as_foundation();
    struct pollfd guest = {.fd = runloop_hosted_descriptor(), .events = POLLIN};
    enqueue(trace_function, "block");
    EXPECT_EQ(poll(&guest, 1, 0), 0);
    drain_as_foundation();
    EXPECT_TRACE("block");
    // A run of the program's serves the queue, and so watches it.
    enqueue(trace_function, "another");
    EXPECT_EQ(handle_one(RUNLOOP_DEFAULT_MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("another");
    EXPECT_EQ(runloop_hosted_iterate(RUNLOOP_FOREVER), 0);
    enqueue(trace_function, "third");
    EXPECT_EQ(poll(&guest, 1, 0), 0);
    EXPECT_EQ(runloop_hosted_end(), 0);
    EXPECT_EQ(handle_one(RUNLOOP_DEFAULT_MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("third");
}

TEST("R109 a run in work that the host serves without a loop finishes when there are no items") {
    REQUIRE(runloop_current());
    enqueue(run_without_items, "block");
    EXPECT_EQ(runloop_main_queue_serve(), 1);
    EXPECT_TRACE("block");
}
