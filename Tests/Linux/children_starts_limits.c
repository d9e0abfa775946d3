// children_starts_limits.c — the most that a start takes, and what the thread that starts a program keeps.
#include <limits.h>

#include "children.h"

static int status_of_program(runloop_child_start_config config) {
    struct ends ends = {0};
    runloop_child *child = start(config, &ends);
    RUN_UNTIL(MODE, ends.count == 1);
    EXPECT_EQ(ends.last.end, RUNLOOP_CHILD_EXITED);
    runloop_source_release(child);
    return ends.last.status;
}

TEST("a program's path has as many bytes as the kernel takes") {
    // With its null, it is as long as a path may be.
    static char path[PATH_MAX];
    const char *name = "/bin/true";
    size_t length = strlen(name);
    memset(path, '/', sizeof path);
    memcpy(path + sizeof path - 1 - length, name, length + 1);
    EXPECT_EQ(status_of_program((runloop_child_start_config){.arguments = WORDS(path)}), 0);
}

enum { MOST = 1024 };

TEST("a program has up to 1,024 descriptors that were asked for") {
    static runloop_child_descriptor descriptors[MOST + 1];
    struct rlimit limit;
    REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = limit.rlim_max;
    if (limit.rlim_max < MOST + 100 || setrlimit(RLIMIT_NOFILE, &limit) < 0)
        LEAVE_OUT("This process may not have so many descriptors.");
    for (int i = 0; i <= MOST; i++)
        descriptors[i] =
            (runloop_child_descriptor){.number = i, .kind = i ? RUNLOOP_CHILD_SAME : RUNLOOP_CHILD_NULL, .from = 0};
    runloop_child_start_config config = {
        .arguments = SHELL("[ -e /proc/self/fd/1023 ]"), .descriptors = descriptors, .descriptor_count = MOST};
    need_proc();
    EXPECT_EQ(status_of_program(config), 0);
    runloop_child *child = NULL;
    config.descriptor_count = MOST + 1;
    EXPECT_EQ(runloop_child_start(&config, &child), -EINVAL);
}

static bool is_same(const sigset_t *one, const sigset_t *other) {
    for (int number = 1; number < SIGRTMAX; number++)
        if (sigismember(one, number) != sigismember(other, number))
            return false;
    return true;
}

/// The thread has the signals blocked that it had before, and can be cancelled as before.
static void expect_start_without_traces(bool succeeds, int32_t parent_death_signal) {
    sigset_t before, after;
    int cancellation = -1;
    runloop_child *child = NULL;
    const runloop_child_start_config config = {.arguments = WORDS(succeeds ? "/bin/true" : "/no/program"),
                                               .parent_death_signal = parent_death_signal};
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    EXPECT_EQ(runloop_child_start(&config, &child), succeeds ? 0 : -ENOENT);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    EXPECT(is_same(&before, &after));
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &cancellation);
    EXPECT_EQ(cancellation, PTHREAD_CANCEL_ENABLE);
    if (succeeds) {
        EXPECT(waitpid(runloop_child_get_pid(child), NULL, 0) > 0);
        runloop_source_release(child);
    }
}

TEST("a thread that has started a program, or failed to, has no other signals blocked than before, and can be "
     "cancelled") {
    need_starts();
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &one, NULL);
    for (int i = 0; i < 4; i++)
        expect_start_without_traces(i % 2, i / 2 ? SIGTERM : 0);
}
