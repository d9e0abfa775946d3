// signals_former.c — the handling that a signal had before it was caught: masks and flags of handlers, and forked children with the pid of
// their parent.
#include <sched.h>
#include <sys/syscall.h>

#include "linux_items.h"

/// In the place of the C library's: what it says in the first process of a namespace.
static bool is_first_of_namespace;

pid_t getpid(void) {
    return is_first_of_namespace ? 1 : (pid_t)syscall(SYS_getpid);
}

//===-- masks and flags ----------------------------------------------------------------------------------------------===//

static _Atomic int depth, deepest, calls, others_within, others;

/// The first three calls send the signal again.
static void former(int number) {
    int now = ++depth;
    deepest = now > deepest ? now : deepest;
    raise(SIGUSR2);
    if (++calls < 4)
        raise(number);
    depth--;
}

static void count_other(int number) {
    (void)number;
    others++;
    others_within += depth > 0;
}

static void install(int flags, bool masks_other) {
    struct sigaction action = {.sa_handler = former, .sa_flags = flags};
    sigemptyset(&action.sa_mask);
    if (masks_other)
        sigaddset(&action.sa_mask, SIGUSR2);
    REQUIRE(sigaction(SIGUSR1, &action, NULL) == 0);
    signal(SIGUSR2, count_other);
    calls = deepest = others = others_within = 0;
}

/// Sends the signal, while it is caught or not: that makes no difference for its handler.
static void expect_calls(bool is_caught, int expected_calls, int expected_depth, bool masks_other) {
    struct tally tally = {0};
    runloop_signal *signal = is_caught ? add_signal(MODE, SIGUSR1, &tally) : NULL;
    raise(SIGUSR1);
    EXPECT_EQ(calls, expected_calls);
    EXPECT_EQ(deepest, expected_depth);
    EXPECT(others > 0 && (others_within > 0) == !masks_other);
    if (!signal)
        return;
    RUN_UNTIL(MODE, tally.arrivals > 0);
    end_source(signal);
}

TEST("a former handler runs with its mask and SA_NODEFER, as it did alone") {
    // That sanitizer has a handler of its own, which blocks every signal while ours run.
    for (int is_caught = 0; is_caught < 2 && !UNDER_THREAD_SANITIZER; is_caught++) {
        install(SA_RESTART, true);
        expect_calls(is_caught, 4, 1, true);
        struct sigaction restored = action_of(SIGUSR1);
        EXPECT_EQ(sigismember(&restored.sa_mask, SIGUSR2), 1);
        install(SA_RESTART, false);
        expect_calls(is_caught, 4, 1, false);
        install(SA_NODEFER, false);
        expect_calls(is_caught, 4, 4, false);
        install(SA_NODEFER, true);
        expect_calls(is_caught, 4, 4, true);
    }
}

static int repeated;

static void count_call(int number) {
    (void)number;
    repeated++;
}

static void install_once(void) {
    struct sigaction action = {.sa_handler = count_call, .sa_flags = SA_RESETHAND};
    REQUIRE(sigaction(SIGUSR1, &action, NULL) == 0);
    repeated = 0;
}

TEST("a former handler with SA_RESETHAND is called once, and then the default action is what is restored") {
    install_once();
    struct tally tally = {0};
    runloop_signal *signal = add_signal(MODE, SIGUSR1, &tally);
    for (int i = 0; i < 3; i++)
        raise(SIGUSR1);
    RUN_UNTIL(MODE, tally.arrivals == 3);
    EXPECT_EQ(repeated, 1);
    end_source(signal);
    EXPECT(action_of(SIGUSR1).sa_handler == SIG_DFL);
    // One that was not called comes back as it was, and begins anew.
    for (int i = 1; i <= 2; i++) {
        install_once();
        end_source(add_signal(MODE, SIGUSR1, &tally));
        EXPECT(action_of(SIGUSR1).sa_handler == count_call && (action_of(SIGUSR1).sa_flags & SA_RESETHAND));
        raise(SIGUSR1);
        EXPECT_EQ(repeated, 1);
        EXPECT(action_of(SIGUSR1).sa_handler == SIG_DFL);
    }
}

