// hosted_corners.c — hosted runs with other runs inside and around them: nothing that comes meanwhile is lost, and no stop (R38, R46, R49). The
// host polls; "modal" is its loop inside a call-out.
#include <poll.h>
#include <sys/socket.h>

#include "forks.h"

static runloop *loop;
static int counts[3];

static bool is_readable(int milliseconds) {
    struct pollfd waited = {.fd = runloop_hosted_descriptor(), .events = POLLIN};
    return poll(&waited, 1, milliseconds) == 1;
}

/// The host's loop, until the number is reached. How often it called ours.
static int host_until(const int *number, int reached) {
    int calls = 0;
    int64_t end_ns = runloop_now_ns() + 30 * SECOND;
    for (; *number < reached; calls++) {
        REQUIRE(runloop_now_ns() < end_ns);
        if (is_readable(1000))
            runloop_hosted_iterate(RUNLOOP_FOREVER);
    }
    return calls;
}

static void begin(void) {
    loop = runloop_current();
    keep_mode(MODE);
    keep_mode(OTHER_MODE);
    EXPECT_EQ(runloop_hosted_begin(MODE), 0);
}

static void begin_asleep(void) {
    begin();
    EXPECT_EQ(runloop_hosted_iterate(RUNLOOP_FOREVER), 0);
}

static void count_task(void *number) {
    ++*(int *)number;
}

static void count_fire(runloop_timer *timer, void *number) {
    (void)timer;
    count_task(number);
}

static void count_perform(runloop_source *source, void *number) {
    (void)source;
    count_task(number);
}

static void post(void *number) {
    EXPECT_EQ(runloop_post(loop, MODE, count_task, number, NULL), 0);
}

static void stop(void *unused) {
    (void)unused;
    runloop_stop(loop);
}

//===-- runs in the host's code --------------------------------------------------------------------------------------===//

TEST("R49 R104 what is posted or signalled in a run nested in the host's code is served after it") {
    begin_asleep();
    runloop_perform(loop, OTHER_MODE, post, &counts[0], NULL);
    EXPECT_EQ(poll_mode(OTHER_MODE), RUNLOOP_RESULT_TIMED_OUT);
    host_until(&counts[0], 1);
    runloop_source *source = add_source(MODE, count_perform, &counts[1]);
    EXPECT_EQ(runloop_hosted_begin(OTHER_MODE), 0);
    EXPECT_EQ(runloop_hosted_iterate(RUNLOOP_FOREVER), 0);
    runloop_source_signal(source);
    runloop_wake_up(loop);
    EXPECT_EQ(runloop_hosted_end(), 0);
    host_until(&counts[1], 1);
}

