// refused_watches.c — epoll_ctl fails where the loop takes a descriptor back that it had masked, or makes its set anew (R121).
// Link with -Wl,--wrap=epoll_ctl.
#include <sys/epoll.h>
#include <sys/socket.h>

#include "items.h"

extern int __real_epoll_ctl(int set, int operation, int descriptor, struct epoll_event *event);

/// So many calls succeed, and then so many fail.
static int successes_left, failures_left;
static _Atomic int failed;

int __wrap_epoll_ctl(int set, int operation, int descriptor, struct epoll_event *event) {
    if (failures_left > 0 && operation != EPOLL_CTL_DEL && successes_left-- <= 0) {
        failures_left--;
        failed++;
        errno = ENOMEM;
        return -1;
    }
    return __real_epoll_ctl(set, operation, descriptor, event);
}

static void take_counter(runloop_source *source, runloop_readiness events, void *info) {
    (void)events;
    take(runloop_source_get_descriptor(source));
    ++*(int *)info;
}

TEST("R121 a masked descriptor that could not be watched again is watched as soon as that succeeds") {
    int descriptor = make_eventfd(0), calls = 0;
    runloop_descriptor_config config = {
        .context.info = &calls, .descriptor = descriptor, .events = RUNLOOP_READABLE, .ready = take_counter};
    runloop_source *source;
    REQUIRE(runloop_descriptor_source_create(&config, &source) == 0);
    REQUIRE(runloop_add_source(runloop_current(), source, "b") == 0);
    runloop_timer_config never = {.fire_ns = RUNLOOP_NEVER};
    runloop_timer *timer;
    REQUIRE(runloop_timer_create(&never, &timer) == 0);
    REQUIRE(runloop_add_timer(runloop_current(), timer, "a") == 0);

    // Mode a does not want it, and masks it before it sleeps.
    bump(descriptor);
    EXPECT_EQ(run_a_while("a"), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(calls, 0);

    failures_left = 1;
    poll_mode("b");
    EXPECT_EQ(failed, 1);
    EXPECT_EQ(calls, 1);
    bump(descriptor);
    poll_mode("b");
    EXPECT_EQ(calls, 2);

    // A loop that sleeps asks again, too.
    bump(descriptor);
    EXPECT_EQ(run_a_while("a"), RUNLOOP_RESULT_TIMED_OUT);
    failures_left = 5;
    poll_mode("b");
    EXPECT_EQ(calls, 3);
    EXPECT(failures_left > 0);
    bump(descriptor);
    EXPECT_EQ(runloop_run_in_mode("b", 60 * SECOND, true), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(failures_left, 0);
    EXPECT_EQ(calls, 4);

    runloop_timer_release(timer);
    runloop_source_invalidate(source);
    runloop_source_release(source);
    close(descriptor);
}

//===-- a set that is made anew --------------------------------------------------------------------------------------===//

/// The loop's own, or -1.
static int find_descriptor(const char *kind) {
    need_proc();
    for (int descriptor = 3; descriptor < 64; descriptor++) {
        char path[32], target[32] = "";
        snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
        if (readlink(path, target, sizeof target - 1) > 0 && strcmp(target, kind) == 0)
            return descriptor;
    }
    return -1;
}

/// A ready descriptor that nobody can take out of the set, which is closed with the two that are returned.
static void make_set_stale(int rest[2]) {
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
    runloop_source *source = add_descriptor(MODE, ends[0], RUNLOOP_READABLE, trace_ready, "ready");
    rest[0] = dup(ends[0]);
    rest[1] = ends[1];
    close(ends[0]);
    runloop_source_invalidate(source);
    REQUIRE(write(ends[1], "x", 1) == 1);
}

static int posts;

static void count_post(void *unused) {
    (void)unused;
    posts++;
}

static void *post_from_thread(void *loop) {
    EXPECT_EQ(runloop_post(loop, MODE, count_post, NULL, NULL), 0);
    return NULL;
}

TEST("R120 R121 a set that is made anew, with what the program has closed, leaves no descriptor, whatever is refused") {
    runloop *loop = runloop_current();
    add_timer(MODE, RUNLOOP_NEVER - 1, 0, NULL, NULL);
    RUN_UNTIL(MODE, find_descriptor("anon_inode:[timerfd]") >= 0);
    int before = count_descriptors(), rest[2];
    for (int call = 0; failures_left == 0; call++) {
        failed = 0;
        make_set_stale(rest);
        // Its number is another file's by now, and not free for a new one.
        int waker = find_descriptor("anon_inode:[eventfd]"), file = open("/dev/null", O_RDONLY | O_CLOEXEC);
        REQUIRE(dup2(file, waker) == waker);
        successes_left = call;
        failures_left = 1;
        if (call <= 2)
            RUN_UNTIL(MODE, failed == 1);
        else
            run_a_while(MODE);
        close(rest[0]);
        close(rest[1]);
        close(file);
        close(waker);
        on_new_thread(post_from_thread, loop);
        RUN_UNTIL(MODE, posts == call + 1);
        RUN_UNTIL(MODE, find_descriptor("anon_inode:[timerfd]") >= 0 && find_descriptor("anon_inode:[eventfd]") >= 0);
        EXPECT_EQ(count_descriptors(), before);
    }
}

static void stop_current(void *unused) {
    (void)unused;
    runloop_stop(runloop_current());
}

static void *stop_when_refused(void *loop) {
    while (failed == 0)
        pass_time(MS);
    EXPECT_EQ(runloop_post(loop, MODE, stop_current, NULL, NULL), 0);
    return NULL;
}

TEST("R120 R121 a post ends a sleep in a new set that the kernel refused to let report the loop's eventfd") {
    keep_mode(MODE);
    int rest[2];
    make_set_stale(rest);
    failures_left = 1;
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, stop_when_refused, runloop_current()) == 0);
    EXPECT_EQ(runloop_run_in_mode(MODE, RUNLOOP_FOREVER, false), RUNLOOP_RESULT_STOPPED);
    pthread_join(thread, NULL);
    EXPECT_EQ(failed, 1);
    close(rest[0]);
    close(rest[1]);
}
