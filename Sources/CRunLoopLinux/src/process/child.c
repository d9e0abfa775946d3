// child.c — the end of a child process, from its pidfd.
//
// A pidfd is readable from the end of the process on, for ever; so the first loop that sees it claims the end, and invalidates the source
// before anybody is called.

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/object.h"
#include "process/pidfd.h"
#include "runloop_child.h"

/// What is known of the end. A loop that has claimed it writes `exit` and then says so (release), for those who ask (acquire).
enum { RUNNING, CLAIMED, KNOWN };

struct child {
    struct object object;
    int32_t pid;
    int pidfd;
    bool reaps;
    void (*exited)(runloop_child *child, const runloop_child_exit *exit, void *info);
    _Atomic int state;
    runloop_child_exit exit;
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
static runloop_child_exit exit_of_stranger(int pidfd) {
    runloop_child_exit exit = {.end = RUNLOOP_CHILD_UNKNOWN};
    int status;
    if (!pidfd_exit_status(pidfd, &status))
        return exit;
    exit.end = WIFEXITED(status) ? RUNLOOP_CHILD_EXITED : RUNLOOP_CHILD_SIGNALLED;
    exit.status = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
    exit.dumped_core = WIFSIGNALED(status) && WCOREDUMP(status);
    return exit;
}

static void ready(runloop_source *source, runloop_readiness reasons, void *info) {
    (void)reasons;
    struct child *child = info;
    int running = RUNNING;
    if (!atomic_compare_exchange_strong(&child->state, &running, CLAIMED))
        return;
    siginfo_t ended = {0};
    struct kernel_usage usage = {0};
    int result = pidfd_wait(child->pidfd, child->reaps ? 0 : WNOWAIT, &ended, &usage);
    if (result == 0 && ended.si_pid == 0) {
        // A debugger keeps it from us for now. The source is called again.
        atomic_store(&child->state, RUNNING);
        return;
    }
    child->exit = result == 0 ? exit_of(&ended, &usage) : exit_of_stranger(child->pidfd);
    atomic_store_explicit(&child->state, KNOWN, memory_order_release);
    runloop_source_invalidate(source);
    if (child->exited)
        child->exited(child->object.source, &child->exit, child->object.context.info);
}

static void free_child(void *info) {
    struct child *child = info;
    close(child->pidfd);
    runloop__object_end(&child->object);
    free(child);
}

static const struct object_class child_class = {.kind = OBJECT_CHILD, .ready = ready, .free = free_child};

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

int runloop_child_create(const runloop_child_config *config, runloop_child **out) {
    if (!config || !out || config->pid < 0)
        return -EINVAL;
    struct child *child = calloc(1, sizeof *child);
    if (!child)
        return -ENOMEM;
    child->pid = config->pid;
    child->reaps = config->reaps;
    child->exited = config->exited;
    child->pidfd = open_pidfd(config);
    if (child->pidfd < 0) {
        int result = child->pidfd;
        free(child);
        return result;
    }
    const struct object_config object = {
        .context = config->context, .cancel = config->cancel, .descriptor = child->pidfd, .class = &child_class};
    int result = runloop__object_begin(&child->object, &object);
    if (result < 0) {
        close(child->pidfd);
        free(child);
        return result;
    }
    *out = child->object.source;
    return 0;
}

int32_t runloop_child_get_pid(runloop_child *source) {
    struct child *child = child_of(source);
    return child ? child->pid : 0;
}

int runloop_child_get_pidfd(runloop_child *source) {
    struct child *child = child_of(source);
    return child ? child->pidfd : -EINVAL;
}

int runloop_child_get_exit(runloop_child *source, runloop_child_exit *out) {
    struct child *child = child_of(source);
    if (!child || !out)
        return -EINVAL;
    if (atomic_load_explicit(&child->state, memory_order_acquire) != KNOWN)
        return -EAGAIN;
    *out = child->exit;
    return 0;
}

int runloop_child_send_signal(runloop_child *source, int32_t number) {
    struct child *child = child_of(source);
    return child ? pidfd_signal(child->pidfd, number) : -EINVAL;
}
