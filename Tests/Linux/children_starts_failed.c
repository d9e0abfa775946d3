// children_starts_failed.c — programs that can't be started: each error is reported with its cause, and leaves nothing.
#include <limits.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "children.h"

#ifdef SYS_mmap2
#define MMAP SYS_mmap2
#else
#define MMAP SYS_mmap
#endif

/// Is refused with an error that is about this, and leaves no descriptor, no child, and the client's context to the client.
#define EXPECT_REFUSED(error, about, ...)                                                                              \
    expect_refused(error, about, &(runloop_child_start_config){__VA_ARGS__}, __LINE__)

static int released;

static void note_release(void *info) {
    (void)info;
    released++;
}

static void expect_refused(int error, const char *about, const runloop_child_start_config *asked, int line) {
    char failed[PATH_MAX];
    runloop_child *child = NULL;
    runloop_child_start_config config = *asked;
    need_starts();
    config.child.context.release = note_release;
    config.failed = failed;
    config.failed_size = sizeof failed;
    snprintf(failed, sizeof failed, "unchanged");
    runloop_current();
    int before = count_descriptors(), result = runloop_child_start(&config, &child);
    if (result != error)
        fprintf(stderr, "    line %d: %s\n", line, strerror(-result));
    EXPECT_EQ(result, error);
    EXPECT(!child);
    EXPECT_EQ(released, 0);
    EXPECT_TEXT(failed, about);
    EXPECT_EQ(count_descriptors(), before);
    EXPECT(waitpid(-1, NULL, WNOHANG | __WALL) == -1 && errno == ECHILD);
}

static int input = -1, output = -1;
static const runloop_child_descriptor pipes[] = {
    {.number = 0, .kind = RUNLOOP_CHILD_INPUT_PIPE, .parent_end = &input},
    {.number = 1, .kind = RUNLOOP_CHILD_OUTPUT_PIPE, .parent_end = &output},
    {.number = 2, .kind = RUNLOOP_CHILD_NULL},
};
#define PIPES .descriptors = pipes, .descriptor_count = 3

TEST("a program that is not there, a folder, or not executable is named, and so is the path that was found") {
    char folder[] = "/tmp/runloop-children-XXXXXX";
    REQUIRE(mkdtemp(folder) && chdir(folder) == 0 && mkdir("folder", 0755) == 0);
    make_file("text", 0644, "text");
    make_file("garbage", 0755, "garbage");
    make_file("lost", 0755, "#!/missing/interpreter\n");
    EXPECT_REFUSED(-ENOENT, "/no/program", .arguments = WORDS("/no/program"), PIPES);
    EXPECT_REFUSED(-ENOENT, "no-such-program", .arguments = WORDS("no-such-program"), .searches = true, PIPES);
    EXPECT_REFUSED(-ENOENT, "", .arguments = WORDS(""), .searches = true);
    EXPECT_REFUSED(-ENOTDIR, "text/program", .arguments = WORDS("x"), .program = "text/program", PIPES);
    EXPECT_REFUSED(-EACCES, "./folder", .arguments = WORDS("./folder"), .searches = true, PIPES);
    EXPECT_REFUSED(-EACCES, "text", .arguments = WORDS("text"), PIPES);
    EXPECT_REFUSED(-ENOEXEC, "garbage", .arguments = WORDS("garbage"), PIPES);
    EXPECT_REFUSED(-ENOENT, "lost", .arguments = WORDS("lost"), PIPES);
    setenv("PATH", ".", 1);
    EXPECT_REFUSED(-EACCES, "./folder", .arguments = WORDS("folder"), .searches = true, PIPES);
    EXPECT_REFUSED(-ENOEXEC, "./garbage", .arguments = WORDS("garbage"), .searches = true, PIPES);
    EXPECT_EQ(input, -1);
    EXPECT_EQ(output, -1);
    static char huge[PATH_MAX + 1];
    memset(huge, 'x', PATH_MAX);
    EXPECT_REFUSED(-ENAMETOOLONG, "", .arguments = WORDS(huge), .searches = true, PIPES);
}

