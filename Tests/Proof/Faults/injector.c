// injector.c — one call of the kernel or of the allocator fails.
//
// The kernel asks a thread of this process about each call of the kinds below that the others make (seccomp, user notification), which needs no
// privilege. That thread is made before the filter, so its own calls are not asked about. Calls of a child count until it executes a program.

#include "injector.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static const struct kind usual_kinds[] = {
    {"allocation", -1, {ENOMEM}},
    {"epoll_create1", SYS_epoll_create1, {EMFILE, ENOMEM}},
    {"epoll_ctl", SYS_epoll_ctl, {ENOMEM, ENOSPC}},
#ifdef SYS_epoll_wait
    {"epoll_wait", SYS_epoll_wait, {EINTR}},
#endif
    {"epoll_pwait", SYS_epoll_pwait, {EINTR}},
    {"epoll_pwait2", SYS_epoll_pwait2, {ENOSYS, EPERM, EINTR}},
    {"eventfd2", SYS_eventfd2, {EMFILE, ENOMEM}},
    {"timerfd_create", SYS_timerfd_create, {EMFILE, ENOMEM, ENOSYS}},
    {"inotify_init1", SYS_inotify_init1, {EMFILE, ENOMEM}},
    {"inotify_add_watch", SYS_inotify_add_watch, {ENOSPC, ENOMEM, ENOENT}},
    {"pidfd_open", SYS_pidfd_open, {EMFILE, ENOMEM, ENOSYS}},
    {"pidfd_send_signal", SYS_pidfd_send_signal, {ENOSYS, EPERM}},
    {"waitid", SYS_waitid, {ENOSYS}},
    {"rt_sigaction", SYS_rt_sigaction, {EINVAL}},
    {"timer_create", SYS_timer_create, {EAGAIN, ENOSYS}},
    {"memfd_create", SYS_memfd_create, {EMFILE, ENOMEM, ENOSYS}},
    {"clone", SYS_clone, {EAGAIN, ENOMEM}},
    {"clone3", SYS_clone3, {EAGAIN, ENOMEM, ENOSYS}},
    {"execve", SYS_execve, {E2BIG, ENOMEM}},
    {"pipe2", SYS_pipe2, {EMFILE, ENFILE}},
    {"dup3", SYS_dup3, {EMFILE}},
    {"fcntl", SYS_fcntl, {EMFILE, ENOMEM}},
    {"openat", SYS_openat, {EMFILE, ENOMEM, EACCES}},
    {"getdents64", SYS_getdents64, {ENOMEM, EIO}},
    {"socket", SYS_socket, {EMFILE, ENOBUFS}},
    {"socketpair", SYS_socketpair, {EMFILE, ENOBUFS}},
    {"bind", SYS_bind, {EACCES, ENOMEM}},
    {"listen", SYS_listen, {EADDRINUSE}},
    {"accept4", SYS_accept4, {EMFILE, ENOBUFS, ECONNABORTED}},
    {"connect", SYS_connect, {ECONNREFUSED, ENETUNREACH, ENOMEM}},
    {"getsockopt", SYS_getsockopt, {ENOBUFS}},
    {"setsockopt", SYS_setsockopt, {ENOBUFS, ENOMEM}},
    {"recvfrom", SYS_recvfrom, {ECONNRESET, ENOMEM, EINTR}},
    {"recvmsg", SYS_recvmsg, {ECONNRESET, ENOMEM, EINTR}},
    {"sendto", SYS_sendto, {EPIPE, ENOBUFS, EINTR}},
    {"sendmsg", SYS_sendmsg, {EPIPE, ENOBUFS, EINTR}},
    {"read", SYS_read, {EIO, EINTR}},
    {"write", SYS_write, {EIO, EINTR}},
    {"writev", SYS_writev, {EIO, EINTR}},
    {"pwritev2", SYS_pwritev2, {EIO, EPERM, ENOSYS}},
    {"preadv2", SYS_preadv2, {EIO, EPERM, ENOSYS}},
    {"mmap", SYS_mmap, {ENOMEM}},
    {"madvise", SYS_madvise, {EINVAL}},
    {"flock", SYS_flock, {ENOLCK}},
    {"fchmodat", SYS_fchmodat, {EPERM}},
    {"renameat2", SYS_renameat2, {ENOSYS, EACCES}},
    {"rt_sigqueueinfo", SYS_rt_sigqueueinfo, {EAGAIN}},
};
const struct kind *kinds = usual_kinds;
int kind_count = sizeof usual_kinds / sizeof *usual_kinds;
enum { MOST_KINDS = 128 };
static bool refuses_removals;

void injector_use(const struct kind *table, int count, bool refuses) {
    MUST(count <= MOST_KINDS);
    kinds = table;
    kind_count = count;
    refuses_removals = refuses;
}

