// children_starts_process.c — the process that a started program is: its signals, group, session, terminal, limits, its parent's end.
#include <sys/ioctl.h>
#include <termios.h>

#include "children.h"

//===-- its signals --------------------------------------------------------------------------------------------------===//

static void handle(int number) {
    (void)number;
}

static uint64_t set_of(const char *status, const char *name) {
    const char *line = strstr(status, name);
    return line ? strtoull(line + strlen(name), NULL, 16) : UINT64_MAX;
}

TEST("a program blocks no signal and ignores none but those that were named; its parent keeps its own") {
    need_proc();
    sigset_t all, former;
    sigfillset(&all);
    signal(SIGPIPE, SIG_IGN), signal(SIGINT, SIG_IGN), signal(SIGHUP, SIG_IGN), signal(SIGRTMAX, SIG_IGN);
    signal(SIGUSR1, handle), signal(SIGCHLD, handle);
    pthread_sigmask(SIG_SETMASK, &all, &former);
    runloop_child_start_config config = {.arguments = WORDS("cat", "/proc/self/status")};
    const char *status = output_of(config);
    EXPECT_EQ(set_of(status, "SigBlk:"), 0);
    EXPECT_EQ(set_of(status, "SigIgn:"), 0);
    EXPECT_EQ(set_of(status, "SigPnd:"), 0);
    config.ignored_signals = UINT64_C(1) << (SIGHUP - 1) | UINT64_C(1) << 63;
    EXPECT_EQ(set_of(output_of(config), "SigIgn:"), config.ignored_signals);
    sigset_t now;
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    for (int number = 1; number < 32; number++)
        EXPECT_EQ(sigismember(&now, number), sigismember(&all, number) && number != SIGKILL && number != SIGSTOP);
    EXPECT(action_of(SIGUSR1).sa_handler == handle && action_of(SIGPIPE).sa_handler == SIG_IGN);
    pthread_sigmask(SIG_SETMASK, &former, NULL);
}

static _Atomic int handled;

static void count_signal(int number) {
    (void)number;
    handled++;
}

TEST("signals that come all the time disturb no start, and none is handled by the child in its parent's memory") {
    need_starts(); // whose own wait would be interrupted
    sigaction(SIGUSR1, &(struct sigaction){.sa_handler = count_signal}, NULL);
    static _Atomic bool stop;
    pthread_t storm;
    REQUIRE(pthread_create(&storm, NULL, signal_all_the_time, &stop) == 0);
    for (int i = 0; i < 30; i++)
        EXPECT_TEXT(output_of((runloop_child_start_config){.arguments = WORDS("echo", "undisturbed")}),
                    "undisturbed\n");
    EXPECT(handled > 0);
    stop = true;
    pthread_join(storm, NULL);
}

//===-- its group, session, terminal ---------------------------------------------------------------------------------===//

/// What /proc/…/stat says of a program that was started.
struct belonging {
    int pid, group, session, terminal, foreground;
};

static struct belonging belonging_of(runloop_child_start_config config) {
    struct belonging found = {0};
    need_proc();
    config.arguments = WORDS("cat", "/proc/self/stat");
    const char *stat = output_of(config), *end = strrchr(stat, ')');
    REQUIRE(end && sscanf(stat, "%d", &found.pid) == 1);
    REQUIRE(sscanf(end, ") %*c %*d %d %d %d %d", &found.group, &found.session, &found.terminal, &found.foreground) ==
            4);
    return found;
}

