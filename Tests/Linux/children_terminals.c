// children_terminals.c — programs with a terminal: a new one, its size and its end, and the foreground of their parent's.
#include <sys/ioctl.h>
#include <termios.h>

#include "children.h"

static struct {
    char text[512];
    size_t length;
    int lines, ends, error;
} screen;

static void show_line(runloop_input *input, const char *line, size_t count, int error, void *info) {
    (void)input, (void)info;
    EXPECT_EQ(error, 0);
    REQUIRE(screen.length + count + 1 < sizeof screen.text);
    memcpy(screen.text + screen.length, line, count);
    screen.length += count;
    screen.text[screen.length++] = '|';
    screen.text[screen.length] = 0;
    screen.lines++;
}

static void end_show(runloop_input *input, int error, const char *rest, size_t count, void *info) {
    (void)input, (void)rest, (void)info;
    EXPECT_EQ(count, 0);
    screen.ends++;
    screen.error = error;
}

/// The lines of a terminal, whose descriptor is the input's from now on.
static runloop_input *show(int terminal) {
    const runloop_input_config config = {
        .descriptor = terminal, .owns = true, .limit = 400, .received_line = show_line, .ended = end_show};
    runloop_input *input = NULL;
    REQUIRE(runloop_input_create(&config, &input) == 0);
    REQUIRE(runloop_add_source(runloop_current(), input, MODE) == 0);
    return input;
}

/// A program in a new terminal, which is its input, output and errors.
static runloop_child *start_in_terminal(const char *const *arguments, int *terminal, struct ends *ends) {
    const runloop_child_descriptor descriptors[] = {
        {.number = 0, .kind = RUNLOOP_CHILD_TERMINAL, .parent_end = terminal},
        {.number = 1, .kind = RUNLOOP_CHILD_SAME, .from = 0},
        {.number = 2, .kind = RUNLOOP_CHILD_SAME, .from = 0}};
    return start((runloop_child_start_config){.arguments = arguments,
                                              .descriptors = descriptors,
                                              .descriptor_count = 3,
                                              .terminal_rows = 33,
                                              .terminal_columns = 77},
                 ends);
}

TEST("a program has a new terminal of a size, and its last line comes without a line feed, before an end that is no "
     "error") {
    struct ends ends = {0};
    int terminal = -1;
    runloop_child *child =
        start_in_terminal(SHELL("stty size; tty < /dev/tty > /dev/null && printf last"), &terminal, &ends);
    EXPECT(fcntl(terminal, F_GETFD) & FD_CLOEXEC);
    EXPECT(fcntl(terminal, F_GETFL) & O_NONBLOCK);
    runloop_input *input = show(terminal);
    RUN_UNTIL(MODE, screen.ends > 0 && ends.count > 0);
    EXPECT_TEXT(screen.text, "33 77|last|");
    EXPECT_EQ(screen.error, 0);
    EXPECT_EQ(ends.last.status, 0);
    runloop_source_release(input);
    runloop_source_release(child);
}

TEST("a program in a terminal reads what is written to it, and is signalled when its size changes") {
    struct ends ends = {0};
    int terminal = -1;
    runloop_child *child = start_in_terminal(
        SHELL("trap 'stty size; exit 3' WINCH; stty -echo; read word; echo got $word; while :; do read more; done"),
        &terminal, &ends);
    runloop_input *input = show(terminal);
    EXPECT_EQ(write(terminal, "it\n", 3), 3);
    RUN_UNTIL(MODE, strstr(screen.text, "got it|"));
    EXPECT_EQ(runloop_terminal_set_size(terminal, 50, 132), 0);
    RUN_UNTIL(MODE, ends.count > 0 && screen.ends > 0);
    EXPECT(strstr(screen.text, "50 132|"));
    EXPECT_EQ(ends.last.status, 3);
    EXPECT_EQ(runloop_terminal_set_size(STDIN_FILENO + 900, 1, 1), -EBADF);
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    EXPECT_EQ(runloop_terminal_set_size(null, 1, 1), -ENOTTY);
    runloop_source_release(input);
    runloop_source_release(child);
}

