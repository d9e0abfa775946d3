// closed_outside.c — descriptors that the program closes behind the loop's back: its sources', and the loop's own. The loop neither spins
// nor reads what is not its own (R69, R73, R120). Its waits are counted, and what it does before it has a new set can be held up: this
// program's epoll_wait, epoll_pwait2 and epoll_create1 are in front of the library's calls.
#include "items.h"

#include <sys/epoll.h>
#include <sys/socket.h>

/// What standard error is notified of is in diagnostics.c.
__attribute__((constructor)) static void disable_diagnostics(void) {
    runloop_set_diagnostics_enabled(false);
}

static int waits, iterations;

/// Called once, before the loop asks whether its set is still one, or makes another.
static void (*before_new_set)(void);

static void come_before_new_set(void) {
    void (*call)(void) = before_new_set;
    before_new_set = NULL;
    if (call)
        call();
}

int __real_epoll_create1(int flags);
int __wrap_epoll_create1(int flags);
int __wrap_epoll_create1(int flags) {
    come_before_new_set();
    return __real_epoll_create1(flags);
}

int __real_epoll_wait(int set, struct epoll_event *events, int capacity, int timeout);
int __real_epoll_pwait2(int set, struct epoll_event *events, int capacity, const struct timespec *timeout,
                        const sigset_t *mask) __attribute__((weak));

int __wrap_epoll_wait(int set, struct epoll_event *events, int capacity, int timeout);
int __wrap_epoll_wait(int set, struct epoll_event *events, int capacity, int timeout) {
    waits++;
    if (capacity == 1)
        come_before_new_set();
    return __real_epoll_wait(set, events, capacity, timeout);
}

int __wrap_epoll_pwait2(int set, struct epoll_event *events, int capacity, const struct timespec *timeout,
                        const sigset_t *mask);
int __wrap_epoll_pwait2(int set, struct epoll_event *events, int capacity, const struct timespec *timeout,
                        const sigset_t *mask) {
    waits++;
    if (__real_epoll_pwait2)
        return __real_epoll_pwait2(set, events, capacity, timeout, mask);
    errno = ENOSYS;
    return -1;
}

static void count_iteration(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer, (void)activity, (void)info;
    iterations++;
}

static bool has_timer_descriptor(void) {
    for (int descriptor = 3; descriptor < 64; descriptor++) {
        char path[32], target[32] = "";
        snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
        if (readlink(path, target, sizeof target - 1) > 0 && strcmp(target, "anon_inode:[timerfd]") == 0)
            return true;
    }
    return false;
}

/// The loop has all its descriptors: the last one is made when it first arms its timer, and on a busy machine a run may end before that.
static void set_up(void) {
    need_proc();
    add_observer(MODE, RUNLOOP_ACTIVITY_BEFORE_TIMERS, count_iteration, NULL);
    add_timer(MODE, RUNLOOP_NEVER - 1, 0, NULL, NULL);
    RUN_UNTIL(MODE, has_timer_descriptor());
}

