// refused_timeouts.c — a kernel without timeouts in nanoseconds, and a sandbox that refuses them: limits are whole milliseconds then, and are not cut
// short (R34).
#include <sys/epoll.h>

#include "items.h"

static int refusal, asked;

int epoll_pwait2(int set, struct epoll_event *events, int capacity, const struct timespec *timeout,
                 const sigset_t *mask);

/// In the place of the C library's.
int epoll_pwait2(int set, struct epoll_event *events, int capacity, const struct timespec *timeout,
                 const sigset_t *mask) {
    (void)set, (void)events, (void)capacity, (void)timeout, (void)mask;
    asked++;
    errno = refusal;
    return -1;
}

static void expect_limits_are_kept(int error) {
    refusal = error;
    keep_mode(MODE);
    for (int64_t limit_ns = 1; limit_ns < 4 * MS; limit_ns += 700001) {
        int64_t begin_ns = runloop_now_ns();
        EXPECT_EQ(run_for(MODE, limit_ns), RUNLOOP_RESULT_TIMED_OUT);
        EXPECT(runloop_now_ns() - begin_ns >= limit_ns);
    }
    int64_t due_ns = runloop_now_ns() + 1500000;
    add_timer(MODE, due_ns, 0, trace_fire, "fire");
    RUN_UNTIL(MODE, trace_contains("fire") && asked > 0);
    EXPECT(runloop_now_ns() >= due_ns);
    EXPECT_EQ(asked, 1); // The answer is remembered.
}

TEST("R34 before Linux 5.11 a run's limit is not cut short") {
    expect_limits_are_kept(ENOSYS);
}

TEST("R34 in a sandbox that refuses what it does not know a run's limit is not cut short") {
    expect_limits_are_kept(EPERM);
}