TEST("R38 a plain run or a question before the first iteration leaves the descriptor readable") {
    begin();
    add_timer(MODE, runloop_now_ns() + 20 * MS, 0, count_fire, &counts[0]);
    EXPECT_EQ(run_for(OTHER_MODE, 2 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT(is_readable(0));
    add_descriptor(OTHER_MODE, make_eventfd(0), RUNLOOP_READABLE, trace_ready, "ready");
    EXPECT(!runloop_has_work(OTHER_MODE));
    EXPECT(is_readable(0));
    host_until(&counts[0], 1);
}

//===-- the host's loop inside a call-out ----------------------------------------------------------------------------===//

static void add_timer_and_be_modal(void *unused) {
    (void)unused;
    add_timer(MODE, runloop_now_ns() + 5 * MS, 0, count_fire, &counts[0]);
    host_until(&counts[0], 1);
    counts[1]++;
}

static void be_modal_in_timer(runloop_timer *timer, void *unused) {
    (void)timer, (void)unused;
    host_until(&counts[0], 2);
    counts[1]++;
}

TEST("R80 timers fire in the host's loop inside a call-out, whenever they were added") {
    begin_asleep();
    runloop_post(loop, MODE, add_timer_and_be_modal, NULL, NULL);
    host_until(&counts[1], 1);
    add_timer(MODE, runloop_now_ns() + 2 * MS, 0, be_modal_in_timer, NULL);
    add_timer(MODE, runloop_now_ns() + 20 * MS, 0, count_fire, &counts[0]);
    host_until(&counts[1], 2);
}

static void take_and_count(runloop_source *source, runloop_readiness events, void *number) {
    (void)events;
    take(runloop_source_get_descriptor(source));
    count_task(number);
}

static void run_other_mode_and_be_modal(void *descriptor) {
    bump(*(int *)descriptor);
    run_for(OTHER_MODE, 2 * MS); // leaves what is ready for this mode masked
    host_until(&counts[0], 1);
    counts[1]++;
}

static void add_timer_and_be_modal_again(void *unused) {
    (void)unused;
    add_timer(MODE, runloop_now_ns() + 5 * MS, 0, count_fire, &counts[0]);
    int calls = host_until(&counts[0], counts[0] + 1);
    EXPECT(calls < 20);
    counts[1]++;
}

TEST("R80 R104 each call-out of a drain can run the host's loop") {
    begin_asleep();
    for (int i = 0; i < 3; i++)
        runloop_post(loop, MODE, add_timer_and_be_modal_again, NULL, NULL);
    host_until(&counts[1], 3);
    host_until(&counts[0], 3);
    EXPECT_EQ(runloop_hosted_iterate(RUNLOOP_FOREVER), 0);
    EXPECT(!is_readable(0));
}

TEST("R73 a descriptor that a nested run set aside is served in the host's loop inside the call-out") {
    int descriptor = make_eventfd(0);
    begin_asleep();
    add_descriptor(MODE, descriptor, RUNLOOP_READABLE, take_and_count, &counts[0]);
    runloop_post(loop, MODE, run_other_mode_and_be_modal, &descriptor, NULL);
    host_until(&counts[1], 1);
}

static void be_modal_until_counted(void *unused) {
    (void)unused;
    host_until(&counts[0], 1);
    counts[1]++;
}

static void perform_and_signal(runloop_source *source, runloop_readiness events, void *signalled) {
    (void)events;
    take(runloop_source_get_descriptor(source));
    runloop_perform(loop, MODE, be_modal_until_counted, NULL, NULL);
    runloop_source_signal(signalled);
}

TEST("R104 what a descriptor's call-out has signalled is served in the host's loop inside the task that follows") {
    begin_asleep();
    runloop_source *signalled = add_source(MODE, count_perform, &counts[0]);
    add_descriptor(MODE, make_eventfd(1), RUNLOOP_READABLE, perform_and_signal, signalled);
    host_until(&counts[1], 1);
}

static void take_and_be_modal(runloop_source *source, runloop_readiness events, void *unused) {
    (void)events;
    take(runloop_source_get_descriptor(source));
    be_modal_until_counted(unused);
}

TEST("R54 R104 what the host's code has signalled, unwoken, is served in the host's loop inside the next call-out") {
    begin_asleep();
    runloop_source *signalled = add_source(MODE, count_perform, &counts[0]);
    add_descriptor(MODE, make_eventfd(1), RUNLOOP_READABLE, take_and_be_modal, NULL);
    runloop_source_signal(signalled);
    host_until(&counts[1], 1);
}

static void signal_and_be_modal(runloop_source *source, runloop_readiness events, void *signalled) {
    runloop_source_signal(signalled);
    take_and_be_modal(source, events, NULL);
}

static void perform_and_be_modal(runloop_source *source, runloop_readiness events, void *unused) {
    runloop_perform(loop, MODE, count_task, &counts[0], NULL);
    take_and_be_modal(source, events, unused);
}

static void add_and_be_modal(runloop_source *source, runloop_readiness events, void *signalled) {
    EXPECT_EQ(runloop_add_source(loop, signalled, MODE), 0);
    take_and_be_modal(source, events, NULL);
}

TEST("R54 R104 what a descriptor's call-out leaves to the loop, unwoken, is served in the host's loop inside it") {
    void (*const ways[])(runloop_source *, runloop_readiness, void *) = {signal_and_be_modal, perform_and_be_modal,
                                                                         add_and_be_modal};
    begin_asleep();
    for (int i = 0; i < 3; i++) {
        counts[0] = counts[1] = 0;
        runloop_source *signalled = make_source(count_perform, &counts[0]);
        // The one that is added in the call-out was signalled before.
        i < 2 ? runloop_add_source(loop, signalled, MODE) : runloop_source_signal(signalled);
        runloop_source *source = add_descriptor(MODE, make_eventfd(1), RUNLOOP_READABLE, ways[i], signalled);
        host_until(&counts[1], 1);
        runloop_source_invalidate(source);
        runloop_source_invalidate(signalled);
        runloop_source_release(signalled);
    }
}

static void notice(runloop_observer *observer, runloop_activity activity, void *unused) {
    (void)observer, (void)activity, (void)unused;
    counts[0]++;
}

static void begin_noticing_and_be_modal(runloop_source *source, runloop_readiness events, void *unused) {
    counts[0] = 0;
    take_and_be_modal(source, events, unused);
}

TEST("R104 observers are notified in the host's loop inside a descriptor's call-out") {
    begin_asleep();
    add_observer(MODE, RUNLOOP_ACTIVITY_BEFORE_WAITING, notice, NULL);
    add_descriptor(MODE, make_eventfd(1), RUNLOOP_READABLE, begin_noticing_and_be_modal, NULL);
    host_until(&counts[1], 1);
}

TEST("R76 a timer that lets a descriptor go first is called in the host's loop inside its call-out") {
    begin_asleep();
    add_timer(MODE, runloop_now_ns(), 0, count_fire, &counts[2]);
    host_until(&counts[2], 1);
    add_descriptor(MODE, make_eventfd(1), RUNLOOP_READABLE, take_and_be_modal, NULL);
    add_timer(MODE, runloop_now_ns(), 0, count_fire, &counts[0]);
    host_until(&counts[1], 1);
}

static void be_modal(void *unused) {
    (void)unused;
    post(&counts[0]);
    host_until(&counts[0], counts[0] + 1);
}

static void be_modal_and_stop(void *unused) {
    be_modal(unused);
    runloop_stop(loop);
}

static void stop_latched_and_be_modal(void *unused) {
    runloop_stop_latched(loop);
    be_modal(unused);
}

TEST("R46 R47 a stop in or after the host's loop inside a call-out stops the run of the call-out") {
    void (*const tasks[])(void *) = {be_modal_and_stop, stop_latched_and_be_modal};
    for (int i = 0; i < 2; i++) {
        begin_asleep();
        runloop_post(loop, MODE, tasks[i], NULL, NULL);
        EXPECT_EQ(runloop_hosted_iterate(RUNLOOP_FOREVER), RUNLOOP_RESULT_STOPPED);
    }
    // By a later task of the same drain.
    begin_asleep();
    runloop_post(loop, MODE, be_modal, NULL, NULL);
    runloop_post(loop, MODE, stop, NULL, NULL);
    EXPECT_EQ(runloop_hosted_iterate(RUNLOOP_FOREVER), RUNLOOP_RESULT_STOPPED);
    EXPECT_EQ(counts[0], 3);
}

static void try_to_end(void *unused) {
    (void)unused;
    EXPECT_EQ(runloop_hosted_end(), -EBUSY);
    counts[1]++;
}

TEST("R38 the run that the host's loop inside a call-out led to is nobody's to end") {
    begin_asleep();
    runloop_post(loop, MODE, be_modal, NULL, NULL);
    runloop_post(loop, MODE, try_to_end, NULL, NULL);
    EXPECT_EQ(runloop_hosted_iterate(RUNLOOP_FOREVER), 0);
    EXPECT_EQ(counts[1], 1);
    EXPECT_EQ(runloop_hosted_end(), 0);
}

static void be_modal_once(runloop_observer *observer, runloop_activity activity, void *unused) {
    (void)observer, (void)activity;
    if (counts[0] == 0)
        be_modal(unused);
}

TEST("R99 the host's loop inside an observer of Entry leaves no run behind") {
    loop = runloop_current();
    keep_mode(MODE);
    add_observer(MODE, RUNLOOP_ACTIVITY_ENTRY, be_modal_once, NULL);
    EXPECT_EQ(runloop_hosted_begin(MODE), 0);
    EXPECT_EQ(runloop_hosted_end(), 0);
    EXPECT(!runloop_current_mode(loop));
    EXPECT_EQ(runloop_hosted_end(), -EINVAL);
}

//===-- budgets, ends, forks -----------------------------------------------------------------------------------------===//

static void run_with_much_to_do(void *unused) {
    (void)unused;
    for (int i = 0; i < 100; i++)
        post(&counts[0]);
    pass_time(2 * MS);
    poll_mode(MODE);
    counts[1] = counts[0];
}

TEST("R100 a budget is the hosted run's, and not that of a plain run nested in it") {
    begin_asleep();
    runloop_post(loop, MODE, run_with_much_to_do, NULL, NULL);
    runloop_hosted_iterate(MS);
    EXPECT_EQ(counts[1], 100);
}

static void end_again(runloop_source *source, runloop *ended, const char *mode, void *info) {
    (void)source, (void)ended, (void)mode, (void)info;
    counts[0]++;
    EXPECT_EQ(runloop_end_current(), -EBUSY);
}

static void *end_twice(void *unused) {
    runloop_source_config config = {.cancel = end_again};
    runloop_source *source = NULL;
    REQUIRE(runloop_source_create(&config, &source) == 0);
    EXPECT_EQ(runloop_add_source(runloop_current(), source, MODE), 0);
    runloop_source_release(source);
    EXPECT_EQ(runloop_end_current(), 0);
    return unused;
}

TEST("R8 a loop that is being ended is not ended again by what that calls") {
    on_new_thread(end_twice, NULL);
    EXPECT_EQ(counts[0], 1);
}

TEST(
    "R120 a hosted descriptor that the program closed is replaced at the next question, with all that belonged to it") {
    begin_asleep();
    int peers[2], descriptors = 0;
    for (int round = 0; round < 5; round++) {
        // A ready descriptor that nobody can take out of the set, so that the loop makes another one.
        REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, peers) == 0);
        runloop_source *source = add_descriptor(MODE, peers[0], RUNLOOP_READABLE, trace_ready, "ready");
        int duplicate = dup(peers[0]);
        close(peers[0]);
        runloop_source_invalidate(source);
        REQUIRE(write(peers[1], "x", 1) == 1);
        close(runloop_hosted_descriptor());
        post(&counts[0]);
        while (counts[0] <= round)
            EXPECT(runloop_hosted_iterate(RUNLOOP_FOREVER) <= 0);
        close(peers[1]);
        close(duplicate);
        post(&counts[1]);
        host_until(&counts[1], round + 1);
        if (round == 0)
            descriptors = count_descriptors();
    }
    EXPECT_EQ(count_descriptors(), descriptors);
    EXPECT_EQ(runloop_hosted_end(), 0);
    close(runloop_hosted_descriptor());
    EXPECT_EQ(runloop_hosted_begin(MODE), -EBADF);
    EXPECT_EQ(runloop_hosted_begin(MODE), 0);
    EXPECT_EQ(count_descriptors(), descriptors);
    EXPECT_EQ(runloop_hosted_end(), 0);
}

