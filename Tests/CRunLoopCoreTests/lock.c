// lock.c — the lock of a loop by itself: its word, its bias, and what happens where the kernel refuses the barrier.
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "base/lock.h"
#include "test.h"

static struct lock lock;

static void loop_thread_pair(void) {
    lock_take(&lock);
    lock_give(&lock);
}

/// As a loop does it; in its place, waking the loop's thread is up to the test.
static void take_from_other_thread(void) {
    if (!lock_take_from_other_thread(&lock))
        runloop__lock_await_acknowledgment(&lock);
}

static void other_thread_pair(void) {
    take_from_other_thread();
    lock_give_word(&lock);
}

static void *other_thread_pair_on_thread(void *unused) {
    other_thread_pair();
    return unused;
}

/// Takes it as often as needed for a bias.
static void bias(void) {
    for (uint32_t i = 0; i < lock.takes_before_bias; i++)
        loop_thread_pair();
    REQUIRE(lock.bias == LOCK_BIASED);
}

TEST("a lock is shared at first, and biased when its thread has taken it often enough in a row") {
    runloop__lock_init(&lock);
    for (uint32_t i = 1; i < lock.takes_before_bias; i++) {
        lock_take(&lock);
        EXPECT(lock.bias == LOCK_SHARED && lock.word == LOCK_HELD && !lock.inside);
        lock_give(&lock);
    }
    lock_take(&lock);
    EXPECT(lock.bias == LOCK_BIASED && lock.word == LOCK_FREE && lock.inside);
    lock_give(&lock);
    lock_take(&lock);
    EXPECT(lock.word == LOCK_FREE && lock.inside);
    lock_give(&lock);
    EXPECT(!lock.inside);
}

TEST("another thread in between restarts the count") {
    runloop__lock_init(&lock);
    for (int repetition = 0; repetition < 5; repetition++) {
        for (uint32_t i = 1; i < lock.takes_before_bias; i++)
            loop_thread_pair();
        on_new_thread(other_thread_pair_on_thread, NULL);
        EXPECT_EQ(lock.bias, LOCK_SHARED);
    }
}

TEST(
    "a bias that is revoked soon takes twice as many takes the next time, and after a quiet time as many as at first") {
    runloop__lock_init(&lock);
    uint32_t at_first = lock.takes_before_bias;
    for (uint32_t factor = 1; factor <= 8; factor *= 2) {
        EXPECT_EQ(lock.takes_before_bias, factor * at_first);
        bias();
        lock.biased_ns = runloop_now_ns() + 30 * SECOND; // just now, however long this thread is interrupted
        other_thread_pair();
    }
    bias();
    lock.biased_ns -= SECOND;
    other_thread_pair();
    EXPECT_EQ(lock.takes_before_bias, at_first);
}

TEST("a lock whose bias was ended gets none any more") {
    runloop__lock_init(&lock);
    bias();
    lock_end_bias(&lock);
    for (int i = 0; i < 1000; i++)
        loop_thread_pair();
    EXPECT_EQ(lock.bias, LOCK_SHARED);
}

//===-- two threads --------------------------------------------------------------------------------------------------===//

static _Atomic pid_t waiter;
static _Atomic bool is_in;

static void *take_and_tell(void *unused) {
    waiter = (pid_t)syscall(SYS_gettid);
    take_from_other_thread();
    is_in = true;
    lock_give_word(&lock);
    return unused;
}

TEST("a thread that revokes the bias sleeps until the loop's thread has left") {
    runloop__lock_init(&lock);
    bias();
    lock_take(&lock);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, take_and_tell, NULL) == 0);
    WAIT_UNTIL(lock.bias == LOCK_REVOKING && thread_is_asleep(waiter));
    EXPECT(!is_in);
    lock_give(&lock);
    WAIT_UNTIL(is_in);
    pthread_join(thread, NULL);
}

static void *take_as_loop_thread_and_tell(void *unused) {
    waiter = (pid_t)syscall(SYS_gettid);
    lock_take(&lock);
    is_in = true;
    lock_give(&lock);
    return unused;
}

