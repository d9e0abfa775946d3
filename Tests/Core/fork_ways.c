// fork_ways.c — a forked child notices that it is one, however it was forked and whatever other threads held by then (R123).
#include "forks.h"

#include "items/items.h"

static unsigned parents_generation;
static runloop *parents_loop;
static runloop_timer *parents_timer;

static void expect_a_loop_of_its_own(void) {
    EXPECT_EQ(runloop_wake_up(parents_loop), -ECHILD);
    EXPECT_EQ(runloop_post(parents_loop, MODE, trace_function, "late", NULL), -ECHILD);
    EXPECT_EQ(runloop_add_timer(parents_loop, parents_timer, MODE), -ECHILD);
    EXPECT(runloop_current() && runloop_current() != parents_loop);
    EXPECT(runloop_main() == runloop_current());
    EXPECT_EQ(runloop_fork_generation(), parents_generation + 1);
    add_timer(MODE, runloop_now_ns() + 2 * MS, 0, trace_fire, "fire");
    EXPECT_EQ(run_for(MODE, 5 * SECOND), RUNLOOP_RESULT_FINISHED);
    EXPECT_TRACE("fire");
}

static void invalidate_first(void) {
    runloop_timer_invalidate(parents_timer);
    expect_a_loop_of_its_own();
}

static void run_first(void) {
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_FINISHED);
    EXPECT_EQ(runloop_fork_generation(), parents_generation + 1);
}

static void release_first(void) {
    runloop_release(parents_loop);
    runloop_timer_release(parents_timer);
    EXPECT_EQ(runloop_fork_generation(), parents_generation + 1);
}

static void become_parent(void) {
    parents_generation = runloop_fork_generation();
    parents_loop = runloop_retain(runloop_current());
    parents_timer = make_timer(runloop_now_ns() + 50 * MS, 0, trace_fire, "parent's");
    REQUIRE(runloop_add_timer(parents_loop, parents_timer, MODE) == 0);
    run_for(MODE, MS); // The timer descriptor is armed.
}

TEST("R123 a child notices that it is one, by fork, by _Fork and by clone, and leaves the parent's timer as it is") {
    become_parent();
    for (int i = 0, count = count_ways(); i < count; i++) {
        expect_in_child(ways[i], expect_a_loop_of_its_own);
        expect_in_child(ways[i], invalidate_first);
        expect_in_child(ways[i], run_first);
        expect_in_child(ways[i], release_first);
    }
    EXPECT_EQ(run_for(MODE, 5 * SECOND), RUNLOOP_RESULT_FINISHED);
    EXPECT_TRACE("parent's");
}

enum { PARENTS_NOW_NS = 42 };

static void tell_time_first(void) {
    EXPECT(runloop_now_ns() != PARENTS_NOW_NS);
    expect_a_loop_of_its_own();
}

static int64_t tell_parents_time(void *unused) {
    (void)unused;
    return PARENTS_NOW_NS;
}

static int64_t never_wait(void *unused, int64_t duration_ns) {
    (void)unused, (void)duration_ns;
    return 0;
}

TEST("R38 R123 a child's time is the machine's, whatever clock the parent's loop has") {
    become_parent();
    runloop_timer_invalidate(parents_timer);
    runloop_clock clock = {.now = tell_parents_time, .wait = never_wait};
    REQUIRE(runloop_set_clock(&clock) == 0);
    for (int i = 0, count = count_ways(); i < count; i++)
        expect_in_child(ways[i], tell_time_first);
    EXPECT_EQ(runloop_set_clock(NULL), 0);
}

static void *fork_on_thread(void *way) {
    become_parent();
    expect_in_child(*(pid_t(**)(void))way, expect_a_loop_of_its_own);
    EXPECT_EQ(run_for(MODE, 5 * SECOND), RUNLOOP_RESULT_FINISHED);
    EXPECT_TRACE("parent's");
    runloop_timer_release(parents_timer);
    runloop_release(parents_loop);
    return NULL;
}

TEST("R123 a child of another thread than the initial one notices, however it was forked") {
    for (int i = 0, count = count_ways(); i < count; i++) {
        pid_t (*way)(void) = ways[i];
        on_new_thread(fork_on_thread, &way);
    }
}

static void fork_again(void) {
    EXPECT_EQ(runloop_fork_generation(), ++parents_generation);
    parents_loop = runloop_current();
    REQUIRE(parents_loop);
    for (int i = 0, count = count_ways(); i < count; i++)
        expect_in_child(ways[i], expect_a_loop_of_its_own);
    add_timer(MODE, runloop_now_ns() + 2 * MS, 0, trace_fire, "fire");
    EXPECT_EQ(run_for(MODE, 5 * SECOND), RUNLOOP_RESULT_FINISHED);
    EXPECT_TRACE("fire");
}

