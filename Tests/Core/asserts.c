// asserts.c — a debug build, which the tests use, ends a program that gives back what it does not have, with a sentence that says so (R6).
#include "items.h"

#include "items/items.h"

static runloop *loop;
static runloop_timer *timer;
static runloop_source *source;
static runloop_observer *observer;

static void release_borrowed_loop(void) {
    runloop_release(runloop_current());
}

static void *release_borrowed_on_thread(void *unused) {
    release_borrowed_loop();
    return unused;
}

static void release_another_threads_loop(void) {
    on_new_thread(release_borrowed_on_thread, NULL);
}

static void *release_too_often(void *unused) {
    runloop *own = runloop_retain(runloop_current());
    runloop_release(own);
    runloop_release(own);
    return unused;
}

static void release_loop_too_often(void) {
    on_new_thread(release_too_often, NULL);
}

TEST("R6 releasing a borrowed reference to a loop ends the program with a sentence") {
    EXPECT_FATAL(release_another_threads_loop(), "A loop was released that its thread still has (rule R6).");
    EXPECT_FATAL(release_loop_too_often(), "A loop was released that its thread still has (rule R6).");
}

static void *keep_loop(void *unused) {
    loop = runloop_retain(runloop_current());
    return unused;
}

TEST("R6 R10 a reference to a loop that was retained is released at any time, also after its thread's end") {
    on_new_thread(keep_loop, NULL);
    runloop_release(runloop_retain(loop));
    runloop_release(loop);
}

/// Its memory is still there: the item stands for one that was freed a moment ago.
static void after_last_release(struct item *item) {
    atomic_store(&item->references, 0);
}

static void release_timer(void) {
    runloop_timer_release(timer);
}

static void retain_timer(void) {
    runloop_timer_retain(timer);
}

static void add_timer_again(void) {
    runloop_add_timer(runloop_current(), timer, MODE);
}

static void release_source(void) {
    runloop_source_release(source);
}

static void add_source_again(void) {
    runloop_add_source(runloop_current(), source, MODE);
}

static void release_observer(void) {
    runloop_observer_release(observer);
}

static void add_observer_again(void) {
    runloop_add_observer(runloop_current(), observer, MODE);
}

TEST("R6 releasing an item too often, or using it after its last release, ends the program with a sentence") {
    timer = make_timer(0, 0, NULL, NULL);
    source = make_source(NULL, NULL);
    observer = make_observer(RUNLOOP_ACTIVITY_ALL, NULL, NULL);
    after_last_release(&timer->attached.item);
    after_last_release(&source->item);
    after_last_release(&observer->attached.item);
    EXPECT_FATAL(release_timer(), "An item was released more often than it was retained.");
    EXPECT_FATAL(retain_timer(), "An item was retained after its last reference was released.");
    EXPECT_FATAL(add_timer_again(), "An item was retained after its last reference was released.");
    EXPECT_FATAL(release_source(), "An item was released more often than it was retained.");
    EXPECT_FATAL(add_source_again(), "An item was retained after its last reference was released.");
    EXPECT_FATAL(release_observer(), "An item was released more often than it was retained.");
    EXPECT_FATAL(add_observer_again(), "An item was retained after its last reference was released.");
}

static void count_below_zero(void) {
    static _Atomic uint32_t count;
    count_change(&count, -1);
}

static void call_under_lock(void) {
    loop_lock(runloop_current());
    runloop__IS_CALLING_OUT_TO_A_TASK(trace_function, "called");
}

static void unlock_what_is_free(void) {
    loop_unlock(runloop_current());
}

static void change_without_lock(void) {
    mode_adopt(runloop_current(), runloop__mode_new("new"));
}

static void *drain_elsewhere(void *unused) {
    runloop__tasks_drain(loop, atomic_load(&loop->modes));
    return unused;
}

static void drain_on_another_thread(void) {
    loop = runloop_current();
    on_new_thread(drain_elsewhere, NULL);
}

TEST("R117 a call-out under a lock would end the program with a sentence, as would other faults of the core itself") {
    EXPECT_FATAL(count_below_zero(), "A count of a mode fell below zero.");
    EXPECT_FATAL(call_under_lock(), "User code was about to be called under a lock.");
    EXPECT_FATAL(unlock_what_is_free(), "The lock of a loop is not held where it must be.");
    EXPECT_FATAL(change_without_lock(), "The lock of a loop is not held where it must be.");
    EXPECT_FATAL(drain_on_another_thread(), "Called on another thread than the loop's.");
}
