// top.c — runloop-top: the loops of a process that publishes them (runloop_publish.h), as they run.

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "published_path.h"
#include "runloop.h"
#include "table.h"
#include "terminal.h"

static const char usage[] = "usage: runloop-top [--once] [--interval SECONDS] PID|PATH\n"
                            "       runloop-top    lists the processes that are published\n";
static const char help[] =
    "\n"
    "Shows the run loops of a process as they run: which call-outs take how long, and what they wait for. The process\n"
    "publishes them: by runloop_publish() in C, by a RunLoop.Publication in Swift.\n"
    "\n"
    "  PID|PATH             the process, or the socket at which it is published\n"
    "  --once               writes one table, and ends; so it does if input or output is not a terminal\n"
    "  --interval SECONDS   between two looks, 0.05 to 3600; 1 if it is not given\n"
    "  --help, --version    write this, or the version\n"
    "\n"
    "Keys: q quits.\n";

static int fail(const char *path, int error) {
    fprintf(stderr, "runloop-top: %s: %s\n", path, strerror(-error));
    return 1;
}

//===-- without arguments --------------------------------------------------------------------------------------------===//

/// As ps shows it; empty if the process is gone, or another user's who hides it.
static void read_name(int pid, char *name, size_t size) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/comm", pid);
    FILE *file = fopen(path, "r");
    if (!file || !fgets(name, (int)size, file))
        *name = 0;
    name[strcspn(name, "\n")] = 0;
    if (file)
        fclose(file);
}

static int list(void) {
    static struct sample sample;
    int shown = 0;
    char folder[PATH_MAX], path[PATH_MAX + NAME_MAX + 2];
    int error = published_folder(folder, sizeof folder, false);
    DIR *files = error ? NULL : opendir(folder);
    if (!files && !error)
        error = -errno;
    if (error && error != -ENOENT)
        return fail(folder, error);
    struct dirent *file;
    while (files && (file = readdir(files))) {
        int pid, end = 0;
        if (sscanf(file->d_name, PUBLISHED_PREFIX "%d" PUBLISHED_SUFFIX "%n", &pid, &end) != 1 || end == 0 ||
            file->d_name[end])
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, file->d_name);
        // What an ended process has left answers nobody.
        if (sample_take(path, &sample) == 0) {
            char name[64];
            read_name(pid, name, sizeof name);
            printf("%d\t", pid);
            // A name is any bytes, and the terminal may be commanded by some.
            terminal_write(stdout, name, strlen(name));
            printf("\t%d loop%s\t%s\n", sample.count, sample.count == 1 ? "" : "s", path);
            shown++;
        }
    }
    if (files)
        closedir(files);
    if (shown == 0)
        fprintf(stderr, "runloop-top: no process of this user is published (in %s); runloop-top --help says how\n",
                folder);
    return 0;
}

//===-- on a terminal ------------------------------------------------------------------------------------------------===//

static struct termios terminal_before;
static volatile sig_atomic_t is_ended;

static void end(int number) {
    (void)number;
    is_ended = 1;
}

/// It ends the wait, and the table is drawn again.
static void resize(int number) {
    (void)number;
}

static void enter_terminal(sigset_t *unblocked) {
    sigset_t blocked;
    sigemptyset(&blocked);
    int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        sigaddset(&blocked, ends[i]);
        sigaction(ends[i], &(struct sigaction){.sa_handler = end}, NULL);
    }
    sigaddset(&blocked, SIGWINCH);
    sigaction(SIGWINCH, &(struct sigaction){.sa_handler = resize}, NULL);
    // They come in the wait alone.
    sigprocmask(SIG_BLOCK, &blocked, unblocked);
    tcgetattr(STDIN_FILENO, &terminal_before);
    struct termios terminal = terminal_before;
    terminal.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    tcsetattr(STDIN_FILENO, TCSANOW, &terminal);
    // The other screen, and no cursor.
    fputs("\033[?1049h\033[?25l", stdout);
}

static void leave_terminal(void) {
    fputs("\033[?25h\033[?1049l", stdout);
    fflush(stdout);
    tcsetattr(STDIN_FILENO, TCSANOW, &terminal_before);
}

