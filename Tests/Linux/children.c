// children.c — the ends of child processes: watched or reaped, by pid or pidfd, many, gone, and not ours.
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>

#include "children.h"

static runloop_child *add_child_with(const runloop_child_config *config) {
    runloop_child *child = NULL;
    REQUIRE(runloop_child_create(config, &child) == 0 && child);
    REQUIRE(runloop_add_source(runloop_current(), child, MODE) == 0);
    return child;
}

static runloop_child *add_child(pid_t pid, bool reaps, struct ends *ends) {
    runloop_child_config config = {.context.info = ends, .pid = pid, .reaps = reaps, .exited = note_end};
    return add_child_with(&config);
}

static bool is_zombie(pid_t pid) {
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

static bool is_reaped(pid_t pid) {
    return waitpid(pid, NULL, WNOHANG) == -1 && errno == ECHILD;
}

static int pidfd_of(pid_t pid) {
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

TEST("an adopted child is reported once, with its status, and reaped") {
    struct ends ends = {0};
    pid_t pid = fork_child_that_exits(42);
    runloop_child *child = add_child(pid, true, &ends);
    EXPECT_EQ(runloop_child_get_pid(child), pid);
    run_for(MODE, 30 * SECOND);
    EXPECT_EQ(ends.count, 1);
    EXPECT_EQ(ends.last.end, RUNLOOP_CHILD_EXITED);
    EXPECT_EQ(ends.last.status, 42);
    EXPECT(ends.last.has_usage);
    EXPECT(ends.last.peak_memory_bytes == 0 || ends.last.peak_memory_bytes > 4096);
    EXPECT(is_reaped(pid));
    EXPECT(runloop_mode_is_empty(runloop_current(), MODE));
    EXPECT_EQ(runloop_child_send_signal(child, SIGTERM), -ESRCH);
    runloop_source_release(child);
}

static void use_processor(void) {
    struct rusage usage;
    do
        getrusage(RUSAGE_SELF, &usage);
    while (usage.ru_utime.tv_sec * SECOND + usage.ru_utime.tv_usec * 1000 + usage.ru_stime.tv_sec * SECOND +
               usage.ru_stime.tv_usec * 1000 <
           20 * MS);
}

TEST("a watched child is left to its owner, with its status and what it used") {
    struct ends ends = {0};
    pid_t pid = fork();
    if (pid == 0) {
        use_processor();
        _exit(7);
    }
    runloop_child *child = add_child(pid, false, &ends);
    run_for(MODE, 30 * SECOND);
    EXPECT_EQ(ends.last.status, 7);
    EXPECT(ends.last.user_ns + ends.last.system_ns >= 20 * MS);
    EXPECT(is_zombie(pid));
    int status = 0;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_EQ(WEXITSTATUS(status), 7);
    runloop_source_release(child);
}

TEST("a signal that ends a child is reported, with the core that it dumped") {
    need_no_emulator("The emulator dumps a core of its own.");
    struct ends ends = {0};
    runloop_child *child = add_child(fork_child(), true, &ends);
    EXPECT_EQ(runloop_child_send_signal(child, 1000), -EINVAL);
    EXPECT_EQ(runloop_child_send_signal(child, SIGTERM), 0);
    run_for(MODE, 30 * SECOND);
    EXPECT_EQ(ends.last.end, RUNLOOP_CHILD_SIGNALLED);
    EXPECT_EQ(ends.last.status, SIGTERM);
    EXPECT(!ends.last.dumped_core);
    runloop_source_release(child);
    // Whether there is a core depends on the machine, so an owner is asked, too.
    pid_t pid = fork();
    if (pid == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY});
        if (chdir("/tmp") == 0)
            raise(SIGQUIT);
        _exit(0);
    }
    child = add_child(pid, false, &ends);
    run_for(MODE, 30 * SECOND);
    int status = 0;
    REQUIRE(waitpid(pid, &status, 0) == pid);
    EXPECT_EQ(ends.last.status, SIGQUIT);
    EXPECT_EQ(ends.last.dumped_core, WCOREDUMP(status) != 0);
    runloop_source_release(child);
}

TEST("a child that has ended already is reported at once") {
    struct ends ends = {0};
    pid_t pid = fork_child_that_exits(3);
    WAIT_UNTIL(is_zombie(pid));
    runloop_child *child = add_child(pid, true, &ends);
    poll_mode(MODE);
    EXPECT_EQ(ends.last.status, 3);
    runloop_source_release(child);
}

TEST("a pidfd from elsewhere remains its owner's") {
    need_proc();
    struct ends ends = {0};
    run_for(MODE, 0);
    pid_t pid = fork_child();
    int pidfd = pidfd_of(pid), descriptors = count_descriptors() - 1;
    REQUIRE(pidfd >= 0);
    runloop_child_config config = {.context.info = &ends, .pidfd = pidfd, .exited = note_end};
    runloop_child *child = add_child_with(&config);
    EXPECT(runloop_source_get_descriptor(child) != pidfd);
    EXPECT_EQ(runloop_child_get_pid(child), 0);
    close(pidfd);
    kill(pid, SIGKILL);
    run_for(MODE, 30 * SECOND);
    EXPECT_EQ(ends.last.status, SIGKILL);
    EXPECT(is_zombie(pid));
    waitpid(pid, NULL, 0);
    runloop_source_release(child);
    EXPECT_EQ(count_descriptors(), descriptors);
}