TEST("a program is in its parent's group, in one of its own, in another one, or in a session of its own") {
    struct ends ends = {0};
    struct belonging found = belonging_of((runloop_child_start_config){0});
    EXPECT_EQ(found.group, getpgrp());
    found = belonging_of((runloop_child_start_config){.group = RUNLOOP_CHILD_NEW_GROUP});
    EXPECT_EQ(found.group, found.pid);
    EXPECT_EQ(found.session, getsid(0));
    found = belonging_of((runloop_child_start_config){.group = RUNLOOP_CHILD_NEW_SESSION});
    EXPECT_EQ(found.session, found.pid);
    EXPECT_EQ(found.group, found.pid);
    EXPECT_EQ(found.terminal, 0);
    int input = -1;
    const runloop_child_descriptor descriptor = {.number = 0, .kind = RUNLOOP_CHILD_INPUT_PIPE, .parent_end = &input};
    runloop_child *leader = start((runloop_child_start_config){.arguments = WORDS("cat"),
                                                               .group = RUNLOOP_CHILD_NEW_GROUP,
                                                               .descriptors = &descriptor,
                                                               .descriptor_count = 1},
                                  &ends);
    EXPECT_EQ(getpgid(runloop_child_get_pid(leader)), runloop_child_get_pid(leader));
    runloop_child *member =
        start((runloop_child_start_config){.arguments = WORDS("cat", "/proc/self/stat"),
                                           .group = runloop_child_get_pid(leader),
                                           .descriptors =
                                               &(runloop_child_descriptor){.number = 1, .kind = RUNLOOP_CHILD_NULL},
                                           .descriptor_count = 1},
              &ends);
    EXPECT_EQ(getpgid(runloop_child_get_pid(member)), runloop_child_get_pid(leader));
    close(input);
    run_for(MODE, 30 * SECOND);
    EXPECT_EQ(ends.count, 2);
    runloop_source_release(leader);
    runloop_source_release(member);
}

