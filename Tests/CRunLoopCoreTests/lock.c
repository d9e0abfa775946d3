// lock.c — the lock of a loop, by itself: this program is built with its own copy of it, whose bias comes and goes quickly.
#define LOCK_TAKES_BEFORE_BIAS 3
#define runloop__lock_init tested_lock_init
#define runloop__lock_take_later tested_lock_take_later
#define runloop__lock_wake_one tested_lock_wake_one
#define runloop__lock_revoke tested_lock_revoke
#define runloop__lock_take_without_bias tested_lock_take_without_bias
#define runloop__lock_wake_revoker tested_lock_wake_revoker
#include "../../Sources/CRunLoopCore/src/lock.c"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>

#include "test.h"

static struct lock lock;

static void own_pair(void) {
    lock_take_own(&lock);
    lock_give_own(&lock);
}

static void foreign_pair(void) {
    lock_take_foreign(&lock);
    lock_give_foreign(&lock);
}

static void *foreign_pair_on_thread(void *unused) {
    foreign_pair();
    return unused;
}

TEST("alone with its lock, a thread takes it by bias and leaves the word alone") {
    runloop__lock_init(&lock);
    REQUIRE(lock.bias == LOCK_BIASED);
    lock_take_own(&lock);
    EXPECT_EQ(lock.word, LOCK_FREE);
    EXPECT(lock.inside);
    lock_give_own(&lock);
    EXPECT(!lock.inside);
}

TEST("another thread ends the bias, and it comes back when the own thread has been alone for a while") {
    runloop__lock_init(&lock);
    on_new_thread(foreign_pair_on_thread, NULL);
    EXPECT_EQ(lock.bias, LOCK_SHARED);
    for (int i = 1; i < LOCK_TAKES_BEFORE_BIAS; i++) {
        lock_take_own(&lock);
        EXPECT_EQ(lock.word, LOCK_HELD);
        EXPECT(!lock.inside);
        lock_give_own(&lock);
        EXPECT_EQ(lock.bias, LOCK_SHARED);
    }
    lock_take_own(&lock);
    EXPECT_EQ(lock.bias, LOCK_BIASED);
    EXPECT(lock.inside);
    lock_give_own(&lock);
    EXPECT_EQ(lock.word, LOCK_FREE);
}

TEST("another thread in between starts the count anew") {
    runloop__lock_init(&lock);
    on_new_thread(foreign_pair_on_thread, NULL);
    for (int round = 0; round < 5; round++) {
        for (int i = 1; i < LOCK_TAKES_BEFORE_BIAS; i++)
            own_pair();
        EXPECT_EQ(lock.bias, LOCK_SHARED);
        on_new_thread(foreign_pair_on_thread, NULL);
    }
}

//===-- together -----------------------------------------------------------------------------------------------------===//

static _Atomic pid_t waiter;
static _Atomic bool is_in;

static void *take_and_tell(void *unused) {
    waiter = (pid_t)syscall(SYS_gettid);
    lock_take_foreign(&lock);
    is_in = true;
    lock_give_foreign(&lock);
    return unused;
}

TEST("who revokes the bias sleeps until the own thread has left") {
    runloop__lock_init(&lock);
    lock_take_own(&lock);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, take_and_tell, NULL) == 0);
    WAIT_UNTIL(lock.bias == LOCK_REVOKING && thread_is_asleep(waiter));
    EXPECT(!is_in);
    lock_give_own(&lock);
    WAIT_UNTIL(is_in);
    pthread_join(thread, NULL);
}

static void *take_own_and_tell(void *unused) {
    waiter = (pid_t)syscall(SYS_gettid);
    lock_take_own(&lock);
    is_in = true;
    lock_give_own(&lock);
    return unused;
}

