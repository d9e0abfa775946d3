// start.c — a program is started, by clone with CLONE_VM and CLONE_VFORK: as posix_spawn does it, and for what that can't do.
//
// The calling thread sleeps in the kernel until the child has executed its program or has ended, so what the child notes in the memory of
// both is complete when the thread looks, and no error needs a pipe. Everything that may fail in the parent comes before: the object, the
// pipes. A failed child is reaped here.

#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/object.h"
#include "process/child.h"
#include "process/pidfd.h"
#include "process/start.h"
#include "runloop_bionic.h"

#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x1000
#endif

// The thread sanitizer takes each clone for a fork, in whose child it frees its own locks. It gets one.
#ifdef __has_feature
#if __has_feature(thread_sanitizer)
#define CLONE_MEMORY 0
#endif
#endif
#if defined(__SANITIZE_THREAD__) && !defined(CLONE_MEMORY)
#define CLONE_MEMORY 0
#endif
#ifndef CLONE_MEMORY
#define CLONE_MEMORY CLONE_VM
#endif

/// Of the child, until it executes its program.
enum { STACK_SIZE = 32768, MOST_DESCRIPTORS = 1024 };

extern char **environ;

//===-- the child ----------------------------------------------------------------------------------------------------===//

/// The stack is behind the places, and grows towards them.
static pid_t clone_blocked(struct start *start, void *stack_end) {
    // All of them, also those that the C library keeps for itself.
    const uint64_t all[2] = {~UINT64_C(0), ~UINT64_C(0)};
    uint64_t former[2];
    // A handler would run in the child, in the memory of this process.
    if (syscall(SYS_rt_sigprocmask, SIG_SETMASK, all, former, _NSIG / 8) < 0)
        return -errno;
    pid_t pid = clone(runloop__start_execute, stack_end, CLONE_MEMORY | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, start,
                      &start->pidfd);
    if (pid < 0)
        // An emulator does not know one of the flags.
        pid = errno == EINVAL ? -ENOSYS : -errno;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, former, NULL, _NSIG / 8);
    return pid;
}

/// A start on a thread of its own, which is the child's parent for the kernel.
struct kept_start {
    struct start *start;
    void *stack_end;
    pid_t pid;
    _Atomic uint32_t is_done;
};

/// Until the child has ended. Where one question is refused, the other may be answered.
static void stay_beside(pid_t pid) {
    siginfo_t info;
    while (syscall(SYS_waitid, P_PID, pid, &info, WEXITED | WNOWAIT | __WALL, NULL) < 0) {
        if (errno == EINTR)
            continue;
        struct pollfd ended = {.fd = errno == ECHILD ? -1 : pidfd_of(pid), .events = POLLIN};
        while (ended.fd >= 0 && poll(&ended, 1, -1) < 0 && errno == EINTR)
            ;
        if (ended.fd >= 0)
            close(ended.fd);
        return;
    }
}

/// Lives as long as the child. It does not reap it.
static void *keep(void *info) {
    struct kept_start *kept = info;
    pid_t pid = kept->pid = clone_blocked(kept->start, kept->stack_end);
    bool has_failed = kept->start->error != 0;
    // From here on the start may be over.
    atomic_store(&kept->is_done, 1);
    futex_wake(&kept->is_done, 1);
    if (pid > 0 && !has_failed)
        stay_beside(pid);
    return NULL;
}

/// The death signal is sent when the *thread* ends that cloned the child, which may be a pool's: so that is one that lives as long as the child.
/// It begins with what the calling thread has of its own: processors, rights, filters.
static pid_t clone_kept(struct start *start, void *stack_end) {
    struct kept_start kept = {.start = start, .stack_end = stack_end};
    int error = start_thread(keep, &kept);
    if (error)
        return error;
    while (!atomic_load(&kept.is_done))
        futex_wait(&kept.is_done, 0);
    return kept.pid;
}

/// Says what has failed. A negative errno value.
static int tell_failure(const struct start *start) {
    if (start->config->failed)
        snprintf(start->config->failed, start->config->failed_size, start->number < 0 ? "%s" : "%s %d", start->subject,
                 start->number);
    return -start->error;
}

/// Where the child is to have the foreground, that is given back when it has ended.
static int note_foreground(struct start *start) {
    const runloop_child_start_config *config = start->config;
    if (!config->has_terminal || config->group == RUNLOOP_CHILD_NEW_SESSION)
        return 0;
    int result = runloop__foreground_note(&start->foreground, config->terminal);
    start->error = -result;
    start->subject = "terminal";
    start->number = config->terminal;
    return result < 0 ? tell_failure(start) : 0;
}

static int start_opened(struct start *start, void *stack_end, struct process *out) {
    pid_t pid = start->config->parent_death_signal ? clone_kept(start, stack_end) : clone_blocked(start, stack_end);
    if (pid < 0)
        return pid;
    start->foreground.group = start->group > 0 ? start->group : pid;
    if (!start->error) {
        *out = (struct process){.pid = pid, .pidfd = start->pidfd, .foreground = start->foreground};
        return 0;
    }
    // It has ended, or is about to. Its number is not used again before it is reaped, which the kernel may do itself.
    siginfo_t info;
    while (syscall(SYS_waitid, PIDFD_WAIT, start->pidfd, &info, WEXITED | __WALL, NULL) < 0 && errno == EINTR)
        ;
    close(start->pidfd);
    return tell_failure(start);
}

