// process.c — fork, descriptor exhaustion, and the clock (R121–R123).
#include "forks.h"

static runloop *parents_loop;
static runloop_source *parents_source;
static runloop_timer *parents_timer;
static runloop_observer *parents_observer;
static int fires;

static void count_fire(runloop_timer *timer, void *info) {
    (void)timer, (void)info;
    __atomic_add_fetch(&fires, 1, __ATOMIC_ACQ_REL);
}

static void take_and_trace(runloop_source *source, runloop_readiness events, void *info) {
    (void)events;
    take(runloop_source_get_descriptor(source));
    trace(info);
}

static void expect_loop_works(void) {
    runloop *loop = runloop_current();
    REQUIRE(loop);
    trace_reset();
    runloop_source *source = add_source("works", trace_perform, "source");
    runloop_source_signal(source);
    runloop_perform(loop, "works", trace_function, "function", NULL);
    EXPECT_EQ(handle_one("works"), RUNLOOP_RESULT_HANDLED_SOURCE);
    runloop_source_invalidate(source);
    runloop_source *descriptor =
        add_descriptor("works", make_eventfd(1), RUNLOOP_READABLE, take_and_trace, "descriptor");
    EXPECT_EQ(handle_one("works"), RUNLOOP_RESULT_HANDLED_SOURCE);
    close(runloop_source_get_descriptor(descriptor));
    runloop_source_invalidate(descriptor);
    int64_t date = runloop_now_ns() + 5 * MS;
    add_timer("works", date, 0, trace_fire, "timer");
    EXPECT_EQ(run_for("works", 20 * SECOND), RUNLOOP_RESULT_FINISHED);
    EXPECT(runloop_now_ns() >= date);
    EXPECT_TRACE("function source descriptor timer");
}

static void use_inherited_loop(void) {
    runloop *loop = parents_loop;
    runloop_source *source = make_source(NULL, NULL);
    runloop_timer *timer = make_timer(0, 0, NULL, NULL);
    runloop_observer *observer = make_observer(RUNLOOP_ACTIVITY_ALL, NULL, NULL);
    const char *modes[] = {MODE, RUNLOOP_COMMON_MODES, "new"};
    for (int i = 0; i < 3; i++) {
        EXPECT_EQ(runloop_add_source(loop, source, modes[i]), -ECHILD);
        EXPECT_EQ(runloop_add_source(loop, parents_source, modes[i]), -ECHILD);
        EXPECT_EQ(runloop_add_timer(loop, timer, modes[i]), -ECHILD);
        EXPECT_EQ(runloop_add_timer(loop, parents_timer, modes[i]), -ECHILD);
        EXPECT_EQ(runloop_add_observer(loop, observer, modes[i]), -ECHILD);
        EXPECT_EQ(runloop_remove_source(loop, parents_source, modes[i]), -ECHILD);
        EXPECT_EQ(runloop_remove_timer(loop, parents_timer, modes[i]), -ECHILD);
        EXPECT_EQ(runloop_remove_observer(loop, parents_observer, modes[i]), -ECHILD);
        EXPECT_EQ(runloop_perform(loop, modes[i], trace_function, "performed", trace_function), -ECHILD);
        EXPECT_EQ(runloop_post(loop, modes[i], trace_function, "performed", trace_function), -ECHILD);
    }
    EXPECT_EQ(runloop_perform_in_modes(loop, modes, 3, trace_function, "performed", trace_function), -ECHILD);
    EXPECT_EQ(runloop_post_in_modes(loop, modes, 3, trace_function, "performed", trace_function), -ECHILD);
    EXPECT_EQ(runloop_add_common_mode(loop, MODE), -ECHILD);
    EXPECT_EQ(runloop_stop(loop), -ECHILD);
    EXPECT_EQ(runloop_stop_latched(loop), -ECHILD);
    EXPECT_EQ(runloop_stop_mode(loop, MODE), -ECHILD);
    EXPECT_EQ(runloop_wake_up(loop), -ECHILD);
    EXPECT(!runloop_is_current(loop));
    EXPECT_TRACE("");
    runloop_release(runloop_retain(loop));
    runloop_source_release(source);
    runloop_timer_release(timer);
    runloop_observer_release(observer);
}

TEST("R123 every call on an inherited loop fails with -ECHILD in the child") {
    parents_loop = runloop_current();
    parents_source = add_source(MODE, NULL, NULL);
    parents_timer = add_timer(MODE, RUNLOOP_NEVER, 0, NULL, NULL);
    parents_observer = add_observer(MODE, RUNLOOP_ACTIVITY_ALL, NULL, NULL);
    expect_in_child(fork, use_inherited_loop);
    EXPECT(runloop_contains_source(parents_loop, parents_source, MODE));
    expect_loop_works();
}

