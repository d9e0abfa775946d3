// execute.c — a new child, from its first instruction to the program that it executes.
//
// It has the memory of its parent, whose thread sleeps meanwhile, while other threads hold locks and change what is theirs. So it takes no
// lock, allocates nothing, and uses a function of the C library only if that touches nothing but its arguments and errno. System calls are
// made by syscall(), since the functions may be cancellation points, or a sanitizer's. All signals are blocked until the program's handling
// is set: a handler would run in the parent's memory.

#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process/catcher.h"
#include "process/start.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

/// A sanitizer would note the child's frames in the memory of the parent, which never leaves them.
#define UNSANITIZED __attribute__((no_sanitize("address", "thread", "undefined")))

UNSANITIZED static bool fails(struct start *start, const char *subject, int number) {
    start->error = errno;
    start->subject = subject;
    start->number = number;
    return false;
}

//===-- what the process is ------------------------------------------------------------------------------------------===//

/// A parent that has ended before the kernel knew of the signal is noticed here. One outside of the child's namespace of pids is 0.
UNSANITIZED static bool set_death_signal(struct start *start) {
    int32_t number = start->config->parent_death_signal;
    if (number == 0)
        return true;
    if (syscall(SYS_prctl, PR_SET_PDEATHSIG, number, 0, 0, 0) < 0)
        return fails(start, "signal", number);
    long parent = syscall(SYS_getppid);
    // Blocked until the program is about to be executed.
    if (parent != start->parent && parent != 0)
        syscall(SYS_kill, (pid_t)syscall(SYS_getpid), number);
    return true;
}

/// All signals are blocked: a process in the background that takes the foreground would be stopped by one.
UNSANITIZED static bool set_group(struct start *start) {
    if (start->group == RUNLOOP_CHILD_NEW_SESSION) {
        // It leads no group yet, so only a sandbox refuses it.
        if (syscall(SYS_setsid) < 0)
            return fails(start, "session", -1);
        if (start->terminal >= 0 && syscall(SYS_ioctl, start->terminal, TIOCSCTTY, 0) < 0)
            return fails(start, "terminal", start->terminal);
        return true;
    }
    if (start->group == RUNLOOP_CHILD_PARENTS_GROUP)
        return true;
    int group = start->group == RUNLOOP_CHILD_NEW_GROUP ? 0 : start->group;
    if (syscall(SYS_setpgid, 0, group) < 0)
        return fails(start, "process group", group);
    group = group ? group : (int)syscall(SYS_getpid);
    if (start->terminal >= 0 && syscall(SYS_ioctl, start->terminal, TIOCSPGRP, &group) < 0)
        return fails(start, "terminal", start->terminal);
    return true;
}

UNSANITIZED static bool set_limits(struct start *start) {
    const runloop_child_start_config *config = start->config;
    for (size_t i = 0; i < config->limit_count; i++) {
        const uint64_t limit[2] = {config->limits[i].soft, config->limits[i].hard};
        if (syscall(SYS_prlimit64, 0, config->limits[i].resource, limit, NULL) < 0)
            return fails(start, "limit", config->limits[i].resource);
    }
    return true;
}

/// The C library's functions keep some signals for themselves, which another program does not know.
UNSANITIZED static bool set_signals(struct start *start) {
    // The kernel's struct sigaction, and more than its size. It begins with the handler, on MIPS after the flags. The default is zeros.
    uintptr_t actions[2][32] = {{0}};
#ifdef __mips__
    actions[1][1] = 1;
#else
    actions[1][0] = 1;
#endif
    static const uint64_t none[2];
    for (int number = 1; number < _NSIG; number++) {
        bool ignores = number <= LAST_SIGNAL && (start->config->ignored_signals & catcher_bit(number));
        // Two can have no other action than the default.
        if (syscall(SYS_rt_sigaction, number, actions[ignores], NULL, _NSIG / 8) < 0 && (ignores || errno != EINVAL))
            return fails(start, "signal", number);
    }
    // A program that can't be ended politely is not started.
    return syscall(SYS_rt_sigprocmask, SIG_SETMASK, none, NULL, _NSIG / 8) == 0 || fails(start, "signals", -1);
}

//===-- its descriptors ----------------------------------------------------------------------------------------------===//

/// The name of an entry of /proc/self/fd; -1 if it is no number.
UNSANITIZED static long number_of(const char *name) {
    long number = *name < '0' || *name > '9' ? -1 : 0;
    for (; number >= 0 && *name; name++)
        number = number * 10 + (*name - '0');
    return number;
}

