// forks.h — the ways to fork, which a child notices, and what is done in a child.
#ifndef RUNLOOP_TEST_FORKS_H
#define RUNLOOP_TEST_FORKS_H
#include <sys/mman.h>

#include "items.h"

extern pid_t _Fork(void) __attribute__((weak));

static inline pid_t fork_without_handlers(void) {
    return _Fork ? _Fork() : fork();
}

static inline pid_t fork_by_clone(void) {
#ifdef __s390__
    return (pid_t)syscall(SYS_clone, 0, SIGCHLD, 0, 0, 0); // the stack comes first there
#else
    return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
#endif
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
    REQUIRE(child > 0);
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    munmap(page, 4096);
    return status == 0 ? sizeof ways / sizeof ways[0] : 1;
}

/// Forks that way, runs `body` in the child and gives its status. A child that leaves the test out does so for its parent.
static inline int status_of_child_by(pid_t (*way)(void), void (*body)(void)) {
    fflush(NULL);
    pid_t child = way();
    REQUIRE(child >= 0);
    if (child == 0) {
        test_end_after(30);
        test_failures = 0;
        trace_reset();
        body();
        fflush(NULL);
        _exit(test_failures ? 99 : 0);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == TEST_LEFT_OUT)
        _exit(TEST_LEFT_OUT);
    return status;
}

static inline int status_of_child(void (*body)(void)) {
    return status_of_child_by(fork, body);
}

/// Expects the child to end by itself, without a failed expectation.
static inline void expect_in_child(pid_t (*way)(void), void (*body)(void)) {
    EXPECT_EQ(status_of_child_by(way, body), 0);
}

#endif // RUNLOOP_TEST_FORKS_H
