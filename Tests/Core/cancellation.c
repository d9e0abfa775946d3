// cancellation.c — a thread with a pending pthread_cancel goes through every call of the library to its end: calls are no cancellation
// points, but for the sleep of the loop's own thread (R8, R49, R116).
// Link with -Wl,--wrap=epoll_wait.
#include <sys/epoll.h>

#include "items.h"

enum { FULL_BATCH = 64 };
static bool cancels_after_batch;

extern int __real_epoll_wait(int set, struct epoll_event *events, int capacity, int timeout);

int __wrap_epoll_wait(int set, struct epoll_event *events, int capacity, int timeout) {
    int count = __real_epoll_wait(set, events, capacity, timeout);
    if (cancels_after_batch && count == FULL_BATCH)
        pthread_cancel(pthread_self());
    return count;
}

static struct worker worker;
static int performed;

static void count_perform(void *info) {
    (void)info;
    __atomic_fetch_add(&performed, 1, __ATOMIC_RELEASE);
}

static int count_of_performed(void) {
    return __atomic_load_n(&performed, __ATOMIC_ACQUIRE);
}

static runloop_timer *last_timer;

/// Runs `body` on a thread that is to be cancelled at its next cancellation point: true if there was one.
static bool is_cancelled_in(void (*body)(void)) {
    pthread_t thread;
    void *result = NULL;
    REQUIRE(pthread_create(&thread, NULL, (void *(*)(void *))(void (*)(void))body, NULL) == 0);
    REQUIRE(pthread_join(thread, &result) == 0);
    return result == PTHREAD_CANCELED;
}

static void post_cancelled(void) {
    pthread_cancel(pthread_self());
    runloop_post(worker.loop, MODE, count_perform, NULL, NULL);
}

TEST("R49 R104 a post by a thread that is being cancelled wakes the sleeping loop, and so do later ones") {
    start_worker(&worker);
    wait_for_sleep(&worker);
    EXPECT(!is_cancelled_in(post_cancelled));
    WAIT_UNTIL(count_of_performed() == 1);
    for (int i = 0; i < 20; i++)
        runloop_post(worker.loop, MODE, count_perform, NULL, NULL);
    WAIT_UNTIL(count_of_performed() == 21);
    stop_worker(&worker);
}

static void keep_timer(void) {
    last_timer = make_timer(RUNLOOP_NEVER - 1, 0, NULL, NULL);
    REQUIRE(runloop_add_timer(runloop_current(), last_timer, OTHER_MODE) == 0);
}

static int result_of_run;

static void *run_in_other_mode(void *loop) {
    *(runloop **)loop = runloop_retain(runloop_current());
    keep_timer();
    worker.id = (pid_t)syscall(SYS_gettid);
    __atomic_store_n(&worker.ready, true, __ATOMIC_RELEASE);
    result_of_run = runloop_run_in_mode(OTHER_MODE, RUNLOOP_FOREVER, false);
    return NULL;
}

static void remove_cancelled(void) {
    pthread_cancel(pthread_self());
    runloop_remove_timer(worker.loop, last_timer, OTHER_MODE);
}

TEST("R25 R116 a thread that is being cancelled removes the last item of a sleeping loop, and leaves its lock free") {
    REQUIRE(pthread_create(&worker.thread, NULL, run_in_other_mode, &worker.loop) == 0);
    WAIT_UNTIL(__atomic_load_n(&worker.ready, __ATOMIC_ACQUIRE));
    wait_for_sleep(&worker);
    EXPECT(!is_cancelled_in(remove_cancelled));
    pthread_join(worker.thread, NULL);
    EXPECT_EQ(result_of_run, RUNLOOP_RESULT_FINISHED);
    EXPECT_EQ(runloop_add_timer(worker.loop, last_timer, OTHER_MODE), -ESHUTDOWN);
    runloop_timer_release(last_timer);
    runloop_release(worker.loop);
}

static void use_everything_cancelled(void) {
    pthread_cancel(pthread_self());
    runloop *loop = worker.loop;
    int descriptor = make_eventfd(1);
    runloop_source *source = make_source(NULL, NULL), *counter = make_counter(descriptor, NULL, NULL);
    runloop_timer *timer = make_timer(runloop_now_ns() + SECOND, MS, NULL, NULL);
    runloop_observer *observer = make_observer(RUNLOOP_ACTIVITY_EXIT, NULL, NULL);
    EXPECT_EQ(runloop_add_source(loop, source, MODE), 0);
    EXPECT_EQ(runloop_add_source(loop, counter, RUNLOOP_COMMON_MODES), 0);
    EXPECT_EQ(runloop_add_timer(loop, timer, RUNLOOP_COMMON_MODES), 0);
    EXPECT_EQ(runloop_add_observer(loop, observer, MODE), 0);
    EXPECT_EQ(runloop_add_common_mode(loop, MODE), 0);
    runloop_source_signal(source);
    runloop_timer_set_fire_date(timer, runloop_now_ns() + 5 * MS);
    runloop_timer_set_tolerance(timer, MS);
    runloop_wake_up(loop);
    runloop_next_fire_date(loop, MODE);
    runloop_contains_source(loop, counter, MODE);
    runloop_mode_name("a name that is new");
    char *text = runloop_copy_description(loop);
    free(text);
    runloop_source_invalidate(counter);
    runloop_remove_source(loop, source, MODE);
    runloop_timer_invalidate(timer);
    runloop_observer_invalidate(observer);
    runloop_source_release(source);
    runloop_source_release(counter);
    runloop_timer_release(timer);
    runloop_observer_release(observer);
    trace("all done");
    close(descriptor); // the first cancellation point
}

