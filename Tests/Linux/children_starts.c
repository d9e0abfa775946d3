// children_starts.c — what a program that is started gets: arguments, environment, folder, descriptors.
#include <limits.h>
#include <sys/stat.h>

#include "children.h"

//===-- its program --------------------------------------------------------------------------------------------------===//

TEST("a program gets its arguments and its environment") {
    setenv("INHERITED", "yes", 1);
    EXPECT_TEXT(output_of((runloop_child_start_config){
                    .arguments = WORDS("sh", "-c", "echo $0,$1,$2,$INHERITED", "zero", "with space", "")}),
                "zero,with space,,yes\n");
    EXPECT_TEXT(output_of((runloop_child_start_config){.arguments = WORDS("/usr/bin/env"),
                                                       .environment = WORDS("A=1", "B=two words")}),
                "A=1\nB=two words\n");
    EXPECT_TEXT(output_of((runloop_child_start_config){.arguments = WORDS("other", "-c", "echo $0"), .program = "sh"}),
                "other\n");
}

/// A folder of this test, which is the working directory from now on.
static void make_folder(void) {
    char folder[] = "/tmp/runloop-children-XXXXXX";
    REQUIRE(mkdtemp(folder) && chdir(folder) == 0 && mkdir("first", 0755) == 0 && mkdir("second", 0755) == 0);
}

TEST("a program is searched for in the parent's PATH as by execvp, and an argument with a slash is not") {
    need_starts();
    char failed[PATH_MAX] = "";
    runloop_child *child = NULL;
    make_folder();
    setenv("PATH", "first:second:/missing:second/file", 1);
    make_file("first/it", 0644, "#!/bin/sh\necho first");
    runloop_child_start_config config = {
        .arguments = WORDS("it"), .searches = true, .failed = failed, .failed_size = sizeof failed};
    EXPECT_EQ(runloop_child_start(&config, &child), -EACCES);
    EXPECT_TEXT(failed, "first/it");
    make_file("second/it", 0755, "#!/bin/sh\necho second");
    EXPECT_TEXT(output_of(config), "second\n");
    make_file("here", 0755, "#!/bin/sh\necho here");
    config.arguments = WORDS("here");
    EXPECT_EQ(runloop_child_start(&config, &child), -ENOENT);
    EXPECT_TEXT(failed, "here");
    setenv("PATH", "first:", 1);
    EXPECT_TEXT(output_of(config), "here\n");
    config.arguments = WORDS("./here");
    EXPECT_TEXT(output_of(config), "here\n");
    config.arguments = WORDS("it");
    config.searches = false;
    EXPECT_EQ(runloop_child_start(&config, &child), -ENOENT);
    unsetenv("PATH");
    EXPECT_TEXT(output_of((runloop_child_start_config){.arguments = WORDS("echo", "found")}), "found\n");
}

static bool is_secure;

/// In the place of the C library's.
char *secure_getenv(const char *name) {
    return is_secure ? NULL : getenv(name);
}

TEST("a program with more rights than who has started it searches in no folder of theirs") {
    need_starts();
    make_folder();
    make_file("first/echo", 0755, "#!/bin/sh\nprintf 'not echo\\n'");
    setenv("PATH", "first:/bin:/usr/bin", 1);
    const runloop_child_start_config config = {.arguments = WORDS("echo", "found"), .searches = true};
    EXPECT_TEXT(output_of(config), "not echo\n");
    is_secure = true;
    EXPECT_TEXT(output_of(config), "found\n");
}

TEST("a program has its working directory, and is looked for from there") {
    make_folder();
    make_file("first/program", 0755, "#!/bin/sh\npwd -P");
    const char *output = output_of((runloop_child_start_config){.arguments = WORDS("./program"), .directory = "first"});
    EXPECT(strlen(output) > 6 && strcmp(output + strlen(output) - 7, "/first\n") == 0);
}

//===-- its descriptors ----------------------------------------------------------------------------------------------===//

/// The descriptors of a program, and that with which it lists them.
static const char *list_descriptors(void) {
    need_proc();
    return output_of((runloop_child_start_config){.arguments = WORDS("ls", "/proc/self/fd")});
}

static void open_two_hundred(void) {
    for (int i = 0; i < 200; i++)
        REQUIRE(dup(STDERR_FILENO) >= 0);
}

TEST("of two hundred descriptors that are open a program gets none but the three") {
    open_two_hundred();
    EXPECT_TEXT(list_descriptors(), "0\n1\n2\n3\n");
    EXPECT_EQ(dup2(STDERR_FILENO, 1000), 1000);
    EXPECT_TEXT(list_descriptors(), "0\n1\n2\n3\n");
}

