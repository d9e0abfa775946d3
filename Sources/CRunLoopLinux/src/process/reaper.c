// reaper.c — the first process of a container becomes two: the one that reaps orphans, and the program.
//
// An orphan and a child that the program started itself look the same to a wait for any child, and the status can be taken once. So
// the process that reaps orphans has no child of its own but the program. That is executed anew rather than forked: loops, which a forked child can't
// use, may exist by now.

#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/kernel_text.h"
#include "base/open.h"
#include "runloop_reaper.h"
#include "runloop_signal.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

/// The pid of the reaper, for the program that it executes.
static const char marker[] = "RUNLOOP_REAPER";

/// Read, because not every C library keeps what `main` was given. NULL: errno says why.
static char *read_command_line(size_t *size) {
    size_t capacity = 4096;
    char *text = NULL;
    int file = open_whole("/proc/self/cmdline", O_RDONLY);
    *size = 0;
    while (file >= 0) {
        char *larger = realloc(text, capacity + 1);
        ssize_t got = larger ? read(file, larger + *size, capacity - *size) : -1;
        text = larger ? larger : text;
        if (larger && got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            if (got < 0) {
                free(text);
                text = NULL;
            }
            break;
        }
        *size += (size_t)got;
        if (*size == capacity)
            capacity *= 2;
    }
    if (file >= 0)
        close(file);
    if (text)
        text[*size] = 0;
    return text;
}

static bool is_in(const char *variable, pid_t process) {
    const char *value = getenv(variable);
    return value && *value && strtol(value, NULL, 10) == process;
}

static void set_number(const char *variable, pid_t number) {
    char text[16];
    snprintf(text, sizeof text, "%d", (int)number);
    setenv(variable, text, 1);
}

// The thread sanitizer has a thread of its own.
#ifdef __has_feature
#if __has_feature(thread_sanitizer)
#define COUNTS_THREADS 0
#endif
#endif
#if defined(__SANITIZE_THREAD__) && !defined(COUNTS_THREADS)
#define COUNTS_THREADS 0
#endif
#ifndef COUNTS_THREADS
#define COUNTS_THREADS 1
#endif

static bool has_other_threads(void) {
    struct stat tasks;
    // The links of such a directory are those of its entries, and two.
    return COUNTS_THREADS && stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink > 3;
}

//===-- the program --------------------------------------------------------------------------------------------------===//

/// The process's former handling of the signals that a reaper handles differently.
struct former_handling {
    sigset_t blocked;
    struct sigaction children;
};

/// Every signal is blocked. Where SIGCHLD is ignored, the kernel reaps by itself and reports no end, also not that of the program. A negative errno
/// value in a sandbox: it would wait for ends that nobody reports.
static int take_signals(struct former_handling *former) {
    const struct sigaction action = {.sa_handler = SIG_DFL};
    sigset_t all;
    sigfillset(&all);
    int error = pthread_sigmask(SIG_SETMASK, &all, &former->blocked);
    if (error)
        return -error;
    if (sigaction(SIGCHLD, &action, &former->children) == 0)
        return 0;
    error = errno;
    pthread_sigmask(SIG_SETMASK, &former->blocked, NULL);
    return -error;
}

static void give_signals_back(const struct former_handling *former) {
    sigaction(SIGCHLD, &former->children, NULL);
    pthread_sigmask(SIG_SETMASK, &former->blocked, NULL);
}

/// In the child. It has the only thread of its parent, so it may call what a program may.
static _Noreturn void execute(pid_t reaper, char **arguments, const struct former_handling *former, int report) {
    set_number(marker, reaper);
    if (is_in("LISTEN_PID", reaper))
        set_number("LISTEN_PID", getpid());
    // The reaper has one thread, which ends with it.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != reaper)
        _exit(127);
    give_signals_back(former);
    execv("/proc/self/exe", arguments);
    int error = errno;
    if (write(report, &error, sizeof error) != sizeof error)
        _exit(126);
    _exit(127);
}

