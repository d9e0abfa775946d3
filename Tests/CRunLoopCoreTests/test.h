// test.h — the C tests' harness. One file of tests per room, one process per test.
//
//   TEST("R36 a handled source wins over the limit") { EXPECT_EQ(run(…), RUNLOOP_RESULT_…); }
//
// `./timer` runs every test of the room, each in a process of its own; `./timer R80` those whose name contains R80.
// A test fails when an expectation fails, when it crashes, and when it hangs (60 s; RUNLOOP_TEST_TIMEOUT changes that).
#ifndef RUNLOOP_TEST_H
#define RUNLOOP_TEST_H

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
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

// Ends the test at once: for what the rest of it depends on.
#define REQUIRE(condition)                                                                                             \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "    %s:%d: required %s\n", __FILE__, __LINE__, #condition);                               \
            fflush(NULL);                                                                                              \
            _exit(1);                                                                                                  \
        }                                                                                                              \
    } while (0)

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

/// Runs `body(argument)` on a new thread and waits for its end.
static inline void on_new_thread(void *(*body)(void *), void *argument) {
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, body, argument) == 0);
    REQUIRE(pthread_join(thread, NULL) == 0);
}

/// Is a thread asleep in the kernel? The file stays open, so that this can be asked again where no descriptors are left.
static inline bool thread_is_asleep(pid_t thread) {
    static _Thread_local pid_t asked_before;
    static _Thread_local int file;
    char text[512];
    if (asked_before != thread) {
        snprintf(text, sizeof text, "/proc/self/task/%d/stat", (int)thread);
        if (asked_before)
            close(file);
        REQUIRE((file = open(text, O_RDONLY | O_CLOEXEC)) >= 0);
        asked_before = thread;
    }
    ssize_t length = pread(file, text, sizeof text - 1, 0);
    text[length > 0 ? length : 0] = 0;
    const char *end = strrchr(text, ')');
    return end && end[1] && end[2] == 'S';
}

/// Is a loop asleep, in the kernel and not only on its way to it?
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

//===-- main ---------------------------------------------------------------------------------------------------------===//

static inline bool test_run_in_process(struct test *test) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        const char *timeout = getenv("RUNLOOP_TEST_TIMEOUT");
        alarm(timeout ? (unsigned)atoi(timeout) : 60);
        test->run();
        fflush(NULL);
        exit(test_failures ? 1 : 0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child)
        return false;
    if (WIFSIGNALED(status))
        fprintf(stderr, "    ended by signal %d%s\n", WTERMSIG(status), WTERMSIG(status) == 14 ? " (it hung)" : "");
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main(int count, char **arguments) {
    int passed = 0, failed = 0;
    for (struct test *test = test_first; test; test = test->next) {
        if (count > 1 && !strstr(test->name, arguments[1]))
            continue;
        bool ok = test_run_in_process(test);
        printf("%s %s\n", ok ? "ok  " : "FAIL", test->name);
        ok ? passed++ : failed++;
    }
    const char *room = strrchr(arguments[0], '/');
    printf("%s: %d passed, %d failed\n", room ? room + 1 : arguments[0], passed, failed);
    return failed || !passed;
}

#endif // RUNLOOP_TEST_H
