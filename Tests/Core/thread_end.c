// thread_end.c — threads that end in the middle of a run, the main thread's end, and what a loop holds (R7, R8, R13, R120).
#include "items.h"

#include <limits.h>

static runloop_source *held_source;
static runloop_timer *held_timer;

static void trace_cancel(runloop_source *source, runloop *loop, const char *mode, void *info) {
    (void)source, (void)loop, (void)mode, (void)info;
    trace("cancel");
}

static void exit_from_timer(runloop_timer *timer, void *info) {
    (void)timer, (void)info;
    trace("fire");
    pthread_exit(NULL);
}

static void *exits_in_timer(void *interval) {
    runloop_timer_config config = {.context = {.info = "release", .release = trace_function},
                                   .interval_ns = (intptr_t)interval,
                                   .fire = exit_from_timer};
    REQUIRE(runloop_timer_create(&config, &held_timer) == 0);
    runloop_add_timer(runloop_current(), held_timer, MODE);
    runloop_add_timer(runloop_current(), held_timer, OTHER_MODE);
    run_for(MODE, RUNLOOP_FOREVER);
    trace("returned");
    return NULL;
}

TEST("R8 R9 a timer whose callback ended its thread can be invalidated afterwards") {
    for (int i = 0; i < 2; i++) {
        on_new_thread(exits_in_timer, (void *)(i * 1000000L));
        EXPECT_TRACE("fire");
        runloop_timer_invalidate(held_timer);
        EXPECT_TRACE("release");
        EXPECT(!runloop_timer_is_valid(held_timer));
        runloop_timer_release(held_timer);
        EXPECT_TRACE("");
    }
}

static void exit_from_function(void *info) {
    trace(info);
    pthread_exit(NULL);
}

static void discard(void *info) {
    trace("discard");
    trace(info);
}

static void *exits_in_function(void *unused) {
    (void)unused;
    runloop *loop = runloop_current();
    runloop_perform(loop, MODE, trace_function, "a", discard);
    runloop_perform(loop, MODE, exit_from_function, "b", discard);
    runloop_perform(loop, MODE, trace_function, "c", discard);
    runloop_perform(loop, OTHER_MODE, trace_function, "d", discard);
    run_for(MODE, RUNLOOP_FOREVER);
    trace("returned");
    return NULL;
}

TEST("R8 when a task ends the thread, the rest of its batch is discarded, in order") {
    on_new_thread(exits_in_function, NULL);
    EXPECT_TRACE("a b discard c discard d");
}

static void exit_from_observer(runloop_observer *observer, runloop_activity activity, void *info) {
    trace_activity(observer, activity, info);
    if (info)
        poll_mode(OTHER_MODE);
    pthread_exit(NULL);
}

static void *exits_in_nested_observer(void *unused) {
    (void)unused;
    keep_mode(MODE);
    keep_mode(OTHER_MODE);
    add_observer(MODE, RUNLOOP_ACTIVITY_BEFORE_WAITING, exit_from_observer, "nest");
    add_observer(OTHER_MODE, RUNLOOP_ACTIVITY_BEFORE_SOURCES, exit_from_observer, NULL);
    runloop_perform(runloop_current(), "third", trace_function, "performed", discard);
    run_for(MODE, RUNLOOP_FOREVER);
    return NULL;
}

TEST("R8 a thread can end inside an observer of a nested run") {
    int before = count_descriptors();
    on_new_thread(exits_in_nested_observer, NULL);
    EXPECT_TRACE("W S discard performed");
    EXPECT_EQ(count_descriptors(), before);
}

//===-- the main thread's end ----------------------------------------------------------------------------------------===//

static runloop *main_loop;

static bool has_exited(pid_t thread) {
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)thread);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    bool is_there = file >= 0 && read(file, text, sizeof text - 1) > 0;
    close(file);
    const char *end = strrchr(text, ')');
    return !is_there || (end && end[1] && end[2] == 'Z');
}

