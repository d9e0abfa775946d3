// signal_notes.c — diagnostics about signals that are waited for and do not arrive: which owner has them, and what to do.

#ifdef __linux__
#include "process/signal_notes.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/kernel_text.h"
#include "base/lock.h"
#include "base/note.h"
#include "base/open.h"
#include "process/catcher.h"
#include "runloop.h"

//===-- words --------------------------------------------------------------------------------------------------------===//

/// How a signal that is ignored is caught all the same, in the language that the process has.
static const char *forced(void) {
    switch (runloop__language()) {
    case LANGUAGE_SWIFT: return "`evenIfIgnored: true`";
    case LANGUAGE_PYTHON: return "`force=True`";
    default: return "`force`";
    }
}

/// "signal 2 (SIGINT)"
static const char *name_of(int number, char name[32]) {
    static const char *const names[] = {
        [SIGHUP] = "HUP",   [SIGINT] = "INT",   [SIGQUIT] = "QUIT",  [SIGABRT] = "ABRT", [SIGUSR1] = "USR1",
        [SIGUSR2] = "USR2", [SIGPIPE] = "PIPE", [SIGALRM] = "ALRM",  [SIGTERM] = "TERM", [SIGCHLD] = "CHLD",
        [SIGCONT] = "CONT", [SIGTSTP] = "TSTP", [SIGWINCH] = "WINCH"};
    const char *found = (size_t)number < sizeof names / sizeof *names ? names[number] : NULL;
    snprintf(name, 32, found ? "signal %d (SIG%s)" : "signal %d", number, found);
    return name;
}

/// Of these, those that were not noted before. The next one is taken from them.
static uint64_t not_noted(_Atomic uint64_t *noted, uint64_t signals) {
    return signals && runloop_diagnostics_are_enabled() ? signals & ~atomic_fetch_or(noted, signals) : 0;
}

static int take_first(uint64_t *signals) {
    int number = __builtin_ctzll(*signals) + 1;
    *signals &= *signals - 1;
    return number;
}

//===-- ignored ------------------------------------------------------------------------------------------------------===//

void runloop__note_ignored(uint64_t signals) {
    static _Atomic uint64_t noted;
    char name[32];
    for (uint64_t left = not_noted(&noted, signals); left;)
        runloop__write_note(
            "runloop: The %s is ignored in this process, so it is not caught, and nothing that waits for it "
            "happens. nohup "
            "ignores SIGHUP, and a shell SIGINT and SIGQUIT in what it starts in the background; with %s it is "
            "caught nevertheless.",
            name_of(take_first(&left), name), forced());
}

//===-- taken --------------------------------------------------------------------------------------------------------===//

static void describe_handling(int number, char *text, size_t size) {
    struct sigaction action;
    Dl_info found;
    if (sigaction(number, NULL, &action))
        snprintf(text, size, "unknown");
    else if (action.sa_handler == SIG_IGN)
        snprintf(text, size, "ignored");
    else if (action.sa_handler == SIG_DFL)
        snprintf(text, size, "as by default");
    else if (dladdr((void *)(uintptr_t)action.sa_handler, &found) && found.dli_fname)
        snprintf(text, size, "handled by %.200s", found.dli_fname);
    else
        snprintf(text, size, "handled by code of no file");
}

char *runloop__describe_signals(uint64_t signals, uint64_t caught) {
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    if (!stream)
        return NULL;
    for (uint64_t left = signals; left;) {
        char name[32], handling[256];
        int number = take_first(&left);
        bool is_ours = caught & catcher_bit(number);
        if (!is_ours)
            describe_handling(number, handling, sizeof handling);
        fprintf(stream, "%s %s%s", name_of(number, name), is_ours ? "caught" : handling, left ? ", " : "");
    }
    fclose(stream);
    return text;
}

void runloop__note_taken(uint64_t signals) {
    static _Atomic uint64_t noted;
    for (uint64_t left = not_noted(&noted, signals); left;) {
        int number = take_first(&left);
        char name[32], handling[256];
        struct sigaction action;
        describe_handling(number, handling, sizeof handling);
        bool is_handled =
            sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_IGN && action.sa_handler != SIG_DFL;
        runloop__write_note(
            "runloop: Since this program began to catch the %s, something else has set its handling with "
            "sigaction or signal: it is "
            "%s, and what waits for it here happens no more. %s",
            name_of(number, name), handling,
            is_handled ? "Begin to catch it here after that has been installed: then both are called."
                       : "Remove that call, which a source for the signal makes unnecessary.");
    }
}

//===-- blocked ------------------------------------------------------------------------------------------------------===//

/// Not on the stack, which may be small.
enum { STATUS_SIZE = 4096 };

/// The signals that a thread has blocked; none if that can't be read.
static uint64_t blocked_by(const char *thread) {
    char path[64], *text = malloc(STATUS_SIZE);
    snprintf(path, sizeof path, "/proc/self/task/%.20s/status", thread);
    int file = text ? open_whole(path, O_RDONLY) : -1;
    ssize_t size = file < 0 ? 0 : read(file, text, STATUS_SIZE - 1);
    if (file >= 0)
        close(file);
    if (text)
        text[size > 0 ? size : 0] = 0;
    uint64_t blocked = text ? text_blocked_signals(text) : 0;
    free(text);
    return blocked;
}

static uint64_t blocked_by_all(uint64_t signals) {
    DIR *threads = opendir("/proc/self/task");
    if (!threads)
        return 0;
    for (const struct dirent *thread; signals && (thread = readdir(threads));)
        if (*thread->d_name != '.')
            signals &= blocked_by(thread->d_name);
    closedir(threads);
    return signals;
}

static uint64_t blocked_here(uint64_t signals) {
    sigset_t blocked;
    uint64_t found = 0;
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    for (uint64_t left = signals; left;) {
        int number = take_first(&left);
        found |= sigismember(&blocked, number) == 1 ? catcher_bit(number) : 0;
    }
    return found;
}

void runloop__note_blocked(uint64_t signals) {
    static _Atomic uint64_t noted, found_before;
    uint64_t blocked = runloop_diagnostics_are_enabled() ? blocked_here(signals) & ~atomic_load(&noted) : 0;
    uint64_t found = blocked ? blocked_by_all(blocked) : 0;
    char name[32];
    // At the second look that finds it, since a thread that begins has blocked all of them for a moment.
    found &= atomic_exchange(&found_before, found);
    for (uint64_t left = not_noted(&noted, found); left;)
        runloop__write_note(
            "runloop: Every thread of this process has blocked the %s, so it is not caught here, and goes to "
            "whoever reads it with "
            "sigwait or a signalfd. Leave it unblocked in one thread, or have that one report it.",
            name_of(take_first(&left), name));
}
#endif // __linux__