/// Linux 6.15 and later say of a pidfd how its process ended; emulators don't.
static bool kernel_remembers_exits(void) {
    struct utsname name;
    int major = 0, minor = 0, pidfd = pidfd_of(getpid());
    uint64_t info[8] = {0};
    REQUIRE(uname(&name) == 0 && pidfd >= 0 && sscanf(name.release, "%d.%d", &major, &minor) == 2);
    bool knows = syscall(SYS_ioctl, pidfd, (unsigned long)_IOWR(0xFF, 11, info), info) == 0;
    close(pidfd);
    return knows && (major > 6 || (major == 6 && minor >= 15));
}

TEST("if its owner reaps a watched child first, the end is reported all the same") {
    struct ends ends = {0};
    pid_t pid = fork_child_that_exits(9);
    runloop_child_config config = {.context.info = &ends, .pid = pid, .exited = note_end};
    runloop_child *child = add_child_with(&config);
    REQUIRE(waitpid(pid, NULL, 0) == pid);
    run_for(MODE, 30 * SECOND);
    EXPECT_EQ(ends.count, 1);
    EXPECT(!ends.last.has_usage);
    EXPECT_EQ(ends.last.end, kernel_remembers_exits() ? RUNLOOP_CHILD_EXITED : RUNLOOP_CHILD_UNKNOWN);
    EXPECT_EQ(ends.last.status, kernel_remembers_exits() ? 9 : 0);
    runloop_source_release(child);
}

TEST("children that nobody can wait for are reported: SIGCHLD is ignored") {
    struct ends ends = {0};
    signal(SIGCHLD, SIG_IGN);
    runloop_child *child = add_child(fork_child(), true, &ends);
    EXPECT_EQ(runloop_child_send_signal(child, SIGKILL), 0);
    run_for(MODE, 30 * SECOND);
    EXPECT_EQ(ends.count, 1);
    EXPECT(!ends.last.has_usage);
    runloop_source_release(child);
}

TEST("a process that is not a child can be watched, and not adopted") {
    struct ends ends = {0};
    int told[2];
    pid_t grandchild = 0;
    REQUIRE(pipe(told) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        grandchild = fork_child();
        _exit(write(told[1], &grandchild, sizeof grandchild) != sizeof grandchild);
    }
    REQUIRE(read(told[0], &grandchild, sizeof grandchild) == sizeof grandchild);
    waitpid(pid, NULL, 0);
    runloop_child *child = NULL;
    EXPECT_EQ(runloop_child_create(&(runloop_child_config){.pid = grandchild, .reaps = true}, &child), -ECHILD);
    child = add_child(grandchild, false, &ends);
    EXPECT_EQ(runloop_child_send_signal(child, SIGKILL), 0);
    run_for(MODE, 30 * SECOND);
    EXPECT_EQ(ends.count, 1);
    EXPECT(!ends.last.has_usage);
    runloop_source_release(child);
}

enum { MANY = 1000 };

TEST(
    "a thousand children that end at once are each reported, and each reaped once, among others that are not touched") {
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    static struct ends ends[MANY];
    static runloop_child *children[MANY];
    static pid_t pids[MANY];
    int gate[2];
    REQUIRE(pipe(gate) == 0);
    for (int i = 0; i < MANY; i++) {
        pids[i] = fork();
        REQUIRE(pids[i] >= 0);
        if (pids[i] == 0) {
            char byte;
            close(gate[1]);
            _exit(read(gate[0], &byte, 1) == 0 ? i & 127 : 255);
        }
        // Every tenth belongs to somebody else.
        children[i] = add_child(pids[i], i % 10 != 0, &ends[i]);
    }
    close(gate[1]);
    EXPECT_EQ(run_for(MODE, 60 * SECOND), RUNLOOP_RESULT_FINISHED);
    for (int i = 0; i < MANY; i++) {
        EXPECT_EQ(ends[i].count, 1);
        EXPECT_EQ(ends[i].last.status, i & 127);
        EXPECT_EQ(waitpid(pids[i], NULL, WNOHANG), i % 10 ? -1 : pids[i]);
        runloop_source_release(children[i]);
    }
}

TEST("a child that is given up leaves nothing") {
    struct ends ends = {0};
    runloop_current();
    int before = count_descriptors();
    pid_t pid = fork_child();
    runloop_child *child = add_child(pid, true, &ends);
    runloop_source_invalidate(child);
    kill(pid, SIGKILL);
    keep_mode(MODE);
    WAIT_UNTIL(is_zombie(pid));
    run_for(MODE, 5 * MS);
    EXPECT_EQ(ends.count, 0);
    runloop_child_exit exit;
    EXPECT_EQ(runloop_child_get_exit(child, &exit), -EAGAIN);
    runloop_source_release(child);
    EXPECT_EQ(count_descriptors(), before);
    EXPECT(is_zombie(pid));
}

