// child.c — the end of a child process, from its pidfd.
//
// A pidfd is readable from the end of the process on, for ever; so the first loop that sees it takes the end, and invalidates the source
// before anybody is called.

#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/object.h"
#include "process/catcher.h"
#include "process/child.h"
#include "process/pidfd.h"

enum { MOST_STEPS = 8 };

struct child {
    struct object object;
    int32_t pid;
    bool reaps;
    void (*exited)(runloop_child *child, const runloop_child_exit *exit, void *info);
    /// Guards what follows, and that the number of the process is its own: it is reaped, and its group is signalled, under the lock.
    struct process_lock lock;
    bool has_ended GUARDED;
    runloop_child_exit exit GUARDED; ///< constant from then on
    // The signals that end it. The next one is due when the deadline of the source has passed, if that has one.
    runloop_child_step steps[MOST_STEPS] GUARDED;
    size_t step_count GUARDED, next_step GUARDED;
    bool ends_group GUARDED;
    bool has_deadline GUARDED; ///< false: the child is to be called for it
};

static struct child *child_of(runloop_source *source) {
    return runloop__object_of(source, OBJECT_CHILD);
}

static runloop_child_exit exit_of(const siginfo_t *info, const struct kernel_usage *usage) {
    return (runloop_child_exit){
        .end = info->si_code == CLD_EXITED ? RUNLOOP_CHILD_EXITED : RUNLOOP_CHILD_SIGNALLED,
        .status = info->si_status,
        .dumped_core = info->si_code == CLD_DUMPED,
        .has_usage = true,
        .user_ns = usage->user_s * INT64_C(1000000000) + usage->user_us * INT64_C(1000),
        .system_ns = usage->system_s * INT64_C(1000000000) + usage->system_us * INT64_C(1000),
        .peak_memory_bytes = usage->peak_kilobytes * INT64_C(1024),
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

HOLDS_LOCK static int send(struct child *child, int32_t number, bool to_group) {
    ASSERT_HOLDS(&child->lock);
    if (!to_group)
        return pidfd_signal(child->object.descriptor, number);
    return kill(-child->pid, number) < 0 ? -errno : 0;
}

/// A process that is stopped, by SIGTTIN in the background for instance, gets no other signal than SIGKILL before it goes on.
static bool needs_running_process(int32_t number) {
    static const int others[] = {SIGKILL, SIGCONT, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (number == others[i])
            return false;
    return true;
}

HOLDS_LOCK static int send_step(struct child *child, int32_t number, bool to_group) {
    int result = send(child, number, to_group);
    if (result == 0 && needs_running_process(number))
        send(child, SIGCONT, to_group);
    return result;
}

/// In the loop, by whose clock the pause is: after a step that was sent, and that is not the last one. Without memory the child is called in
/// the next iteration, where that is tried again.
HOLDS_LOCK static void wait_for_next_step(struct child *child) {
    int64_t instant_ns, pause_ns = child->steps[child->next_step - 1].pause_ns;
    // A pause without an end has a deadline, too: none is one that has passed.
    if (__builtin_add_overflow(runloop_now_ns(), pause_ns, &instant_ns) || instant_ns == RUNLOOP_NEVER)
        instant_ns = RUNLOOP_NEVER - 1;
    child->has_deadline = runloop_source_set_deadline(child->object.source, instant_ns) == 0;
    if (!child->has_deadline)
        runloop_source_wake(child->object.source);
}

/// Sends what is due. A process that may not be signalled is not an error here: its owner awaits the end, and the next signal may do.
HOLDS_LOCK static void go_on_ending(struct child *child) {
    ASSERT_HOLDS(&child->lock);
    if (child->next_step == child->step_count)
        return;
    if (child->has_deadline) {
        if (runloop_source_get_deadline(child->object.source) != RUNLOOP_NEVER)
            return;
        send_step(child, child->steps[child->next_step++].signal, child->ends_group);
    }
    if (child->next_step < child->step_count)
        wait_for_next_step(child);
}

/// Has the process ended, and is this the first to see it? Two loops may be called.
HOLDS_LOCK static bool take_end(struct child *child) {
    ASSERT_HOLDS(&child->lock);
    siginfo_t ended = {0};
    struct kernel_usage usage = {0};
    if (child->has_ended)
        return false;
    int result = pidfd_wait(child->object.descriptor, child->reaps ? 0 : WNOWAIT, &ended, &usage);
    // Called for a signal that is due, or a debugger keeps the end from us for now: then the source is called again.
    if (result == 0 && ended.si_pid == 0)
        return false;
    // Of a process that is not our child the kernel does not say here whether it has ended.
    if (result < 0 && poll(&(struct pollfd){.fd = child->object.descriptor, .events = POLLIN}, 1, 0) == 0)
        return false;
    child->exit = result == 0 ? exit_of(&ended, &usage) : exit_of_other_process(child->object.descriptor);
    child->has_ended = true;
    return true;
}

static void ready(runloop_source *source, runloop_readiness reasons, void *info) {
    (void)reasons;
    struct child *child = info;
    lock_take(&child->lock);
    bool is_over = take_end(child);
    if (!is_over && !child->has_ended)
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

static const struct object_class child_class = {.kind = OBJECT_CHILD, .ready = ready};

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

int runloop__child_make(const runloop_child_config *config, int pidfd, runloop_child **out) {
    const struct object_config object = {
        .context = config->context, .cancel = config->cancel, .descriptor = pidfd, .class = &child_class};
    int result;
    struct child *child = runloop__object_make(sizeof *child, &object, &result);
    if (!child)
        return result;
    child->pid = config->pid;
    child->reaps = config->reaps;
    child->exited = config->exited;
    *out = child->object.source;
    return 0;
}

void runloop__child_begin(runloop_child *source, int32_t pid, int pidfd) {
    struct child *child = child_of(source);
    child->pid = pid;
    // It can't fail, since the descriptor is there already.
    dup3(pidfd, child->object.descriptor, O_CLOEXEC);
    close(pidfd);
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

static bool are_valid(const runloop_child_step *steps, size_t count) {
    if (!steps || count == 0 || count > MOST_STEPS)
        return false;
    for (size_t i = 0; i < count; i++)
        if (steps[i].signal <= 0 || steps[i].signal > LAST_SIGNAL || steps[i].pause_ns < 0)
            return false;
    return true;
}

HOLDS_LOCK static int begin_ending(struct child *child, const runloop_child_step *steps, size_t count, bool of_group) {
    // Somebody else, or the kernel, may have reaped it: then its number is not its own any more.
    if (child->has_ended || (of_group && pidfd_signal(child->object.descriptor, 0) == -ESRCH))
        return -ESRCH;
    if (of_group && (!child->reaps || child->pid == 0 || getpgid(child->pid) != child->pid))
        return -EINVAL;
    int result = send_step(child, steps[0].signal, of_group);
    if (result < 0)
        return result;
    memcpy(child->steps, steps, count * sizeof *steps);
    child->step_count = count;
    child->next_step = 1;
    child->ends_group = of_group;
    // A former sequence is over.
    runloop_source_set_deadline(child->object.source, RUNLOOP_NEVER);
    child->has_deadline = false;
    if (count > 1)
        runloop_source_wake(child->object.source);
    return 0;
}

int runloop_child_end_by(runloop_child *source, const runloop_child_step *steps, size_t count, bool of_group) {
    struct child *child = child_of(source);
    int result = are_valid(steps, count) ? object_check(child) : -EINVAL;
    if (result)
        return result;
    lock_take(&child->lock);
    result = begin_ending(child, steps, count, of_group);
    lock_give(&child->lock);
    return result;
}
#endif // __linux__