static int start_planned(struct start *start, void *stack_end, struct process *out) {
    int result = note_foreground(start);
    if (result == 0)
        result = runloop__places_open(start);
    if (result == 0)
        result = start_opened(start, stack_end, out);
    runloop__places_close(start, result == 0);
    if (result < 0)
        runloop__foreground_end(&start->foreground);
    return result;
}

//===-- what is asked for --------------------------------------------------------------------------------------------===//

/// What is wrong with it; NULL: nothing that could be known yet.
static const char *fault_of(const runloop_child_start_config *config) {
    if (!config->arguments || !config->arguments[0])
        return "no arguments";
    if (config->child.pid != 0 || config->child.pidfd != 0)
        return "process";
    if (config->descriptor_count > MOST_DESCRIPTORS || (!config->descriptors && config->descriptor_count > 0))
        return "descriptors";
    if (!config->limits && config->limit_count > 0)
        return "limits";
    if (config->group < RUNLOOP_CHILD_NEW_SESSION)
        return "process group";
    if (config->has_terminal && config->group == RUNLOOP_CHILD_PARENTS_GROUP)
        return "terminal";
    if (config->parent_death_signal < 0)
        return "signal for the parent's end";
    return NULL;
}

static int check(const runloop_child_start_config *config) {
    const char *fault = fault_of(config);
    if (config->failed && config->failed_size)
        snprintf(config->failed, config->failed_size, "%s", fault ? fault : "");
    if (fault)
        return -EINVAL;
    siginfo_t info;
    // No descriptor has this number: an older kernel does not even look for it.
    if (pidfd_wait(INT_MAX, WNOWAIT, &info, NULL) != -EBADF)
        return -ENOSYS;
    const char *program = config->program ? config->program : config->arguments[0];
    return strlen(program) >= PATH_MAX ? -ENAMETOOLONG : 0;
}

/// With everything that does not change any more.
static struct start *make_start(const runloop_child_start_config *config, size_t size) {
    struct start *start = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
        return NULL;
    *start = (struct start){.config = config,
                            .program = config->program ? config->program : config->arguments[0],
                            .environment = config->environment ? (char *const *)config->environment : environ,
                            .parent = (int32_t)syscall(SYS_getpid),
                            .pidfd = -1,
                            .group = config->group,
                            .terminal = config->has_terminal ? config->terminal : -1,
                            .foreground.terminal = -1};
    bool is_path = !*start->program || strchr(start->program, '/');
    if (config->searches && !is_path && !(start->search_path = secure_getenv("PATH")))
        start->search_path = "/usr/local/bin:/bin:/usr/bin";
    return start;
}

int runloop__start(const runloop_child_start_config *config, int (*prepare)(void *info), void *info,
                   struct process *out) {
    int result = check(config), cancellation;
    if (result < 0)
        return result;
    size_t size = sizeof(struct start) + (config->descriptor_count + 3) * sizeof(struct place);
    size = (size + 63) / 64 * 64 + STACK_SIZE;
    struct start *start = make_start(config, size);
    if (!start)
        return -errno;
    // Closing is a cancellation point, where the thread would end and leave the rest.
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellation);
    result = runloop__places_plan(start) < 0 ? tell_failure(start) : prepare(info);
    if (result == 0)
        result = start_planned(start, (char *)start + size, out);
    pthread_setcancelstate(cancellation, NULL);
    munmap(start, size);
    return result;
}

void runloop__start_undo(struct process *process) {
    siginfo_t info;
    // One that may not be signalled, as it has other rights by now, is not waited for.
    if (pidfd_signal(process->pidfd, SIGKILL) == 0)
        while (syscall(SYS_waitid, PIDFD_WAIT, process->pidfd, &info, WEXITED | __WALL, NULL) < 0 && errno == EINTR)
            ;
    runloop__foreground_end(&process->foreground);
    close(process->pidfd);
}

//===-- a child ------------------------------------------------------------------------------------------------------===//

struct child_start {
    const runloop_child_config *config;
    runloop_child *child; ///< NULL before it is made
};

/// With a descriptor in the place of the pidfd.
static int make_child(void *info) {
    struct child_start *start = info;
    runloop_child_config config = *start->config;
    config.reaps = true;
    int placeholder = eventfd(0, EFD_CLOEXEC);
    return runloop__child_make(&config, placeholder < 0 ? -errno : placeholder, &start->child);
}

int runloop_child_start(const runloop_child_start_config *config, runloop_child **out) {
    if (!config || !out)
        return -EINVAL;
    struct child_start start = {.config = &config->child};
    struct process process;
    int result = runloop__start(config, make_child, &start, &process);
    if (result < 0 && start.child)
        object_give_up(runloop__object_of(start.child, OBJECT_CHILD));
    if (result < 0)
        return result;
    runloop__child_begin(start.child, &process, config);
    *out = start.child;
    return 0;
}
#endif // __linux__
