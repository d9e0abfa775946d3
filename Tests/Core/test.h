// test.h — the C tests' harness. One test file per subject, one process per test.
//
//   TEST("R36 a handled source takes precedence over the limit") { EXPECT_EQ(run(…), RUNLOOP_RESULT_…); }
//
// `./timer` runs every test of the file, each in a process of its own; `./timer R80` those whose name contains R80.
// A test fails if an expectation fails, if it crashes, or if it hangs (60 s; RUNLOOP_TEST_TIMEOUT changes that).
// RUNLOOP_TEST_STOP: after the first that fails, none is run.
#ifndef RUNLOOP_TEST_H
#define RUNLOOP_TEST_H

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runloop.h"

#define MS INT64_C(1000000)
#define SECOND INT64_C(1000000000)

struct test {
    const char *name;
    void (*run)(void);
    struct test *next;
};

static struct test *test_first, **test_last = &test_first;
static int test_failures;

static inline void test_register(struct test *test) {
    *test_last = test;
    test_last = &test->next;
}

#define TEST_JOIN2(a, b) a##b
#define TEST_JOIN(a, b) TEST_JOIN2(a, b)
#define TEST_NAMED(name, id)                                                                                           \
    static void TEST_JOIN(test_body_, id)(void);                                                                       \
    __attribute__((constructor)) static void TEST_JOIN(test_enter_, id)(void) {                                        \
        static struct test test = {name, TEST_JOIN(test_body_, id), NULL};                                             \
        test_register(&test);                                                                                          \
    }                                                                                                                  \
    static void TEST_JOIN(test_body_, id)(void)
#define TEST(name) TEST_NAMED(name, __COUNTER__)

#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "    %s:%d: expected %s\n", __FILE__, __LINE__, #condition);                               \
            __atomic_fetch_add(&test_failures, 1, __ATOMIC_RELAXED);                                                   \
        }                                                                                                              \
    } while (0)

#define EXPECT_EQ(actual, expected)                                                                                    \
    do {                                                                                                               \
        intmax_t test_a = (intmax_t)(actual), test_e = (intmax_t)(expected);                                           \
        if (test_a != test_e) {                                                                                        \
            fprintf(stderr, "    %s:%d: %s is %jd, expected %jd (%s)\n", __FILE__, __LINE__, #actual, test_a, test_e,  \
                    #expected);                                                                                        \
            __atomic_fetch_add(&test_failures, 1, __ATOMIC_RELAXED);                                                   \
        }                                                                                                              \
    } while (0)

#define EXPECT_TEXT(actual, expected)                                                                                  \
    do {                                                                                                               \
        const char *test_a = (actual), *test_e = (expected);                                                           \
        if (!test_a || strcmp(test_a, test_e) != 0) {                                                                  \
            fprintf(stderr, "    %s:%d: %s is\n        \"%s\", expected\n        \"%s\"\n", __FILE__, __LINE__,        \
                    #actual, test_a ? test_a : "(null)", test_e);                                                      \
            __atomic_fetch_add(&test_failures, 1, __ATOMIC_RELAXED);                                                   \
        }                                                                                                              \
    } while (0)

// Ends the test at once: for conditions that the rest of it depends on.
#define REQUIRE(condition)                                                                                             \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "    %s:%d: required %s\n", __FILE__, __LINE__, #condition);                               \
            fflush(NULL);                                                                                              \
            _exit(1);                                                                                                  \
        }                                                                                                              \
    } while (0)

enum test_result { TEST_PASSED, TEST_FAILED, TEST_LEFT_OUT = 77 };

/// Ends a test that can't run where it was built for, or that this machine or its sandbox refuses, and tells why. It counts as left out, not
/// as passed.
#define LEAVE_OUT(reason) (printf("    %s\n", reason), fflush(NULL), _exit(TEST_LEFT_OUT))

/// Whether an emulator of another processor runs this program, as Tests/bin/ports has it.
static inline bool is_emulated(void) {
    const char *emulator = getenv("EMULATOR");
    return emulator && *emulator;
}

