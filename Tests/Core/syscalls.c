// syscalls.c — how many system calls a loop makes.
#include "system_calls.h"

#include <sys/epoll.h>
#include <sys/syscall.h>

enum { ROUNDS = 200, BUSY_ROUNDS = 2000 };

static runloop *loops[2];
static pid_t thread_of_loop;
static int rounds;

//===-- wake-ups of a sleeping loop ----------------------------------------------------------------------------------===//

static void count_round(void *loop) {
    int round = __atomic_add_fetch(&rounds, 1, __ATOMIC_ACQ_REL);
    if (round == 1)
        begin_counting();
    if (round > ROUNDS) {
        end_counting();
        runloop_stop(loop);
    }
}

static void nothing(void *info) {
    (void)info;
}

static void stop_counting(void *info) {
    (void)info;
    end_counting();
    runloop_stop(runloop_current());
}

static void *run_until_stopped(void *number) {
    keep_mode(MODE);
    thread_of_loop = (pid_t)syscall(SYS_gettid);
    // Other threads use the loop until it stops and a little longer, so they need a reference.
    __atomic_store_n(&loops[(intptr_t)number], runloop_retain(runloop_current()), __ATOMIC_RELEASE);
    EXPECT_EQ(run_for(MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_STOPPED);
    return NULL;
}

static void wake_up_in(void *(*body)(void *)) {
    pthread_t thread;
    loops[0] = NULL;
    rounds = 0;
    REQUIRE(pthread_create(&thread, NULL, body, NULL) == 0);
    WAIT_UNTIL(__atomic_load_n(&loops[0], __ATOMIC_ACQUIRE));
    for (int i = 0; i <= ROUNDS; i++) {
        // Not on its way there, where a wake-up may cost the loop another question.
        WAIT_UNTIL(sleeps(loops[0], thread_of_loop));
        EXPECT_EQ(runloop_post(loops[0], MODE, count_round, loops[0], NULL), 0);
        WAIT_UNTIL(__atomic_load_n(&rounds, __ATOMIC_ACQUIRE) == i + 1);
    }
    REQUIRE(pthread_join(thread, NULL) == 0);
    runloop_release(loops[0]);
}

static void wake_up_again_and_again(void) {
    wake_up_in(run_until_stopped);
}

TEST("R50 each wake-up of a sleeping loop costs one wait, and at most one more call") {
    need_proc();
    struct system_calls calls = count_system_calls(wake_up_again_and_again);
    EXPECT_EQ(calls.own_waits, calls.are_counted ? ROUNDS : 0);
    EXPECT(calls.own <= 2 * ROUNDS);
}

//===-- wake-ups of a host -------------------------------------------------------------------------------------------===//

static bool watches_more;

/// Until the run ends, for whatever reason.
static void host(int host_set) {
    int descriptor = runloop_hosted_descriptor();
    struct epoll_event event = {.events = EPOLLIN};
    REQUIRE(epoll_ctl(host_set, EPOLL_CTL_ADD, descriptor, &event) == 0);
    for (int result = runloop_hosted_begin(MODE); result == 0 || result == -EAGAIN;) {
        REQUIRE(epoll_wait(host_set, &event, 1, -1) == 1);
        result = runloop_hosted_iterate(SECOND);
    }
    close(host_set);
}

static void *host_until_stopped(void *number) {
    keep_mode(MODE);
    thread_of_loop = (pid_t)syscall(SYS_gettid);
    if (watches_more) {
        add_timer(MODE, runloop_now_ns() + 1000 * SECOND, 0, NULL, NULL);
        add_descriptor(MODE, make_eventfd(0), RUNLOOP_READABLE, NULL, NULL);
    }
    __atomic_store_n(&loops[(intptr_t)number], runloop_retain(runloop_current()), __ATOMIC_RELEASE);
    host(epoll_create1(EPOLL_CLOEXEC));
    return NULL;
}

static void wake_up_host_again_and_again(void) {
    wake_up_in(host_until_stopped);
}

TEST("R50 R104 each wake-up of a host costs its wait, a write, and one call more") {
    need_proc();
    for (int i = 0; i < 2; i++, watches_more = true) {
        struct system_calls calls = count_system_calls(wake_up_host_again_and_again);
        // A post that comes as the host is about to sleep may cost the loop a write instead of the host's wait.
        EXPECT(calls.own <= 2 * ROUNDS + ROUNDS / 10);
        EXPECT(calls.writes + calls.waits <= 3 * ROUNDS + ROUNDS / 10);
        EXPECT(!calls.are_counted || calls.waits >= ROUNDS);
    }
}

static void take_and_put(runloop_source *source, runloop_readiness reasons, void *info) {
    (void)reasons, (void)info;
    int descriptor = runloop_source_get_descriptor(source);
    take(descriptor);
    if (++rounds == ROUNDS) {
        end_counting();
        runloop_stop(runloop_current());
    } else {
        if (rounds == 1)
            begin_counting();
        bump(descriptor);
    }
}

static void serve_descriptor_in_host(void) {
    rounds = 0;
    if (watches_more)
        add_timer(MODE, runloop_now_ns() + 1000 * SECOND, 0, NULL, NULL);
    add_descriptor(MODE, make_eventfd(1), RUNLOOP_READABLE, take_and_put, NULL);
    host(epoll_create1(EPOLL_CLOEXEC));
}

TEST("R73 a ready descriptor costs a hosted loop the question before its sleep, and nothing is written") {
    for (int i = 0; i < 2; i++) {
        watches_more = i;
        struct system_calls calls = count_system_calls(serve_descriptor_in_host);
        // The source's own calls are a read and a write. When its time is up, the host is notified, and waits.
        EXPECT(calls.writes <= ROUNDS + ROUNDS / 10);
        EXPECT(calls.waits <= ROUNDS + ROUNDS / 10);
    }
}

static void count_firing(runloop_timer *timer, void *info) {
    (void)timer, (void)info;
    if (++rounds == 1)
        begin_counting();
    if (rounds == ROUNDS) {
        end_counting();
        runloop_stop(runloop_current());
    }
}

static void repeat_timer(bool is_hosted) {
    rounds = 0;
    // Not due at once, so that there is a descriptor to arm before the first firing.
    runloop_timer *timer = add_timer(MODE, runloop_now_ns() + SECOND / 1000, SECOND / 1000, count_firing, NULL);
    if (is_hosted)
        host(epoll_create1(EPOLL_CLOEXEC));
    else
        EXPECT_EQ(run_for(MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_STOPPED);
    EXPECT_EQ(rounds, ROUNDS);
    // Where nothing is counted, both scenes are in one process.
    runloop_timer_invalidate(timer);
}

static void repeat_timer_here(void) {
    repeat_timer(false);
}

static void repeat_timer_in_host(void) {
    repeat_timer(true);
}

TEST("R80 a timer that repeats is armed once for each firing, and costs a wait; a host three, and a write") {
    struct system_calls calls = count_system_calls(repeat_timer_here);
    EXPECT(calls.rest <= ROUNDS + ROUNDS / 10);
    EXPECT(calls.waits <= ROUNDS + ROUNDS / 10);
    EXPECT_EQ(calls.writes, 0);
    calls = count_system_calls(repeat_timer_in_host);
    EXPECT(calls.rest <= ROUNDS + ROUNDS / 10);
    EXPECT(calls.waits <= 3 * ROUNDS + ROUNDS / 10);
    EXPECT(calls.writes <= ROUNDS + ROUNDS / 10);
}

static void post_burst(void *info) {
    begin_counting();
    for (int i = 0; i < BUSY_ROUNDS; i++)
        EXPECT_EQ(runloop_post(loops[0], MODE, nothing, NULL, NULL), 0);
    EXPECT_EQ(runloop_post(loops[0], MODE, stop_counting, NULL, NULL), 0);
    (void)info;
}

static void post_burst_in_host(void) {
    loops[0] = runloop_current();
    keep_mode(MODE);
    EXPECT_EQ(runloop_post(loops[0], MODE, post_burst, NULL, NULL), 0);
    host(epoll_create1(EPOLL_CLOEXEC));
}

TEST("R104 a burst of posts to a hosted loop that is awake writes once") {
    struct system_calls calls = count_system_calls(post_burst_in_host);
    EXPECT(calls.writes <= 1);
    EXPECT_EQ(calls.waits, 0);
}

//===-- iterations without a sleep -----------------------------------------------------------------------------------===//

static void signal_again(runloop_source *source, void *info) {
    (void)info;
    if (++rounds == BUSY_ROUNDS / 2) // Memory is allocated and caches are warm by now.
        begin_counting();
    if (rounds == BUSY_ROUNDS) {
        end_counting();
        runloop_stop(runloop_current());
        return;
    }
    runloop_source_signal(source);
    runloop_post(runloop_current(), MODE, nothing, NULL, NULL);
    runloop_perform(runloop_current(), MODE, nothing, NULL, NULL);
}

static void iterate_without_sleep(void) {
    runloop_source_signal(add_source(MODE, signal_again, NULL));
    add_timer(MODE, runloop_now_ns() + 1000 * SECOND, 0, NULL, NULL);
    EXPECT_EQ(run_for(MODE, 2000 * SECOND), RUNLOOP_RESULT_STOPPED);
    EXPECT_EQ(rounds, BUSY_ROUNDS);
}

TEST("R64 R103 iterations with only signalled sources and tasks make no system call") {
    EXPECT_EQ(count_system_calls(iterate_without_sleep).own, 0);
}

//===-- nothing to do ------------------------------------------------------------------------------------------------===//

static void be_idle(void) {
    struct worker worker = {0};
    start_worker(&worker);
    runloop_timer *timer = make_timer(runloop_now_ns() + 1000 * SECOND, 0, NULL, NULL);
    runloop_source *source = make_descriptor(make_eventfd(0), RUNLOOP_READABLE, NULL, NULL);
    EXPECT_EQ(runloop_add_timer(worker.loop, timer, MODE), 0);
    EXPECT_EQ(runloop_add_source(worker.loop, source, MODE), 0);
    wait_for_sleep(&worker);
    begin_counting();
    sleep(5);
    end_counting();
    stop_worker(&worker);
    runloop_timer_release(timer);
    runloop_source_release(source);
}

TEST("R41 an idle loop makes no system call in five seconds") {
    need_proc();
    EXPECT_EQ(count_system_calls(be_idle).others, 0);
}

static void *ask_about_main_loop(void *main) {
    // Which thread this is, is asked once.
    EXPECT(runloop_needs_wake_up(main));
    begin_counting();
    for (int i = 0; i < 1000; i++)
        EXPECT(runloop_needs_wake_up(main) && !runloop_is_current(main));
    end_counting();
    return NULL;
}

static void ask_from_thread(void) {
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, ask_about_main_loop, runloop_main()) == 0);
    pthread_join(thread, NULL);
}