TEST("the own thread sleeps until who revoked its bias has left") {
    runloop__lock_init(&lock);
    lock_take_foreign(&lock);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, take_own_and_tell, NULL) == 0);
    WAIT_UNTIL(waiter && thread_is_asleep(waiter));
    EXPECT(!is_in);
    lock_give_foreign(&lock);
    pthread_join(thread, NULL);
    EXPECT(is_in);
}

static _Atomic bool own_thread_is_done;
enum { ROUNDS = 100000, FOREIGN_ROUNDS = ROUNDS / 4 };
static uint64_t guarded[2];

/// What two threads do together is seen: the sum would be wrong, the halves differ, and the thread sanitizer would tell.
static void change_what_is_guarded(void) {
    REQUIRE(guarded[0] == guarded[1]);
    guarded[0]++;
    guarded[1]++;
}

static void *contend(void *pause) {
    for (int i = 0; i < FOREIGN_ROUNDS; i++) {
        lock_take_foreign(&lock);
        change_what_is_guarded();
        lock_give_foreign(&lock);
        // Now and then the own thread is to have its bias back.
        while (pause && i % 8 == 0 && lock.bias != LOCK_BIASED && !own_thread_is_done)
            sched_yield();
    }
    return NULL;
}

static void stress(bool pause) {
    runloop__lock_init(&lock);
    guarded[0] = guarded[1] = 0;
    own_thread_is_done = false;
    pthread_t others[2];
    for (int i = 0; i < 2; i++)
        REQUIRE(pthread_create(&others[i], NULL, contend, pause ? &lock : NULL) == 0);
    for (int i = 0; i < ROUNDS; i++) {
        lock_take_own(&lock);
        change_what_is_guarded();
        lock_give_own(&lock);
    }
    own_thread_is_done = true;
    for (int i = 0; i < 2; i++)
        pthread_join(others[i], NULL);
    EXPECT_EQ(guarded[0], ROUNDS + 2 * FOREIGN_ROUNDS);
}

TEST("only one is inside, whoever comes and however often the bias changes") {
    stress(false);
    stress(true);
}

//===-- the kernel ---------------------------------------------------------------------------------------------------===//

TEST("without the kernel's barrier there is no bias, and the lock is one all the same") {
    may_be_biased = false;
    stress(false);
    EXPECT_EQ(lock.bias, LOCK_SHARED);
}

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
    REQUIRE(!membarrier(BARRIER_ON_THREADS) && errno == EPERM);
}

TEST("a process that shuts itself out from the barrier later can still revoke a bias") {
    runloop__lock_init(&lock);
    refuse_barriers_from_now_on();
    on_new_thread(foreign_pair_on_thread, NULL);
    EXPECT_EQ(lock.bias, LOCK_SHARED);
}

static void do_nothing(int signal) {
    (void)signal;
}

static void *revoke_and_tell_how_long(void *duration_ns) {
    int64_t start_ns = runloop_now_ns();
    foreign_pair();
    *(int64_t *)duration_ns = runloop_now_ns() - start_ns;
    is_in = true;
    // There until it has been told that no more signals come.
    WAIT_UNTIL(!is_in);
    return NULL;
}

TEST("what stands for the barrier then is not cut short by signals") {
    runloop__lock_init(&lock);
    refuse_barriers_from_now_on();
    REQUIRE(signal(SIGUSR1, do_nothing) != SIG_ERR);
    int64_t duration_ns = 0;
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, revoke_and_tell_how_long, &duration_ns) == 0);
    WAIT_UNTIL((pthread_kill(thread, SIGUSR1), is_in));
    is_in = false;
    pthread_join(thread, NULL);
    EXPECT(duration_ns >= 20 * MS);
}

TEST("a forked child's locks have a bias, too") {
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        runloop__lock_init(&lock);
        REQUIRE(lock.bias == LOCK_BIASED && membarrier(BARRIER_ON_THREADS));
        stress(false);
        _exit(test_failures != 0);
    }
    int status = -1;
    REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
    EXPECT_EQ(status, 0);
}
