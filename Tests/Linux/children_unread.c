// children_unread.c — a child whose output pipe is full and that nobody reads is named.
#include <sys/ioctl.h>

#include "children.h"

/// Of such a child: 300,000 bytes do not fit in a pipe.
static int output;

static runloop_child *start_writer_with(const char *const *words, struct ends *ends) {
    output = -1;
    const runloop_child_descriptor descriptor = {.number = 1, .kind = RUNLOOP_CHILD_OUTPUT_PIPE, .parent_end = &output};
    return start((runloop_child_start_config){.arguments = words, .descriptors = &descriptor, .descriptor_count = 1},
                 ends);
}

static runloop_child *start_writer(struct ends *ends) {
    return start_writer_with(WORDS("head", "-c", "300000", "/dev/zero"), ends);
}

static runloop_timer *found;

static void find_timer(void *context, runloop_item_kind kind, void *item) {
    (void)context;
    if (kind == RUNLOOP_ITEM_TIMER)
        found = item;
}

/// What is written while the loop looks at its children `times` times, though no time has passed. The pipe must be full by then.
static const char *notes_of_looks(int times) {
    int count = 0;
    WAIT_UNTIL(ioctl(output, FIONREAD, &count) == 0 && count > 65536 - 4096);
    begin_to_read_errors();
    for (; times > 0 && runloop_next_fire_date(runloop_current(), MODE) != RUNLOOP_NEVER; times--) {
        runloop_visit_items(runloop_current(), MODE, find_timer, NULL);
        runloop_timer_set_fire_date(found, runloop_now_ns());
        run_for(MODE, 0);
    }
    return read_errors();
}

static void end_writer(runloop_child *child, struct ends *ends) {
    char text[4096];
    ssize_t got;
    while ((got = read(output, text, sizeof text)) > 0 || (got < 0 && errno == EAGAIN))
        ;
    run_for(MODE, 30 * SECOND);
    EXPECT_EQ(ends->count, 1);
    close(output);
    runloop_source_release(child);
}

TEST("a child whose pipe is full and that nobody reads is named, once in a program, while its end is awaited") {
    need_proc();
    struct ends ends = {0};
    runloop_child *child = start_writer(&ends);
    char expected[128];
    snprintf(expected, sizeof expected,
             "child process %d (head) can't go on: its descriptor 1 is a pipe that is full, with 65536",
             (int)runloop_child_get_pid(child));
    EXPECT_TEXT(notes_of_looks(1), "");
    const char *text = notes_of_looks(1);
    EXPECT(strstr(text, expected) && strstr(text, "runloop_command.h"));
    // Nobody looks any more, and another child is not named.
    EXPECT_EQ(runloop_next_fire_date(runloop_current(), MODE), RUNLOOP_NEVER);
    end_writer(child, &ends);
    ends.count = 0;
    child = start_writer(&ends);
    EXPECT_TEXT(notes_of_looks(3), "");
    end_writer(child, &ends);
}

TEST("a child whose name would command a terminal is named without that") {
    need_proc();
    char folder[] = "/tmp/runloop-unread-XXXXXX", path[64];
    REQUIRE(mkdtemp(folder));
    snprintf(path, sizeof path,
             "%s/\x1b[2J\xc2\x9b"
             "1m",
             folder);
    // A shell, since a program of many names asks for its own.
    REQUIRE(symlink("/bin/sh", path) == 0);
    struct ends ends = {0};
    runloop_child *child = start_writer_with(WORDS(path, "-c", "while echo yes; do :; done"), &ends);
    // It fills the pipe by four bytes at a time, and is not named while it does.
    int count = 0;
    WAIT_UNTIL(ioctl(output, FIONREAD, &count) == 0 && count == 65536);
    const char *text = notes_of_looks(2);
    EXPECT(strstr(text, " (?[2J??1m) can't go on"));
    EXPECT_EQ(runloop_child_send_signal(child, SIGKILL), 0);
    end_writer(child, &ends);
    unlink(path);
    rmdir(folder);
}

