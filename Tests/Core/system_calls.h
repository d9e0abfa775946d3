// system_calls.h — counts the system calls that a part of a scene makes, by thread and kind. The scene runs in a child that this process
// traces (ptrace), and marks the part by `begin_counting` and `end_counting`.
//
// Nothing is counted under a sanitizer, with random delays, or with late calls (LD_PRELOAD), which make calls of their own, nor where
// tracing is refused (an emulator, a sandbox): then the scene is only tested to work, and `are_counted` is false.
// Calls of libc's allocator (mmap and the like) aren't counted: musl gives memory back, and takes it again, where glibc keeps it.
#ifndef RUNLOOP_TEST_SYSTEM_CALLS_H
#define RUNLOOP_TEST_SYSTEM_CALLS_H

#include "items.h"

#include <errno.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

struct system_calls {
    bool are_counted;
    /// By the thread that began counting: all, and those that wait.
    int own, own_waits;
    /// By the other threads.
    int others;
    /// By all threads: those that write, that wait, and the rest without locks.
    int writes, waits, rest;
};

enum { BEGIN_MARK = 1001, END_MARK = 1002 };

// A write to no descriptor, whose length is the mark.
static inline void begin_counting(void) {
    EXPECT(syscall(SYS_write, -1, NULL, BEGIN_MARK) < 0);
}

static inline void end_counting(void) {
    EXPECT(syscall(SYS_write, -1, NULL, END_MARK) < 0);
}

//===-- the tracing process ------------------------------------------------------------------------------------------===//

// The kernel's, which not every libc's headers have.
enum { GET_SYSCALL_INFO = 0x420e, SYSCALL_ENTRY = 1, TRACE_SYSGOOD = 1, TRACE_CLONE = 8, EXIT_KILL = 1 << 20 };

struct syscall_info {
    uint8_t op;
    uint32_t arch;
    uint64_t instruction_pointer, stack_pointer, number, arguments[6];
};

/// How many bytes there are; -1: it can't be told.
static inline long get_syscall_info(pid_t thread, struct syscall_info *info) {
    return syscall(SYS_ptrace, GET_SYSCALL_INFO, thread, sizeof *info, info);
}

static inline bool is_wait(uint64_t number) {
    switch (number) {
#ifdef SYS_epoll_wait
    case SYS_epoll_wait:
    case SYS_poll:
    case SYS_select:
#endif
#ifdef SYS_epoll_pwait2
    case SYS_epoll_pwait2:
#endif
#ifdef SYS_ppoll
    case SYS_ppoll:
    case SYS_pselect6:
#endif
    case SYS_epoll_pwait: return true;
    default: return false;
    }
}

static inline bool is_of_allocator(uint64_t number) {
    switch (number) {
#ifdef SYS_mmap2
    case SYS_mmap2:
#endif
#ifdef SYS_mmap
    case SYS_mmap:
#endif
    case SYS_munmap:
    case SYS_mremap:
    case SYS_madvise:
    case SYS_brk: return true;
    default: return false;
    }
}

static inline void count_call(struct system_calls *calls, const struct syscall_info *call, bool is_own) {
    bool waits = is_wait(call->number);
    bool writes = call->number == SYS_write || call->number == SYS_writev || call->number == SYS_pwrite64;
    *(is_own ? &calls->own : &calls->others) += 1;
    calls->own_waits += is_own && waits;
    calls->waits += waits;
    calls->writes += writes;
    calls->rest += !waits && !writes && call->number != SYS_futex && call->number != SYS_sched_yield;
}

/// The thread has stopped at the begin of a call.
static inline void note_call(struct system_calls *calls, pid_t thread, const struct syscall_info *call, pid_t *marker) {
    bool is_mark = call->number == SYS_write && (int)call->arguments[0] == -1 && call->arguments[1] == 0;
    if (is_mark && call->arguments[2] == BEGIN_MARK)
        *marker = thread;
    else if (is_mark && call->arguments[2] == END_MARK)
        *marker = 0;
    else if (*marker && !is_of_allocator(call->number))
        count_call(calls, call, thread == *marker);
}

/// Lets the child and its threads go on from stop to stop until it ends. Its status.
static inline int trace_child(pid_t child, struct system_calls *calls) {
    pid_t marker = 0;
    bool began = false;
    for (;;) {
        int status = 0;
        pid_t thread = waitpid(-1, &status, __WALL);
        REQUIRE(thread > 0);
        if (!WIFSTOPPED(status)) {
            if (thread != child)
                continue;
            EXPECT(began && !marker);
            return status;
        }
        struct syscall_info call = {0};
        long signal_to_deliver = 0;
        if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
            if (get_syscall_info(thread, &call) > 0 && call.op == SYSCALL_ENTRY)
                note_call(calls, thread, &call, &marker);
            began |= marker;
        } else if (WSTOPSIG(status) != SIGTRAP && WSTOPSIG(status) != SIGSTOP) {
            signal_to_deliver = WSTOPSIG(status);
        }
        ptrace(PTRACE_SYSCALL, thread, NULL, signal_to_deliver);
    }
}

/// False if this process may not, or can't learn enough. The child has stopped itself.
static inline bool can_trace(pid_t child) {
    int status = 0;
    REQUIRE(waitpid(child, &status, __WALL) == child);
    struct syscall_info call;
    return WIFSTOPPED(status) && ptrace(PTRACE_SETOPTIONS, child, NULL, TRACE_SYSGOOD | TRACE_CLONE | EXIT_KILL) == 0 &&
           get_syscall_info(child, &call) >= 0;
}

static inline struct system_calls count_system_calls(void (*scene)(void)) {
    struct system_calls calls = {0};
    if (UNDER_SANITIZER || getenv("RUNLOOP_CHAOS_SEED") || getenv("LD_PRELOAD")) {
        scene();
        return calls;
    }
    pid_t child = fork();
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
            raise(SIGSTOP);
        scene();
        _exit(test_failures != 0);
    }
    REQUIRE(child > 0);
    if (can_trace(child)) {
        ptrace(PTRACE_SYSCALL, child, NULL, 0);
        EXPECT_EQ(trace_child(child, &calls), 0);
        calls.are_counted = true;
    } else {
        kill(child, SIGKILL);
        scene();
    }
    return calls;
}

#endif // RUNLOOP_TEST_SYSTEM_CALLS_H