/// For tests of what an emulator gets wrong. `fault` is that.
static inline void need_no_emulator(const char *fault) {
    if (is_emulated())
        LEAVE_OUT(fault);
}

/// For tests that ask the kernel about this process.
static inline void need_proc(void) {
    if (access("/proc/self/stat", F_OK) != 0)
        LEAVE_OUT("There is no /proc.");
}

//===-- traces: what happened, as one line of text -------------------------------------------------------------------===//

static char test_trace_text[16384];
static pthread_mutex_t test_trace_lock = PTHREAD_MUTEX_INITIALIZER;

/// Appends a word to the trace, with a space before it if it isn't the first. Any thread.
static inline void trace(const char *word) {
    pthread_mutex_lock(&test_trace_lock);
    size_t used = strlen(test_trace_text);
    snprintf(test_trace_text + used, sizeof test_trace_text - used, "%s%s", used ? " " : "", word);
    pthread_mutex_unlock(&test_trace_lock);
}

static inline void trace_reset(void) {
    pthread_mutex_lock(&test_trace_lock);
    test_trace_text[0] = 0;
    pthread_mutex_unlock(&test_trace_lock);
}

/// Compares the trace so far with `expected` and empties it.
#define EXPECT_TRACE(expected)                                                                                         \
    do {                                                                                                               \
        EXPECT_TEXT(test_trace_text, expected);                                                                        \
        trace_reset();                                                                                                 \
    } while (0)

//===-- threads ------------------------------------------------------------------------------------------------------===//

/// Runs `body(argument)` on a new thread and waits until it ends.
static inline void on_new_thread(void *(*body)(void *), void *argument) {
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, body, argument) == 0);
    REQUIRE(pthread_join(thread, NULL) == 0);
}

/// Is a thread asleep in the kernel? Not in the delays of Tests/Tools/late_calls.c, which sleep before and after a call. The files stay open, so that
/// this also works when no descriptors are left.
static inline bool thread_is_asleep(pid_t thread) {
    static const char *const names[] = {"stat", "wchan"};
    static __thread pid_t asked_before;
    static __thread int files[2];
    char texts[2][512];
    if (!asked_before)
        need_proc();
    for (int i = 0; i < 2; i++) {
        if (asked_before != thread) {
            snprintf(texts[i], sizeof texts[i], "/proc/self/task/%d/%s", (int)thread, names[i]);
            if (asked_before)
                close(files[i]);
            REQUIRE((files[i] = open(texts[i], O_RDONLY | O_CLOEXEC)) >= 0);
        }
        ssize_t length = pread(files[i], texts[i], sizeof texts[i] - 1, 0);
        texts[i][length > 0 ? length : 0] = 0;
    }
    asked_before = thread;
    const char *end = strrchr(texts[0], ')');
    return end && end[1] && end[2] == 'S' && !strstr(texts[1], "nanosleep");
}

/// Is a loop asleep in the kernel, and not only about to sleep?
static inline bool sleeps(runloop *loop, pid_t thread) {
    return runloop_is_waiting(loop) && thread_is_asleep(thread) && runloop_is_waiting(loop);
}