static void draw(const char *path, const struct sample *sample, const struct sample *before) {
    struct winsize size = {0};
    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    int width = size.ws_col ? size.ws_col : 80, height = size.ws_row ? size.ws_row : 24;
    fputs("\033[H", stdout);
    table_write(stdout, sample, before, width, height - 2, "\033[K\n");
    char foot[PATH_MAX + 64];
    snprintf(foot, sizeof foot, "%s, %d loop%s; q quits", path, sample->loop_count, sample->loop_count == 1 ? "" : "s");
    printf("\033[K\n%.*s\033[K\033[J", width - 1, foot);
    fflush(stdout);
}

/// Whether the user wants to end, within the time. A signal ends the wait early.
static bool is_quit(int64_t wait_ns, const sigset_t *unblocked) {
    struct pollfd keys = {.fd = STDIN_FILENO, .events = POLLIN};
    struct timespec wait = {.tv_sec = wait_ns / 1000000000, .tv_nsec = wait_ns % 1000000000};
    char key = 0;
    if (ppoll(&keys, 1, &wait, unblocked) <= 0)
        return is_ended;
    return read(STDIN_FILENO, &key, 1) <= 0 || key == 'q' || key == 'Q';
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/// Until the user quits, which is 0, or the process can't be asked any more.
static int watch(const char *path, int64_t interval_ns) {
    static struct sample samples[2];
    sigset_t unblocked;
    int latest = 0, error = sample_take(path, &samples[0]);
    if (error)
        return fail(path, error);
    enter_terminal(&unblocked);
    int64_t next_ns = now_ns() + interval_ns;
    for (bool quits = false; !quits && !error;) {
        draw(path, &samples[latest], &samples[!latest]);
        int64_t wait_ns = next_ns - now_ns();
        quits = is_quit(wait_ns > 0 ? wait_ns : 0, &unblocked);
        if (!quits && now_ns() >= next_ns) {
            latest = !latest;
            error = sample_take(path, &samples[latest]);
            next_ns = now_ns() + interval_ns;
        }
    }
    leave_terminal();
    return error ? fail(path, error) : 0;
}

//===-- the arguments ------------------------------------------------------------------------------------------------===//

static int write_once(const char *path) {
    static struct sample sample, none;
    int error = sample_take(path, &sample);
    if (error)
        return fail(path, error);
    table_write(stdout, &sample, &none, INT_MAX, INT_MAX, "\n");
    return 0;
}

/// A process's id stands for the path at which it is published by default.
static int write_path(char *path, size_t size, const char *argument) {
    bool is_pid = argument[0] && argument[strspn(argument, "0123456789")] == 0;
    int error = is_pid ? published_folder(path, size, false) : 0;
    size_t length = is_pid && !error ? strlen(path) : 0;
    int more = is_pid ? snprintf(path + length, size - length, "/" PUBLISHED_PREFIX "%s" PUBLISHED_SUFFIX, argument)
                      : snprintf(path, size, "%s", argument);
    return error ? error : (size_t)more >= size - length ? -ENAMETOOLONG : 0;
}

int main(int count, char **arguments) {
    bool is_once = false;
    double interval = 1;
    const char *process = NULL;
    for (int i = 1; i < count; i++) {
        char *rest = "";
        if (strcmp(arguments[i], "--help") == 0 || strcmp(arguments[i], "-h") == 0) {
            printf("%s%s", usage, help);
            return 0;
        }
        if (strcmp(arguments[i], "--version") == 0) {
            printf("runloop-top %d.%d.%d\n", RUNLOOP_VERSION >> 16, RUNLOOP_VERSION >> 8 & 0xff,
                   RUNLOOP_VERSION & 0xff);
            return 0;
        }
        if (strcmp(arguments[i], "--once") == 0)
            is_once = true;
        else if (strcmp(arguments[i], "--interval") == 0 && i + 1 < count)
            interval = strtod(arguments[++i], &rest);
        else if (!process && arguments[i][0] != '-')
            process = arguments[i];
        else
            rest = "?";
        if (*rest || !(interval >= 0.05 && interval <= 3600)) {
            fputs(usage, stderr);
            return 2;
        }
    }
    if (!process)
        return list();
    char path[PATH_MAX];
    int error = write_path(path, sizeof path, process);
    if (error)
        return fail(process, error);
    bool is_terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    return is_once || !is_terminal ? write_once(path) : watch(path, (int64_t)(interval * 1e9));
}