TEST("the loop's thread sleeps until the thread that revoked its bias has left") {
    runloop__lock_init(&lock);
    bias();
    take_from_other_thread();
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, take_as_loop_thread_and_tell, NULL) == 0);
    WAIT_UNTIL(waiter && thread_is_asleep(waiter));
    EXPECT(!is_in);
    lock_give_word(&lock);
    pthread_join(thread, NULL);
    EXPECT(is_in);
}

static _Atomic bool loop_thread_is_done;
enum { PAIRS = 100000, OTHER_PAIRS = PAIRS / 4 };
static uint64_t guarded[2];

/// If two threads are ever inside together, the sum is wrong, the halves differ, and the thread sanitizer reports it.
static void change_what_is_guarded(void) {
    REQUIRE(guarded[0] == guarded[1]);
    guarded[0]++;
    guarded[1]++;
}

static void *contend(void *waits_for_bias) {
    for (int i = 0; i < OTHER_PAIRS; i++) {
        take_from_other_thread();
        change_what_is_guarded();
        lock.takes_before_bias = 3; // so that the bias keeps coming back
        lock_give_word(&lock);
        while (waits_for_bias && i % 8 == 0 && lock.bias != LOCK_BIASED && !loop_thread_is_done)
            sched_yield();
    }
    return NULL;
}

static void stress(bool waits_for_bias) {
    runloop__lock_init(&lock);
    guarded[0] = guarded[1] = 0;
    loop_thread_is_done = false;
    pthread_t others[2];
    for (int i = 0; i < 2; i++)
        REQUIRE(pthread_create(&others[i], NULL, contend, waits_for_bias ? &lock : NULL) == 0);
    for (int i = 0; i < PAIRS; i++) {
        lock_take(&lock);
        change_what_is_guarded();
        lock_give(&lock);
    }
    loop_thread_is_done = true;
    for (int i = 0; i < 2; i++)
        pthread_join(others[i], NULL);
    EXPECT_EQ(guarded[0], PAIRS + 2 * OTHER_PAIRS);
}

TEST("only one thread is inside, whichever threads come and however often the bias changes") {
    stress(false);
    stress(true);
}

//===-- the kernel ---------------------------------------------------------------------------------------------------===//

static void refuse_barriers_from_now_on(void) {
    struct sock_filter refuse_barriers[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = 4, .filter = refuse_barriers};
    REQUIRE(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    REQUIRE(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

TEST("where the kernel refuses barriers there is no bias, and the lock still excludes") {
    refuse_barriers_from_now_on();
    stress(false);
    EXPECT_EQ(lock.bias, LOCK_SHARED);
}

static void take_where_barriers_are_refused(bool loop_thread_is_inside) {
    runloop__lock_init(&lock);
    bias();
    refuse_barriers_from_now_on();
    if (loop_thread_is_inside)
        lock_take(&lock);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, take_and_tell, NULL) == 0);
    WAIT_UNTIL(lock.bias == LOCK_REVOKING && thread_is_asleep(waiter));
    EXPECT(!is_in);
    if (loop_thread_is_inside)
        lock_give(&lock);
    // The next take is the acknowledgment, and waits for the other thread to leave.
    loop_thread_pair();
    EXPECT(is_in);
    pthread_join(thread, NULL);
    for (int i = 0; i < 1000; i++)
        loop_thread_pair();
    EXPECT_EQ(lock.bias, LOCK_SHARED);
}

TEST("a bias that is revoked without a barrier lasts until the loop's thread takes the lock again") {
    take_where_barriers_are_refused(false);
}

TEST("a bias that is revoked without a barrier lasts until the loop's thread has left and takes the lock again") {
    take_where_barriers_are_refused(true);
}

TEST("a loop's thread that ends acknowledges a revocation, and the other thread has the lock") {
    runloop__lock_init(&lock);
    bias();
    refuse_barriers_from_now_on();
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, take_and_tell, NULL) == 0);
    WAIT_UNTIL(lock.bias == LOCK_REVOKING && thread_is_asleep(waiter));
    lock_end_bias(&lock);
    pthread_join(thread, NULL);
    EXPECT(is_in);
}