TEST("arguments that are too long are refused") {
    char *huge = malloc(200000);
    REQUIRE(huge);
    memset(huge, 'x', 199999);
    huge[199999] = 0;
    EXPECT_REFUSED(-E2BIG, "/bin/true", .arguments = WORDS("/bin/true", huge), PIPES);
    free(huge);
}

TEST("a working directory that is none, a descriptor that is not open, and other things that can't be had are named") {
    const runloop_child_descriptor closed = {.number = 5, .kind = RUNLOOP_CHILD_DESCRIPTOR, .from = 900};
    const runloop_child_descriptor not_inherited = {.number = 700};
    const runloop_child_descriptor too_large = {.number = INT_MAX - 1, .kind = RUNLOOP_CHILD_NULL};
    const runloop_child_limit unknown = {.resource = 99};
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    REQUIRE(dup2(null, 30) == 30);
    EXPECT_REFUSED(-ENOENT, "/no/folder", .arguments = SHELL("exit"), .directory = "/no/folder", PIPES);
    EXPECT_REFUSED(-ENOTDIR, "/proc/self/stat", .arguments = SHELL("exit"), .directory = "/proc/self/stat", PIPES);
    EXPECT_REFUSED(-EBADF, "descriptor 5", .arguments = WORDS("/bin/true"), .descriptors = &closed,
                   .descriptor_count = 1);
    EXPECT_REFUSED(-EBADF, "descriptor 700", .arguments = WORDS("/bin/true"), .descriptors = &not_inherited,
                   .descriptor_count = 1);
    // It is above the limit of the process.
    EXPECT_REFUSED(-EBADF, "descriptor 2147483646", .arguments = WORDS("/bin/true"), .descriptors = &too_large,
                   .descriptor_count = 1);
    EXPECT_REFUSED(-EINVAL, "limit 99", .arguments = WORDS("/bin/true"), .limits = &unknown, .limit_count = 1, PIPES);
    EXPECT_REFUSED(-ENOTTY, "terminal 30", .arguments = WORDS("/bin/true"), .group = RUNLOOP_CHILD_NEW_SESSION,
                   .has_terminal = true, .terminal = 30);
    EXPECT_REFUSED(-EPERM, "process group 1", .arguments = WORDS("/bin/true"), .group = 1, PIPES);
    EXPECT_REFUSED(-EINVAL, "signal 9", .arguments = WORDS("/bin/true"),
                   .ignored_signals = UINT64_C(1) << (SIGKILL - 1));
    EXPECT_REFUSED(-EINVAL, "signal 4000", .arguments = WORDS("/bin/true"), .parent_death_signal = 4000);
}

TEST("a descriptor that is not open does not become one that the start opens") {
    runloop_current();
    int lowest = dup(STDERR_FILENO);
    close(lowest);
    const runloop_child_descriptor inherited = {.number = lowest};
    const runloop_child_descriptor moved[] = {{.number = 40, .kind = RUNLOOP_CHILD_DESCRIPTOR, .from = lowest}};
    EXPECT_REFUSED(-EBADF, "descriptor 40", .arguments = WORDS("/bin/true"), .descriptors = moved,
                   .descriptor_count = 1);
    char about[32];
    snprintf(about, sizeof about, "descriptor %d", lowest);
    EXPECT_REFUSED(-EBADF, about, .arguments = WORDS("/bin/true"), .descriptors = &inherited, .descriptor_count = 1);
    const runloop_child_descriptor same = {.number = 40, .kind = RUNLOOP_CHILD_SAME, .from = STDIN_FILENO};
    close(STDIN_FILENO);
    EXPECT_REFUSED(-EBADF, "descriptor 40", .arguments = WORDS("/bin/true"), .descriptors = &same,
                   .descriptor_count = 1);
}

