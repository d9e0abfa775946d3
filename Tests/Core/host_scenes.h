// host_scenes.h — what must work in a hosted run, under whatever host. A test file includes this after it has defined its host:
//
//   static void host_attach(const char *mode);    begins a hosted run and waits for its descriptor from then on
//   static void host_detach(void);                ends it, if it has not ended by itself, and waits for the descriptor no more
//   static void host_iterate(int64_t limit_ns);   the host's own loop: sleeps at most so long, then calls what is ready
//   HOST_NESTS                                    1 if its loop may run inside its callbacks
//   HOST_HAS_MAIN_QUEUE                           if libdispatch is there
//
// The program is linked with --wrap=runloop_hosted_iterate, so that calls are counted, and with --wrap=calloc, which fails on demand.
#include "items.h"

#include <sys/socket.h>

static int dispatches, result;
int __real_runloop_hosted_iterate(int64_t budget_ns);
int __wrap_runloop_hosted_iterate(int64_t budget_ns);
int __wrap_runloop_hosted_iterate(int64_t budget_ns) {
    dispatches++;
    return result = __real_runloop_hosted_iterate(budget_ns);
}

static _Atomic int callocs_to_fail;
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size) {
    if (callocs_to_fail == 0)
        return __real_calloc(count, size);
    callocs_to_fail--;
    return NULL;
}

static runloop *loop;
static int counts[4];

