// write.c — writing without the signal that some errors send: a program must not end because it uses the library.

#ifdef __linux__
#include "base/write.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>

/// The signal is sent to the thread that writes, so that thread takes it back, unless one was pending before.
ptrdiff_t runloop__write_quietly(int descriptor, const struct iovec *pieces, int count, int signal, int error) {
    sigset_t sent, before, pending;
    sigemptyset(&sent);
    sigaddset(&sent, signal);
    sigemptyset(&pending);
    pthread_sigmask(SIG_BLOCK, &sent, &before);
    // Something can be pending only if it was blocked.
    bool was_pending = sigismember(&before, signal) && sigpending(&pending) == 0 && sigismember(&pending, signal);
    ptrdiff_t written = writev(descriptor, pieces, count);
    int reason = errno;
    if (written < 0 && reason == error && !was_pending) {
        const struct timespec at_once = {0, 0};
        while (sigtimedwait(&sent, NULL, &at_once) < 0 && errno == EINTR)
            ;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = reason;
    return written;
}
#endif // __linux__