static struct ends of_shared;

TEST("a child in the loops of two threads is reported by one of them") {
    for (int round = 0; round < 20; round++) {
        runloop_child_config config = {
            .context.info = &of_shared, .pid = fork_child(), .reaps = true, .exited = note_end};
        REQUIRE(runloop_child_create(&config, &shared) == 0);
        struct worker workers[2];
        start_sharing(workers);
        EXPECT_EQ(runloop_child_send_signal(shared, SIGKILL), 0);
        WAIT_UNTIL(of_shared.count > round);
        stop_sharing(workers);
        EXPECT_EQ(of_shared.count, round + 1);
        runloop_source_release(shared);
    }
}

//===-- faults -------------------------------------------------------------------------------------------------------===//

TEST("what is no process, gone, or no pidfd is refused") {
    runloop_child *child = NULL;
    pid_t gone = fork_child_that_exits(0);
    REQUIRE(waitpid(gone, NULL, 0) == gone);
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    EXPECT_EQ(runloop_child_create(&(runloop_child_config){.pid = gone}, &child), -ESRCH);
    EXPECT_EQ(runloop_child_create(&(runloop_child_config){.pid = -1}, &child), -EINVAL);
    EXPECT_EQ(runloop_child_create(&(runloop_child_config){.pidfd = ends[0]}, &child), -EBADF);
    EXPECT_EQ(runloop_child_create(&(runloop_child_config){.pidfd = 999}, &child), -EBADF);
    EXPECT_EQ(runloop_child_create(&(runloop_child_config){.pidfd = -1}, &child), -EBADF);
    EXPECT_EQ(runloop_child_create(&(runloop_child_config){.pid = getpid(), .reaps = true}, &child), -ECHILD);
    EXPECT_EQ(runloop_child_create(NULL, &child), -EINVAL);
    EXPECT_EQ(runloop_child_create(&(runloop_child_config){.pid = gone}, NULL), -EINVAL);
}

TEST("without descriptors there is an error, and the child is still there") {
    pid_t pid = fork_child_that_exits(5);
    use_up_descriptors(0);
    runloop_child *child = NULL;
    EXPECT_EQ(runloop_child_create(&(runloop_child_config){.pid = pid, .reaps = true}, &child), -EMFILE);
    int status = 0;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_EQ(WEXITSTATUS(status), 5);
    give_back_descriptors();
}

TEST("a kernel without pidfds, or a sandbox that refuses them, is named as such, and nothing is reaped") {
    pid_t pid = fork_child_that_exits(5);
    runloop_child *child = NULL;
    refuse(SYS_pidfd_open, EPERM);
    EXPECT_EQ(runloop_child_create(&(runloop_child_config){.pid = pid, .reaps = true}, &child), -ENOSYS);
    refuse(SYS_pidfd_open, ENOSYS);
    EXPECT_EQ(runloop_child_create(&(runloop_child_config){.pid = pid, .reaps = true}, &child), -ENOSYS);
    EXPECT_EQ(waitpid(pid, NULL, 0), pid);
}

static void ignore_call(int number) {
    (void)number;
}

TEST("signals that interrupt everything disturb no child") {
    // No SA_RESTART: system calls are interrupted.
    sigaction(SIGUSR1, &(struct sigaction){.sa_handler = ignore_call}, NULL);
    static _Atomic bool stop;
    pthread_t storm;
    REQUIRE(pthread_create(&storm, NULL, signal_all_the_time, &stop) == 0);
    struct ends ends = {0};
    for (int i = 0; i < 50; i++) {
        runloop_child *child = add_child(fork_child_that_exits(i), true, &ends);
        RUN_UNTIL(MODE, ends.count == i + 1);
        EXPECT_EQ(ends.last.status, i);
        runloop_source_release(child);
    }
    stop = true;
    pthread_join(storm, NULL);
}

static runloop_child *inherited;
static struct ends of_inherited;

static void release_inherited(void) {
    EXPECT_EQ(runloop_add_source(runloop_current(), inherited, MODE), 0);
    EXPECT_EQ(runloop_child_send_signal(inherited, SIGKILL), 0);
    EXPECT_EQ(run_for(MODE, 30 * SECOND), RUNLOOP_RESULT_FINISHED);
    EXPECT_EQ(of_inherited.count, 0);
    runloop_source_release(inherited);
    struct ends ends = {0};
    runloop_child *own = add_child(fork_child_that_exits(1), true, &ends);
    RUN_UNTIL(MODE, ends.count == 1);
    runloop_source_release(own);
}

TEST("a forked child gets no report of what it inherited, and has children of its own") {
    pid_t pid = fork_child();
    inherited = add_child(pid, true, &of_inherited);
    EXPECT_EQ(status_of_child(release_inherited), 0);
    EXPECT_EQ(of_inherited.count, 0);
    run_for(MODE, 30 * SECOND);
    EXPECT_EQ(of_inherited.last.status, SIGKILL);
    EXPECT(is_reaped(pid));
    runloop_source_release(inherited);
}