/// Before Linux 5.9, and in sandboxes.
UNSANITIZED static int close_listed(unsigned first, unsigned last) {
    // struct linux_dirent64
    enum { LENGTH_AT = 16, NAME_AT = 19 };
    char entries[1024];
    long directory = syscall(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC), size;
    if (directory < 0)
        return -1;
    while ((size = syscall(SYS_getdents64, directory, entries, sizeof entries)) > 0) {
        uint16_t length;
        for (long at = 0; at < size; at += length) {
            memcpy(&length, entries + at + LENGTH_AT, sizeof length);
            long number = number_of(entries + at + NAME_AT);
            if (number >= (long)first && (unsigned long)number <= last && number != directory)
                syscall(SYS_close, number);
        }
    }
    syscall(SYS_close, directory);
    return size < 0 ? -1 : 0;
}

UNSANITIZED static bool close_from_to(struct start *start, unsigned first, unsigned last) {
    if (syscall(SYS_close_range, first, last, 0) == 0 || close_listed(first, last) == 0)
        return true;
    return fails(start, "descriptor", (int)first);
}

/// The place that has the number, or NULL.
UNSANITIZED static const struct place *place_with(const struct start *start, long number) {
    for (const struct place *place = start->places; place < start->places + start->place_count; place++)
        if (place->number == number)
            return place;
    return NULL;
}

/// A source that becomes something else, as the number of another place, is moved to a number of none. The child has descriptors of its own, so
/// what is tried on the way to that is closed again.
UNSANITIZED static bool move_sources(struct start *start) {
    long moved = -1;
    for (struct place *place = start->places; place < start->places + start->place_count; place++) {
        const struct place *other = place_with(start, place->source);
        if (!other || other == place || other->source < 0 || other->source == other->number)
            continue;
        while (place_with(start, moved = syscall(SYS_fcntl, place->source, F_DUPFD_CLOEXEC, moved + 1)))
            syscall(SYS_close, moved);
        if (moved < 0) {
            // It was asked for one behind the last number that the limit allows.
            errno = errno == EINVAL ? EMFILE : errno;
            return fails(start, "descriptor", place->number);
        }
        place->source = (int)moved;
    }
    return true;
}

/// Puts each where it belongs, and closes everything else.
UNSANITIZED static bool set_descriptors(struct start *start) {
    if (!move_sources(start))
        return false;
    for (struct place *place = start->places; place < start->places + start->place_count; place++) {
        long result = place->source < 0                ? 0
                      : place->source == place->number ? syscall(SYS_fcntl, place->number, F_SETFD, 0)
                                                       : syscall(SYS_dup3, place->source, place->number, 0);
        if (result < 0)
            return fails(start, "descriptor", place->number);
    }
    unsigned next = 0;
    for (struct place *place = start->places; place < start->places + start->place_count; place++) {
        if (next < (unsigned)place->number && !close_from_to(start, next, (unsigned)place->number - 1))
            return false;
        next = (unsigned)place->number + 1;
    }
    return close_from_to(start, next, ~0U);
}

//===-- its program --------------------------------------------------------------------------------------------------===//

UNSANITIZED static void try_to_execute(struct start *start) {
    syscall(SYS_execve, start->path, start->config->arguments, start->environment);
}

/// As execvp: the first file in the folders of the path that can be executed. One that may not be is the reason if there is no other.
UNSANITIZED static bool search(struct start *start) {
    size_t name_size = strlen(start->program) + 1, length;
    const char *reason = start->program;
    for (const char *folder = start->search_path; folder; folder = folder[length] ? folder + length + 1 : NULL) {
        for (length = 0; folder[length] && folder[length] != ':';)
            length++;
        if (length + 1 + name_size > sizeof start->path)
            continue;
        memcpy(start->path, folder, length);
        start->path[length] = '/';
        // An empty one is the working directory.
        memcpy(start->path + length + (length > 0), start->program, name_size);
        try_to_execute(start);
        if (errno == EACCES && reason == start->program)
            reason = memcpy(start->denied, start->path, sizeof start->denied);
        else if (errno != ENOENT && errno != ENOTDIR && errno != EACCES && errno != ESTALE && errno != ENODEV)
            return fails(start, start->path, -1);
    }
    errno = reason == start->program ? ENOENT : EACCES;
    return fails(start, reason, -1);
}

UNSANITIZED static bool execute(struct start *start) {
    if (start->search_path)
        return search(start);
    memcpy(start->path, start->program, strlen(start->program) + 1);
    try_to_execute(start);
    return fails(start, start->path, -1);
}

UNSANITIZED static bool set_directory(struct start *start) {
    const char *directory = start->config->directory;
    return !directory || syscall(SYS_chdir, directory) == 0 || fails(start, directory, -1);
}

UNSANITIZED int runloop__start_execute(void *info) {
    struct start *start = info;
    // The terminal is used before descriptors are closed, and limits may be too tight for anything after them.
    (void)(set_death_signal(start) && set_group(start) && set_directory(start) && set_descriptors(start) &&
           set_limits(start) && set_signals(start) && execute(start));
    for (;;)
        syscall(SYS_exit_group, 127);
}
#endif // __linux__