static void use_new_loop(void) {
    runloop *loop = runloop_current();
    REQUIRE(loop);
    EXPECT(loop == runloop_current() && loop == runloop_main());
    EXPECT(runloop_is_current(loop));
    EXPECT(!runloop_current_mode(loop));
    EXPECT_EQ(runloop_get_modes(loop, NULL, 0), 1);
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_FINISHED); // None of the parent's items.
    expect_loop_works();
    expect_loop_works();
}

TEST("R123 the child gets a new loop that works") {
    parents_loop = runloop_current();
    keep_mode(MODE);
    expect_in_child(fork, use_new_loop);
    expect_loop_works();
    EXPECT(runloop_current() == parents_loop);
}

static void disturb_parent(void) {
    runloop_source_signal(parents_source);
    runloop_timer_set_fire_date(parents_timer, 0);
    runloop_timer_set_tolerance(parents_timer, 100 * SECOND);
    runloop_wake_up(parents_loop);
    runloop_stop(parents_loop);
    runloop_stop_latched(parents_loop);
    runloop_post(parents_loop, MODE, trace_function, "performed", NULL);
    runloop_remove_source(parents_loop, parents_source, MODE);
    runloop_timer_invalidate(parents_timer);
    runloop_observer_invalidate(parents_observer);
    runloop_source_invalidate(parents_source);
    runloop_release(parents_loop); // The reference that the parent took.
    expect_loop_works();
    EXPECT(!runloop_source_is_valid(parents_source));
}

TEST("R123 nothing that the child does disturbs the sleeping parent") {
    struct worker worker = {0};
    start_worker(&worker);
    wait_for_sleep(&worker);
    parents_loop = runloop_retain(worker.loop);
    int64_t date = runloop_now_ns() + 300 * MS;
    parents_timer = make_timer(date, 0, count_fire, NULL);
    parents_source = make_descriptor(make_eventfd(0), RUNLOOP_READABLE, take_and_trace, "descriptor");
    parents_observer = make_observer(RUNLOOP_ACTIVITY_ALL, trace_activity, NULL);
    EXPECT_EQ(runloop_add_timer(parents_loop, parents_timer, MODE), 0);
    EXPECT_EQ(runloop_add_source(parents_loop, parents_source, MODE), 0);
    EXPECT_EQ(runloop_add_observer(parents_loop, parents_observer, MODE), 0);
    wait_for_sleep(&worker);
    expect_in_child(fork, disturb_parent);
    EXPECT(runloop_now_ns() >= date || !__atomic_load_n(&fires, __ATOMIC_ACQUIRE));
    WAIT_UNTIL(__atomic_load_n(&fires, __ATOMIC_ACQUIRE) == 1);
    wait_for_sleep(&worker);
    EXPECT_TRACE("A T S W"); // For the timer only.
    bump(runloop_source_get_descriptor(parents_source));
    WAIT_UNTIL(trace_contains("descriptor"));
    EXPECT(runloop_contains_source(parents_loop, parents_source, MODE));
    runloop_release(parents_loop);
    stop_worker(&worker);
}

static void end_thread_in_child(void) {
    use_new_loop();
    pthread_exit(NULL); // The only thread: its key destructors run, then the process exits normally.
}

static void end_thread_at_once(void) {
    pthread_exit(NULL);
}

static void *fork_and_end(void *argument) {
    int descriptor = make_eventfd(0);
    parents_loop = runloop_current(); // Kept in the child, where its memory stays: not a leak.
    REQUIRE(parents_loop);
    add_descriptor(MODE, descriptor, RUNLOOP_READABLE, take_and_trace, "descriptor");
    add_timer(MODE, runloop_now_ns() + 50 * MS, 0, count_fire, NULL);
    poll_mode(MODE);
    expect_in_child(fork, argument ? end_thread_in_child : end_thread_at_once);
    bump(descriptor);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    fires = 0;
    add_timer(MODE, runloop_now_ns() + 5 * MS, 0, count_fire, NULL);
    for (int64_t deadline = runloop_now_ns() + 30 * SECOND; fires < 1 && runloop_now_ns() < deadline;)
        run_for(MODE, 10 * MS);
    EXPECT(fires >= 1);
    return NULL;
}

TEST("R123 the child's thread can end without affecting the parent's loop") {
    on_new_thread(fork_and_end, NULL);
    on_new_thread(fork_and_end, "with a loop of its own");
}

//===-- fork inside a run --------------------------------------------------------------------------------------------===//

static pid_t (*way_to_fork)(void) = fork;
static pid_t forked = -1;

static void fork_here(void *info) {
    trace(info);
    forked = way_to_fork();
    if (forked == 0) {
        test_end_after(30);
        test_failures = 0;
        use_new_loop();
    }
}

