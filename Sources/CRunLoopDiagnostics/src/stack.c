// stack.c — the functions that a thread is in, as text: of one that waits as the kernel shows it, of one that runs by a signal, in whose handler
// it writes down the addresses and copies the stack itself. A signal would end a wait early: nanosleep, poll and many other calls are not
// restarted.

#ifdef __linux__
#include "stack.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "busy.h"
#include "code.h"
#include "runloop.h"
#include "runloop_lock.h"
#include "unwind.h"
#include "waiting_thread.h"

//===-- a thread that runs -------------------------------------------------------------------------------------------===//

#ifdef __GLIBC__
#include <execinfo.h>

enum { MOST_FRAMES = 64, NOBODY = 0, WRITING = -1, WRITTEN = -2 };

/// Held by the thread that asks: the attendant, or one that makes a report.
static struct process_lock asking;
static _Atomic int asked; ///< the thread that is asked, or one of the constants
static void *frames[MOST_FRAMES];
static int frame_count;
static struct stack_copy copy;

/// What the kernel says of the interrupted thread. Its stack is not the handler's if the program has set another one for signals.
static uintptr_t stack_pointer_of(const ucontext_t *context) {
#if defined(__x86_64__)
    return (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
    return (uintptr_t)context->uc_mcontext.sp;
#else
    return (uintptr_t)context;
#endif
}

static void answer(int signal, siginfo_t *information, void *context) {
    // Signals of the same number that come at once are one.
    busy_answer(signal, information, context);
    int error = errno, self = (int)syscall(SYS_gettid);
    // A signal that comes when the attendant has given up, or that somebody else has sent, is nothing.
    if (atomic_compare_exchange_strong(&asked, &self, WRITING)) {
        frame_count = backtrace(frames, MOST_FRAMES);
        copy_stack(&copy, stack_pointer_of(context));
        atomic_store(&asked, WRITTEN);
    }
    errno = error;
}

static int number_of(int signal) {
    return signal ? signal : SIGURG;
}

int stack_prepare(int signal) {
    struct sigaction before, action = {.sa_sigaction = answer, .sa_flags = SA_RESTART | SA_ONSTACK | SA_SIGINFO};
    if (signal < 0)
        return signal == -1 ? 0 : -EINVAL;
    // The first call loads a library and allocates, which a handler must not.
    backtrace(frames, 1);
    sigemptyset(&action.sa_mask);
    int error = 0;
    if (sigaction(number_of(signal), NULL, &before))
        error = -errno;
    else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN && before.sa_sigaction != busy_answer &&
             before.sa_sigaction != answer)
        error = -EBUSY;
    else if (before.sa_sigaction != answer && sigaction(number_of(signal), &action, NULL))
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

/// The C library's walk ends at a function without a note for exceptions, and some that the Swift compiler makes have none. From there on it is
/// ours, which finds such a function's frame by the frame pointer that it has saved.
static void walk_on(struct codes *codes) {
    enum { MOST = sizeof codes->codes / sizeof *codes->codes };
    uintptr_t last = codes->count > 0 ? codes->codes[codes->count - 1] : 0, word;
    bool is_caller = codes->count > 1;
    struct frame frame = {.copy = &copy, .code = last, .stack = is_caller ? 0 : copy.begin, .is_caller = is_caller};
    // The outermost place that has it is the return address, if the others are leftovers.
    for (size_t i = 0; is_caller && i + sizeof word <= copy.size; i += sizeof word) {
        memcpy(&word, copy.bytes + i, sizeof word);
        if (word == last)
            frame.stack = copy.begin + i + sizeof word;
    }
    while (last && frame.stack && codes->count < MOST && unwind(&frame))
        codes->codes[codes->count++] = frame.code;
}

static void copy_codes_by_signal(pid_t thread, int signal, struct codes *codes) {
    // The innermost two are the handler, and the return from it.
    enum { INNER = 2 };
    process_lock(&asking);
    if (ask(thread, signal)) {
        for (int i = INNER; i < frame_count; i++)
            codes->codes[codes->count++] = (uintptr_t)frames[i];
        walk_on(codes);
        atomic_store(&asked, NOBODY);
    }
    process_unlock(&asking);
}

#else

int stack_prepare(int signal) {
    return signal < -1 || signal > SIGRTMAX ? -EINVAL : 0;
}

static void copy_codes_by_signal(pid_t thread, int signal, struct codes *codes) {
    (void)thread, (void)signal, (void)codes;
}

#endif

//===-- the text -----------------------------------------------------------------------------------------------------===//

static char *copy_text(const struct codes *codes) {
    char *stack = NULL;
    size_t size = 0;
    FILE *text = open_memstream(&stack, &size);
    for (int i = 0; text && i < codes->count; i++) {
        char *function = code_copy_description(codes->codes[i], i > 0);
        fprintf(text, "    %s\n", function ? function : "?");
        free(function);
    }
    if (!text || fclose(text)) {
        free(stack);
        stack = NULL;
    }
    return stack;
}

char *stack_copy(pid_t thread, int signal) {
    struct codes codes = {.count = 0};
    // The calling thread reads its own call, and may get its signal.
    bool is_own = thread == gettid();
    enum thread_state state = is_own && signal >= 0 ? THREAD_RUNS : waiting_thread_look(thread, &codes);
    if (signal >= 0 && (state == THREAD_RUNS || (state == THREAD_UNKNOWN && signal > 0)))
        copy_codes_by_signal(thread, signal, &codes);
    return codes.count > 0 ? copy_text(&codes) : NULL;
}
#endif // __linux__