/// Its pid, when it is executed; or a negative errno value, and then there is no process.
static pid_t start_program(char **arguments, const struct former_handling *former) {
    int report[2], error = 0;
    if (pipe2(report, O_CLOEXEC) < 0)
        return -errno;
    pid_t reaper = getpid(), program = fork();
    if (program == 0)
        execute(reaper, arguments, former, report[1]);
    if (program < 0)
        error = errno;
    close(report[1]);
    // The end of the pipe is the beginning of the program.
    if (program > 0 && read(report[0], &error, sizeof error) == sizeof error)
        waitpid(program, NULL, 0);
    close(report[0]);
    return error ? -error : program;
}

/// The same, and orphans are this process's: from before the program begins, which may leave one at once.
static pid_t become_parent(char **arguments, const struct former_handling *former) {
    int was_subreaper = 0;
    prctl(PR_GET_CHILD_SUBREAPER, &was_subreaper);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t program = start_program(arguments, former);
    if (program < 0)
        prctl(PR_SET_CHILD_SUBREAPER, was_subreaper);
    return program;
}

//===-- the reaper ---------------------------------------------------------------------------------------------------===//

/// What the program closes must not stay open here: the end of a pipe, a listener.
static void close_all(void) {
    if (syscall(SYS_close_range, 0U, ~0U, 0U) == 0)
        return;
    for (int descriptor = 0; descriptor < sysconf(_SC_OPEN_MAX) && descriptor < 65536; descriptor++)
        close(descriptor);
}

static _Noreturn void end_like(const siginfo_t *ended) {
    if (ended->si_code == CLD_EXITED)
        _exit(ended->si_status);
    // The program's own core is enough.
    prctl(PR_SET_DUMPABLE, 0);
    runloop_end_process_by_signal(ended->si_status);
    _exit(128 + ended->si_status);
}

static void reap(pid_t program) {
    siginfo_t ended;
    for (;;) {
        ended.si_pid = 0;
        if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | __WALL) < 0 || ended.si_pid == 0)
            return;
        if (ended.si_pid == program)
            end_like(&ended);
    }
}

static bool stops(int number) {
    return number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
}

/// What the kernel sends to the foreground of a terminal the program receives as well, but that the terminal was hung up is sent to the leader
/// of its session alone, with SIGCONT in case that is stopped.
static bool is_for_leader(int number) {
    return number == SIGHUP && getsid(0) == getpid();
}

/// Every signal is blocked.
static _Noreturn void reap_until_end(pid_t program) {
    sigset_t all;
    sigfillset(&all);
    for (;;) {
        siginfo_t arrived;
        int number = sigtimedwait(&all, &arrived, NULL);
        if (number == SIGCHLD)
            reap(program);
        else if (number > 0 && arrived.si_code != SI_KERNEL)
            kill(program, number);
        else if (number > 0 && is_for_leader(number))
            kill(program, number), kill(program, SIGCONT);
        else if (number > 0 && stops(number))
            kill(getpid(), SIGSTOP); // The terminal has sent it to the program as well, and shells look at both.
    }
}

int runloop_reap_orphans(void) {
    static _Atomic bool is_done;
    if (is_in(marker, getppid())) {
        unsetenv(marker);
        is_done = true;
    }
    if (is_done)
        return 0;
    if (has_other_threads())
        return -EBUSY;
    size_t size;
    char *text = read_command_line(&size), **arguments = text ? text_words(text, size) : NULL;
    int result = arguments ? 0 : text ? -ENOMEM : -errno;
    struct former_handling former;
    if (result == 0)
        result = take_signals(&former);
    pid_t program = result == 0 ? become_parent(arguments, &former) : result;
    if (program > 0) {
        prctl(PR_SET_NAME, "reaper");
        close_all();
        reap_until_end(program);
    }
    if (result == 0)
        give_signals_back(&former);
    free(arguments);
    free(text);
    return program;
}
#endif // __linux__