TEST("what makes no sense is refused") {
    static int end;
    const runloop_child_descriptor twice[] = {{.number = 3, .kind = RUNLOOP_CHILD_NULL},
                                              {.number = 3, .kind = RUNLOOP_CHILD_NULL}};
    const runloop_child_descriptor wrong[] = {
        {.number = -1, .kind = RUNLOOP_CHILD_NULL},
        {.number = 1, .kind = RUNLOOP_CHILD_OUTPUT_PIPE},
        {.number = 1, .kind = RUNLOOP_CHILD_DESCRIPTOR, .from = -1},
        {.number = 1, .kind = RUNLOOP_CHILD_SAME, .from = 1, .parent_end = &end},
        {.number = 1, .kind = RUNLOOP_CHILD_SAME, .from = 7},
        {.number = 1, .kind = RUNLOOP_CHILD_TERMINAL},
        {.number = 1, .kind = (runloop_child_descriptor_kind)7},
    };
    EXPECT_REFUSED(-EINVAL, "no arguments", .arguments = NULL);
    EXPECT_REFUSED(-EINVAL, "no arguments", .arguments = (const char *const[]){NULL});
    EXPECT_REFUSED(-EINVAL, "process", .arguments = SHELL("exit"), .child.pid = 1);
    EXPECT_REFUSED(-EINVAL, "process", .arguments = SHELL("exit"), .child.pidfd = 1);
    EXPECT_REFUSED(-EINVAL, "descriptors", .arguments = SHELL("exit"), .descriptor_count = 1);
    EXPECT_REFUSED(-EINVAL, "limits", .arguments = SHELL("exit"), .limit_count = 1);
    EXPECT_REFUSED(-EINVAL, "process group", .arguments = SHELL("exit"), .group = -3);
    EXPECT_REFUSED(-EINVAL, "terminal", .arguments = SHELL("exit"), .has_terminal = true);
    EXPECT_REFUSED(-EINVAL, "signal for the parent's end", .arguments = SHELL("exit"), .parent_death_signal = -1);
    EXPECT_REFUSED(-EINVAL, "descriptor 3", .arguments = SHELL("exit"), .descriptors = twice, .descriptor_count = 2);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char about[32];
        snprintf(about, sizeof about, wrong[i].number < 0 ? "descriptor" : "descriptor %d", wrong[i].number);
        EXPECT_REFUSED(-EINVAL, about, .arguments = SHELL("exit"), .descriptors = &wrong[i], .descriptor_count = 1);
    }
    const runloop_child_descriptor two_terminals[] = {{1, RUNLOOP_CHILD_TERMINAL, 0, &end},
                                                      {2, RUNLOOP_CHILD_TERMINAL, 0, &end}};
    EXPECT_REFUSED(-EINVAL, "descriptor 2", .arguments = SHELL("exit"), .descriptors = two_terminals,
                   .descriptor_count = 2);
    EXPECT_REFUSED(-EINVAL, "descriptor 1", .arguments = SHELL("exit"), .descriptors = two_terminals,
                   .descriptor_count = 1, .group = RUNLOOP_CHILD_NEW_GROUP);
    EXPECT_EQ(runloop_child_start(NULL, NULL), -EINVAL);
    EXPECT_EQ(runloop_child_start(&(runloop_child_start_config){.arguments = SHELL("exit")}, NULL), -EINVAL);
}

/// How many descriptors a start takes, which are left out one by one.
TEST("without descriptors nothing is started, however many are missing") {
    need_starts();
    int result = -EMFILE, spare = 0;
    for (; result < 0; spare++) {
        use_up_descriptors(spare);
        runloop_child *child = NULL;
        const runloop_child_start_config config = {.arguments = WORDS("/bin/cat"), PIPES};
        result = runloop_child_start(&config, &child);
        EXPECT(result == 0 || result == -EMFILE);
        EXPECT(result == 0 || (waitpid(-1, NULL, WNOHANG | __WALL) == -1 && errno == ECHILD));
        int left = 0;
        for (int number = 0; number < 64; number++)
            left += fcntl(number, F_GETFD) < 0;
        EXPECT_EQ(left, result == 0 ? spare - 3 : spare);
        give_back_descriptors();
        for (int number = 3; number < 64 && result < 0; number++)
            close(number);
        if (result == 0)
            runloop_source_release(child);
    }
    // Its pidfd and what stands for it until then, two pipes and /dev/null.
    EXPECT_EQ(spare - 1, 7);
    close(input);
    EXPECT(waitpid(-1, NULL, 0) > 0);
}

