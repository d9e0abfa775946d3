// start.c — a program is started, by clone with CLONE_VM and CLONE_VFORK: as posix_spawn does it, and for what that can't do.
//
// The calling thread sleeps in the kernel until the child has executed its program or has ended, so what the child notes in the memory of
// both is complete when the thread looks, and no error needs a pipe. Everything that may fail in the parent comes before: the object, the
// pipes. A failed child is reaped here.

#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
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

//===-- the plan -----------------------------------------------------------------------------------------------------===//

static struct place *place_of(struct start *start, int number) {
    struct place *place = start->places, *end = place + start->place_count;
    while (place < end && place->number < number)
        place++;
    return place < end && place->number == number ? place : NULL;
}

static void insert(struct start *start, runloop_child_descriptor asked, int source) {
    struct place *place = start->places + start->place_count++;
    for (; place > start->places && place[-1].number > asked.number; place--)
        *place = place[-1];
    *place = (struct place){.number = asked.number, .source = source, .opened = -1, .parent_end = -1, .asked = asked};
}

static bool is_pipe(const runloop_child_descriptor *asked) {
    return asked->kind == RUNLOOP_CHILD_INPUT_PIPE || asked->kind == RUNLOOP_CHILD_OUTPUT_PIPE;
}

/// Orders what is asked for. false: it does not make sense.
static bool plan(struct start *start, const runloop_child_start_config *config) {
    for (size_t i = 0; i < config->descriptor_count; i++) {
        const runloop_child_descriptor *asked = &config->descriptors[i];
        if (asked->number < 0 || asked->kind > RUNLOOP_CHILD_SAME || place_of(start, asked->number) ||
            (is_pipe(asked) && !asked->parent_end) || (asked->kind == RUNLOOP_CHILD_DESCRIPTOR && asked->from < 0))
            return false;
        insert(start, *asked, asked->number);
    }
    for (int number = STDIN_FILENO; number <= STDERR_FILENO; number++)
        if (!place_of(start, number))
            insert(start, (runloop_child_descriptor){.number = number}, -1);
    return true;
}

/// Asked before anything is opened: a number that is not open would become that, and seem to be there.
static bool are_open(struct start *start) {
    for (const struct place *place = start->places; place < start->places + start->place_count; place++) {
        const struct place *same = place_of(start, place->asked.from);
        int source = -1;
        if (place->asked.kind == RUNLOOP_CHILD_INHERITED)
            source = place->source;
        else if (place->asked.kind == RUNLOOP_CHILD_DESCRIPTOR ||
                 (place->asked.kind == RUNLOOP_CHILD_SAME && same && same->source < 0))
            source = place->asked.from;
        if (source < 0 || fcntl(source, F_GETFD) >= 0)
            continue;
        start->error = errno;
        start->subject = "descriptor";
        start->number = place->number;
        return false;
    }
    return true;
}

static int open_pipe(struct place *place) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    bool reads = place->asked.kind == RUNLOOP_CHILD_INPUT_PIPE;
    place->source = place->opened = ends[!reads];
    place->parent_end = ends[reads];
    // Not the child's end: most programs expect that theirs block.
    return fcntl(place->parent_end, F_SETFL, O_NONBLOCK) < 0 ? -errno : 0;
}

static int open_place(struct place *place) {
    switch (place->asked.kind) {
    case RUNLOOP_CHILD_INPUT_PIPE:
    case RUNLOOP_CHILD_OUTPUT_PIPE: return open_pipe(place);
    case RUNLOOP_CHILD_NULL:
        place->source = place->opened = open("/dev/null", O_RDWR | O_CLOEXEC);
        return place->opened < 0 ? -errno : 0;
    case RUNLOOP_CHILD_DESCRIPTOR: place->source = place->asked.from; return 0;
    case RUNLOOP_CHILD_INHERITED:
    case RUNLOOP_CHILD_SAME: break;
    }
    return 0;
}

static int open_places(struct start *start) {
    int result = 0;
    for (size_t i = 0; i < start->place_count && result == 0; i++)
        result = open_place(&start->places[i]);
    for (size_t i = 0; i < start->place_count && result == 0; i++) {
        struct place *place = &start->places[i], *same = place_of(start, place->asked.from);
        if (place->asked.kind != RUNLOOP_CHILD_SAME)
            continue;
        if (!same || same->asked.kind == RUNLOOP_CHILD_SAME)
            return -EINVAL;
        place->source = same->source < 0 ? same->number : same->source;
    }
    return result;
}

