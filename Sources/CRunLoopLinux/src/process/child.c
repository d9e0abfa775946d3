// child.c — the end of a child process, from its pidfd.
//
// A pidfd is readable from the end of the process on, for ever; so the first loop that sees it takes the end, and invalidates the source
// before anybody is called.

#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/object.h"
#include "process/child.h"
#include "process/ending.h"
#include "process/pidfd.h"
#include "process/unread.h"

struct child {
    struct object object;
    int32_t pid;
    bool reaps;
    void (*exited)(runloop_child *child, const runloop_child_exit *exit, void *info);
    /// Of one that was started with pipes to which it writes: set before it is in a loop. NULL: it has none.
    struct unread_pipes *unread;
    struct probe probe;
    /// Guards what follows, and that the number of the process is its own: it is reaped, and its group is signalled, under the lock.
    struct process_lock lock;
    bool has_ended GUARDED;
    runloop_child_exit exit GUARDED; ///< constant from then on
    struct ending ending GUARDED;
    struct foreground foreground GUARDED; ///< which it has of a terminal
};

static struct child *child_of(runloop_source *source) {
    return runloop__object_of(source, OBJECT_CHILD);
}

/// What a process reports as its peak is at least that of the address space which it left when it executed its program: its parent's, which it
/// shared or had copied until then. So it is the program's own only if the parent has never had as much.
static int64_t peak_memory(long kilobytes) {
    struct kernel_usage own = {0};
    // Not getrusage(), whose structure may be another one than the kernel's.
    syscall(SYS_getrusage, RUSAGE_SELF, &own);
    return kilobytes > own.peak_kilobytes ? kilobytes * INT64_C(1024) : 0;
}

static runloop_child_exit exit_of(const siginfo_t *info, const struct kernel_usage *usage) {
    return (runloop_child_exit){
        .end = info->si_code == CLD_EXITED ? RUNLOOP_CHILD_EXITED : RUNLOOP_CHILD_SIGNALLED,
        .status = info->si_status,
        .dumped_core = info->si_code == CLD_DUMPED,
        .has_usage = true,
        .user_ns = usage->user_s * INT64_C(1000000000) + usage->user_us * INT64_C(1000),
        .system_ns = usage->system_s * INT64_C(1000000000) + usage->system_us * INT64_C(1000),
        .peak_memory_bytes = peak_memory(usage->peak_kilobytes),
    };
}

/// Of a process that is not ours to wait for.
static runloop_child_exit exit_of_other_process(int pidfd) {
    runloop_child_exit exit = {.end = RUNLOOP_CHILD_UNKNOWN};
    int status;
    if (!pidfd_exit_status(pidfd, &status))
        return exit;
    exit.end = WIFEXITED(status) ? RUNLOOP_CHILD_EXITED : RUNLOOP_CHILD_SIGNALLED;
    exit.status = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
    exit.dumped_core = WIFSIGNALED(status) && WCOREDUMP(status);
    return exit;
}

static struct ended_process process_of(const struct child *child) {
    return (struct ended_process){.pidfd = child->object.descriptor, .pid = child->pid, .is_ours = child->reaps};
}

/// In the loop, by whose clock the pauses are. Without memory for the deadline the child is called in the next iteration, where that is tried
/// again.
HOLDS_LOCK static void go_on_ending(struct child *child) {
    ASSERT_HOLDS(&child->lock);
    const struct ended_process process = process_of(child);
    if (child->ending.next == child->ending.count)
        return;
    int64_t due_ns = runloop__ending_go_on(&child->ending, &process, runloop_now_ns());
    if (runloop_source_set_deadline(child->object.source, due_ns) < 0)
        runloop_source_wake(child->object.source);
}

bool runloop__child_take_exit(int pidfd, bool reaps, runloop_child_exit *exit) {
    siginfo_t ended = {0};
    struct kernel_usage usage = {0};
    int result = pidfd_wait(pidfd, reaps ? 0 : WNOWAIT, &ended, &usage);
    // Called for a signal that is due, or a debugger keeps the end from us for now: then the source is called again.
    if (result == 0 && ended.si_pid == 0)
        return false;
    // Of a process that is not our child the kernel does not say here whether it has ended.
    if (result < 0 && poll(&(struct pollfd){.fd = pidfd, .events = POLLIN}, 1, 0) == 0)
        return false;
    *exit = result == 0 ? exit_of(&ended, &usage) : exit_of_other_process(pidfd);
    return true;
}

/// Has the process ended, and is this the first to see it? Two loops may be called.
HOLDS_LOCK static bool take_end(struct child *child) {
    ASSERT_HOLDS(&child->lock);
    if (child->has_ended || !runloop__child_take_exit(child->object.descriptor, child->reaps, &child->exit))
        return false;
    child->has_ended = true;
    runloop__foreground_end(&child->foreground);
    return true;
}

