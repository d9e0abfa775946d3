// calls.c — which system calls are refused, and with what.
#include <sys/syscall.h>

#include "denied.h"

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

// A sandbox refuses any call with EPERM or ENOSYS. The others where Linux may have them for that call.
#define REFUSED EPERM, ENOSYS

const struct kind denied_calls[] = {
    // Not here: those are failures of `make faults`.
    {"allocation", -1, {0}},
    {"epoll_create1", SYS_epoll_create1, {REFUSED, ENOMEM, EMFILE}},
    {"epoll_ctl", SYS_epoll_ctl, {REFUSED, ENOMEM}, .leaves_descriptor = EPERM},
#ifdef SYS_epoll_wait
    {"epoll_wait", SYS_epoll_wait, {REFUSED, EINTR}},
#else
    {"epoll_wait", SYS_epoll_pwait, {REFUSED, EINTR}},
#endif
    {"epoll_pwait2", SYS_epoll_pwait2, {REFUSED, EINTR}},
    {"eventfd2", SYS_eventfd2, {REFUSED, ENOMEM, EMFILE}},
    {"timerfd_create", SYS_timerfd_create, {REFUSED, ENOMEM, EMFILE}},
    {"timerfd_settime", SYS_timerfd_settime, {REFUSED}},
    {"madvise", SYS_madvise, {REFUSED, ENOMEM}},
    {"prctl", SYS_prctl, {REFUSED}},
    {"mmap", SYS_mmap, {REFUSED, ENOMEM}},
    {"tgkill", SYS_tgkill, {REFUSED}},
    {"kill", SYS_kill, {REFUSED}},
    {"timer_create", SYS_timer_create, {REFUSED, ENOMEM}},
    {"timer_settime", SYS_timer_settime, {REFUSED}},
    {"rt_sigaction", SYS_rt_sigaction, {REFUSED}},
    {"rt_sigprocmask", SYS_rt_sigprocmask, {REFUSED}},
    {"rt_sigpending", SYS_rt_sigpending, {REFUSED}},
    {"rt_sigtimedwait", SYS_rt_sigtimedwait, {REFUSED, EINTR}},
    {"getpgid", SYS_getpgid, {REFUSED}},
    {"setpgid", SYS_setpgid, {REFUSED}},
    {"setsid", SYS_setsid, {REFUSED}},
    {"clone", SYS_clone, {REFUSED, ENOMEM}},
    {"clone3", SYS_clone3, {REFUSED, ENOMEM}},
    {"execve", SYS_execve, {REFUSED, ENOMEM, EMFILE}},
    {"chdir", SYS_chdir, {REFUSED, ENOMEM}},
    // The child has blocked all signals.
    {"dup3", SYS_dup3, {REFUSED, EMFILE}},
    {"prlimit64", SYS_prlimit64, {REFUSED}},
    {"close_range", SYS_close_range, {REFUSED}},
    {"getdents64", SYS_getdents64, {REFUSED, ENOMEM}},
    {"getcwd", SYS_getcwd, {REFUSED, ENOMEM}},
    {"waitid", SYS_waitid, {REFUSED, EINTR}},
    {"pidfd_open", SYS_pidfd_open, {REFUSED, ENOMEM, EMFILE}},
    {"pidfd_send_signal", SYS_pidfd_send_signal, {REFUSED}},
    {"getrusage", SYS_getrusage, {REFUSED}},
    {"inotify_init1", SYS_inotify_init1, {REFUSED, ENOMEM, EMFILE}},
    {"inotify_add_watch", SYS_inotify_add_watch, {REFUSED, ENOMEM}},
    {"inotify_rm_watch", SYS_inotify_rm_watch, {REFUSED}},
    {"openat", SYS_openat, {REFUSED, EINTR, ENOMEM, EMFILE}},
    {"read", SYS_read, {REFUSED, EINTR}, .is_needed = true},
    {"writev", SYS_writev, {REFUSED, EINTR}},
    {"pread64", SYS_pread64, {REFUSED, EINTR}},
    {"newfstatat", SYS_newfstatat, {REFUSED, ENOMEM}},
    {"statx", SYS_statx, {REFUSED, ENOMEM}},
    {"readlinkat", SYS_readlinkat, {REFUSED, ENOMEM}},
    {"process_vm_readv", SYS_process_vm_readv, {REFUSED, ENOMEM}},
#ifdef SYS_unlink
    {"readlink", SYS_readlink, {REFUSED, ENOMEM}},
    {"unlink", SYS_unlink, {REFUSED, ENOMEM}},
    {"mkdir", SYS_mkdir, {REFUSED, ENOMEM}},
    {"chmod", SYS_chmod, {REFUSED, ENOMEM}},
    {"poll", SYS_poll, {REFUSED, EINTR, ENOMEM}},
#else
    {"unlink", SYS_unlinkat, {REFUSED, ENOMEM}},
    {"mkdir", SYS_mkdirat, {REFUSED, ENOMEM}},
    {"chmod", SYS_fchmodat, {REFUSED, ENOMEM}},
    {"poll", SYS_ppoll, {REFUSED, EINTR, ENOMEM}},
#endif
    {"fcntl", SYS_fcntl, {REFUSED, EMFILE}},
    {"ioctl", SYS_ioctl, {REFUSED}},
    {"pwritev2", SYS_pwritev2, {REFUSED, EINTR}},
    {"ppoll", SYS_ppoll, {REFUSED, EINTR, ENOMEM}},
    {"clock_nanosleep", SYS_clock_nanosleep, {REFUSED, EINTR}},
    {"pipe2", SYS_pipe2, {REFUSED, ENOMEM, EMFILE}},
    {"socket", SYS_socket, {REFUSED, ENOMEM, EMFILE}},
    {"bind", SYS_bind, {REFUSED, ENOMEM}},
    {"listen", SYS_listen, {REFUSED}},
    {"accept4", SYS_accept4, {REFUSED, EINTR, ENOMEM, EMFILE}},
    // What does not wait for the connection is not interrupted.
    {"connect", SYS_connect, {REFUSED, ENOMEM}},
    {"shutdown", SYS_shutdown, {REFUSED}},
    {"getsockname", SYS_getsockname, {REFUSED}},
    {"getpeername", SYS_getpeername, {REFUSED}},
    {"getsockopt", SYS_getsockopt, {REFUSED}},
    {"setsockopt", SYS_setsockopt, {REFUSED, ENOMEM}},
    {"sendto", SYS_sendto, {REFUSED, EINTR, ENOMEM}},
    {"sendmsg", SYS_sendmsg, {REFUSED, EINTR, ENOMEM}},
    {"recvfrom", SYS_recvfrom, {REFUSED, EINTR, ENOMEM}},
    {"recvmsg", SYS_recvmsg, {REFUSED, EINTR, ENOMEM}},
    {"flock", SYS_flock, {REFUSED, EINTR, ENOMEM}},
    {"fchmod", SYS_fchmod, {REFUSED}},
    {"fchmodat2", SYS_fchmodat2, {REFUSED, ENOMEM}},
    {"memfd_create", SYS_memfd_create, {REFUSED, ENOMEM, EMFILE}},
};
const int denied_call_count = sizeof denied_calls / sizeof *denied_calls;

const struct spared_call spared_calls[] = {
    {"close", "a descriptor that can't be closed stays open, whatever the caller does"},
    {"munmap", "memory that can't be given back stays, whatever the caller does"},
    {"futex", "a lock of the C library's ends the process"},
    {"exit_group", "a process that can't end has no outcome"},
    {"clock_gettime", "answered without the kernel"},
    {"getpid", "has no errors"},
    {"gettid", "has no errors"},
    {"getppid", "has no errors"},
    {"geteuid", "has no errors"},
    {"getsid", "has no errors for the calling process"},
    {"fstat", "asked by newfstatat"},
    {"lstat", "asked by newfstatat"},
    {"timer_delete", "made of a timer that could not be set, which then does nothing"},
    {"write", "to eventfds and standard error alone, where it has no errors"},
    {NULL, NULL},
};