static int refused_call, refusal, answer;

static void start_refused(void) {
    refuse(refused_call, refusal);
    EXPECT_REFUSED(answer, "", .arguments = WORDS("/bin/true"), PIPES);
}

static void start_without_memory(void) {
    // Not that of anybody else, a sanitizer for instance.
    refuse_if(MMAP, 3, MAP_SHARED | MAP_ANONYMOUS, ENOMEM);
    EXPECT_REFUSED(-ENOMEM, "", .arguments = WORDS("/bin/true"), PIPES);
}

TEST("a kernel that makes no process or has no memory for it, and one that is too old, leave nothing") {
    need_starts();
    const int cases[][3] = {{SYS_clone, EAGAIN, -EAGAIN},
                            {SYS_clone, ENOMEM, -ENOMEM},
                            {SYS_waitid, EINVAL, -ENOSYS},
                            {SYS_waitid, EPERM, -ENOSYS}};
    // What the process needs memory for once.
    runloop_current();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        refused_call = cases[i][0], refusal = cases[i][1], answer = cases[i][2];
        EXPECT_EQ(status_of_child(start_refused), 0);
    }
    EXPECT_EQ(status_of_child(start_without_memory), 0);
}

static void start_beyond_the_limit(void) {
    // The limit is not for root. Who is not root may have more processes than the limit already.
    const struct rlimit one = {1, 1};
    runloop_current();
    REQUIRE(getuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0));
    REQUIRE(setrlimit(RLIMIT_NPROC, &one) == 0);
    EXPECT_REFUSED(-EAGAIN, "", .arguments = WORDS("/bin/true"), PIPES);
}

TEST("a user who may have no more processes starts none, and nothing is left") {
    need_starts();
    EXPECT_EQ(status_of_child(start_beyond_the_limit), 0);
}

TEST("if the kernel reaps children itself, one that can't execute its program leaves nothing either") {
    need_starts();
    signal(SIGCHLD, SIG_IGN);
    for (int i = 0; i < 20; i++)
        EXPECT_REFUSED(-ENOENT, "/no/program", .arguments = WORDS("/no/program"), PIPES);
}

static void *start_missing(void *info) {
    (void)info;
    for (int i = 0; i < 50; i++) {
        runloop_child *child = NULL;
        int from = -1, to = -1;
        const runloop_child_descriptor own[] = {
            {.number = 0, .kind = RUNLOOP_CHILD_INPUT_PIPE, .parent_end = &to},
            {.number = 1, .kind = RUNLOOP_CHILD_OUTPUT_PIPE, .parent_end = &from},
        };
        const runloop_child_start_config config = {
            .arguments = WORDS("/no/program"), .descriptors = own, .descriptor_count = 2};
        EXPECT_EQ(runloop_child_start(&config, &child), -ENOENT);
        EXPECT(from == -1 && to == -1);
    }
    return NULL;
}

TEST("starts that fail on many threads leave no descriptor and no zombie") {
    need_starts();
    pthread_t threads[8];
    runloop_current();
    int before = count_descriptors();
    for (int i = 0; i < 8; i++)
        REQUIRE(pthread_create(&threads[i], NULL, start_missing, NULL) == 0);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    EXPECT_EQ(count_descriptors(), before);
    EXPECT(waitpid(-1, NULL, WNOHANG | __WALL) == -1 && errno == ECHILD);
}