static void *use_loop(void *loop) {
    EXPECT(!runloop_contains_timer(loop, NULL, "mode"));
    runloop_timer *timer = NULL;
    runloop_timer_config config = {.fire_ns = RUNLOOP_NEVER};
    REQUIRE(runloop_timer_create(&config, &timer) == 0);
    EXPECT_EQ(runloop_add_timer(loop, timer, "mode"), 0);
    runloop_timer_invalidate(timer);
    runloop_timer_release(timer);
    runloop_stop_latched(loop);
    return NULL;
}

TEST("a loop that sleeps is woken for an acknowledgment where barriers are refused") {
    runloop *loop = runloop_current();
    runloop_timer *timer = NULL;
    runloop_timer_config config = {.fire_ns = RUNLOOP_NEVER - 1};
    REQUIRE(runloop_timer_create(&config, &timer) == 0);
    REQUIRE(runloop_add_timer(loop, timer, RUNLOOP_DEFAULT_MODE) == 0);
    for (int i = 0; i < 1000; i++)
        runloop_timer_set_fire_date(timer, RUNLOOP_NEVER - 1);
    refuse_barriers_from_now_on();
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, use_loop, loop) == 0);
    EXPECT_EQ(runloop_run(), RUNLOOP_RESULT_STOPPED);
    pthread_join(thread, NULL);
    runloop_timer_release(timer);
}

static void *use_sleeping_loop(void *loop) {
    WAIT_UNTIL(runloop_is_waiting(loop));
    return use_loop(loop);
}

TEST("R52 a loop that sleeps in a mode with nothing but sources is woken for an acknowledgment, too") {
    runloop *loop = runloop_current();
    runloop_source *source = NULL;
    REQUIRE(runloop_source_create(&(runloop_source_config){0}, &source) == 0);
    REQUIRE(runloop_add_source(loop, source, RUNLOOP_DEFAULT_MODE) == 0);
    for (int i = 0; i < 1000; i++)
        runloop_contains_source(loop, source, RUNLOOP_DEFAULT_MODE);
    refuse_barriers_from_now_on();
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, use_sleeping_loop, loop) == 0);
    EXPECT_EQ(runloop_run(), RUNLOOP_RESULT_STOPPED);
    pthread_join(thread, NULL);
    runloop_source_release(source);
}

static runloop *finished_loop;

static void *bias_and_end(void *unused) {
    finished_loop = runloop_retain(runloop_current());
    for (int i = 0; i < 1000; i++)
        runloop_next_fire_date(finished_loop, RUNLOOP_DEFAULT_MODE);
    return unused;
}

TEST("R10 a loop whose thread has ended waits for nobody, where barriers are refused too") {
    on_new_thread(bias_and_end, NULL);
    refuse_barriers_from_now_on();
    runloop_timer *timer = NULL;
    runloop_timer_config config = {.fire_ns = 0};
    REQUIRE(runloop_timer_create(&config, &timer) == 0);
    EXPECT_EQ(runloop_add_timer(finished_loop, timer, RUNLOOP_DEFAULT_MODE), -ESHUTDOWN);
    EXPECT_EQ(runloop_next_fire_date(finished_loop, RUNLOOP_DEFAULT_MODE), RUNLOOP_NEVER);
    runloop_timer_release(timer);
    runloop_release(finished_loop);
}

TEST("the locks of a forked child can be biased too") {
    runloop__lock_init(&lock);
    bias();
    pid_t child = fork();
    if (child == 0) {
        test_end_after(60);
        runloop__lock_init(&lock);
        bias();
        stress(false);
        _exit(test_failures != 0);
    }
    int status = -1;
    REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
    EXPECT_EQ(status, 0);
}