TEST("R116 a thread that is being cancelled can make every call on another thread's loop") {
    start_worker(&worker);
    wait_for_sleep(&worker);
    EXPECT(is_cancelled_in(use_everything_cancelled));
    EXPECT_TRACE("all done");
    runloop_post(worker.loop, MODE, count_perform, NULL, NULL);
    WAIT_UNTIL(count_of_performed() == 1);
    stop_worker(&worker);
}

//===-- the loop's own thread ----------------------------------------------------------------------------------------===//

static void cancel_own_thread(runloop_source *source, runloop_readiness events, void *info) {
    (void)source, (void)events;
    trace(info);
    pthread_cancel(pthread_self());
}

static runloop *counting_loop;
static int counters[2];
static bool may_run;

static void *serve_counters(void *unused) {
    (void)unused;
    runloop *loop = runloop_retain(runloop_current());
    for (int i = 0; i < 2; i++) {
        runloop_source *source = make_counter(counters[i], cancel_own_thread, "called");
        REQUIRE(runloop_add_source(loop, source, MODE) == 0);
        runloop_source_release(source);
    }
    __atomic_store_n(&counting_loop, loop, __ATOMIC_RELEASE);
    WAIT_UNTIL(__atomic_load_n(&may_run, __ATOMIC_ACQUIRE));
    runloop_run_in_mode(MODE, RUNLOOP_FOREVER, false);
    return NULL;
}

TEST("R8 a thread that is cancelled while it serves counters ends in order") {
    pthread_t thread;
    counters[0] = make_eventfd(1);
    counters[1] = make_eventfd(1);
    counting_loop = NULL;
    may_run = false;
    int before = count_descriptors();
    REQUIRE(pthread_create(&thread, NULL, serve_counters, NULL) == 0);
    WAIT_UNTIL(__atomic_load_n(&counting_loop, __ATOMIC_ACQUIRE));
    __atomic_store_n(&may_run, true, __ATOMIC_RELEASE);
    void *result = NULL;
    REQUIRE(pthread_join(thread, &result) == 0);
    EXPECT(result == PTHREAD_CANCELED);
    EXPECT_EQ(runloop_post(counting_loop, MODE, count_perform, NULL, NULL), -ESHUTDOWN);
    runloop_release(counting_loop);
    EXPECT_EQ(count_descriptors(), before);
}

static void *sleeps_for_ever(void *unused) {
    (void)unused;
    worker.loop = runloop_retain(runloop_current());
    worker.id = (pid_t)syscall(SYS_gettid);
    keep_mode(MODE);
    add_timer(MODE, RUNLOOP_NEVER - 1, 0, NULL, NULL);
    runloop_perform(worker.loop, OTHER_MODE, NULL, NULL, NULL);
    runloop_perform(worker.loop, OTHER_MODE, count_perform, NULL, count_perform);
    __atomic_store_n(&worker.ready, true, __ATOMIC_RELEASE);
    runloop_run_in_mode(MODE, RUNLOOP_FOREVER, false);
    return NULL;
}

TEST("R8 a thread that is cancelled while its loop sleeps ends in order") {
    int before = count_descriptors();
    REQUIRE(pthread_create(&worker.thread, NULL, sleeps_for_ever, NULL) == 0);
    WAIT_UNTIL(__atomic_load_n(&worker.ready, __ATOMIC_ACQUIRE));
    wait_for_sleep(&worker);
    EXPECT_EQ(pthread_cancel(worker.thread), 0);
    void *result = NULL;
    REQUIRE(pthread_join(worker.thread, &result) == 0);
    EXPECT(result == PTHREAD_CANCELED);
    EXPECT_EQ(count_of_performed(), 1);
    EXPECT(!runloop_is_waiting(worker.loop));
    EXPECT_EQ(runloop_post(worker.loop, MODE, count_perform, NULL, NULL), -ESHUTDOWN);
    runloop_release(worker.loop);
    EXPECT(count_descriptors() <= before + 2); // those of thread_is_asleep
}

static void *pass_over_many(void *unused) {
    (void)unused;
    counting_loop = runloop_retain(runloop_current());
    for (int i = 0; i <= FULL_BATCH; i++)
        add_descriptor(MODE, make_eventfd(1), RUNLOOP_READABLE, NULL, NULL);
    cancels_after_batch = true;
    runloop_run_pass(MODE, 0);
    return NULL;
}

TEST("R8 a thread that is cancelled where a pass asks the kernel for more than one batch ends in order") {
    pthread_t thread;
    void *result = NULL;
    REQUIRE(pthread_create(&thread, NULL, pass_over_many, NULL) == 0);
    REQUIRE(pthread_join(thread, &result) == 0);
    EXPECT(result == PTHREAD_CANCELED);
    EXPECT_EQ(runloop_post(counting_loop, MODE, count_perform, NULL, NULL), -ESHUTDOWN);
    runloop_release(counting_loop);
}