static void be_called_once(void) {
    raise(SIGUSR1);
    EXPECT_EQ(repeated, 1);
    EXPECT(action_of(SIGUSR1).sa_handler == SIG_DFL);
}

TEST("in a forked child such a handler is called once, unless its parent's call was the one") {
    install_once();
    struct tally tally = {0};
    runloop_signal *signal = add_signal(MODE, SIGUSR1, &tally);
    EXPECT_EQ(status_of_child(be_called_once), 0);
    raise(SIGUSR1);
    EXPECT_EQ(repeated, 1);
    pid_t child = fork();
    if (child == 0) {
        raise(SIGUSR1);
        _exit(1);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR1);
    end_source(signal);
}

//===-- children with the pid of their parent ------------------------------------------------------------------------===//

static struct tally of_parent;

static void use_signals_in_child(void) {
    struct tally own = {0};
    runloop_signal *signal = add_signal(MODE, SIGUSR2, &own);
    raise(SIGUSR2);
    RUN_UNTIL(MODE, own.arrivals == 1);
    end_source(signal);
    EXPECT(action_of(SIGUSR2).sa_handler == count_call);
}

static void use_former_handling(void) {
    raise(SIGUSR2);
    EXPECT_EQ(repeated, 1);
    EXPECT(action_of(SIGUSR2).sa_handler == count_call);
}

static void expect_children_apart(void) {
    signal(SIGUSR2, count_call);
    runloop_signal *signal = add_signal(MODE, SIGUSR2, &of_parent);
    EXPECT_EQ(status_of_child(use_former_handling), 0);
    EXPECT_EQ(status_of_child(use_signals_in_child), 0);
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(of_parent.calls, 0);
    end_source(signal);
}

TEST("R123 a forked child whose getpid gives its parent's pid has the former handling, and signals of its own") {
    is_first_of_namespace = true;
    expect_children_apart();
}

static void begin_namespace(void) {
    if (unshare(CLONE_NEWPID) && unshare(CLONE_NEWUSER | CLONE_NEWPID))
        _exit(TEST_LEFT_OUT);
}

static void be_first_of_two_namespaces(void) {
    EXPECT_EQ(getpid(), 1);
    begin_namespace();
    // The next child is the first of another one; a process has no second child there, once that has ended.
    signal(SIGUSR2, count_call);
    runloop_signal *signal = add_signal(MODE, SIGUSR2, &of_parent);
    EXPECT_EQ(status_of_child(use_former_handling), 0);
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(of_parent.calls, 0);
    end_source(signal);
}

static void be_in_namespaces(void) {
    begin_namespace();
    int status = status_of_child(be_first_of_two_namespaces);
    if (status)
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : TEST_FAILED);
}

TEST("R123 the first process of a namespace of pids is apart from its parent, which is the first of another one") {
    int status = status_of_child(be_in_namespaces);
    if (WIFEXITED(status) && WEXITSTATUS(status) == TEST_LEFT_OUT)
        LEAVE_OUT("This process may not make a pid namespace.");
    EXPECT_EQ(status, 0);
}

static void note_timer(int number, siginfo_t *info, void *context) {
    (void)number, (void)context;
    calls += info->si_code == SI_TIMER;
}

TEST("a timer's SIGURG is the former handler's alone, urgent data are both's") {
    struct tally tally = {0};
    struct sigaction action = {.sa_sigaction = note_timer, .sa_flags = SA_SIGINFO};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGURG};
    timer_t timer;
    REQUIRE(sigaction(SIGURG, &action, NULL) == 0);
    REQUIRE(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    calls = 0;
    runloop_signal *caught = add_signal(MODE, SIGURG, &tally);
    REQUIRE(timer_settime(timer, 0, &(struct itimerspec){.it_value.tv_nsec = 1}, NULL) == 0);
    while (calls == 0)
        poll_mode(MODE);
    poll_mode(MODE);
    EXPECT_EQ(tally.arrivals, 0);
    raise(SIGURG);
    run_a_while(MODE);
    EXPECT_EQ(tally.arrivals, 1);
    EXPECT_EQ(calls, 1);
    end_source(caught);
}