TEST("R6 R104 a thread without a loop asks about the main loop without a system call") {
    // The other thread may begin to wait for this one meanwhile.
    EXPECT_EQ(count_system_calls(ask_from_thread).own, 0);
}

//===-- two loops that post to each other ----------------------------------------------------------------------------===//

static void ping(void *info);

static void pong(void *info) {
    EXPECT_EQ(runloop_post(loops[0], MODE, ping, info, NULL), 0);
}

static void ping(void *info) {
    if (rounds == 0)
        begin_counting();
    if (rounds++ == ROUNDS) {
        end_counting();
        runloop_stop(loops[0]);
        runloop_stop(loops[1]);
        return;
    }
    EXPECT_EQ(runloop_post(loops[1], MODE, pong, info, NULL), 0);
}

static void post_to_each_other(void) {
    pthread_t threads[2];
    for (intptr_t i = 0; i < 2; i++) {
        REQUIRE(pthread_create(&threads[i], NULL, run_until_stopped, (void *)i) == 0);
        WAIT_UNTIL(__atomic_load_n(&loops[i], __ATOMIC_ACQUIRE));
    }
    WAIT_UNTIL(runloop_is_waiting(loops[1]));
    EXPECT_EQ(runloop_post(loops[0], MODE, ping, NULL, NULL), 0);
    for (int i = 0; i < 2; i++)
        REQUIRE(pthread_join(threads[i], NULL) == 0);
    for (int i = 0; i < 2; i++)
        runloop_release(loops[i]);
}

TEST("R104 a round trip between two sleeping loops costs two writes and two waits, and no other call but for locks") {
    struct system_calls calls = count_system_calls(post_to_each_other);
    EXPECT(calls.writes <= 2 * ROUNDS);
    EXPECT(calls.waits <= 2 * ROUNDS + 2);
    EXPECT(calls.rest <= 4);
    EXPECT(!calls.are_counted || calls.waits >= ROUNDS);
}