TEST("R123 so does a child of a child") {
    become_parent();
    for (int i = 0, count = count_ways(); i < count; i++)
        expect_in_child(ways[i], fork_again);
}

//===-- what other threads hold --------------------------------------------------------------------------------------===//

static runloop_timer *timer_in_no_loop;
static _Atomic int step;

static void await_step(int awaited) {
    WAIT_UNTIL(step == awaited);
}

static void *hold_owner_word(void *unused) {
    owner_word *word = &timer_in_no_loop->attached.attachment.loop;
    REQUIRE(!runloop__lock_other_owner(word));
    step = 1;
    await_step(2);
    runloop__unlock_other_owner(word, NULL);
    return unused;
}

static void use_timer(void) {
    EXPECT_EQ(runloop_timer_set_fire_date(timer_in_no_loop, 7), 0);
    EXPECT_EQ(runloop_timer_get_fire_date(timer_in_no_loop), 7);
    EXPECT_EQ(runloop_add_timer(runloop_current(), timer_in_no_loop, MODE), 0);
    EXPECT_EQ(run_for(MODE, SECOND), RUNLOOP_RESULT_FINISHED);
}

static void add_timer_at_once(void) {
    EXPECT_EQ(runloop_add_timer(runloop_current(), timer_in_no_loop, MODE), 0);
}

TEST("R123 a timer that another thread was changing at the fork can be used in the child") {
    timer_in_no_loop = make_timer(0, 0, NULL, NULL);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, hold_owner_word, NULL) == 0);
    await_step(1);
    for (int i = 0, count = count_ways(); i < count; i++) {
        expect_in_child(ways[i], use_timer);
        expect_in_child(ways[i], add_timer_at_once);
    }
    step = 2;
    pthread_join(thread, NULL);
    EXPECT_EQ(runloop_timer_set_fire_date(timer_in_no_loop, 8), 0);
    runloop_timer_release(timer_in_no_loop);
}

static struct process_lock tables;

static void *hold_process_lock(void *unused) {
    process_lock(&tables);
    step = 1;
    await_step(2);
    process_unlock(&tables);
    return unused;
}

static void use_tables(void) {
    for (int i = 0; i < 3; i++) {
        process_lock(&tables);
        process_unlock(&tables);
    }
}

TEST("R123 a lock of the process that another thread held at the fork is free in the child") {
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, hold_process_lock, NULL) == 0);
    await_step(1);
    for (int i = 0, count = count_ways(); i < count; i++)
        expect_in_child(ways[i], use_tables);
    step = 2;
    pthread_join(thread, NULL);
    use_tables();
}

static void *hold_loop_lock(void *unused) {
    loop_lock(parents_loop);
    step = 1;
    await_step(2);
    loop_unlock(parents_loop);
    return unused;
}

TEST("R123 the lock of a loop that another thread held at the fork holds nobody up in a child") {
    become_parent();
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, hold_loop_lock, NULL) == 0);
    await_step(1);
    for (int i = 0, count = count_ways(); i < count; i++) {
        expect_in_child(ways[i], expect_a_loop_of_its_own);
        expect_in_child(ways[i], run_first);
    }
    expect_in_child(fork, invalidate_first);
    step = 2;
    pthread_join(thread, NULL);
}

//===-- the program's own fork handlers ------------------------------------------------------------------------------===//

static int handled;

static void use_in_handler(void) {
    runloop_timer *timers[200];
    for (int i = 0; i < 200; i++)
        timers[i] = make_timer(0, 0, NULL, NULL);
    for (int i = 0; i < 200; i++)
        runloop_timer_release(timers[i]);
    runloop_mode_name("a name for handlers");
    handled++;
}

static void use_in_child_handler(void) {
    use_in_handler();
    EXPECT_EQ(runloop_wake_up(parents_loop), -ECHILD);
    EXPECT(runloop_current() != parents_loop);
    add_timer("handler", runloop_now_ns(), 0, NULL, NULL);
    EXPECT_EQ(run_for("handler", SECOND), RUNLOOP_RESULT_FINISHED);
}

static void expect_handlers_ran(void) {
    EXPECT_EQ(handled, 4);
    expect_a_loop_of_its_own();
}

TEST("R123 fork handlers that the program registered before and after the first use may use the library") {
    pthread_atfork(use_in_handler, use_in_handler, use_in_child_handler);
    become_parent();
    pthread_atfork(use_in_handler, use_in_handler, use_in_child_handler);
    expect_in_child(fork, expect_handlers_ran);
    EXPECT_EQ(handled, 4);
    EXPECT_EQ(runloop_wake_up(parents_loop), 0);
}