static void *outlive_main(void *unused) {
    (void)unused;
    WAIT_UNTIL(trace_contains("discard performed"));
    // Not every sanitizer supports joining the initial thread.
    WAIT_UNTIL(has_exited(getpid()));
    EXPECT_TRACE("cancel discard performed");
    EXPECT(runloop_main() == main_loop);
    EXPECT(!runloop_is_current(main_loop));
    EXPECT_EQ(runloop_wake_up(main_loop), 0);
    EXPECT_EQ(runloop_stop(main_loop), 0);
    EXPECT_EQ(runloop_post(main_loop, MODE, trace_function, "performed", discard), -ESHUTDOWN);
    EXPECT_EQ(runloop_add_source(main_loop, held_source, MODE), -ESHUTDOWN);
    EXPECT_EQ(runloop_add_timer(main_loop, held_timer, MODE), -ESHUTDOWN);
    EXPECT(!runloop_contains_source(main_loop, held_source, MODE));
    EXPECT_TRACE("");
    runloop *own = runloop_current();
    EXPECT(own && own != main_loop);
    EXPECT_EQ(runloop_add_source(own, held_source, MODE), 0);
    EXPECT_EQ(runloop_add_timer(own, held_timer, MODE), 0);
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TRACE("fire");
    fflush(NULL);
    _exit(test_failures ? 1 : 0);
}

TEST("R13 the main thread can exit by pthread_exit: its loop is torn down and stays an object for other threads") {
    main_loop = runloop_current();
    runloop_source_config config = {.cancel = trace_cancel};
    REQUIRE(runloop_source_create(&config, &held_source) == 0);
    held_timer = make_timer(0, 0, trace_fire, "fire");
    runloop_add_source(main_loop, held_source, MODE);
    runloop_add_timer(main_loop, held_timer, MODE);
    runloop_perform(main_loop, MODE, trace_function, "performed", discard);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, outlive_main, NULL) == 0);
    pthread_exit(NULL);
}

//===-- descriptors --------------------------------------------------------------------------------------------------===//