/// Waits until `condition` holds; fails the test after 30 s. For what another thread is about to do.
#define WAIT_UNTIL(condition)                                                                                          \
    do {                                                                                                               \
        int64_t test_deadline = runloop_now_ns() + 30 * SECOND;                                                        \
        while (!(condition)) {                                                                                         \
            REQUIRE(runloop_now_ns() < test_deadline && #condition);                                                   \
            usleep(200);                                                                                               \
        }                                                                                                              \
    } while (0)

//===-- ends of the program ------------------------------------------------------------------------------------------===//

/// Ends the process if it is still there then. RUNLOOP_TEST_TIMEOUT says how many seconds instead, on a machine that is slow or busy.
static inline void test_end_after(unsigned seconds) {
    const char *timeout = getenv("RUNLOOP_TEST_TIMEOUT");
    alarm(timeout ? (unsigned)atoi(timeout) : seconds);
}

/// In a forked child, with standard error into `report`: did the statement end the program by abort?
#define TEST_ABORTS(statement, report)                                                                                 \
    __extension__({                                                                                                    \
        int test_ends[2], test_status = 0;                                                                             \
        REQUIRE(pipe(test_ends) == 0);                                                                                 \
        fflush(NULL);                                                                                                  \
        pid_t test_child = fork();                                                                                     \
        if (test_child == 0) {                                                                                         \
            dup2(test_ends[1], STDERR_FILENO);                                                                         \
            test_end_after(20);                                                                                        \
            statement;                                                                                                 \
            _exit(0);                                                                                                  \
        }                                                                                                              \
        close(test_ends[1]);                                                                                           \
        test_read_all(test_ends[0], report, sizeof report);                                                            \
        REQUIRE(waitpid(test_child, &test_status, 0) == test_child);                                                   \
        WIFSIGNALED(test_status) && WTERMSIG(test_status) == SIGABRT;                                                  \
    })

static inline void test_read_all(int descriptor, char *text, size_t size) {
    size_t used = 0;
    for (ssize_t got = 1; got > 0 && used + 1 < size; used += (size_t)(got > 0 ? got : 0))
        got = read(descriptor, text + used, size - 1 - used);
    text[used] = 0;
    close(descriptor);
}

/// The statement ends the program with a sentence on standard error that contains `sentence`.
#define EXPECT_FATAL(statement, sentence)                                                                              \
    do {                                                                                                               \
        char test_report[4096];                                                                                        \
        bool test_aborted = TEST_ABORTS(statement, test_report);                                                       \
        if (!test_aborted || !strstr(test_report, sentence)) {                                                         \
            fprintf(stderr, "    %s:%d: %s %s, and wrote\n        \"%s\", expected\n        \"%s\"\n", __FILE__,       \
                    __LINE__, #statement, test_aborted ? "aborted" : "did not abort", test_report, sentence);          \
            __atomic_fetch_add(&test_failures, 1, __ATOMIC_RELAXED);                                                   \
        }                                                                                                              \
    } while (0)

//===-- main ---------------------------------------------------------------------------------------------------------===//

static inline enum test_result test_run_in_process(struct test *test) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        test_end_after(60);
        // A shell ignores these two for what it starts in the background.
        signal(SIGINT, SIG_DFL);
        signal(SIGQUIT, SIG_DFL);
        test->run();
        fflush(NULL);
        exit(test_failures ? TEST_FAILED : TEST_PASSED);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) {
        fprintf(stderr, "    could not be %s: %s\n", child < 0 ? "started" : "awaited", strerror(errno));
        return TEST_FAILED;
    }
    if (WIFSIGNALED(status))
        fprintf(stderr, "    ended by signal %d%s\n", WTERMSIG(status), WTERMSIG(status) == 14 ? " (it hung)" : "");
    else if (WEXITSTATUS(status) == TEST_PASSED || WEXITSTATUS(status) == TEST_LEFT_OUT)
        return (enum test_result)WEXITSTATUS(status);
    else if (WEXITSTATUS(status) != TEST_FAILED)
        fprintf(stderr, "    ended by exit(%d)\n", WEXITSTATUS(status));
    return TEST_FAILED;
}

int main(int count, char **arguments) {
    int passed = 0, failed = 0;
    bool stops = getenv("RUNLOOP_TEST_STOP");
    for (struct test *test = test_first; test && !(stops && failed); test = test->next) {
        if (count > 1 && !strstr(test->name, arguments[1]))
            continue;
        enum test_result result = test_run_in_process(test);
        printf("%s %s\n", result == TEST_PASSED ? "ok  " : result == TEST_FAILED ? "FAIL" : "left out", test->name);
        passed += result == TEST_PASSED;
        failed += result == TEST_FAILED;
    }
    const char *file = strrchr(arguments[0], '/');
    printf("%s: %d passed, %d failed\n", file ? file + 1 : arguments[0], passed, failed);
    return failed || !passed;
}

#endif // RUNLOOP_TEST_H
