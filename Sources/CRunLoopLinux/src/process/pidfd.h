// pidfd.h — the kernel's calls for pidfds, for which not every C library has functions. An error is a negative errno value.
#ifndef RUNLOOP_PIDFD_H
#define RUNLOOP_PIDFD_H

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// The same numbers on every machine but alpha.
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
enum { PIDFD_WAIT = 3 /* P_PIDFD of waitid */ };

/// What the kernel writes where a C library has struct rusage, whose times may be longer.
struct kernel_usage {
    long user_s, user_us, system_s, system_us, peak_kilobytes, others[13];
};

/// A pidfd of a process, closed on exec. Sandboxes that do not know the call answer EPERM, which the kernel never does.
static inline int pidfd_of(int32_t pid) {
    long pidfd = syscall(SYS_pidfd_open, pid, 0);
    if (pidfd >= 0)
        return (int)pidfd;
    // The newest kernels say ENOENT of a thread that does not lead its process.
    return errno == EPERM ? -ENOSYS : errno == ENOENT ? -EINVAL : -errno;
}

/// Asks whether the process has ended, and does not wait: if it has, `info` says how; otherwise its pid is 0. WNOWAIT in `flags`: it is not
/// reaped. `usage` may be NULL. -ECHILD: it is not ours to reap; -EBADF: not a pidfd; -ENOSYS: a kernel that can't wait for a pidfd.
static inline int pidfd_wait(int pidfd, int flags, siginfo_t *info, struct kernel_usage *usage) {
    info->si_pid = 0;
    long result;
    do
        result = syscall(SYS_waitid, PIDFD_WAIT, pidfd, info, WEXITED | WNOHANG | __WALL | flags, usage);
    while (result < 0 && errno == EINTR);
    if (result < 0)
        return errno == EINVAL ? -ENOSYS : -errno;
    return 0;
}

static inline int pidfd_signal(int pidfd, int32_t number) {
    return syscall(SYS_pidfd_send_signal, pidfd, number, NULL, 0) < 0 ? -errno : 0;
}

/// From Linux 6.15 on the kernel reports through a pidfd how its process ended, as a status of wait, once somebody has reaped it.
static inline bool pidfd_exit_status(int pidfd, int *status) {
    struct {
        uint64_t mask, cgroup;
        uint32_t pid, tgid, ppid, ids[8];
        int32_t exit_code;
    } info = {.mask = 1 << 3 /* PIDFD_INFO_EXIT */};
    _Static_assert(sizeof info == 64, "It is the first version of struct pidfd_info.");
    // The function takes an int in some C libraries, and this number is larger.
    if (syscall(SYS_ioctl, pidfd, (unsigned long)_IOWR(0xFF, 11, info), &info) < 0 || !(info.mask & 1 << 3))
        return false;
    *status = info.exit_code;
    return true;
}

#endif // RUNLOOP_PIDFD_H
