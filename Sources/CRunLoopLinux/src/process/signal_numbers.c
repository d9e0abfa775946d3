// signal_numbers.c — signals by their numbers: which can be caught, and the end of the process as one ends it by default.

#ifdef __linux__
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process/catcher.h"
#include "runloop_signal.h"

bool runloop__signal_can_be_caught(int32_t number) {
    // A fault would occur again as soon as the handler returned.
    static const int refused[] = {SIGKILL, SIGSTOP, SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV, SIGSYS};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (number == refused[i])
            return false;
    // The C library keeps some for itself, and refuses them.
    struct sigaction action;
    return number > 0 && number <= LAST_SIGNAL && sigaction(number, NULL, &action) == 0;
}

/// Does its default action end a process, rather than stop it, or do nothing?
static bool ends_process(int32_t number) {
    static const int others[] = {SIGCHLD, SIGCONT, SIGURG, SIGWINCH, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (number == others[i])
            return false;
    return number > 0 && number <= LAST_SIGNAL;
}

int runloop_end_process_by_signal(int32_t number) {
    if (!ends_process(number))
        return -EINVAL;
    // SIGKILL has no other action, and none can be set. Where a sandbox refuses to set it, a handler must not be called.
    bool has_default = signal(number, SIG_DFL) != SIG_ERR || number == SIGKILL;
    if (!has_default && errno == EINVAL)
        return -EINVAL;
    // Not raise, which in a child that was forked by a bare clone may signal the parent.
    if (has_default)
        syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), number);
    // If it was blocked, here is where it takes effect.
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    // The first process of a namespace of pids, as in a container, is spared its own default actions, SIGKILL too; a sandbox may refuse the
    // sending, a debugger keep the signal. A shell reports the end by a signal as this status.
    for (;;)
        syscall(SYS_exit_group, 128 + number);
}
#endif // __linux__