static int answer_of_close_range;

static void list_without_close_range(void) {
    open_two_hundred();
    refuse(SYS_close_range, answer_of_close_range);
    EXPECT_TEXT(list_descriptors(), "0\n1\n2\n3\n");
    const runloop_child_descriptor descriptors[] = {{.number = 100, .kind = RUNLOOP_CHILD_NULL},
                                                    {.number = 50, .kind = RUNLOOP_CHILD_NULL}};
    EXPECT_TEXT(output_of((runloop_child_start_config){
                    .arguments = SHELL("ls /proc/$$/fd; :"), .descriptors = descriptors, .descriptor_count = 2}),
                "0\n1\n100\n2\n50\n");
}

TEST("where the kernel has no call that closes many, or a sandbox refuses it, a program gets none either") {
    need_proc();
    need_starts();
    answer_of_close_range = ENOSYS;
    EXPECT_EQ(status_of_child(list_without_close_range), 0);
    answer_of_close_range = EPERM;
    EXPECT_EQ(status_of_child(list_without_close_range), 0);
}

TEST("a program reads from a pipe and writes to others, whose ends are the caller's and don't block") {
    struct ends ends = {0};
    int input = -1, output = -1, error = -1;
    char text[200];
    const runloop_child_descriptor descriptors[] = {
        {.number = 2, .kind = RUNLOOP_CHILD_OUTPUT_PIPE, .parent_end = &error},
        {.number = 0, .kind = RUNLOOP_CHILD_INPUT_PIPE, .parent_end = &input},
        {.number = 9, .kind = RUNLOOP_CHILD_OUTPUT_PIPE, .parent_end = &output},
    };
    runloop_child *child = start((runloop_child_start_config){.arguments = SHELL("cat >&9; echo complaint >&2"),
                                                              .descriptors = descriptors,
                                                              .descriptor_count = 3},
                                 &ends);
    const int parent_ends[] = {input, output, error};
    for (int i = 0; i < 3; i++) {
        EXPECT(fcntl(parent_ends[i], F_GETFL) & O_NONBLOCK);
        EXPECT_EQ(fcntl(parent_ends[i], F_GETFD), FD_CLOEXEC);
    }
    EXPECT(read(output, text, sizeof text) == -1 && errno == EAGAIN);
    EXPECT_EQ(write(input, "hello", 5), 5);
    close(input);
    read_to_end(output, text, sizeof text);
    EXPECT_TEXT(text, "hello");
    read_to_end(error, text, sizeof text);
    EXPECT_TEXT(text, "complaint\n");
    run_for(MODE, 30 * SECOND);
    EXPECT_EQ(ends.last.status, 0);
    runloop_source_release(child);
}

TEST("a descriptor is /dev/null, the caller's, or the same as another, whatever numbers they have") {
    need_proc();
    make_folder();
    make_file("a", 0644, "A");
    make_file("b", 0644, "B");
    int a = open("a", O_RDONLY | O_CLOEXEC), b = open("b", O_RDONLY | O_CLOEXEC);
    REQUIRE(dup3(a, 20, O_CLOEXEC) == 20 && dup3(b, 21, O_CLOEXEC) == 21);
    const runloop_child_descriptor descriptors[] = {
        {.number = 0, .kind = RUNLOOP_CHILD_NULL},
        {.number = 2, .kind = RUNLOOP_CHILD_SAME, .from = 1},
        {.number = 20, .kind = RUNLOOP_CHILD_DESCRIPTOR, .from = 21},
        {.number = 21, .kind = RUNLOOP_CHILD_DESCRIPTOR, .from = 20},
        {.number = 3, .kind = RUNLOOP_CHILD_SAME, .from = 20},
        {.number = 5, .kind = RUNLOOP_CHILD_DESCRIPTOR, .from = 20},
    };
    EXPECT_TEXT(output_of((runloop_child_start_config){
                    .arguments = SHELL("readlink /proc/$$/fd/0; for i in 20 21 3 5; do basename $(readlink "
                                       "/proc/$$/fd/$i); done; echo error >&2; ls -x /proc/$$/fd; :"),
                    .descriptors = descriptors,
                    .descriptor_count = 6}),
                "/dev/null\nb\na\nb\na\nerror\n0  1  2  20  21  3  5\n");
    EXPECT_EQ(fcntl(a, F_GETFD), FD_CLOEXEC);
    EXPECT_EQ(fcntl(20, F_GETFD), FD_CLOEXEC);
    EXPECT_EQ(lseek(20, 0, SEEK_CUR), 0);
}