/// The host's loop, until the condition holds.
#define HOST_UNTIL(condition)                                                                                          \
    do {                                                                                                               \
        int64_t host_deadline = runloop_now_ns() + 30 * SECOND;                                                        \
        while (!(condition)) {                                                                                         \
            REQUIRE(runloop_now_ns() < host_deadline && #condition);                                                   \
            host_iterate(100 * MS);                                                                                    \
        }                                                                                                              \
    } while (0)

static void host_for(int64_t duration_ns) {
    int64_t end_ns = runloop_now_ns() + duration_ns, left_ns;
    while ((left_ns = end_ns - runloop_now_ns()) > 0)
        host_iterate(left_ns);
}

/// The run ended by itself.
static void expect_end(int expected) {
    HOST_UNTIL(result > 0);
    EXPECT_EQ(result, expected);
    EXPECT_EQ(runloop_hosted_end(), -EINVAL);
    host_detach();
    result = 0;
}

/// A run in which nothing is to be done, and the host asleep for it.
static void begin_quietly(void) {
    loop = runloop_current();
    keep_mode(MODE);
    host_attach(MODE);
    HOST_UNTIL(runloop_is_waiting(loop));
    dispatches = 0;
}

static void count_fire(runloop_timer *timer, void *info) {
    (void)timer;
    ++*(int *)info;
}

static void count_task(void *info) {
    ++*(int *)info;
}

static void count_perform(runloop_source *source, void *info) {
    (void)source;
    ++*(int *)info;
}

static void count_and_take(runloop_source *source, runloop_readiness events, void *info) {
    (void)events;
    take(runloop_source_get_descriptor(source));
    ++*(int *)info;
}

/// Does something on another thread, while the host most likely sleeps.
static pthread_t helper;
static void *(*helper_body)(void *);
static void *sleep_and_do(void *argument) {
    pass_time(2 * MS);
    return helper_body(argument);
}
static void do_on_thread(void *(*body)(void *), void *argument) {
    helper_body = body;
    REQUIRE(pthread_create(&helper, NULL, sleep_and_do, argument) == 0);
}

//===-- each thing that ends a sleep ---------------------------------------------------------------------------------===//

static void *bump_descriptor(void *descriptor) {
    bump(*(int *)descriptor);
    return NULL;
}

TEST("R71 hosted: a descriptor that becomes ready is served, once for each time") {
    int descriptor = make_eventfd(0);
    begin_quietly();
    add_descriptor(MODE, descriptor, RUNLOOP_READABLE, count_and_take, &counts[0]);
    for (int i = 1; i <= 3; i++) {
        do_on_thread(bump_descriptor, &descriptor);
        HOST_UNTIL(counts[0] == i);
        pthread_join(helper, NULL);
    }
    host_for(20 * MS);
    EXPECT_EQ(counts[0], 3);
    host_detach();
}

static void *add_timer_from_thread(void *unused) {
    runloop_timer *timer = make_timer(runloop_now_ns() + 2 * MS, 0, count_fire, &counts[2]);
    EXPECT_EQ(runloop_add_timer(loop, timer, MODE), 0);
    runloop_timer_release(timer);
    return unused;
}

TEST("R80 hosted: a timer fires that was there before, that the host's code adds, and that another thread adds") {
    loop = runloop_current();
    add_timer(MODE, runloop_now_ns() + 5 * MS, 0, count_fire, &counts[0]);
    begin_quietly();
    HOST_UNTIL(counts[0] == 1);
    add_timer(MODE, runloop_now_ns() + 2 * MS, 0, count_fire, &counts[1]);
    HOST_UNTIL(counts[1] == 1);
    do_on_thread(add_timer_from_thread, NULL);
    HOST_UNTIL(counts[2] == 1);
    pthread_join(helper, NULL);
    host_detach();
}

static runloop_timer *moved;

static void *move_timer(void *unused) {
    runloop_timer_set_fire_date(moved, runloop_now_ns());
    return unused;
}

TEST("R87 hosted: a timer that is moved to an earlier date while the host sleeps fires then") {
    begin_quietly();
    moved = add_timer(MODE, runloop_now_ns() + 3600 * SECOND, 3600 * SECOND, count_fire, &counts[0]);
    HOST_UNTIL(runloop_is_waiting(loop));
    move_timer(NULL);
    HOST_UNTIL(counts[0] == 1);
    do_on_thread(move_timer, NULL);
    HOST_UNTIL(counts[0] == 2);
    pthread_join(helper, NULL);
    host_detach();
}

static void *post_burst(void *unused) {
    for (int i = 0; i < 100; i++)
        EXPECT_EQ(runloop_post(loop, MODE, count_task, &counts[0], NULL), 0);
    return unused;
}

TEST("R104 hosted: what another thread posts is performed, and what the host's code posts") {
    begin_quietly();
    do_on_thread(post_burst, NULL);
    HOST_UNTIL(counts[0] == 100);
    pthread_join(helper, NULL);
    post_burst(NULL);
    HOST_UNTIL(counts[0] == 200);
    host_detach();
}

TEST("R104 hosted: a burst of posts is one call of the host's") {
    begin_quietly();
    post_burst(NULL);
    HOST_UNTIL(counts[0] == 100);
    host_for(20 * MS);
    // One more whenever the budget was used up, as it is when the thread is interrupted.
    EXPECT(dispatches >= 1 && dispatches < 100);
    host_detach();
}

static runloop_source *signalled;

static void *signal_and_wake(void *unused) {
    runloop_source_signal(signalled);
    runloop_wake_up(loop);
    return unused;
}

static void signal_in_handler(int number) {
    (void)number;
    signal_and_wake(NULL);
}

static void *kill_thread(void *thread) {
    pthread_kill(*(pthread_t *)thread, SIGUSR1);
    return NULL;
}

TEST("R49 hosted: a source performs that a thread or a signal handler signals") {
    signal(SIGUSR1, signal_in_handler);
    begin_quietly();
    signalled = add_source(MODE, count_perform, &counts[0]);
    do_on_thread(signal_and_wake, NULL);
    HOST_UNTIL(counts[0] == 1);
    pthread_join(helper, NULL);
    pthread_t self = pthread_self();
    do_on_thread(kill_thread, &self);
    HOST_UNTIL(counts[0] == 2);
    pthread_join(helper, NULL);
    host_detach();
}

static void *stop(void *unused) {
    runloop_stop(loop);
    return unused;
}

static void *stop_latched(void *unused) {
    runloop_stop_latched(loop);
    return unused;
}

static void stop_in_handler(int number) {
    (void)number;
    runloop_stop(loop);
}

TEST("R46 R47 hosted: a run ends that a thread, a latch, the host's code or a signal handler stops") {
    signal(SIGUSR1, stop_in_handler);
    pthread_t self = pthread_self();
    begin_quietly();
    do_on_thread(stop, NULL);
    expect_end(RUNLOOP_RESULT_STOPPED);
    pthread_join(helper, NULL);
    host_attach(MODE);
    do_on_thread(stop_latched, NULL);
    expect_end(RUNLOOP_RESULT_STOPPED);
    pthread_join(helper, NULL);
    host_attach(MODE);
    HOST_UNTIL(runloop_is_waiting(loop));
    runloop_stop(loop);
    expect_end(RUNLOOP_RESULT_STOPPED);
    host_attach(MODE);
    HOST_UNTIL(runloop_is_waiting(loop));
    do_on_thread(kill_thread, &self);
    expect_end(RUNLOOP_RESULT_STOPPED);
    pthread_join(helper, NULL);
}

TEST("R37 hosted: a run whose mode the host's code empties is over") {
    loop = runloop_current();
    runloop_source *only = keep_mode(MODE);
    host_attach(MODE);
    HOST_UNTIL(runloop_is_waiting(loop));
    runloop_source_invalidate(only);
    expect_end(RUNLOOP_RESULT_FINISHED);
}

//===-- nothing to do ------------------------------------------------------------------------------------------------===//

TEST("R42 hosted: a loop with nothing to do is not called") {
    int other = make_eventfd(1);
    begin_quietly();
    add_timer(MODE, runloop_now_ns() + 3600 * SECOND, 0, count_fire, &counts[0]);
    host_for(20 * MS);
    dispatches = 0;
    host_for(500 * MS);
    EXPECT_EQ(dispatches, 0);
    // One that is ready for another mode is looked at once.
    add_descriptor(OTHER_MODE, other, RUNLOOP_READABLE, count_and_take, &counts[1]);
    host_for(200 * MS);
    EXPECT(dispatches <= 3);
    EXPECT_EQ(counts[1], 0);
    host_detach();
    EXPECT_EQ(handle_one(OTHER_MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(counts[1], 1);
}

TEST("R83 hosted: timers with a tolerance share a call of the host's") {
    begin_quietly();
    for (int i = 0; i < 10; i++) {
        runloop_timer *timer = make_timer(runloop_now_ns() + (20 + i) * MS, 0, count_fire, &counts[0]);
        runloop_timer_set_tolerance(timer, 200 * MS);
        EXPECT_EQ(runloop_add_timer(loop, timer, MODE), 0);
        runloop_timer_release(timer);
    }
    host_for(5 * MS);
    dispatches = 0;
    HOST_UNTIL(counts[0] == 10);
    EXPECT(dispatches <= 2);
    host_detach();
}

//===-- what observers see -------------------------------------------------------------------------------------------===//

static void stop_loop(runloop_timer *timer, void *info) {
    (void)timer, (void)info;
    trace("fire");
    runloop_stop(loop);
}

TEST("R41 hosted: observers are notified of what a plain run notifies them of") {
    loop = runloop_current();
    trace_activities(MODE);
    keep_mode(MODE);
    add_timer(MODE, runloop_now_ns() + 3 * MS, 0, stop_loop, NULL);
    run_for(MODE, RUNLOOP_FOREVER);
    EXPECT_TRACE("Entry T S W A fire Exit");
    add_timer(MODE, runloop_now_ns() + 3 * MS, 0, stop_loop, NULL);
    host_attach(MODE);
    expect_end(RUNLOOP_RESULT_STOPPED);
    EXPECT_TRACE("Entry T S W A fire Exit");
    host_attach(MODE);
    HOST_UNTIL(runloop_is_waiting(loop));
    host_detach();
    EXPECT_TRACE("Entry T S W A Exit");
}

//===-- runs inside runs ---------------------------------------------------------------------------------------------===//

TEST("R38 hosted: after a plain run that is nested in the host's code, everything still ends the sleep") {
    int descriptor = make_eventfd(0);
    begin_quietly();
    keep_mode(OTHER_MODE);
    add_descriptor(MODE, descriptor, RUNLOOP_READABLE, count_and_take, &counts[0]);
    add_timer(MODE, runloop_now_ns() + 5 * MS, 0, count_fire, &counts[1]);
    HOST_UNTIL(runloop_is_waiting(loop));
    // What is reported during this run is left for the hosted one.
    bump(descriptor);
    EXPECT_EQ(runloop_run_in_mode(OTHER_MODE, 10 * MS, false), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT(counts[0] == 0 && counts[1] == 0);
    EXPECT(runloop_is_waiting(loop) && runloop_current_mode(loop) && strcmp(runloop_current_mode(loop), MODE) == 0);
    HOST_UNTIL(counts[0] == 1 && counts[1] == 1);
    // One that runs the same mode leaves nothing.
    EXPECT_EQ(runloop_post(loop, MODE, count_task, &counts[2], NULL), 0);
    EXPECT_EQ(run_for(MODE, 5 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(counts[2], 1);
    do_on_thread(bump_descriptor, &descriptor);
    HOST_UNTIL(counts[0] == 2);
    pthread_join(helper, NULL);
    host_detach();
}

static void ask_idle_and_work(void) {
    EXPECT(runloop_is_idle(loop));
    EXPECT(!runloop_has_work(MODE));
}

TEST("R38 hosted: questions in the host's code take nothing from the sleep") {
    int descriptor = make_eventfd(0);
    begin_quietly();
    add_descriptor(MODE, descriptor, RUNLOOP_READABLE, count_and_take, &counts[0]);
    HOST_UNTIL(runloop_is_waiting(loop));
    ask_idle_and_work();
    bump(descriptor);
    EXPECT(!runloop_is_idle(loop) && runloop_has_work(MODE));
    HOST_UNTIL(counts[0] == 1);
    host_detach();
}

#if HOST_NESTS
static void *post_later(void *unused) {
    post_burst(NULL);
    return unused;
}

/// A modal dialog: the host's loop runs in one of our call-outs until something posted has been performed.
static void be_modal(void *info) {
    do_on_thread(post_later, info);
    HOST_UNTIL(counts[0] % 100 == 0 && counts[0] > 0);
    pthread_join(helper, NULL);
    counts[1]++;
}

static void be_modal_in_timer(runloop_timer *timer, void *info) {
    (void)timer;
    be_modal(info);
}

static void be_modal_in_observer(runloop_observer *observer, runloop_activity activity, void *info) {
    (void)observer, (void)activity;
    if (counts[1] == 2) // once
        be_modal(info);
}

TEST("R38 hosted: while the host's loop runs inside a call-out, the mode is served, without a spin") {
    begin_quietly();
    EXPECT_EQ(runloop_post(loop, MODE, be_modal, NULL, NULL), 0);
    HOST_UNTIL(counts[1] == 1);
    EXPECT(dispatches < 150); // at most one for each post
    counts[0] = 0;
    add_timer(MODE, runloop_now_ns() + MS, 0, be_modal_in_timer, NULL);
    HOST_UNTIL(counts[1] == 2);
    counts[0] = 0;
    runloop_observer *observer = make_observer(RUNLOOP_ACTIVITY_BEFORE_WAITING, be_modal_in_observer, NULL);
    EXPECT_EQ(runloop_add_observer(loop, observer, MODE), 0);
    runloop_wake_up(loop);
    HOST_UNTIL(counts[1] == 3);
    runloop_observer_invalidate(observer);
    runloop_observer_release(observer);
    counts[0] = 0;
    do_on_thread(post_burst, NULL);
    HOST_UNTIL(counts[0] == 100);
    pthread_join(helper, NULL);
    dispatches = 0;
    host_for(100 * MS);
    EXPECT(dispatches <= 2);
    host_detach();
}

static void count_in_timer(runloop_timer *timer, void *unused) {
    (void)timer, (void)unused;
    counts[0]++;
}

static void add_timer_and_be_modal(void *info) {
    add_timer(MODE, runloop_now_ns() + MS, 0, count_in_timer, info);
    HOST_UNTIL(counts[0] == 1);
    counts[1]++;
}

TEST("R38 hosted: the mode is served inside a call-out of the first iteration, too") {
    loop = runloop_current();
    keep_mode(MODE);
    EXPECT_EQ(runloop_perform(loop, MODE, add_timer_and_be_modal, NULL, NULL), 0);
    host_attach(MODE);
    HOST_UNTIL(counts[1] == 1);
    host_detach();
}

static void be_modal_without_memory(void *unused) {
    (void)unused;
    callocs_to_fail = 3;
    EXPECT_EQ(runloop_post(loop, MODE, count_task, &counts[0], NULL), 0);
    HOST_UNTIL(counts[0] == 1);
    EXPECT_EQ(callocs_to_fail, 0);
    counts[1]++;
}

TEST("R121 hosted: memory that runs out while the host's loop runs inside a call-out does not end the run") {
    begin_quietly();
    EXPECT_EQ(runloop_post(loop, MODE, be_modal_without_memory, NULL, NULL), 0);
    HOST_UNTIL(counts[1] == 1);
    do_on_thread(add_timer_from_thread, NULL);
    HOST_UNTIL(counts[2] == 1);
    pthread_join(helper, NULL);
    host_detach();
}

static void be_modal_in_emptied_mode(void *descriptor) {
    // Nothing is left in the mode, and what is ready is another mode's.
    runloop_source_invalidate(signalled);
    bump(*(int *)descriptor);
    dispatches = 0;
    host_for(100 * MS);
    EXPECT(dispatches <= 5);
    counts[1]++;
}

static void count_ready(runloop_source *source, runloop_readiness events, void *info) {
    (void)source, (void)events;
    ++*(int *)info;
}

static void be_modal_and_stop(void *descriptor) {
    // The mode is served as before, and the run around this call-out ends after it.
    EXPECT_EQ(runloop_stop(loop), 0);
    bump(*(int *)descriptor);
    HOST_UNTIL(counts[0] == 1);
    EXPECT_EQ(runloop_post(loop, MODE, count_task, &counts[2], NULL), 0);
    HOST_UNTIL(counts[2] == 1);
    EXPECT_EQ(runloop_stop(loop), 0);
    bump(*(int *)descriptor);
    add_timer(MODE, runloop_now_ns() + 5 * MS, 0, count_fire, &counts[3]);
    HOST_UNTIL(counts[0] == 2 && counts[3] == 1);
}

TEST("R38 hosted: the host's loop inside a call-out does not spin for an emptied mode") {
    int other = make_eventfd(0);
    loop = runloop_current();
    signalled = keep_mode(MODE);
    runloop_source *elsewhere = add_descriptor(OTHER_MODE, other, RUNLOOP_READABLE, count_and_take, &counts[3]);
    host_attach(MODE);
    EXPECT_EQ(runloop_post(loop, MODE, be_modal_in_emptied_mode, &other, NULL), 0);
    expect_end(RUNLOOP_RESULT_FINISHED);
    EXPECT_EQ(counts[1], 1);
    EXPECT_EQ(handle_one(OTHER_MODE), RUNLOOP_RESULT_HANDLED_SOURCE);
    EXPECT_EQ(counts[3], 1);
    (void)elsewhere;
}

TEST("R46 R69 hosted: a stop in the host's loop inside a call-out loses no event of the mode") {
    int descriptor = make_eventfd(0);
    begin_quietly();
    runloop_source *counter = make_counter(descriptor, count_ready, &counts[0]);
    EXPECT_EQ(runloop_add_source(loop, counter, MODE), 0);
    EXPECT_EQ(runloop_post(loop, MODE, be_modal_and_stop, &descriptor, NULL), 0);
    expect_end(RUNLOOP_RESULT_STOPPED);
    EXPECT_EQ(counts[3], 1);
    runloop_source_release(counter);
}
#endif

//===-- descriptors --------------------------------------------------------------------------------------------------===//

TEST("R73 hosted: the descriptor still works after the loop's set was made anew") {
    int ends[2], descriptor = make_eventfd(0);
    begin_quietly();
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
    runloop_source *source = add_descriptor(MODE, ends[0], RUNLOOP_READABLE, trace_ready, "readable");
    REQUIRE(dup(ends[0]) >= 0);
    close(ends[0]);
    REQUIRE(write(ends[1], "x", 1) == 1);
    runloop_source_invalidate(source);
    host_for(20 * MS);
    EXPECT_TRACE("");
    add_descriptor(MODE, descriptor, RUNLOOP_READABLE, count_and_take, &counts[0]);
    do_on_thread(bump_descriptor, &descriptor);
    HOST_UNTIL(counts[0] == 1);
    pthread_join(helper, NULL);
    do_on_thread(add_timer_from_thread, NULL);
    HOST_UNTIL(counts[2] == 1);
    pthread_join(helper, NULL);
    host_detach();
}

TEST("R38 hosted: a run can be ended and begun again, and plain runs come in between") {
    begin_quietly();
    for (int i = 0; i < 3; i++) {
        host_detach();
        EXPECT_EQ(runloop_hosted_end(), -EINVAL);
        EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
        host_attach(MODE);
        counts[0] = 0;
        do_on_thread(post_burst, NULL);
        HOST_UNTIL(counts[0] == 100);
        pthread_join(helper, NULL);
    }
    host_detach();
}

//===-- ends of threads and processes --------------------------------------------------------------------------------===//

static void *end_while_hosted(void *reference) {
    loop = runloop_current();
    *(runloop **)reference = runloop_retain(loop);
    keep_mode(MODE);
    host_attach(MODE);
    HOST_UNTIL(runloop_is_waiting(loop));
    return NULL;
}

TEST("R8 hosted: a thread may end while its loop is hosted") {
    runloop *ended = NULL;
    on_new_thread(end_while_hosted, &ended);
    EXPECT_EQ(runloop_post(ended, MODE, count_task, &counts[0], NULL), -ESHUTDOWN);
    EXPECT(!runloop_is_waiting(ended));
    runloop_release(ended);
}

static void fork_in_callout(void *status) {
    pid_t child = fork();
    if (child == 0) {
        EXPECT_EQ(runloop_hosted_iterate(0), -EINVAL);
        runloop *own = runloop_current();
        EXPECT(own && own != loop);
        keep_mode(MODE);
        EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
        _exit(test_failures != 0);
    }
    waitpid(child, status, 0);
    counts[0]++;
}

TEST("R123 hosted: a call-out may fork, and the parent's run goes on") {
    int status = -1;
    begin_quietly();
    EXPECT_EQ(runloop_post(loop, MODE, fork_in_callout, &status, NULL), 0);
    HOST_UNTIL(counts[0] == 1);
    EXPECT_EQ(status, 0);
    do_on_thread(add_timer_from_thread, NULL);
    HOST_UNTIL(counts[2] == 1);
    pthread_join(helper, NULL);
    host_detach();
}

#ifdef HOST_HAS_MAIN_QUEUE
#include "host_main_queue.h"
#endif