static void ready(runloop_source *source, runloop_readiness reasons, void *info) {
    (void)reasons;
    struct child *child = info;
    lock_take(&child->lock);
    // Once it is invalid, the process is its owner's to wait for.
    bool is_awaited = runloop_source_is_valid(source), is_over = is_awaited && take_end(child);
    if (is_awaited && !is_over && !child->has_ended)
        go_on_ending(child);
    runloop_child_exit exit = child->exit;
    lock_give(&child->lock);
    if (!is_over)
        return;
    runloop_source_invalidate(source);
    // What the client does at the end of a mode may have forked.
    if (child->exited && !object_is_inherited(&child->object))
        child->exited(child->object.source, &exit, child->object.context.info);
}

/// When this returns, another loop has taken the end, or none will.
static void invalidated(void *object) {
    struct child *child = object;
    lock_take(&child->lock);
    lock_give(&child->lock);
}

static void schedule(void *object, runloop *loop, const char *mode) {
    struct child *child = object;
    if (child->unread)
        runloop__probe_enter(&child->probe, &runloop__unread, child->unread, loop, mode);
}

static void cancel(void *object, runloop *loop, const char *mode) {
    runloop__probe_leave(&((struct child *)object)->probe, loop, mode);
}

UNCHECKED static void free_child(void *info) {
    struct child *child = info;
    runloop__probe_end(&child->probe);
    if (child->unread)
        runloop__unread.release(child->unread);
    // Of a process that goes on nobody gives it back.
    if (child->foreground.terminal >= 0)
        close(child->foreground.terminal);
    close(child->object.descriptor);
    runloop__object_end(&child->object);
    free(child);
}

static const struct object_class child_class = {.kind = OBJECT_CHILD,
                                                .ready = ready,
                                                .schedule = schedule,
                                                .cancel = cancel,
                                                .invalidated = invalidated,
                                                .free = free_child};

/// A pidfd of our own. A negative errno value if there is no such process, or if it is not one that can be reaped and has to be.
static int open_pidfd(const runloop_child_config *config) {
    int pidfd = config->pid ? pidfd_of(config->pid) : fcntl(config->pidfd, F_DUPFD_CLOEXEC, 0);
    if (pidfd < 0)
        return config->pid ? pidfd : -errno;
    siginfo_t info;
    int result = pidfd_wait(pidfd, WNOWAIT, &info, NULL);
    if (result == 0 || (result == -ECHILD && !config->reaps))
        return pidfd;
    close(pidfd);
    return result;
}

UNCHECKED int runloop__child_make(const runloop_child_config *config, int pidfd, runloop_child **out) {
    const struct object_config object = {
        .context = config->context, .cancel = config->cancel, .descriptor = pidfd, .class = &child_class};
    int result;
    struct child *child = runloop__object_make(sizeof *child, &object, &result);
    if (!child && pidfd >= 0)
        close(pidfd);
    if (!child)
        return result;
    child->pid = config->pid;
    child->reaps = config->reaps;
    child->exited = config->exited;
    child->foreground.terminal = -1;
    *out = child->object.source;
    return 0;
}

UNCHECKED void runloop__child_begin(runloop_child *source, const struct process *process,
                                    const runloop_child_start_config *config) {
    struct child *child = child_of(source);
    child->unread = runloop__unread_make(config, process->pid);
    child->pid = process->pid;
    child->foreground = process->foreground;
    // It can't fail, since the descriptor is there already.
    dup3(process->pidfd, child->object.descriptor, O_CLOEXEC);
    // Not close(), which is a cancellation point.
    syscall(SYS_close, process->pidfd);
}

int runloop_child_create(const runloop_child_config *config, runloop_child **out) {
    if (!config || !out || config->pid < 0)
        return -EINVAL;
    return runloop__child_make(config, open_pidfd(config), out);
}

int32_t runloop_child_get_pid(runloop_child *source) {
    struct child *child = child_of(source);
    return child ? child->pid : 0;
}

int runloop_child_get_exit(runloop_child *source, runloop_child_exit *out) {
    struct child *child = child_of(source);
    if (!child || !out)
        return -EINVAL;
    lock_take(&child->lock);
    bool has_ended = child->has_ended;
    if (has_ended)
        *out = child->exit;
    lock_give(&child->lock);
    return has_ended ? 0 : -EAGAIN;
}

int runloop_child_send_signal(runloop_child *source, int32_t number) {
    struct child *child = child_of(source);
    return child ? pidfd_signal(child->object.descriptor, number) : -EINVAL;
}

HOLDS_LOCK static int begin_ending(struct child *child, const runloop_child_step *steps, size_t count, bool of_group) {
    const struct ended_process process = process_of(child);
    if (child->has_ended)
        return -ESRCH;
    int result = runloop__ending_begin(&child->ending, &process, steps, count, of_group);
    if (result < 0)
        return result;
    // A former sequence is over.
    runloop_source_set_deadline(child->object.source, RUNLOOP_NEVER);
    if (count > 1)
        runloop_source_wake(child->object.source);
    return 0;
}

int runloop_child_end_by(runloop_child *source, const runloop_child_step *steps, size_t count, bool of_group) {
    struct child *child = child_of(source);
    int result = runloop__ending_is_valid(steps, count) ? object_check(child) : -EINVAL;
    if (result)
        return result;
    lock_take(&child->lock);
    result = begin_ending(child, steps, count, of_group);
    lock_give(&child->lock);
    return result;
}
#endif // __linux__
