// outputs_older_kernel.c — a pipe that breaks raises no signal where the kernel has no RWF_NOSIGNAL, or a sandbox forbids the call.
// Link with -Wl,--wrap=syscall.
#include "broken_pipe.h"
#include "wrapped_syscall.h"

TEST("a broken pipe raises no signal on kernels before Linux 6.18, and one that was pending before stays") {
    refused_call = SYS_pwritev2;
    refusal = EOPNOTSUPP;
    expect_no_signal_of_broken_pipes();
    // A kernel that has refused is not asked again. Under that sanitizer none is asked.
    EXPECT_EQ(refused, UNDER_THREAD_SANITIZER ? 0 : 1);
}

TEST("a sandbox that forbids the call with EPERM changes nothing") {
    refused_call = SYS_pwritev2;
    refusal = EPERM;
    expect_no_signal_of_broken_pipes();
    EXPECT_EQ(refused, UNDER_THREAD_SANITIZER ? 0 : 1);
}