static void fork_in_timer(runloop_timer *timer, void *info) {
    (void)timer;
    fork_here(info);
}

static void fork_in_ready(runloop_source *source, runloop_readiness events, void *info) {
    take_and_trace(source, events, info);
    fork_here(info);
}

static void fork_in_observer(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer, (void)activity;
    fork_here(info);
}

static void nest(void *info) {
    (void)info;
    runloop_perform(runloop_current(), OTHER_MODE, fork_here, "fork", NULL);
    keep_mode(OTHER_MODE);
    int result = poll_mode(OTHER_MODE);
    EXPECT_EQ(result, forked ? RUNLOOP_RESULT_TIMED_OUT : -ECHILD);
}

/// Runs MODE, in which a callback forks: parent and child both return here.
static void expect_fork_in_run(void) {
    runloop_perform(runloop_current(), MODE, trace_function, "after", NULL);
    int result = run_for(MODE, 100 * MS);
    if (forked == 0) {
        EXPECT_EQ(result, -ECHILD);
        expect_loop_works();
        fflush(NULL);
        _exit(test_failures ? 1 : 0);
    }
    EXPECT_EQ(result, RUNLOOP_RESULT_TIMED_OUT);
    int status = 0;
    EXPECT(waitpid(forked, &status, 0) == forked && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    expect_loop_works();
}

TEST(
    "R123 a child forked in a callback works, and returns into the inherited run with -ECHILD, however it was forked") {
    keep_mode(MODE);
    for (int i = 0, count = count_ways(); i < count; i++) {
        way_to_fork = ways[i];
        runloop_perform(runloop_current(), MODE, fork_here, "fork", NULL);
        expect_fork_in_run();
        add_timer(MODE, 0, 0, fork_in_timer, "fork");
        expect_fork_in_run();
        runloop_source *source = add_descriptor(MODE, make_eventfd(1), RUNLOOP_READABLE, fork_in_ready, "fork");
        expect_fork_in_run();
        runloop_source_invalidate(source);
        runloop_perform(runloop_current(), MODE, nest, NULL, NULL);
        expect_fork_in_run();
    }
}

TEST("R123 a child can be forked in any observer") {
    keep_mode(MODE);
    for (runloop_activity activity = 1; activity <= RUNLOOP_ACTIVITY_EXIT; activity <<= 1) {
        if (activity == 8 || activity == 16)
            continue;
        runloop_observer_config config = {
            .context = {.info = "fork"}, .activities = activity, .repeats = false, .observe = fork_in_observer};
        runloop_observer *observer = NULL;
        REQUIRE(runloop_observer_create(&config, &observer) == 0);
        runloop_add_observer(runloop_current(), observer, MODE);
        expect_fork_in_run();
        EXPECT(!runloop_observer_is_valid(observer));
        runloop_observer_release(observer);
    }
}

static int performs;

static void count_perform(runloop_source *source, void *info) {
    (void)source, (void)info;
    performs++;
}

/// Runs MODE, in which something before the signalled sources forks.
static void expect_only_parent_performs(void) {
    performs = 0;
    runloop_source *source = add_source(MODE, count_perform, NULL);
    runloop_source_signal(source);
    int result = run_for(MODE, 0);
    if (forked == 0) {
        EXPECT_EQ(result, -ECHILD);
        EXPECT_EQ(performs, 0);
        fflush(NULL);
        _exit(test_failures ? 1 : 0);
    }
    EXPECT_EQ(performs, 1);
    int status = 0;
    EXPECT(waitpid(forked, &status, 0) == forked && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    runloop_source_invalidate(source);
}

TEST("R123 in a child that is forked before the signalled sources, none of them is performed") {
    keep_mode(MODE);
    runloop_perform(runloop_current(), MODE, fork_here, "fork", NULL);
    expect_only_parent_performs();
    for (runloop_activity activity = 1; activity <= RUNLOOP_ACTIVITY_BEFORE_SOURCES; activity <<= 1) {
        runloop_observer *observer = add_observer(MODE, activity, fork_in_observer, "fork");
        expect_only_parent_performs();
        runloop_observer_invalidate(observer);
    }
}

static bool over;

static void *use_all_the_time(void *loop) {
    while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
        char name[32];
        static int number;
        snprintf(name, sizeof name, "mode %d", number++ % 100);
        runloop_post(loop, MODE, trace_function, "", NULL);
        runloop_timer *timer = make_timer(0, 0, NULL, NULL);
        runloop_add_timer(loop, timer, MODE);
        runloop_timer_release(timer);
        runloop_mode_name(name);
        trace_reset();
    }
    return NULL;
}

TEST("R123 a child can be forked while other threads are in the middle of anything") {
    if (UNDER_THREAD_SANITIZER)
        LEAVE_OUT("The sanitizer's allocator has locks that don't survive a fork of a process with threads.");
    struct worker worker = {0};
    start_worker(&worker);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, use_all_the_time, worker.loop) == 0);
    parents_loop = worker.loop;
    for (int i = 0; i < 50; i++) {
        pthread_mutex_lock(&test_trace_lock); // The harness's own lock must be free in the child.
        pid_t child = fork();
        pthread_mutex_unlock(&test_trace_lock);
        if (child == 0) {
            test_end_after(30);
            test_failures = 0;
            EXPECT_EQ(runloop_wake_up(parents_loop), -ECHILD);
            expect_loop_works();
            fflush(NULL);
            _exit(test_failures ? 1 : 0);
        }
        int status = 0;
        EXPECT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
    }
    __atomic_store_n(&over, true, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    stop_worker(&worker);
}

