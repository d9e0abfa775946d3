// busy.c — a sentence about work that has no end, on a thread that no other thread watches. There is no second thread for it: the kernel counts
// what the thread takes of the processor, and sends it a signal each time that this is so much. A thread that waits takes nothing, so no
// wait ends early.
//
// A sentence needs memory and locks, which the interrupted code may hold. So a copy of the process writes it, in which nothing matters any
// more, and which ends then, or when its time is up. The thread stands still meanwhile.

#ifdef __linux__
#include "busy.h"

#include <errno.h>
#ifdef __GLIBC__
#include <execinfo.h>
#endif
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runloop_diagnostics_overlay.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum { MOST_COPIES = 8, SECONDS_OF_A_COPY = 2 };

/// Of the thread sanitizer, which knows of no copies, and objects to what a signal handler does in one.
extern void __tsan_init(void) __attribute__((weak));

static struct runloop__busy_watch watch;
static timer_t timer;
static int copies;

/// A crash of the copy is nobody's business, and no reason for a core file.
static void die_in_silence(void) {
    static const int ends[] = {SIGALRM, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        signal(ends[i], SIG_DFL);
        sigaddset(&set, ends[i]);
    }
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    prctl(PR_SET_DUMPABLE, 0);
    alarm(SECONDS_OF_A_COPY);
}

/// Without the functions that a library has registered for a fork, and without a SIGCHLD.
static pid_t copy_process(void) {
    return (pid_t)syscall(SYS_clone, 0, 0, 0, 0, 0);
}

static bool ends_well(pid_t copy) {
    siginfo_t end = {.si_code = 0};
    long result;
    do
        result = syscall(SYS_waitid, P_PID, copy, &end, WEXITED | __WALL, NULL);
    while (result && errno == EINTR);
    return result == 0 && end.si_code == CLD_EXITED && end.si_status == 0;
}

static bool report(void) {
    int count = 0;
#ifdef __GLIBC__
    void *calls[64];
    count = backtrace(calls, sizeof calls / sizeof *calls);
#else
    void *calls[1];
#endif
    return watch.report(calls, count, copies + 1 == MOST_COPIES);
}

static void check(void) {
    if (!watch.is_stuck())
        return;
    pid_t copy = copy_process();
    if (copy == 0) {
        die_in_silence();
        syscall(SYS_exit_group, report() ? 0 : 1);
    }
    bool is_done = copy > 0 && ends_well(copy);
    if (is_done)
        watch.has_reported();
    if (is_done || ++copies == MOST_COPIES)
        timer_settime(timer, 0, &(struct itimerspec){.it_value = {.tv_sec = 0}}, NULL);
}

void busy_answer(int signal, siginfo_t *information, void *context) {
    (void)signal, (void)context;
    int error = errno;
    if (information->si_code == SI_TIMER && information->si_value.sival_ptr == &timer)
        check();
    errno = error;
}

static int install(void) {
    struct sigaction before, action = {.sa_sigaction = busy_answer, .sa_flags = SA_RESTART | SA_ONSTACK | SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGURG, NULL, &before))
        return -errno;
    if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
        return -EBUSY;
    return sigaction(SIGURG, &action, NULL) ? -errno : 0;
}

int runloop__watch_busy(const struct runloop__busy_watch *wanted) {
    enum { SECOND = 1000000000 };
    struct timespec interval = {.tv_sec = wanted->interval_ns / SECOND, .tv_nsec = wanted->interval_ns % SECOND};
    struct sigevent event = {
        .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGURG, .sigev_value = {.sival_ptr = &timer}};
    event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
    if (__tsan_init)
        return -ENOSYS;
    if (watch.is_stuck)
        return -EBUSY;
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer))
        return -errno;
    watch = *wanted;
    int error = install();
    if (error) {
        timer_delete(timer);
        watch.is_stuck = NULL;
    } else {
        timer_settime(timer, 0, &(struct itimerspec){.it_value = interval, .it_interval = interval}, NULL);
    }
    return error;
}
#endif // __linux__
