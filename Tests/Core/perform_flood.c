// perform_flood.c — tasks that come faster than they are performed leave timers and descriptors their turns (R102).
#include "items.h"

enum { TASKS_PER_DRAIN = 1024 };

static int performed;
static bool over;

static void count_task(void *info) {
    (void)info;
    performed++;
}

static void note_performed(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer, (void)activity;
    *(int *)info = performed;
}

TEST("R102 a drain performs 1,024 tasks, and the next ones the rest, in order and without a sleep in between") {
    runloop *loop = runloop_current();
    int by_waiting = 0;
    keep_mode(MODE);
    add_observer(MODE, RUNLOOP_ACTIVITY_BEFORE_WAITING, note_performed, &by_waiting);
    for (int i = 0; i < 5 * TASKS_PER_DRAIN + 10; i++)
        runloop_post(loop, MODE, count_task, NULL, NULL);
    poll_mode(MODE);
    EXPECT_EQ(performed, 2 * TASKS_PER_DRAIN); // at the start and at the end of the iteration
    EXPECT_EQ(run_for(MODE, 1), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(by_waiting, 3 * TASKS_PER_DRAIN);
    EXPECT_EQ(performed, 4 * TASKS_PER_DRAIN);
    EXPECT(!runloop_is_waiting(loop));
    EXPECT_EQ(run_for(MODE, 20 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(performed, 5 * TASKS_PER_DRAIN + 10);
}

static int expected_next;

static void expect_order(void *number) {
    EXPECT_EQ((intptr_t)number, expected_next);
    expected_next++;
}

TEST("R102 R105 what a drain leaves keeps its place, also for a nested run and for later tasks") {
    runloop *loop = runloop_current();
    keep_mode(MODE);
    for (intptr_t i = 0; i < 3000; i++)
        runloop_post(loop, i % 3 ? MODE : OTHER_MODE, i % 3 ? expect_order : count_task,
                     (void *)(intptr_t)(i - i / 3 - 1), NULL);
    poll_mode(MODE);
    runloop_post(loop, MODE, expect_order, (void *)(intptr_t)2000, NULL);
    poll_mode(MODE);
    EXPECT_EQ(expected_next, 2001);
    EXPECT_EQ(performed, 0);
    keep_mode(OTHER_MODE);
    poll_mode(OTHER_MODE);
    EXPECT_EQ(performed, 1000);
}

static void *flood(void *loop) {
    while (!__atomic_load_n(&over, __ATOMIC_RELAXED))
        runloop_post(loop, MODE, count_task, NULL, NULL);
    return NULL;
}

static int fired, read_;

static void count_fire(runloop_timer *timer, void *info) {
    (void)timer, (void)info;
    fired++;
}

static void count_ready(runloop_source *source, runloop_readiness events, void *descriptor) {
    (void)source, (void)events;
    read_++;
    bump((int)(intptr_t)descriptor); // ready again at once
}

TEST("R102 R76 timers and descriptors are served while four threads flood the loop with posts") {
    enum { THREADS = 4, AT_LEAST = 20 };
    runloop *loop = runloop_current();
    int descriptor = make_eventfd(1);
    runloop_source *source = make_counter(descriptor, count_ready, (void *)(intptr_t)descriptor);
    runloop_add_source(loop, source, MODE);
    add_timer(MODE, runloop_now_ns(), 1, count_fire, NULL); // always due
    // More than the threads can add is there already: the end of the queue is never reached.
    for (int i = 0; i < 2 * AT_LEAST * 3 * TASKS_PER_DRAIN; i++)
        runloop_post(loop, MODE, count_task, NULL, NULL);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, flood, loop) == 0);
    for (int i = 0; i < 2 * AT_LEAST; i++)
        poll_mode(MODE);
    __atomic_store_n(&over, true, __ATOMIC_RELAXED);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    EXPECT(performed >= 2 * AT_LEAST * TASKS_PER_DRAIN);
    EXPECT(fired >= AT_LEAST - 1);
    EXPECT(read_ >= AT_LEAST - 1);
    runloop_source_release(source);
}
