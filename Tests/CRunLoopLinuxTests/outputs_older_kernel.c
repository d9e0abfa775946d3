// outputs_older_kernel.c — a pipe that breaks raises no signal where the kernel has no RWF_NOSIGNAL, or a sandbox forbids the call.
// Link with -Wl,--wrap=syscall.
#include <stdarg.h>
#include <sys/syscall.h>

#include "broken_pipe.h"

extern long __real_syscall(long number, ...);

static int refused, refusal = EOPNOTSUPP;

long __wrap_syscall(long number, ...) {
    va_list list;
    va_start(list, number);
    long arguments[6];
    for (int i = 0; i < 6; i++)
        arguments[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_pwritev2) {
        refused++;
        errno = refusal;
        return -1;
    }
    return __real_syscall(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
}

TEST("a broken pipe raises no signal on kernels before Linux 6.18, and one that was pending before stays") {
    expect_no_signal_of_broken_pipes();
    // A kernel that has refused is not asked again. Under that sanitizer none is asked.
    EXPECT_EQ(refused, UNDER_THREAD_SANITIZER ? 0 : 1);
}

TEST("a sandbox that forbids the call with EPERM changes nothing") {
    refusal = EPERM;
    expect_no_signal_of_broken_pipes();
    EXPECT_EQ(refused, UNDER_THREAD_SANITIZER ? 0 : 1);
}
