// tasks.c — the inbox: pushed by any thread, taken whole, closed at the end of the thread.

#include "scene.h"

enum { TASKS = 4 };

static runloop *loop;
static runloop_source *source;
static int to_come;
/// Of each task: what it was given, and what became of it.
static struct task {
    int number;
    bool is_written, is_accepted;
} tasks[TASKS];
static int performed[TASKS], discarded[TASKS], order[TASKS], count;

static void perform(void *info) {
    struct task *task = info;
    EXPECT(task->is_written);
    performed[task->number]++;
    order[count++] = task->number;
    if (count == to_come)
        runloop_stop(loop);
}

static void discard(void *info) {
    struct task *task = info;
    EXPECT(task->is_written);
    discarded[task->number]++;
}

static void post(runloop *to, int number) {
    struct task *task = &tasks[number];
    task->number = number;
    task->is_written = true;
    task->is_accepted = runloop_post(to, MODE, perform, task, discard) == 0;
}

/// Whatever was accepted was done once, and nothing else, although somebody still has the loop.
static void each_has_one_end(void) {
    for (int i = 0; i < TASKS; i++)
        EXPECT(performed[i] + discarded[i] == tasks[i].is_accepted);
}

/// A reference for each of two threads that post, and one for ever.
static void keep(void) {
    runloop_retain(loop);
    runloop_retain(loop);
}

static void run(int expected) {
    to_come = expected;
    source = source_with(NULL, NULL);
    loop = loop_with(source);
    keep();
    meet();
    EXPECT(run_and_part() == RUNLOOP_RESULT_STOPPED);
    runloop_source_release(source);
}

static void run_for_one(void) {
    run(1);
}
static void run_for_two(void) {
    run(2);
}
static void run_for_three(void) {
    run(3);
}

static void post_one(int number) {
    meet();
    post(loop, number);
    runloop_release(loop);
}

static void post_0(void) {
    post_one(0);
}
static void post_1(void) {
    post_one(1);
}
static void post_2_and_3(void) {
    meet();
    post(loop, 2);
    post(loop, 3);
    runloop_release(loop);
}

static void in_order(void) {
    each_has_one_end();
    int last = 0;
    for (int i = 0; i < count; i++) {
        EXPECT(order[i] < 2 || order[i] > last);
        if (order[i] >= 2)
            last = order[i];
    }
}

SCENE(post, "a task ends the sleep, and sees what was written before it was posted", .threads = {run_for_one, post_0},
      .at_rest = each_has_one_end);
SCENE(two_posts, "so do tasks of two threads", .threads = {run_for_two, post_0, post_1}, .at_rest = each_has_one_end);
SCENE(posts_in_order, "those of one thread are performed in their order",
      .threads = {run_for_three, post_2_and_3, post_1}, .at_rest = in_order);

//===-- the end of the thread ----------------------------------------------------------------------------------------===//

static void end_at_once(void) {
    loop = runloop_retain(runloop_current());
    keep();
    meet();
}

SCENE(post_and_end, "a task is accepted and discarded, or refused, when the loop's thread ends",
      .threads = {end_at_once, post_0, post_1}, .at_rest = each_has_one_end);
SCENE(posts_and_end, "also the second of one thread", .threads = {end_at_once, post_2_and_3},
      .at_rest = each_has_one_end);

static void run_once_and_end(void) {
    source = source_with(NULL, NULL);
    loop = loop_with(source);
    keep();
    to_come = TASKS;
    meet();
    runloop_run_in_mode(MODE, 0, false);
    runloop_source_release(source);
}
SCENE(post_and_poll, "or performed before", .threads = {run_once_and_end, post_0, post_1}, .at_rest = each_has_one_end);