/// Closes what is the child's by now, and what the caller gets only if there is a child.
static void close_places(struct start *start, bool succeeded) {
    for (struct place *place = start->places; place < start->places + start->place_count; place++) {
        if (place->opened >= 0)
            close(place->opened);
        if (place->parent_end >= 0 && succeeded)
            *place->asked.parent_end = place->parent_end;
        else if (place->parent_end >= 0)
            close(place->parent_end);
    }
}

//===-- the child ----------------------------------------------------------------------------------------------------===//

/// The stack is behind the places, and grows towards them.
static pid_t clone_blocked(struct start *start, void *stack_end) {
    // All of them, also those that the C library keeps for itself.
    const uint64_t all[2] = {~UINT64_C(0), ~UINT64_C(0)};
    uint64_t former[2];
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, all, former, _NSIG / 8);
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

/// Lives as long as the child. It does not reap it.
static void *keep(void *info) {
    struct kept_start *kept = info;
    pid_t pid = kept->pid = clone_blocked(kept->start, kept->stack_end);
    bool has_failed = kept->start->error != 0;
    // From here on the start may be over.
    atomic_store(&kept->is_done, 1);
    futex_wake(&kept->is_done, 1);
    siginfo_t info_of_end;
    if (pid > 0 && !has_failed)
        while (syscall(SYS_waitid, P_PID, pid, &info_of_end, WEXITED | WNOWAIT | __WALL, NULL) < 0 && errno == EINTR)
            ;
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

/// The child object is made first, with a descriptor in the place of the pidfd: after the start nothing fails any more.
static int start_with(struct start *start, void *stack_end, runloop_child **out) {
    runloop_child_config object = start->config->child;
    object.reaps = true;
    int placeholder = eventfd(0, EFD_CLOEXEC);
    runloop_child *child = NULL;
    int result = runloop__child_make(&object, placeholder < 0 ? -errno : placeholder, &child);
    if (result == 0)
        result = open_places(start);
    pid_t pid = 0;
    if (result == 0)
        pid = start->config->parent_death_signal ? clone_kept(start, stack_end) : clone_blocked(start, stack_end);
    if (pid < 0)
        result = pid;
    if (pid > 0 && start->error) {
        // It has ended, or is about to. Its number is not used again before it is reaped, which the kernel may do itself.
        siginfo_t info;
        while (syscall(SYS_waitid, PIDFD_WAIT, start->pidfd, &info, WEXITED | __WALL, NULL) < 0 && errno == EINTR)
            ;
        close(start->pidfd);
        result = tell_failure(start);
    }
    close_places(start, result == 0);
    if (result < 0) {
        if (child)
            object_give_up(runloop__object_of(child, OBJECT_CHILD));
        return result;
    }
    runloop__child_begin(child, pid, start->pidfd);
    *out = child;
    return 0;
}

static bool is_valid(const runloop_child_start_config *config) {
    return config && config->arguments && config->arguments[0] && config->child.pid == 0 && config->child.pidfd == 0 &&
           config->descriptor_count <= MOST_DESCRIPTORS && (config->descriptors || config->descriptor_count == 0) &&
           (config->limits || config->limit_count == 0) && config->group >= RUNLOOP_CHILD_NEW_SESSION &&
           (!config->has_terminal || config->group == RUNLOOP_CHILD_NEW_SESSION) && config->parent_death_signal >= 0;
}

int runloop_child_start(const runloop_child_start_config *config, runloop_child **out) {
    if (config && config->failed && config->failed_size)
        *config->failed = 0;
    if (!is_valid(config) || !out)
        return -EINVAL;
    siginfo_t info;
    // No descriptor has this number: an older kernel does not even look for it.
    if (pidfd_wait(INT_MAX, WNOWAIT, &info, NULL) != -EBADF)
        return -ENOSYS;
    const char *program = config->program ? config->program : config->arguments[0];
    if (strlen(program) >= PATH_MAX)
        return -ENAMETOOLONG;
    size_t size = sizeof(struct start) + (config->descriptor_count + 3) * sizeof(struct place);
    size = (size + 63) / 64 * 64 + STACK_SIZE;
    struct start *start = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
        return -errno;
    *start = (struct start){.config = config, .program = program, .pidfd = -1, .parent = (int32_t)syscall(SYS_getpid)};
    start->environment = config->environment ? (char *const *)config->environment : environ;
    if (config->searches && *program && !strchr(program, '/') && !(start->search_path = secure_getenv("PATH")))
        start->search_path = "/usr/local/bin:/bin:/usr/bin";
    // Closing is a cancellation point, where the thread would end and leave the rest.
    int cancellation, result = -EINVAL;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellation);
    if (plan(start, config))
        result = are_open(start) ? start_with(start, (char *)start + size, out) : tell_failure(start);
    pthread_setcancelstate(cancellation, NULL);
    munmap(start, size);
    return result;
}
#endif // __linux__