static struct fault fault;
static _Atomic int counts[MOST_KINDS];
static _Atomic bool is_on, has_struck;
static _Atomic int told_error;
static char told_function[64];
void (*injector_switched)(bool is_on);
const char *injector_hidden;

static void switch_faults(bool to) {
    if (to != is_on && injector_switched && fault.condition)
        injector_switched(to);
    is_on = to;
}

void injector_set(struct fault next) {
    fault = next;
    for (int i = 0; i < MOST_KINDS; i++)
        counts[i] = 0;
    has_struck = false;
}

void injector_clear(void) {
    switch_faults(false);
    fault.number = 0;
}

int injector_count(int kind) {
    return counts[kind];
}

bool injector_struck(void) {
    return has_struck || fault.condition;
}

bool injector_starves_programs(void) {
    return fault.condition && fault.condition->reaches_programs;
}

int injector_told_error(void) {
    return told_error;
}

const char *injector_told_function(void) {
    return told_function;
}

bool injector_fits(int error) {
#ifndef FAULTS_OF_LIBRARIES_ALONE
    // The C library has no memory for a thread.
    if (error == -EAGAIN)
        return true;
#endif
    bool is_short = fault.error == EMFILE && kinds[fault.kind].number != SYS_fcntl;
    bool has_one_name = fault.number > 0 && !fault.condition && (fault.kind == 0 || is_short);
    return !has_one_name || error == -ENOMEM || error == -fault.error;
}

enum outcome told(int error) {
    return told_of("", error);
}

enum outcome told_of(const char *function, int error) {
    // Of an expression, the function of ours that it calls.
    const char *ours = strstr(function, "runloop_"), *name = ours ? ours : function;
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz_");
    MUST(length < sizeof told_function);
    memcpy(told_function, name, length);
    told_function[length] = 0;
    told_error = error;
    return TOLD;
}

void begin_faults(void) {
    switch_faults(true);
}

void pause_faults(void) {
    switch_faults(false);
}

void let_memory_run_out(void) {
    fault.stays |= fault.kind == 0 && !fault.condition;
}

/// Another call of the kind: does it fail?
static bool fails(int kind) {
    if (!is_on)
        return false;
    int number = ++counts[kind];
    bool strikes = fault.number > 0 && !fault.condition && kind == fault.kind &&
                   (number == fault.number || (fault.stays && number > fault.number));
    if (strikes)
        has_struck = true;
    return strikes;
}

//===-- the allocator ------------------------------------------------------------------------------------------------===//

// In place of the C library's, for its own use as well; or, where a language does not survive that, for the libraries alone, whose calls
// the linker sends here (--wrap).
#ifdef FAULTS_OF_LIBRARIES_ALONE
#define ALLOCATOR(name) __wrap_##name
void *__wrap_malloc(size_t size), *__wrap_calloc(size_t count, size_t size), *__wrap_realloc(void *block, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __wrap_free(void *block);
int __wrap_posix_memalign(void **block, size_t alignment, size_t size);
#else
#define ALLOCATOR(name) name
#endif
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *block);

static _Atomic int live_blocks;

int injector_live_blocks(void) {
    return live_blocks;
}

static bool has_no_memory(void) {
    if (!fails(0))
        return false;
    errno = ENOMEM;
    return true;
}

static void *count_block(void *block) {
    live_blocks += block != NULL;
    return block;
}

void *ALLOCATOR(malloc)(size_t size) {
    return has_no_memory() ? NULL : count_block(__libc_malloc(size));
}

void *ALLOCATOR(calloc)(size_t count, size_t size) {
    return has_no_memory() ? NULL : count_block(__libc_calloc(count, size));
}

void *ALLOCATOR(realloc)(void *block, size_t size) {
    if (has_no_memory())
        return NULL;
    void *moved = __libc_realloc(block, size);
    return block ? moved : count_block(moved);
}

void *ALLOCATOR(aligned_alloc)(size_t alignment, size_t size) {
    return has_no_memory() ? NULL : count_block(__libc_memalign(alignment, size));
}

int ALLOCATOR(posix_memalign)(void **block, size_t alignment, size_t size) {
    *block = ALLOCATOR(aligned_alloc)(alignment, size);
    return *block ? 0 : ENOMEM;
}

void ALLOCATOR(free)(void *block) {
    live_blocks -= block != NULL;
    __libc_free(block);
}

//===-- the kernel ---------------------------------------------------------------------------------------------------===//

static _Atomic int listener = -1;

enum { MOST_PROCESSES = 256 };
/// Whose calls are nobody's business here: children that have executed another program, and those of the scenario itself.
static _Atomic uint32_t elsewhere[MOST_PROCESSES];
static _Atomic uint32_t elsewhere_count;

void leave_alone(pid_t pid) {
    uint32_t place = elsewhere_count++;
    MUST(place < MOST_PROCESSES);
    elsewhere[place] = (uint32_t)pid;
}