/// A run that has nothing to do waits but a few times, however long it takes.
static void expect_rest(int64_t limit_ns) {
    waits = iterations = 0;
    EXPECT_EQ(run_for(MODE, limit_ns), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT(waits <= 10);
    EXPECT(iterations <= 3);
}

static void expect_loop_works(void) {
    // Not under a number that was closed.
    int lowest = make_eventfd(1), descriptor = fcntl(lowest, F_DUPFD_CLOEXEC, 100);
    close(lowest);
    runloop_source *source = add_descriptor(MODE, descriptor, RUNLOOP_READABLE, trace_ready, "ready");
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("ready");
    runloop_source_invalidate(source);
    runloop_timer *timer = add_timer(MODE, runloop_now_ns() + 2 * MS, 0, trace_fire, "fire");
    RUN_UNTIL(MODE, trace_contains("fire"));
    (void)timer;
    close(descriptor);
}

//===-- descriptors of sources ---------------------------------------------------------------------------------------===//

/// A socket that can be neither read nor written, until `let` says so.
static int idle_socket(int *peer) {
    int ends[2];
    static const char filling[65536];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
    while (write(ends[0], filling, sizeof filling) > 0)
        continue;
    while (write(ends[0], filling, 1) > 0)
        continue;
    *peer = ends[1];
    return ends[0];
}

static void let_read(int peer) {
    REQUIRE(write(peer, "x", 1) == 1);
}

TEST("R73 a loop does not spin when a socket with a duplicate was closed, and becomes ready for another mode") {
    set_up();
    int peer, end = idle_socket(&peer);
    add_descriptor(MODE, end, RUNLOOP_WRITABLE, trace_ready, "writable");
    add_descriptor(OTHER_MODE, end, RUNLOOP_READABLE, trace_ready, "readable");
    REQUIRE(dup(end) >= 0);
    close(end);
    let_read(peer);
    expect_rest(50 * MS);
    EXPECT_TRACE("");
    expect_loop_works();
}

TEST("R73 a loop does not spin when a ready socket with a duplicate was closed and its source removed") {
    set_up();
    int peer, end = idle_socket(&peer);
    runloop_source *source = add_descriptor(MODE, end, RUNLOOP_READABLE, trace_ready, "readable");
    REQUIRE(dup(end) >= 0);
    close(end);
    let_read(peer);
    runloop_source_invalidate(source);
    expect_rest(50 * MS);
    EXPECT_TRACE("");
    expect_loop_works();
}

TEST("R73 a source is called at most a few times for a closed socket whose duplicate stays ready") {
    set_up();
    int peer, end = idle_socket(&peer);
    add_descriptor(MODE, end, RUNLOOP_READABLE, trace_ready, ".");
    REQUIRE(dup(end) >= 0);
    close(end);
    let_read(peer);
    waits = 0;
    do { // Until it is not called any more, which on a busy machine isn't in the first run.
        trace_reset();
        EXPECT_EQ(run_for(MODE, 50 * MS), RUNLOOP_RESULT_TIMED_OUT);
    } while (trace_contains(".") && waits <= 150);
    EXPECT(waits <= 150); // each 64th report is looked into
    expect_rest(20 * MS);
    expect_loop_works();
}

//===-- numbers that are used again ----------------------------------------------------------------------------------===//

static const char message[] = "A message for somebody else.";

/// Closes the descriptor, and makes its number the read end of somebody's pipe, with a message in it.
static void reuse(int descriptor) {
    int ends[2];
    close(descriptor);
    make_pipe(ends);
    if (ends[0] != descriptor) {
        REQUIRE(dup2(ends[0], descriptor) == descriptor);
        close(ends[0]);
    }
    REQUIRE(write(ends[1], message, sizeof message) == sizeof message);
}

static void expect_message_complete(int descriptor) {
    char text[2 * sizeof message] = {0};
    EXPECT_EQ(read(descriptor, text, sizeof text), sizeof message);
    EXPECT_TEXT(text, message);
}

static runloop_source *add_counter(const char *mode, int descriptor) {
    runloop_source *source = make_counter(descriptor, trace_ready, "counter");
    REQUIRE(runloop_add_source(runloop_current(), source, mode) == 0);
    runloop_source_release(source);
    return source;
}

TEST("R69 R73 when the set is made anew, a counter's number that is a pipe by now stays out, and no byte of it is "
     "read") {
    set_up();
    int counter = make_eventfd(0);
    add_counter(MODE, counter);
    reuse(counter);
    for (int i = 0; i < 64; i++) {
        int descriptor = make_eventfd(0);
        runloop_source *source = add_descriptor(MODE, descriptor, RUNLOOP_READABLE, NULL, NULL);
        close(descriptor);
        runloop_source_invalidate(source);
    }
    expect_rest(20 * MS);
    EXPECT_TRACE("");
    expect_message_complete(counter);
    expect_loop_works();
}

TEST("R69 R73 a counter that was masked while another mode ran stays silent if its number is a pipe when its mode "
     "comes") {
    set_up();
    add_timer(OTHER_MODE, RUNLOOP_NEVER - 1, 0, NULL, NULL);
    int counter = make_eventfd(0);
    add_counter(MODE, counter);
    // Reported, and taken out of the set; then taken by its owner, so that the next report must come from the kernel.
    bump(counter);
    EXPECT_EQ(run_for(OTHER_MODE, 5 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(take(counter), 1);
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
    bump(counter);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("counter");
    reuse(counter);
    expect_rest(20 * MS);
    EXPECT_TRACE("");
    expect_message_complete(counter);
    expect_loop_works();
}

//===-- all descriptors ----------------------------------------------------------------------------------------------===//

static void close_all(void) {
    // Standard streams are left to the test.
    for (int descriptor = 3; descriptor < 256; descriptor++)
        close(descriptor);
}

TEST("R120 a loop whose descriptors the program closed, with all others, makes new ones and does not spin") {
    set_up();
    int descriptor = make_eventfd(1);
    add_descriptor(MODE, descriptor, RUNLOOP_READABLE, trace_ready, "closed");
    runloop_timer *timer = add_timer(MODE, runloop_now_ns() + 1000 * SECOND, 0, trace_fire, "fire");
    poll_mode(MODE);
    EXPECT_TRACE("closed");
    close_all();
    runloop_timer_set_fire_date(timer, runloop_now_ns() + 5 * MS);
    // The first wait finds the set closed, and the second one has another: on a busy machine a short run may not wait at all.
    waits = 0;
    RUN_UNTIL(MODE, waits >= 2 && trace_contains("fire"));
    EXPECT_TRACE("fire");
    expect_rest(30 * MS);
    expect_loop_works();
}

static runloop_source *woken;

static void *wake_later(void *loop) {
    pass_time(5 * MS);
    runloop_source_signal(woken);
    runloop_wake_up(loop);
    return NULL;
}

TEST("R49 R120 after that, other threads still wake it") {
    set_up();
    woken = add_source(MODE, trace_perform, "performed");
    poll_mode(MODE);
    close_all();
    expect_rest(5 * MS);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, wake_later, runloop_current()) == 0);
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    pthread_join(thread, NULL);
    EXPECT_TRACE("performed");
}

static void wake_own_loop(void) {
    runloop_source_signal(woken);
    runloop_wake_up(runloop_current());
}

TEST("R49 R120 a wake-up that comes after the loop has noticed, and before it has other descriptors, is not lost") {
    set_up();
    woken = add_source(MODE, trace_perform, "performed");
    poll_mode(MODE);
    close_all();
    before_new_set = wake_own_loop; // as a signal handler does
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("performed");
    EXPECT(!before_new_set);
}

TEST("R73 a number that the program closed and the loop's timer got is not taken for the source's") {
    add_observer(MODE, RUNLOOP_ACTIVITY_BEFORE_TIMERS, count_iteration, NULL);
    keep_mode(MODE);
    int peer, end = idle_socket(&peer);
    runloop_source *source = add_descriptor(MODE, end, RUNLOOP_READABLE, trace_ready, "readable");
    poll_mode(MODE);
    close(end);
    runloop_timer *timer = add_timer(MODE, runloop_now_ns() + 3600 * SECOND, 0, trace_fire, "fire");
    // The lowest free number is the loop's as soon as that has armed its timer.
    RUN_UNTIL(MODE, fcntl(end, F_GETFD) >= 0);
    EXPECT_EQ(runloop_source_set_events(source, RUNLOOP_READABLE | RUNLOOP_PRIORITY), -EBADF);
    expect_rest(30 * MS);
    EXPECT_EQ(runloop_timer_set_fire_date(timer, runloop_now_ns() + 5 * MS), 0);
    RUN_UNTIL(MODE, trace_contains("fire"));
    EXPECT_TRACE("fire");
    runloop_source_invalidate(source);
    expect_loop_works();
}

/// The mode's loop has to make a new set, and there is no descriptor for one.
static void need_set_without_descriptors(void) {
    int descriptor = make_eventfd(0);
    runloop_source *source = add_descriptor(MODE, descriptor, RUNLOOP_READABLE, trace_ready, "ready");
    run_for(MODE, 5 * MS);
    close(descriptor);
    runloop_source_set_events(source, 0);
    limit_descriptors(3);
}

TEST("R49 R121 a wake-up that comes while there is no descriptor for a new set is not lost") {
    set_up();
    woken = add_source(MODE, trace_perform, "performed");
    need_set_without_descriptors();
    before_new_set = wake_own_loop;
    EXPECT_EQ(handle_one(MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_TRACE("performed");
    EXPECT(!before_new_set);
    restore_descriptors();
    expect_loop_works();
}

static void stop_in_timer(runloop_timer *timer, void *info) {
    (void)timer, (void)info;
    runloop_stop(runloop_current());
}

TEST("R121 a timer fires whose descriptor was given up for a new set that could not be made either") {
    set_up();
    add_timer(MODE, runloop_now_ns() + 200 * MS, 0, stop_in_timer, NULL);
    need_set_without_descriptors();
    EXPECT_EQ(run_for(MODE, 30 * SECOND), RUNLOOP_RESULT_STOPPED);
    restore_descriptors();
    expect_loop_works();
}

TEST("R73 R121 a loop that finds no descriptor for a new set rests between its attempts") {
    keep_mode(MODE);
    add_observer(MODE, RUNLOOP_ACTIVITY_BEFORE_TIMERS, count_iteration, NULL);
    int peer, end = idle_socket(&peer);
    runloop_source *source = add_descriptor(MODE, end, RUNLOOP_READABLE, trace_ready, "readable");
    REQUIRE(dup(end) >= 0);
    close(end);
    let_read(peer);
    runloop_source_invalidate(source);
    limit_descriptors(3);
    waits = iterations = 0;
    EXPECT_EQ(run_for(MODE, 100 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT(waits <= 250 && iterations == 1); // two for each attempt
    restore_descriptors();
    expect_rest(30 * MS);
    expect_loop_works();
}

TEST("R121 a timer's descriptor is given up for a set that is to be made anew when there are no others") {
    set_up();
    int peer, end = idle_socket(&peer);
    runloop_source *source = add_descriptor(MODE, end, RUNLOOP_READABLE, trace_ready, "readable");
    REQUIRE(dup(end) >= 0);
    close(end);
    int filler;
    limit_descriptors(24);
    while ((filler = dup(0)) >= 0)
        continue;
    let_read(peer);
    runloop_source_invalidate(source);
    expect_rest(30 * MS);
    EXPECT_TRACE("");
    restore_descriptors();
    expect_loop_works();
}
