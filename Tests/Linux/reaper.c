// reaper.c — orphans are reaped, and no status that somebody waits for is taken. The programs are this one, executed anew.
#include <sys/prctl.h>

#include "linux_items.h"

static const char variable[] = "RUNLOOP_TEST_REAPED_PROGRAM";

//===-- the programs -------------------------------------------------------------------------------------------------===//

/// Ends when its parent has; its pid goes to the pipe.
static void be_grandchild(int output, pid_t parent) {
    pid_t own = getpid();
    if (write(output, &own, sizeof own) != sizeof own)
        _exit(1);
    while (getppid() == parent)
        usleep(1000);
    _exit(0);
}

static void make_orphan(void) {
    int ends[2], status = 0;
    pid_t orphan = 0;
    REQUIRE(pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0) {
        pid_t parent = getpid();
        if (fork() == 0)
            be_grandchild(ends[1], parent);
        _exit(7);
    }
    REQUIRE(read(ends[0], &orphan, sizeof orphan) == sizeof orphan);
    // Nobody has taken it, however long it waits.
    usleep(20000);
    REQUIRE(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7);
    // A zombie would still be there.
    for (int i = 0; kill(orphan, 0) == 0; i++) {
        REQUIRE(i < 30000);
        usleep(1000);
    }
    REQUIRE(errno == ESRCH);
}

static void make_orphans(void) {
    for (int i = 0; i < 3; i++)
        make_orphan();
    _exit(5);
}

static void end_by_signal(void) {
    runloop_end_process_by_signal(SIGUSR1);
}

/// What others send to the reaper arrives here.
static void await_signal(void) {
    sigset_t set;
    int number = 0;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    kill(getppid(), SIGTERM);
    sigwait(&set, &number);
    _exit(number);
}

static void expect_second_call(void) {
    _exit(runloop_reap_orphans() == 0 && !getenv("RUNLOOP_REAPER") ? 6 : 1);
}

/// The handling of signals is that of the process which became the reaper.
static void expect_ignored_children(void) {
    struct sigaction action;
    _exit(sigaction(SIGCHLD, NULL, &action) == 0 && action.sa_handler == SIG_IGN ? 8 : 1);
}

/// Its terminal is hung up when it has written to it.
static void await_hang_up(void) {
    sigset_t set;
    int number = 0, terminal = open("/dev/tty", O_RDWR);
    sigemptyset(&set);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, NULL);
    alarm(20);
    if (write(terminal, "x", 1) == 1)
        sigwait(&set, &number);
    _exit(number);
}

static void *be_thread(void *unused) {
    for (;;)
        pause();
    return unused;
}

static const struct {
    const char *name;
    void (*body)(void);
} programs[] = {
    {"orphans", make_orphans},     {"signal", end_by_signal},  {"forwarded", await_signal},
    {"twice", expect_second_call}, {"hang-up", await_hang_up}, {"ignored", expect_ignored_children},
};

/// Before `main`, which is that of the tests.
__attribute__((constructor)) static void be_program(void) {
    const char *name = getenv(variable);
    for (size_t i = 0; name && i < sizeof programs / sizeof *programs; i++) {
        if (strcmp(name, programs[i].name) != 0)
            continue;
        if (runloop_reap_orphans() != 0)
            _exit(90);
        programs[i].body();
        _exit(91);
    }
}

//===-- the tests ----------------------------------------------------------------------------------------------------===//

static void execute_program(void) {
    char *const arguments[] = {(char *)"program", (char *)"argument", NULL};
    execv("/proc/self/exe", arguments);
    _exit(92);
}

static int status_of(const char *name) {
    setenv(variable, name, 1);
    int status = status_of_child(execute_program);
    unsetenv(variable);
    return status;
}

static void be_in_namespace(void) {
    if (unshare(CLONE_NEWPID) && unshare(CLONE_NEWUSER | CLONE_NEWPID))
        _exit(TEST_LEFT_OUT);
    int status = status_of_child(execute_program);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 98);
}

static int status_in_namespace(const char *name) {
    setenv(variable, name, 1);
    int status = status_of_child(be_in_namespace);
    unsetenv(variable);
    if (WIFEXITED(status) && WEXITSTATUS(status) == TEST_LEFT_OUT)
        LEAVE_OUT("This process may not make a pid namespace.");
    return status;
}

static void execute_with_ignored_children(void) {
    signal(SIGCHLD, SIG_IGN);
    execute_program();
}

static int terminal;

/// It leads a session of the terminal, as the first process of a container does.
static void execute_in_terminal(void) {
    setsid();
    if (open(ptsname(terminal), O_RDWR) < 0)
        _exit(93);
    execute_program();
}

static void *hang_up(void *unused) {
    char byte;
    // Before the session has opened the other side there is nothing to read.
    while (read(terminal, &byte, 1) != 1)
        usleep(1000);
    close(terminal);
    return unused;
}

#define EXPECT_STATUS(status, number) EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == (number))

TEST("a reaper takes orphans alone, and exits with the status of its program") {
    need_proc();
    int status = status_of("orphans");
    EXPECT_STATUS(status, 5);
    status = status_of("twice");
    EXPECT_STATUS(status, 6);
}

TEST("a reaper ends by the signal that ended its program, and passes on what it is sent") {
    need_proc();
    int status = status_of("signal");
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR1);
    status = status_of("forwarded");
    EXPECT_STATUS(status, SIGTERM);
}

TEST("a reaper sees the end of its program even if the process was started with SIGCHLD ignored, which the program "
     "has") {
    need_proc();
    setenv(variable, "ignored", 1);
    int status = status_of_child(execute_with_ignored_children);
    unsetenv(variable);
    EXPECT_STATUS(status, 8);
}

TEST("a reaper that leads the session of a terminal passes on that it was hung up, which the kernel sends to no other "
     "process") {
    need_proc();
    pthread_t thread;
    terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    REQUIRE(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
    setenv(variable, "hang-up", 1);
    REQUIRE(pthread_create(&thread, NULL, hang_up, NULL) == 0);
    int status = status_of_child(execute_in_terminal);
    unsetenv(variable);
    pthread_join(thread, NULL);
    EXPECT_STATUS(status, SIGHUP);
}

TEST("the first process of a container reaps orphans, and ends as its program does") {
    need_proc();
    int status = status_in_namespace("orphans");
    EXPECT_STATUS(status, 5);
    status = status_in_namespace("forwarded");
    EXPECT_STATUS(status, SIGTERM);
    status = status_in_namespace("signal");
    EXPECT_STATUS(status, 128 + SIGUSR1);
}

TEST("a process with threads can't become a reaper") {
    need_proc();
    if (UNDER_THREAD_SANITIZER)
        LEAVE_OUT("The thread sanitizer has a thread of its own, so threads are not counted.");
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, be_thread, NULL) == 0);
    EXPECT_EQ(runloop_reap_orphans(), -EBUSY);
}