static void use_in_child(void) {
    test_failures = 0;
    EXPECT_EQ(runloop_hosted_iterate(0), -EINVAL);
    EXPECT_EQ(runloop_hosted_end(), -EINVAL);
    begin_asleep();
    EXPECT_EQ(runloop_hosted_end(), 0);
    fflush(NULL);
    _exit(test_failures);
}

TEST("R123 a child that the host's code forks, in any way, has no hosted run, but can begin its own") {
    begin_asleep();
    for (int way = 0; way < count_ways(); way++) {
        fflush(NULL);
        pid_t child = ways[way]();
        if (child == 0)
            use_in_child();
        int status = -1;
        EXPECT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
    }
    EXPECT_EQ(runloop_hosted_end(), 0);
}

TEST("R73 R123 the descriptor does not stay readable when a child keeps the set that was made anew") {
    int ends[2], hold[2];
    begin_asleep();
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0 && pipe(hold) == 0);
    runloop_source *source = add_descriptor(MODE, ends[0], RUNLOOP_READABLE, trace_ready, "readable");
    pid_t child = fork();
    if (child == 0) {
        char end;
        close(hold[1]);
        _exit((int)read(hold[0], &end, 1));
    }
    close(ends[0]);
    REQUIRE(write(ends[1], "x", 1) == 1);
    runloop_source_invalidate(source);
    post(&counts[0]);
    host_until(&counts[0], 1);
    int calls = 0;
    for (int64_t end_ns = runloop_now_ns() + 50 * MS; runloop_now_ns() < end_ns; calls++) {
        if (is_readable(50))
            runloop_hosted_iterate(RUNLOOP_FOREVER);
    }
    EXPECT(calls <= 5);
    close(hold[1]);
    EXPECT_EQ(waitpid(child, NULL, 0), child);
}
