// forks.h — the ways to fork, which a child notices.
#ifndef RUNLOOP_TEST_FORKS_H
#define RUNLOOP_TEST_FORKS_H
#include <sys/mman.h>

#include "items.h"

extern pid_t _Fork(void) __attribute__((weak));

static inline pid_t fork_without_handlers(void) {
    return _Fork ? _Fork() : fork();
}

static inline pid_t fork_by_clone(void) {
    return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static pid_t (*const ways[])(void) = {fork, fork_without_handlers, fork_by_clone};

/// An emulator may accept the advice to wipe a page on fork and not do it. A child that calls no handlers can't notice there.
static inline int count_ways(void) {
    char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(page != MAP_FAILED);
    if (madvise(page, 4096, MADV_WIPEONFORK))
        return 1;
    *page = 1;
    pid_t child = fork_by_clone();
    if (child == 0)
        _exit(*page);
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    munmap(page, 4096);
    return status == 0 ? sizeof ways / sizeof ways[0] : 1;
}

#endif // RUNLOOP_TEST_FORKS_H