static void open_terminal(int *master, int *slave) {
    *master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    REQUIRE(*master >= 0 && grantpt(*master) == 0 && unlockpt(*master) == 0);
    *slave = open(ptsname(*master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    REQUIRE(*slave >= 0);
}

TEST("a program has a terminal in its session, with the size that the caller gave it, and in its foreground") {
    int master, slave;
    open_terminal(&master, &slave);
    REQUIRE(ioctl(slave, TIOCSWINSZ, &(struct winsize){.ws_row = 33, .ws_col = 77}) == 0);
    runloop_child_start_config config = {.group = RUNLOOP_CHILD_NEW_SESSION, .has_terminal = true, .terminal = slave};
    struct belonging found = belonging_of(config);
    EXPECT(found.terminal != 0);
    EXPECT_EQ(found.foreground, found.pid);
    // The end of its session's leader has taken it from the session.
    config.arguments = SHELL("stty size < /dev/tty");
    EXPECT_TEXT(output_of(config), "33 77\n");
}

static struct {
    char text[256];
    size_t length;
    int ends, error;
} screen;

static size_t show(runloop_input *input, const char *bytes, size_t count, void *info) {
    (void)input, (void)info;
    REQUIRE(screen.length + count < sizeof screen.text);
    memcpy(screen.text + screen.length, bytes, count);
    screen.length += count;
    return count;
}

static void end_show(runloop_input *input, int error, const char *rest, size_t count, void *info) {
    (void)input, (void)rest, (void)info;
    EXPECT_EQ(count, 0);
    screen.ends++;
    screen.error = error;
}

TEST("a program's terminal has the mode that the caller gave it, and is read and written by its other end until nobody "
     "has it") {
    int master, slave;
    struct termios mode;
    struct ends ends = {0};
    open_terminal(&master, &slave);
    REQUIRE(tcgetattr(slave, &mode) == 0);
    cfmakeraw(&mode);
    REQUIRE(tcsetattr(slave, TCSANOW, &mode) == 0);
    const runloop_child_descriptor its_own[] = {{.number = 0, .kind = RUNLOOP_CHILD_DESCRIPTOR, .from = slave},
                                                {.number = 1, .kind = RUNLOOP_CHILD_SAME, .from = 0}};
    // A cooked terminal gives no byte before a line, echoes it, and writes "\r\n".
    runloop_child *child = start((runloop_child_start_config){.arguments = SHELL("head -c 1; echo; echo end"),
                                                              .group = RUNLOOP_CHILD_NEW_SESSION,
                                                              .has_terminal = true,
                                                              .terminal = slave,
                                                              .descriptors = its_own,
                                                              .descriptor_count = 2},
                                 &ends);
    close(slave);
    runloop_input_config config = {
        .descriptor = master, .limit = 4096, .owns = true, .received = show, .ended = end_show};
    runloop_input *input = NULL;
    REQUIRE(runloop_input_create(&config, &input) == 0);
    REQUIRE(runloop_add_source(runloop_current(), input, MODE) == 0);
    EXPECT_EQ(write(master, "q", 1), 1);
    RUN_UNTIL(MODE, screen.ends > 0 && ends.count > 0);
    screen.text[screen.length] = 0;
    EXPECT_TEXT(screen.text, "q\nend\n");
    EXPECT(screen.ends == 1 && screen.error == 0);
    runloop_source_release(input);
    runloop_source_release(child);
}

//===-- its limits, and its parent's end -----------------------------------------------------------------------------===//

TEST("a program has the limits that were given") {
    const runloop_child_limit limits[] = {{.resource = RLIMIT_NOFILE, .soft = 50, .hard = 60},
                                          {.resource = RLIMIT_CORE, .soft = 0, .hard = 0}};
    EXPECT_TEXT(output_of((runloop_child_start_config){
                    .arguments = SHELL("ulimit -Sn; ulimit -Hn; ulimit -c"), .limits = limits, .limit_count = 2}),
                "50\n60\n0\n");
    struct rlimit own;
    REQUIRE(getrlimit(RLIMIT_NOFILE, &own) == 0);
    EXPECT(own.rlim_max > 60);
}

static runloop_child *orphan;

static void *start_orphan(void *ends) {
    orphan = NULL;
    const runloop_child_start_config config = {.child = {.context.info = ends, .exited = note_end},
                                               .arguments = WORDS("sleep", "1000"),
                                               .searches = true,
                                               .parent_death_signal = SIGUSR2};
    EXPECT_EQ(runloop_child_start(&config, &orphan), 0);
    return NULL;
}

TEST("a program outlives the thread that started it, though it has a signal for its parent's end") {
    need_starts();
    struct ends ends = {0};
    on_new_thread(start_orphan, &ends);
    REQUIRE(orphan && runloop_add_source(runloop_current(), orphan, MODE) == 0);
    // It would have been sent when the thread had ended, before it was joined.
    EXPECT_EQ(run_for(MODE, 20 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(runloop_child_send_signal(orphan, SIGTERM), 0);
    run_for(MODE, 30 * SECOND);
    EXPECT_EQ(ends.last.end, RUNLOOP_CHILD_SIGNALLED);
    EXPECT_EQ(ends.last.status, SIGTERM);
    runloop_source_release(orphan);
}

static int pid_end;

/// A parent whose child goes on.
static void start_and_end(void) {
    struct ends ends = {0};
    on_new_thread(start_orphan, &ends);
    int32_t pid = runloop_child_get_pid(orphan);
    _exit(write(pid_end, &pid, sizeof pid) == sizeof pid ? 0 : 1);
}

TEST("a program gets its signal when the process that started it ends") {
    need_starts();
    int ends[2], status = 0;
    int32_t pid = 0;
    REQUIRE(pipe(ends) == 0 && prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
    pid_end = ends[1];
    EXPECT_EQ(status_of_child(start_and_end), 0);
    REQUIRE(read(ends[0], &pid, sizeof pid) == sizeof pid && waitpid(pid, &status, 0) == pid);
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR2);
}

static void *start_cancelled(void *ends) {
    pthread_cancel(pthread_self());
    start_orphan(ends);
    pthread_testcancel();
    return NULL;
}

TEST("a thread that is cancelled starts its program first, and leaves nothing") {
    need_starts();
    struct ends ends = {0};
    runloop_current();
    int before = count_descriptors();
    on_new_thread(start_cancelled, &ends);
    REQUIRE(orphan && runloop_add_source(runloop_current(), orphan, MODE) == 0);
    EXPECT_EQ(runloop_child_send_signal(orphan, SIGTERM), 0);
    run_for(MODE, 30 * SECOND);
    EXPECT_EQ(ends.count, 1);
    runloop_source_release(orphan);
    EXPECT_EQ(count_descriptors(), before);
}