static bool is_listed(uint32_t pid) {
    for (uint32_t i = 0; i < elsewhere_count; i++) {
        if (elsewhere[i] == pid)
            return true;
    }
    return false;
}

/// What such a process has forked is another one of these.
static bool is_elsewhere(uint32_t pid) {
    if (is_listed(pid))
        return true;
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%u/status", pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    text[length > 0 ? length : 0] = 0;
    const char *parent = strstr(text, "\nPPid:");
    bool is = parent && is_listed((uint32_t)strtoul(parent + strlen("\nPPid:"), NULL, 10));
    if (is)
        leave_alone((pid_t)pid);
    return is;
}

/// An eventfd, or also another file of the kernel's own, as a timerfd and an inotify instance.
static bool is_of_kernel(int descriptor, bool is_eventfd) {
    char path[64], target[64] = "";
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    const char *kind = is_eventfd ? "anon_inode:[eventfd]" : "anon_inode:";
    return readlink(path, target, sizeof target - 1) > 0 && strncmp(target, kind, strlen(kind)) == 0;
}

/// What takes something away, or puts it where there is something already, does not fail for want of anything, and a counter of the kernel's
/// has no errors. A sandbox refuses that as well, but no program starts where it may read nothing.
static bool can_fail(const struct seccomp_notif *call) {
    int number = call->data.nr;
    bool is_removal = number == SYS_epoll_ctl && call->data.args[1] == EPOLL_CTL_DEL;
    bool is_replacement = number == SYS_dup3 && call->pid == (uint32_t)getpid();
    bool is_refusal = refuses_removals && (fault.error == EPERM || fault.error == ENOSYS);
    bool is_counter = (number == SYS_read || number == SYS_write) && is_of_kernel((int)call->data.args[0], !is_refusal);
    bool makes_descriptor =
        number != SYS_fcntl || call->data.args[1] == F_DUPFD || call->data.args[1] == F_DUPFD_CLOEXEC;
    if (is_elsewhere(call->pid))
        return false;
    if (is_refusal)
        return !is_counter;
    return !is_removal && !is_replacement && !is_counter && (makes_descriptor || fault.error != EMFILE);
}

/// Is the path of a call one that is hidden now? Its process is this one, or has the same memory.
static bool is_hidden(const struct seccomp_notif *call) {
    int number = call->data.nr;
    bool is_at = number == SYS_openat || number == SYS_newfstatat || number == SYS_statx || number == SYS_readlinkat ||
                 number == SYS_fchmodat;
    bool is_path = false;
#ifdef SYS_open
    is_path = number == SYS_open || number == SYS_stat || number == SYS_lstat || number == SYS_readlink ||
              number == SYS_chmod || number == SYS_access;
#endif
    if (!injector_hidden || !is_on || !fault.condition || !(is_at || is_path) || is_elsewhere(call->pid))
        return false;
    char path[256] = "";
    const struct iovec to = {path, sizeof path - 1},
                       from = {(void *)(uintptr_t)call->data.args[is_at], sizeof path - 1};
    if (process_vm_readv((pid_t)call->pid, &to, 1, &from, 1, 0) <= 0)
        return false;
    size_t length = strlen(injector_hidden);
    return strncmp(path, injector_hidden, length) == 0 && (path[length] == 0 || path[length] == '/');
}

static int kind_of(int number) {
    int kind = 1;
    while (kind < kind_count && kinds[kind].number != number)
        kind++;
    return kind;
}

static void *answer(void *unused) {
    while (listener < 0)
        usleep(100);
    for (;;) {
        struct seccomp_notif call = {0};
        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call)) {
            if (errno == EINTR || errno == ENOENT)
                continue;
            return unused;
        }
        int kind = kind_of(call.data.nr);
        struct seccomp_notif_resp reply = {.id = call.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
        if (is_hidden(&call)) {
            has_struck = true;
            reply.flags = 0;
            reply.error = -ENOENT;
        } else if (can_fail(&call) && fails(kind)) {
            reply.flags = 0;
            reply.error = -fault.error;
        } else if (call.data.nr == SYS_execve) {
            leave_alone((pid_t)call.pid);
        }
        ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &reply);
    }
}

bool injector_open(void) {
    struct sock_filter filter[2 * MOST_KINDS + 2];
    unsigned short length = 0;
    filter[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int kind = 1; kind < kind_count; kind++) {
        filter[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)kinds[kind].number, 0, 1);
        filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
    }
    filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {.len = length, .filter = filter};
    pthread_t thread;
    if (pthread_create(&thread, NULL, answer, NULL) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return false;
    // So that a signal does not make the kernel ask twice about one call.
    enum { WAIT_KILLABLE = 1 << 5 };
    int flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
    long opened = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags | WAIT_KILLABLE, &program);
    if (opened < 0 && errno == EINVAL)
        opened = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
    listener = (int)opened;
    return opened >= 0;
}