TEST("it is named by itself after some seconds") {
    struct ends ends = {0};
    runloop_child *child = start_writer(&ends);
    begin_to_read_errors();
    int64_t begun_ns = runloop_now_ns();
    struct pollfd written = {.fd = errors[0], .events = POLLIN};
    while (poll(&written, 1, 0) == 0 && runloop_now_ns() < begun_ns + 30 * SECOND)
        run_for(MODE, 100 * MS);
    EXPECT(runloop_now_ns() >= begun_ns + 2 * SECOND);
    EXPECT(strstr(read_errors(), "can't go on"));
    end_writer(child, &ends);
}

static size_t consume(runloop_input *input, const char *bytes, size_t count, void *info) {
    (void)bytes, (void)info;
    runloop_input_pause(input);
    return count;
}

static runloop_input *add_paused_input(void) {
    runloop_input *input = NULL;
    REQUIRE(runloop_input_create(
                &(runloop_input_config){
                    .descriptor = output, .limit = 4096, .loop = runloop_current(), .received = consume},
                &input) == 0);
    REQUIRE(runloop_input_pause(input) == 0);
    REQUIRE(runloop_add_source(runloop_current(), input, MODE) == 0);
    return input;
}

TEST("a reader that has not begun does not count, and one that is slow does") {
    struct ends ends = {0};
    runloop_child *child = start_writer(&ends);
    runloop_input *input = add_paused_input();
    REQUIRE(runloop_input_resume(input) == 0);
    run_for(MODE, 50 * MS);
    EXPECT_TEXT(notes_of_looks(4), "");
    end_source(input);
    end_writer(child, &ends);
    ends.count = 0;
    child = start_writer(&ends);
    input = add_paused_input();
    EXPECT(strstr(notes_of_looks(2), "can't go on"));
    end_source(input);
    end_writer(child, &ends);
}

TEST("a pipe in which something moves is not named, nor another file that has its number") {
    struct ends ends = {0};
    runloop_child *child = start_writer(&ends);
    char text[65536];
    EXPECT_TEXT(notes_of_looks(1), "");
    EXPECT_EQ(read(output, text, 65000), 65000);
    EXPECT_TEXT(notes_of_looks(1), "");
    int other[2], kept = dup(output);
    REQUIRE(pipe2(other, O_NONBLOCK) == 0 && dup2(other[0], output) == output);
    memset(text, 0, sizeof text);
    EXPECT_EQ(write(other[1], text, sizeof text), (ssize_t)sizeof text);
    EXPECT_TEXT(notes_of_looks(3), "");
    REQUIRE(dup2(kept, output) == output);
    close(kept);
    end_writer(child, &ends);
}

TEST("of a child's pipes the one that is full is named, also if others are not") {
    struct ends ends = {0};
    int empty = -1;
    output = -1;
    const runloop_child_descriptor descriptors[] = {
        {.number = 1, .kind = RUNLOOP_CHILD_OUTPUT_PIPE, .parent_end = &empty},
        {.number = 2, .kind = RUNLOOP_CHILD_OUTPUT_PIPE, .parent_end = &output}};
    runloop_child *child = start((runloop_child_start_config){.arguments = SHELL("exec head -c 300000 /dev/zero >&2"),
                                                              .descriptors = descriptors,
                                                              .descriptor_count = 2},
                                 &ends);
    EXPECT(strstr(notes_of_looks(2), "its descriptor 2 is a pipe that is full"));
    close(empty);
    end_writer(child, &ends);
}

TEST("a child without a pipe to which it writes gives a loop no date") {
    struct ends ends = {0};
    runloop_child *child =
        start((runloop_child_start_config){.arguments = WORDS("sleep", "100"), .parent_death_signal = 0}, &ends);
    EXPECT_EQ(runloop_next_fire_date(runloop_current(), MODE), RUNLOOP_NEVER);
    EXPECT_EQ(runloop_child_send_signal(child, SIGKILL), 0);
    run_for(MODE, 30 * SECOND);
    EXPECT_EQ(ends.count, 1);
    runloop_source_release(child);
}
