// foreground.c — whose turn it is to read from a terminal: the parent's, and its child's in between, as a shell has it.

#ifdef __linux__
#include "process/foreground.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

int runloop__foreground_note(struct foreground *foreground, int terminal) {
    pid_t former = tcgetpgrp(terminal);
    if (former < 0)
        return -errno;
    *foreground = (struct foreground){.terminal = fcntl(terminal, F_DUPFD_CLOEXEC, 0), .former = former};
    return foreground->terminal < 0 ? -errno : 0;
}

void runloop__foreground_end(struct foreground *foreground) {
    if (foreground->terminal < 0)
        return;
    // Another process may have given it to another group meanwhile, which keeps it.
    if (foreground->group && tcgetpgrp(foreground->terminal) == foreground->group) {
        sigset_t stops, before;
        sigemptyset(&stops);
        sigaddset(&stops, SIGTTOU);
        // It would stop a process that is in the background, which this one is.
        pthread_sigmask(SIG_BLOCK, &stops, &before);
        // The former group may be gone by now.
        tcsetpgrp(foreground->terminal, foreground->former);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    // Not close(), which is a cancellation point, since the caller may have a lock.
    syscall(SYS_close, foreground->terminal);
    foreground->terminal = -1;
}
#endif // __linux__