//===-- descriptor exhaustion ----------------------------------------------------------------------------------------===//

static void *try_without_descriptors(void *spare) {
    int before = count_descriptors();
    spare_descriptors((int)(intptr_t)spare);
    EXPECT(!runloop_current());
    EXPECT_EQ(poll_mode(MODE), -EMFILE);
    EXPECT_EQ(runloop_run(), -EMFILE);
    EXPECT(!runloop_current());
    EXPECT(!runloop_main());
    restore_descriptors();
    EXPECT_EQ(count_descriptors(), before);
    expect_loop_works();
    EXPECT(runloop_main());
    return NULL;
}

TEST("R121 without descriptors a loop can't be created, and can be later") {
    need_proc();
    for (intptr_t spare = 0; spare < 2; spare++) {
        // Each in a child of its own, because the main loop is never freed.
        pid_t child = fork();
        if (child == 0) {
            on_new_thread(try_without_descriptors, (void *)spare);
            _exit(test_failures ? 1 : 0);
        }
        int status = 0;
        EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

TEST("R121 an existing loop needs no further descriptor to add and serve items") {
    REQUIRE(runloop_current());
    int ready = make_eventfd(1);
    spare_descriptors(0);
    runloop_source *source = add_source(MODE, trace_perform, "source");
    runloop_source_signal(source);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    add_descriptor("new", ready, RUNLOOP_READABLE, take_and_trace, "descriptor");
    EXPECT_EQ(handle_one("new"), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(runloop_add_common_mode(runloop_current(), "newer"), 0);
    EXPECT_TRACE("source descriptor");
    restore_descriptors();
}

TEST("R121 without a timer descriptor the timeout of the wait serves the timers") {
    REQUIRE(runloop_current());
    keep_mode(MODE);
    spare_descriptors(0);
    for (int i = 0; i < 5; i++) {
        int64_t start = runloop_now_ns();
        fires = 0;
        add_timer(MODE, start + 10 * MS, 0, count_fire, NULL);
        EXPECT_EQ(run_a_while(MODE), RUNLOOP_RESULT_TIMED_OUT);
        EXPECT(runloop_now_ns() >= start + 200 * MS);
        EXPECT_EQ(fires, 1);
    }
    fires = 0;
    runloop_timer *timer = add_timer(MODE, runloop_now_ns(), 3 * MS, count_fire, NULL);
    while (fires < 10)
        EXPECT_EQ(run_for(MODE, 10 * MS), RUNLOOP_RESULT_TIMED_OUT);
    runloop_timer_invalidate(timer);
    restore_descriptors();
    expect_loop_works();
}

TEST("R121 without a timer descriptor another thread can still re-arm a sleeping loop") {
    struct worker worker = {0};
    start_worker(&worker);
    wait_for_sleep(&worker);
    spare_descriptors(0);
    runloop_timer *timer = make_timer(runloop_now_ns() + 1000 * SECOND, 0, count_fire, NULL);
    EXPECT_EQ(runloop_add_timer(worker.loop, timer, MODE), 0);
    wait_for_sleep(&worker);
    int64_t date = runloop_now_ns() + 10 * MS;
    EXPECT_EQ(runloop_timer_set_fire_date(timer, date), 0);
    WAIT_UNTIL(__atomic_load_n(&fires, __ATOMIC_ACQUIRE) == 1);
    EXPECT(runloop_now_ns() >= date);
    restore_descriptors();
    stop_worker(&worker);
    runloop_timer_release(timer);
}

TEST("R122 instants are those of the monotonic clock") {
    for (int i = 0; i < 1000; i++) {
        struct timespec before, after;
        clock_gettime(CLOCK_MONOTONIC, &before);
        int64_t now = runloop_now_ns();
        clock_gettime(CLOCK_MONOTONIC, &after);
        EXPECT(now >= before.tv_sec * SECOND + before.tv_nsec);
        EXPECT(now <= after.tv_sec * SECOND + after.tv_nsec);
    }
}
