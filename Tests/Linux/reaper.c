// reaper.c — orphans are reaped, and no status that somebody waits for is taken. The programs are this one, executed anew.
#include <poll.h>
#include <sys/prctl.h>

#include "linux_items.h"

static const char variable[] = "RUNLOOP_TEST_REAPED_PROGRAM";

//===-- the programs -------------------------------------------------------------------------------------------------===//

/// Its pid goes to the pipe. It ends when its parent has, and the reaper is its parent.
static void be_grandchild(int output, pid_t parent, pid_t reaper) {
    pid_t own = getpid();
    if (write(output, &own, sizeof own) != sizeof own)
        _exit(1);
    while (getppid() == parent)
        usleep(1000);
    while (getppid() != reaper)
        pause();
    _exit(0);
}

static void make_orphan(void) {
    int ends[2], status = 0;
    pid_t orphan = 0;
    REQUIRE(pipe(ends) == 0);
    pid_t reaper = getppid(), child = fork();
    if (child == 0) {
        pid_t parent = getpid();
        if (fork() == 0)
            be_grandchild(ends[1], parent, reaper);
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

/// Of the process, in /proc.
static char state_of(pid_t pid) {
    char path[64], text[256] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);
    close(file);
    const char *end = length > 0 ? strrchr(text, ')') : NULL;
    return end ? end[2] : 0;
}

static void stop_reaper(void) {
    REQUIRE(kill(getppid(), SIGSTOP) == 0);
    while (state_of(getppid()) != 'T')
        usleep(1000);
}

/// They end while the reaper is stopped, so that it has one signal for all of them when it goes on.
static void make_orphans_at_once(void) {
    enum { MANY = 3 };
    int ends[2];
    pid_t reaper = getppid(), orphans[MANY];
    REQUIRE(pipe(ends) == 0);
    stop_reaper();
    for (int i = 0; i < MANY; i++) {
        pid_t child = fork();
        if (child == 0) {
            pid_t parent = getpid();
            if (fork() == 0)
                be_grandchild(ends[1], parent, reaper);
            _exit(7);
        }
        REQUIRE(read(ends[0], &orphans[i], sizeof orphans[i]) == sizeof orphans[i] && waitpid(child, NULL, 0) == child);
        while (state_of(orphans[i]) != 'Z')
            usleep(1000);
    }
    REQUIRE(kill(reaper, SIGCONT) == 0);
    alarm(20);
    for (int i = 0; i < MANY; i++)
        while (kill(orphans[i], 0) == 0)
            usleep(1000);
    _exit(5);
}

static void end_by_signal(void) {
    runloop_end_process_by_signal(SIGUSR1);
}

/// The reaper ends, and this process with it.
static void outlive_reaper(void) {
    alarm(20);
    kill(getppid(), SIGKILL);
    for (;;)
        pause();
}

static void expect_sockets_of_its_own(void) {
    const char *process = getenv("LISTEN_PID");
    _exit(process && atoi(process) == getpid() ? 10 : 1);
}

/// Both ends of a pipe that is there before the reaper is.
enum { READING = 40, WRITING = 41 };

static void close_pipe(void) {
    close(WRITING);
    // Until nobody has it.
    struct pollfd end = {.fd = READING, .events = POLLIN};
    _exit(poll(&end, 1, 20000) == 1 && (end.revents & POLLHUP) ? 9 : 1);
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

/// The terminal interrupts its foreground, the reaper as well, which is stopped until this process has had its own interrupt.
static void await_interrupt(void) {
    sigset_t set;
    siginfo_t first;
    int terminal = open("/dev/tty", O_RDWR), number = 0;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    alarm(20);
    stop_reaper();
    REQUIRE(write(terminal, "x", 1) == 1 && sigwaitinfo(&set, &first) == SIGINT && first.si_code == SI_KERNEL);
    // The reaper takes signals by their numbers, so what it makes of the interrupt comes before this.
    kill(getppid(), SIGUSR1);
    kill(getppid(), SIGCONT);
    while (number != SIGUSR1)
        if (sigwait(&set, &number) || number == SIGINT)
            _exit(1);
    _exit(11);
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
    {"orphans", make_orphans},
    {"signal", end_by_signal},
    {"forwarded", await_signal},
    {"twice", expect_second_call},
    {"hang-up", await_hang_up},
    {"ignored", expect_ignored_children},
    {"at once", make_orphans_at_once},
    {"outlive", outlive_reaper},
    {"sockets", expect_sockets_of_its_own},
    {"pipe", close_pipe},
    {"interrupt", await_interrupt},
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

static int status_of_program(const char *name, void (*execute)(void)) {
    setenv(variable, name, 1);
    int status = status_of_child(execute);
    unsetenv(variable);
    return status;
}

static int status_of(const char *name) {
    return status_of_program(name, execute_program);
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

static void execute_with_sockets(void) {
    char text[16];
    snprintf(text, sizeof text, "%d", (int)getpid());
    setenv("LISTEN_PID", text, 1);
    execute_program();
}

static void execute_with_pipe(void) {
    int ends[2];
    if (pipe(ends) < 0 || dup2(ends[0], READING) < 0 || dup2(ends[1], WRITING) < 0)
        _exit(93);
    close(ends[0]);
    close(ends[1]);
    execute_program();
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

/// Before the session has opened the other side there is nothing to read.
static void await_program(void) {
    char byte;
    while (read(terminal, &byte, 1) != 1)
        usleep(1000);
}

static void *hang_up(void *unused) {
    await_program();
    close(terminal);
    return unused;
}

static void *interrupt(void *unused) {
    await_program();
    REQUIRE(write(terminal, "\003", 1) == 1);
    return unused;
}

/// The status of a program in a terminal, to whose other side something happens.
static int status_in_terminal(const char *name, void *(*happen)(void *)) {
    pthread_t thread;
    terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    REQUIRE(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
    setenv(variable, name, 1);
    REQUIRE(pthread_create(&thread, NULL, happen, NULL) == 0);
    int status = status_of_child(execute_in_terminal);
    unsetenv(variable);
    pthread_join(thread, NULL);
    return status;
}

static void need_program(void) {
    need_proc();
    need_no_emulator("The emulator executes itself for /proc/self/exe.");
}

#define EXPECT_STATUS(status, number) EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == (number))

TEST("a reaper takes orphans alone, and exits with the status of its program") {
    need_program();
    int status = status_of("orphans");
    EXPECT_STATUS(status, 5);
    status = status_of("twice");
    EXPECT_STATUS(status, 6);
}

TEST("a reaper ends by the signal that ended its program, and passes on what it is sent") {
    need_program();
    int status = status_of("signal");
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR1);
    status = status_of("forwarded");
    EXPECT_STATUS(status, SIGTERM);
}

TEST("a reaper sees the end of its program even if the process was started with SIGCHLD ignored, which the program "
     "has") {
    need_program();
    int status = status_of_program("ignored", execute_with_ignored_children);
    EXPECT_STATUS(status, 8);
}

TEST("a reaper that leads the session of a terminal passes on that it was hung up, which the kernel sends to no other "
     "process") {
    need_program();
    int status = status_in_terminal("hang-up", hang_up);
    EXPECT_STATUS(status, SIGHUP);
}

TEST("a reaper does not pass on what the terminal sends to its program as well") {
    need_program();
    int status = status_in_terminal("interrupt", interrupt);
    EXPECT_STATUS(status, 11);
}

TEST("a reaper takes all orphans that have ended by then, for one signal") {
    need_program();
    int status = status_of("at once");
    EXPECT_STATUS(status, 5);
}

TEST("a reaper has none of its program's descriptors, and hands over the sockets of a service manager") {
    need_program();
    int status = status_of_program("pipe", execute_with_pipe);
    EXPECT_STATUS(status, 9);
    status = status_of_program("sockets", execute_with_sockets);
    EXPECT_STATUS(status, 10);
}

TEST("the end of a reaper is the end of its program") {
    need_program();
    int status = -1;
    REQUIRE(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
    status = status_of("outlive");
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    // It is this process's by now.
    REQUIRE(waitpid(-1, &status, 0) > 0);
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

TEST("the first process of a container reaps orphans, and ends as its program does") {
    need_program();
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
