// stack.c — a thread is asked for its stack by a signal, and writes down the addresses of its frames.

#ifdef __linux__
#include "stack.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "runloop.h"
#include "runloop_lock.h"

#ifdef __GLIBC__
#include <execinfo.h>

enum { MOST_FRAMES = 64, NOBODY = 0, WRITING = -1, WRITTEN = -2 };

/// Held by the thread that asks: the attendant, or one that makes a report.
static struct process_lock asking;
static _Atomic int asked; ///< the thread that is asked, or one of the constants
static void *frames[MOST_FRAMES];
static int frame_count;

static void answer(int signal) {
    (void)signal;
    int error = errno, self = (int)syscall(SYS_gettid);
    // A signal that comes when the attendant has given up, or that somebody else has sent, is nothing.
    if (atomic_compare_exchange_strong(&asked, &self, WRITING)) {
        frame_count = backtrace(frames, MOST_FRAMES);
        atomic_store(&asked, WRITTEN);
    }
    errno = error;
}

static int number_of(int signal) {
    return signal ? signal : SIGURG;
}

int stack_prepare(int signal) {
    struct sigaction before, action = {.sa_handler = answer, .sa_flags = SA_RESTART | SA_ONSTACK};
    if (signal < 0)
        return signal == -1 ? 0 : -EINVAL;
    // The first call loads a library and allocates, which a handler must not.
    backtrace(frames, 1);
    sigemptyset(&action.sa_mask);
    int error = 0;
    if (sigaction(number_of(signal), NULL, &before))
        error = -errno;
    else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN && before.sa_handler != answer)
        error = -EBUSY;
    else if (before.sa_handler != answer && sigaction(number_of(signal), &action, NULL))
        error = -errno;
    return error;
}

/// Within a fifth of a second: a thread that doesn't run until then blocks the signal, or is deep in the kernel.
static bool ask(pid_t thread, int signal) {
    atomic_store(&asked, (int)thread);
    bool is_sent = syscall(SYS_tgkill, getpid(), thread, number_of(signal)) == 0;
    for (int i = 0; is_sent && i < 200 && atomic_load(&asked) != WRITTEN; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    int unanswered = (int)thread;
    if (atomic_compare_exchange_strong(&asked, &unanswered, NOBODY))
        return false;
    while (atomic_load(&asked) != WRITTEN)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return true;
}

static char *copy_answer(void) {
    char **names = backtrace_symbols(frames, frame_count), *stack = NULL;
    size_t size = 0;
    FILE *text = names ? open_memstream(&stack, &size) : NULL;
    if (text) {
        // The innermost two are the handler, and the return from it.
        for (int i = 2; i < frame_count; i++)
            fprintf(text, "    %s\n", names[i]);
        if (fclose(text)) {
            free(stack);
            stack = NULL;
        }
    }
    free(names);
    atomic_store(&asked, NOBODY);
    return stack;
}

char *stack_copy(pid_t thread, int signal) {
    process_lock(&asking);
    char *stack = ask(thread, signal) ? copy_answer() : NULL;
    process_unlock(&asking);
    return stack;
}

#else

int stack_prepare(int signal) {
    return signal < -1 || signal > SIGRTMAX ? -EINVAL : 0;
}

char *stack_copy(pid_t thread, int signal) {
    (void)thread, (void)signal;
    return NULL;
}

#endif
#endif // __linux__