TEST("a pipe of the child blocks, and the ends of the standard descriptors may be exchanged") {
    need_proc();
    int output = -1, error = -1;
    struct ends ends = {0};
    char text[200];
    // 1 and 2 change places: what was 2 in the parent is 1 in the child.
    int outputs[2], errors[2];
    make_pipe(outputs);
    make_pipe(errors);
    output = dup(1), error = dup(2);
    dup2(outputs[1], 1), dup2(errors[1], 2);
    const runloop_child_descriptor descriptors[] = {{.number = 1, .kind = RUNLOOP_CHILD_DESCRIPTOR, .from = 2},
                                                    {.number = 2, .kind = RUNLOOP_CHILD_DESCRIPTOR, .from = 1}};
    runloop_child *child = start((runloop_child_start_config){.arguments = SHELL("echo one; echo two >&2"),
                                                              .descriptors = descriptors,
                                                              .descriptor_count = 2},
                                 &ends);
    dup2(output, 1), dup2(error, 2);
    close(outputs[1]), close(errors[1]);
    read_to_end(outputs[0], text, sizeof text);
    EXPECT_TEXT(text, "two\n");
    read_to_end(errors[0], text, sizeof text);
    EXPECT_TEXT(text, "one\n");
    run_for(MODE, 30 * SECOND);
    runloop_source_release(child);
    const char *information = output_of((runloop_child_start_config){.arguments = WORDS("cat", "/proc/self/fdinfo/1")});
    const char *flags = strstr(information, "flags:");
    REQUIRE(flags);
    EXPECT_EQ(strtol(flags + 6, NULL, 8) & O_NONBLOCK, 0);
}

/// The program lists what it has, after one with the number of a place has been moved out of the way.
static void start_with_highest_number(void) {
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    use_up_descriptors(12);
    REQUIRE(dup3(file, 60, O_CLOEXEC) == 60);
    const runloop_child_descriptor descriptors[] = {
        {.number = 63, .kind = RUNLOOP_CHILD_DESCRIPTOR, .from = 60},
        {.number = 60, .kind = RUNLOOP_CHILD_DESCRIPTOR, .from = 2},
        {.number = 59, .kind = RUNLOOP_CHILD_NULL},
        {.number = 62, .kind = RUNLOOP_CHILD_SAME, .from = 63},
    };
    EXPECT_TEXT(output_of((runloop_child_start_config){
                    .arguments = SHELL("for i in 62 63; do cmp /proc/$$/fd/$i /proc/$PPID/exe && echo $i; done; "
                                       "readlink /proc/$$/fd/59; ls -x /proc/$$/fd; :"),
                    .descriptors = descriptors,
                    .descriptor_count = 4}),
                "62\n63\n/dev/null\n0  1  2  59  60  62  63\n");
}

TEST("a descriptor has the highest number that the limit allows, also if others are moved out of its way") {
    need_proc();
    need_starts();
    EXPECT_EQ(status_of_child(start_with_highest_number), 0);
}

static void start_without_standard_descriptors(void) {
    int error = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);
    close(0), close(2);
    const char *output = output_of((runloop_child_start_config){
        .arguments = SHELL("for i in 0 1 2; do [ -e /proc/$$/fd/$i ] && echo $i; done; :")});
    REQUIRE(dup2(error, 2) == 2);
    EXPECT_TEXT(output, "1\n");
}

TEST("what the parent does not have is closed in the child, and nothing else takes its number") {
    need_proc();
    need_starts();
    EXPECT_EQ(status_of_child(start_without_standard_descriptors), 0);
}

//===-- many threads -------------------------------------------------------------------------------------------------===//

enum { THREADS = 20, STARTS = 10 };
static _Atomic int listed;

static void *start_some(void *info) {
    (void)info;
    for (int i = 0; i < STARTS; i++)
        if (strcmp(list_descriptors(), "0\n1\n2\n3\n") == 0)
            listed++;
    return NULL;
}

TEST("two hundred programs that many threads start at once have no descriptor too many, and leave none and no zombie") {
    need_starts();
    runloop_current();
    EXPECT_TEXT(list_descriptors(), "0\n1\n2\n3\n");
    int before = count_descriptors();
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, start_some, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    EXPECT_EQ(listed, THREADS * STARTS);
    EXPECT_EQ(count_descriptors(), before);
    EXPECT(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}
