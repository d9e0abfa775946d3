// children_orphans.c — what happens to a program, or to its parent, while that is being started. Link with -Wl,--wrap=syscall.
#include "children.h"

#include <stdarg.h>

/// As the child asks for the signal of its parent's end, in the memory of its parent: that ends, or the child is sent a signal.
static bool ends_parent, signals_child;

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

static void end_parent(void) {
    long parent = __real_syscall(SYS_getppid);
    __real_syscall(SYS_kill, parent, SIGKILL);
    while (__real_syscall(SYS_getppid) == parent)
        __real_syscall(SYS_sched_yield);
}

long __wrap_syscall(long number, ...) {
    va_list list;
    va_start(list, number);
    long arguments[6];
    for (int i = 0; i < 6; i++)
        arguments[i] = va_arg(list, long);
    va_end(list);
    bool is_in_child = number == SYS_prctl && arguments[0] == PR_SET_PDEATHSIG;
    if (is_in_child && ends_parent)
        end_parent();
    if (is_in_child && signals_child)
        __real_syscall(SYS_kill, __real_syscall(SYS_getpid), SIGUSR1);
    return __real_syscall(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
}

static void start_and_be_killed(void) {
    runloop_child *child = NULL;
    const runloop_child_start_config config = {
        .arguments = WORDS("sleep", "20"), .searches = true, .parent_death_signal = SIGUSR2};
    ends_parent = true;
    runloop_child_start(&config, &child);
}

TEST("a program whose parent has ended before the kernel knew that it wants a signal for that gets it all the same") {
    need_starts();
    REQUIRE(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
    int status = status_of_child(start_and_be_killed);
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    // The program is this process's by now.
    REQUIRE(waitpid(-1, &status, 0) > 0);
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR2);
}

static _Atomic int handled;

static void count_signal(int number) {
    (void)number;
    handled++;
}

TEST("a signal that a child is sent before it has its program is the program's, and not handled in its parent's "
     "memory") {
    struct ends ends = {0};
    REQUIRE(signal(SIGUSR1, count_signal) != SIG_ERR);
    signals_child = true;
    runloop_child *child =
        start((runloop_child_start_config){.arguments = WORDS("sleep", "20"), .parent_death_signal = SIGTERM}, &ends);
    RUN_UNTIL(MODE, ends.count == 1);
    EXPECT_EQ(ends.last.end, RUNLOOP_CHILD_SIGNALLED);
    EXPECT_EQ(ends.last.status, SIGUSR1);
    EXPECT_EQ(handled, 0);
    runloop_source_release(child);
}