static void *count_what_a_loop_holds(void *unused) {
    (void)unused;
    bool open_before[256];
    for (int i = 0; i < 256; i++)
        open_before[i] = fcntl(i, F_GETFD) >= 0;
    int before = count_descriptors();
    runloop *loop = runloop_current();
    EXPECT_EQ(count_descriptors() - before, 2);
    char name[24];
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "mode %d", i);
        keep_mode(name);
        EXPECT_EQ(runloop_add_common_mode(loop, name), 0);
        EXPECT_EQ(poll_mode(name), RUNLOOP_RESULT_TIMED_OUT);
    }
    add_observer(MODE, RUNLOOP_ACTIVITY_ALL, NULL, NULL);
    runloop_timer *timer = add_timer(MODE, runloop_now_ns() + 100 * SECOND, 0, NULL, NULL);
    runloop_perform(loop, MODE, trace_function, "performed", NULL);
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(count_descriptors() - before, 2);
    runloop_timer_set_fire_date(timer, runloop_now_ns() + 5 * MS);
    EXPECT_EQ(run_for(MODE, 20 * SECOND), RUNLOOP_RESULT_FINISHED); // The timer was the mode's only item.
    EXPECT(count_descriptors() - before <= 3);
    for (int i = 0; i < 5; i++) {
        add_timer(name, runloop_now_ns() + 5 * MS, 0, NULL, NULL);
        EXPECT_EQ(run_for(name, 20 * MS), RUNLOOP_RESULT_TIMED_OUT);
    }
    EXPECT(count_descriptors() - before <= 3);
    for (int i = 0; i < 256; i++)
        if (!open_before[i] && fcntl(i, F_GETFD) >= 0)
            EXPECT_EQ(fcntl(i, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    return NULL;
}

TEST("R120 a loop holds two descriptors, a third once it has slept for a timer, none per mode or item") {
    int before = count_descriptors();
    on_new_thread(count_what_a_loop_holds, NULL);
    EXPECT_EQ(count_descriptors(), before);
}

static void *use_loop_shortly(void *unused) {
    (void)unused;
    add_timer(MODE, runloop_now_ns() + MS, 0, NULL, NULL);
    EXPECT_EQ(run_for(MODE, 20 * SECOND), RUNLOOP_RESULT_FINISHED);
    return NULL;
}

TEST("R120 a hundred threads with loops leave no descriptor open") {
    int before = count_descriptors();
    for (int i = 0; i < 100; i++)
        on_new_thread(use_loop_shortly, NULL);
    EXPECT_EQ(count_descriptors(), before);
}

static runloop_timer *stranded_timer;
static runloop_observer *stranded_observer;

static void *strand_common_items(void *unused) {
    (void)unused;
    runloop *loop = runloop_current();
    EXPECT_EQ(runloop_add_timer(loop, stranded_timer, RUNLOOP_COMMON_MODES), 0);
    EXPECT_EQ(runloop_add_observer(loop, stranded_observer, RUNLOOP_COMMON_MODES), 0);
    EXPECT_EQ(runloop_remove_timer(loop, stranded_timer, RUNLOOP_DEFAULT_MODE), 0);
    EXPECT_EQ(runloop_remove_observer(loop, stranded_observer, RUNLOOP_DEFAULT_MODE), 0);
    return NULL;
}

TEST("R9 R20 common items that were in no mode when their loop's thread ended can be added to another loop") {
    stranded_timer = make_timer(runloop_now_ns(), 0, NULL, NULL);
    runloop_observer_config config = {.activities = RUNLOOP_ACTIVITY_ALL, .repeats = true};
    REQUIRE(runloop_observer_create(&config, &stranded_observer) == 0);
    on_new_thread(strand_common_items, NULL);
    EXPECT_EQ(runloop_add_timer(runloop_current(), stranded_timer, MODE), 0);
    EXPECT_EQ(runloop_add_observer(runloop_current(), stranded_observer, MODE), 0);
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT(!runloop_timer_is_valid(stranded_timer));
    runloop_timer_release(stranded_timer);
    runloop_observer_invalidate(stranded_observer);
    runloop_observer_release(stranded_observer);
}

static pthread_t other_thread;
static runloop *other_loop;
static int other_may_end, other_fires;

static void *offers_loop(void *unused) {
    (void)unused;
    __atomic_store_n(&other_loop, runloop_current(), __ATOMIC_RELEASE);
    WAIT_UNTIL(__atomic_load_n(&other_may_end, __ATOMIC_ACQUIRE));
    return NULL;
}

static void outlives_other_loop(runloop_timer *timer, void *mode) {
    if (other_fires++ > 0)
        return;
    EXPECT_EQ(runloop_remove_timer(runloop_current(), timer, MODE), 0);
    EXPECT_EQ(runloop_add_timer(other_loop, timer, mode), 0);
    EXPECT_EQ(runloop_add_timer(other_loop, timer, OTHER_MODE), 0);
    EXPECT_EQ(runloop_add_timer(runloop_current(), timer, MODE), -EBUSY);
    __atomic_store_n(&other_may_end, 1, __ATOMIC_RELEASE);
    REQUIRE(pthread_join(other_thread, NULL) == 0);
}

static void expect_free_after_visit(const char *mode) {
    other_loop = NULL;
    other_may_end = other_fires = 0;
    REQUIRE(pthread_create(&other_thread, NULL, offers_loop, NULL) == 0);
    WAIT_UNTIL(__atomic_load_n(&other_loop, __ATOMIC_ACQUIRE));
    runloop_timer *timer = make_timer(0, MS, outlives_other_loop, (void *)(uintptr_t)mode);
    EXPECT_EQ(runloop_add_timer(runloop_current(), timer, MODE), 0);
    poll_mode(MODE);
    EXPECT_EQ(other_fires, 1);
    EXPECT_EQ(runloop_add_timer(runloop_current(), timer, MODE), 0);
    pass_time(MS);
    poll_mode(MODE);
    EXPECT_EQ(other_fires, 2);
    runloop_timer_invalidate(timer);
    runloop_timer_release(timer);
}

TEST("R8 R9 R86 a timer that moves itself in its callback to a loop that then ends can be added to another loop") {
    expect_free_after_visit(MODE);
    expect_free_after_visit(RUNLOOP_COMMON_MODES);
}

static void *ask_without_key(void *unused) {
    EXPECT(!runloop_current());
    return unused;
}

TEST("R121 a thread whose end can't be noticed, as there is no key left, has no loop") {
    pthread_key_t keys[PTHREAD_KEYS_MAX];
    int count = 0;
    while (count < PTHREAD_KEYS_MAX && pthread_key_create(&keys[count], NULL) == 0)
        count++;
    on_new_thread(ask_without_key, NULL);
    while (count > 0)
        pthread_key_delete(keys[--count]);
    EXPECT(runloop_current());
}
