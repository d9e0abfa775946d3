// flush.c — the streams of the C library are flushed.
//
// fflush(NULL) takes the lock of each stream in turn, and a thread that waits in a read of standard input has that of stdin, possibly for
// ever. So a thread of its own calls it, and this one waits for that with a limit. In glibc stdin is the last stream: all others have
// been flushed when a thread waits for it.

#ifdef __linux__
#include "process/flush.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/lock.h"

enum { MS = 1000000, LIMIT_MS = 1000, LIMIT_BESIDE_READER_MS = 100 };

static void *flush_all(void *is_done) {
    fflush(NULL);
    atomic_store((_Atomic bool *)is_done, true);
    return NULL;
}

static bool is_in_use(FILE *stream) {
    if (ftrylockfile(stream))
        return true;
    funlockfile(stream);
    return false;
}

void runloop__flush_streams(void) {
    // Written by a thread that may outlast this call.
    static _Atomic bool is_done;
    // The process ends by the signal that it was sent, and not because nobody reads its output any more.
    sigset_t broken_pipe;
    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken_pipe, NULL);
    // The process's own output, which a slow reader of a pipe may hold up: no limit of ours cuts it off. The lock can be taken twice.
    if (ftrylockfile(stdout) == 0) {
        fflush(stdout);
        funlockfile(stdout);
    }
    int64_t left_ms = is_in_use(stdin) ? LIMIT_BESIDE_READER_MS : LIMIT_MS;
    if (start_thread(flush_all, (void *)&is_done) < 0)
        fflush(NULL);
    else
        for (; left_ms > 0 && !atomic_load(&is_done); left_ms--)
            nanosleep(&(struct timespec){.tv_nsec = MS}, NULL);
}
#endif // __linux__