TEST("a new size of a terminal leaves what it says of pixels") {
    struct winsize size = {.ws_row = 1, .ws_col = 2, .ws_xpixel = 300, .ws_ypixel = 400};
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    REQUIRE(master >= 0 && ioctl(master, TIOCSWINSZ, &size) == 0);
    EXPECT_EQ(runloop_terminal_set_size(master, 10, 20), 0);
    REQUIRE(ioctl(master, TIOCGWINSZ, &size) == 0);
    EXPECT(size.ws_row == 10 && size.ws_col == 20 && size.ws_xpixel == 300 && size.ws_ypixel == 400);
    close(master);
}

TEST("a pipe that fails with EIO for another reason has failed") {
    // A descriptor that is no terminal has no number of one.
    int directory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    if (directory < 0)
        LEAVE_OUT("There is no /proc.");
    runloop_input *input = show(directory);
    RUN_UNTIL(MODE, screen.ends > 0);
    EXPECT_EQ(screen.error, -EIO);
    runloop_source_release(input);
}

//===-- the foreground -----------------------------------------------------------------------------------------------===//

/// This process leads a session with a terminal from now on, of which it has both sides.
static int take_terminal(int *slave) {
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    REQUIRE(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    REQUIRE(setsid() == getpid());
    *slave = open(ptsname(master), O_RDWR | O_CLOEXEC);
    REQUIRE(*slave >= 0 && tcgetpgrp(*slave) == getpgrp());
    return master;
}

static runloop_child *start_in_foreground(const char *const *arguments, int slave, int32_t group, struct ends *ends) {
    const runloop_child_descriptor input = {.number = 0, .kind = RUNLOOP_CHILD_DESCRIPTOR, .from = slave};
    return start((runloop_child_start_config){.arguments = arguments,
                                              .descriptors = &input,
                                              .descriptor_count = 1,
                                              .group = group,
                                              .has_terminal = true,
                                              .terminal = slave},
                 ends);
}

static void run_in_foreground(void) {
    struct ends ends = {0};
    int slave, master = take_terminal(&slave);
    // In the background it would be stopped by reading, and the test would not end.
    runloop_child *child =
        start_in_foreground(SHELL("read word; [ $word = yes ] && exit 7"), slave, RUNLOOP_CHILD_NEW_GROUP, &ends);
    EXPECT_EQ(tcgetpgrp(slave), runloop_child_get_pid(child));
    EXPECT_EQ(write(master, "yes\n", 4), 4);
    RUN_UNTIL(MODE, ends.count > 0);
    EXPECT_EQ(ends.last.status, 7);
    EXPECT_EQ(tcgetpgrp(slave), getpgrp());
    runloop_source_release(child);
    // What can't be started has not had it either.
    char failed[64];
    runloop_child_start_config config = {.arguments = WORDS("/no/program"),
                                         .group = RUNLOOP_CHILD_NEW_GROUP,
                                         .has_terminal = true,
                                         .terminal = slave,
                                         .failed = failed,
                                         .failed_size = sizeof failed};
    int before = count_descriptors();
    EXPECT_EQ(runloop_child_start(&config, &child), -ENOENT);
    EXPECT_EQ(tcgetpgrp(slave), getpgrp());
    int pipe_ends[2];
    REQUIRE(pipe(pipe_ends) == 0);
    config.terminal = pipe_ends[0];
    EXPECT_EQ(runloop_child_start(&config, &child), -ENOTTY);
    snprintf(failed + 32, 32, "terminal %d", pipe_ends[0]);
    EXPECT_TEXT(failed, failed + 32);
    EXPECT_EQ(count_descriptors(), before + 2);
}

TEST("a child has the foreground of its parent's terminal until its end, and what can't be started has not taken it") {
    need_starts();
    EXPECT_EQ(status_of_child(run_in_foreground), 0);
}

static void lose_foreground(void) {
    struct ends ends = {0}, other_ends = {0};
    int slave, master = take_terminal(&slave);
    runloop_child *child = start_in_foreground(SHELL("read word"), slave, RUNLOOP_CHILD_NEW_GROUP, &ends);
    runloop_child *other =
        start_in_foreground(SHELL("read word; read word"), slave, RUNLOOP_CHILD_NEW_GROUP, &other_ends);
    runloop_child_send_signal(child, SIGKILL);
    RUN_UNTIL(MODE, ends.count > 0);
    // It had it no more.
    EXPECT_EQ(tcgetpgrp(slave), runloop_child_get_pid(other));
    EXPECT_EQ(write(master, "\n\n", 2), 2);
    RUN_UNTIL(MODE, other_ends.count > 0);
    runloop_source_release(child);
    runloop_source_release(other);
}

TEST("a child that has lost the foreground takes it from nobody at its end") {
    need_starts();
    EXPECT_EQ(status_of_child(lose_foreground), 0);
}

static void give_up_child(void) {
    struct ends ends = {0};
    int slave;
    take_terminal(&slave);
    runloop_current();
    int before = count_descriptors();
    runloop_child *child = start_in_foreground(WORDS("sleep", "1000"), slave, RUNLOOP_CHILD_NEW_GROUP, &ends);
    pid_t pid = runloop_child_get_pid(child);
    end_source(child);
    EXPECT_EQ(count_descriptors(), before);
    EXPECT(kill(pid, SIGKILL) == 0 && waitpid(pid, NULL, 0) == pid);
}

TEST("a child that is given up while it has the foreground leaves no descriptor") {
    need_starts();
    EXPECT_EQ(status_of_child(give_up_child), 0);
}

static void run_unwatched(void) {
    int slave;
    take_terminal(&slave);
    const runloop_command_config config = {.start = {.arguments = WORDS("sleep", "1000"),
                                                     .searches = true,
                                                     .group = RUNLOOP_CHILD_NEW_GROUP,
                                                     .has_terminal = true,
                                                     .terminal = slave}};
    runloop_command_result result;
    int before = count_descriptors();
    // Its process is there already when it turns out that nothing of it can be watched.
    refuse(SYS_epoll_ctl, EPERM);
    EXPECT_EQ(runloop_command_run(&config, &result), -EPERM);
    EXPECT_EQ(tcgetpgrp(slave), getpgrp());
    EXPECT_EQ(count_descriptors(), before);
    EXPECT(waitpid(-1, NULL, WNOHANG | __WALL) == -1 && errno == ECHILD);
}

TEST("a command that can't be watched leaves no process, and gives the foreground back") {
    need_starts();
    EXPECT_EQ(status_of_child(run_unwatched), 0);
}

//===-- memory -------------------------------------------------------------------------------------------------------===//

static int64_t peak_of(const char *const *arguments) {
    struct ends ends = {0};
    runloop_child *child = start((runloop_child_start_config){.arguments = arguments}, &ends);
    RUN_UNTIL(MODE, ends.count > 0);
    EXPECT_EQ(ends.last.status, 0);
    EXPECT(ends.last.has_usage);
    runloop_source_release(child);
    return ends.last.peak_memory_bytes;
}

TEST("the peak of a program's memory is its own, or not known: never its parent's") {
    enum { MEMORY = 96 << 20 };
    volatile char *memory = malloc(MEMORY);
    REQUIRE(memory);
    for (size_t i = 0; i < MEMORY; i += 4096)
        memory[i] = 1;
    EXPECT_EQ(peak_of(WORDS("true")), 0);
    int64_t peak = peak_of(WORDS("dd", "if=/dev/zero", "of=/dev/null", "bs=250M", "count=1", "status=none"));
    EXPECT(peak > 250 << 20 && peak < 350 << 20);
    free((void *)memory);
}
