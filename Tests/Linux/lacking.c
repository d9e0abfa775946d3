// lacking.c — what a process lacks is reported or done without, and never waited for in silence: Tests/bin/denied takes away everything, one by
// one; here is what it found, with the exact outcome.
#include <sched.h>
#include <sys/mount.h>
#include <sys/un.h>

#include "children.h"
#include "files.h"

//===-- limits -------------------------------------------------------------------------------------------------------===//

static int ended_with = 1;

static size_t take_bytes(runloop_input *input, const char *bytes, size_t count, void *info) {
    (void)input, (void)bytes, (void)info;
    return count;
}

static void note_input_end(runloop_input *input, int error, const char *rest, size_t count, void *info) {
    (void)input, (void)rest, (void)count, (void)info;
    ended_with = error;
}

TEST("where nothing may be polled, the input of a pipe that may block ends with an error, and output fails") {
    int ends[2];
    REQUIRE(pipe2(ends, O_CLOEXEC) == 0 && write(ends[1], "text", 4) == 4);
    runloop_input *input = NULL;
    runloop_output *output = NULL;
    REQUIRE(runloop_input_create(
                &(runloop_input_config){
                    .descriptor = ends[0], .limit = 100, .received = take_bytes, .ended = note_input_end},
                &input) == 0);
    REQUIRE(runloop_output_create(&(runloop_output_config){.descriptor = ends[1], .limit = 100}, &output) == 0);
    REQUIRE(runloop_add_source(runloop_current(), input, MODE) == 0);
    limit_descriptors(0);
    RUN_UNTIL(MODE, ended_with <= 0);
    EXPECT_EQ(ended_with, -EMFILE);
    EXPECT_EQ(runloop_output_write(output, "text", 4), -EMFILE);
    restore_descriptors();
    end_source(input), end_source(output);
}

//===-- sandboxes ----------------------------------------------------------------------------------------------------===//

static int paused_with, pauses;

static void note_pause(runloop_listener *listener, int error, void *info) {
    (void)listener, (void)info;
    paused_with = error;
    pauses++;
}

static void close_accepted(runloop_listener *listener, int descriptor, void *info) {
    (void)listener, (void)info;
    close(descriptor);
}

static void listen_where_nothing_is_accepted(void) {
    int listening = runloop_listen_abstract(own_name(), 0), client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un address;
    socklen_t size = sizeof address;
    REQUIRE(listening >= 0 && getsockname(listening, (struct sockaddr *)&address, &size) == 0);
    REQUIRE(connect(client, (struct sockaddr *)&address, size) == 0);
    runloop_listener *listener = NULL;
    const runloop_listener_config config = {
        .descriptor = listening, .owns = true, .accepted = close_accepted, .paused = note_pause};
    REQUIRE(runloop_listener_create(&config, &listener) == 0);
    REQUIRE(runloop_add_source(runloop_current(), listener, MODE) == 0);
    refuse(SYS_accept4, EPERM);
    RUN_UNTIL(MODE, pauses > 0);
    EXPECT_EQ(paused_with, -EPERM);
    // It rests, and asks again ten times a second.
    int64_t before = runloop_now_ns();
    EXPECT_EQ(runloop_run_in_mode(MODE, 50 * MS, true), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT(runloop_now_ns() >= before + 50 * MS);
    EXPECT_EQ(pauses, 1);
    end_source(listener);
}

TEST("a listener whose sandbox refuses to accept reports that once, and does not keep its loop busy") {
    need_socket_calls();
    EXPECT_EQ(status_of_child(listen_where_nothing_is_accepted), 0);
}

static void set_alarms_where_that_is_refused(void) {
    runloop_alarm *alarm = NULL, *other = NULL;
    const runloop_alarm_config config = {.date_ns = 1000};
    REQUIRE(runloop_alarm_create(&config, &alarm) == 0);
    refuse(SYS_timerfd_settime, EPERM);
    int before = dup(STDERR_FILENO);
    close(before);
    EXPECT_EQ(runloop_alarm_create(&config, &other), -EPERM);
    EXPECT(!other);
    EXPECT_EQ(dup(STDERR_FILENO), before);
    EXPECT_EQ(runloop_alarm_set_date(alarm, 2000), -EPERM);
    EXPECT_EQ(runloop_alarm_get_date(alarm), 1000);
    runloop_source_release(alarm);
}

TEST("an alarm that can't be set is an error, and has its former date") {
    EXPECT_EQ(status_of_child(set_alarms_where_that_is_refused), 0);
}

static int refused_in_child, child_argument;
static const char *refused_subject;
static runloop_child_start_config refused_start;

static void start_where_a_call_is_refused(void) {
    char failed[64];
    runloop_child *child = NULL;
    refused_start.arguments = WORDS("/bin/true");
    refused_start.failed = failed;
    refused_start.failed_size = sizeof failed;
    refuse_if(refused_in_child, child_argument < 0 ? -1 : 0, (uint32_t)child_argument, EPERM);
    EXPECT_EQ(runloop_child_start(&refused_start, &child), -EPERM);
    EXPECT(!child);
    EXPECT_TEXT(failed, refused_subject);
    EXPECT(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

static void expect_refused_start(int call, int argument, const char *subject) {
    refused_in_child = call;
    child_argument = argument;
    refused_subject = subject;
    EXPECT_EQ(status_of_child(start_where_a_call_is_refused), 0);
}

TEST("no program is started without the session or the signals that it should have") {
    need_starts();
    refused_start.group = RUNLOOP_CHILD_NEW_SESSION;
    expect_refused_start(SYS_setsid, -1, "session");
    expect_refused_start(SYS_rt_sigaction, SIGHUP, "signal 1");
    expect_refused_start(SYS_rt_sigprocmask, -1, "");
}

static void handle_instead(int number) {
    (void)number;
    _exit(1);
}

static void end_where_no_action_is_set(void) {
    signal(SIGTERM, handle_instead);
    refuse(SYS_rt_sigaction, EPERM);
    runloop_end_process_by_signal(SIGTERM);
    _exit(2);
}

TEST("a process that may not set the default action ends all the same, and calls no handler") {
    int status = status_of_child(end_where_no_action_is_set);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGTERM);
}

//===-- file systems -------------------------------------------------------------------------------------------------===//

static void watch_a_tree_with_a_bad_directory(void) {
    int pipe_to_child[2];
    char path[64];
    REQUIRE(mkdir("good", 0700) == 0 && mkdir("bad", 0700) == 0 && pipe(pipe_to_child) == 0);
    pid_t zombie = fork();
    if (zombie == 0)
        _exit(0);
    siginfo_t end;
    REQUIRE(waitid(P_PID, (id_t)zombie, &end, WEXITED | WNOWAIT) == 0);
    // It is there, and can't be listed: EINVAL, as ENOTCONN or EIO where a server is dead.
    snprintf(path, sizeof path, "/proc/%d/net", (int)zombie);
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount(path, "bad", NULL, MS_BIND, NULL) < 0)
        LEAVE_OUT("This process may not mount.");
    runloop_watch *watch = NULL;
    const runloop_watch_config config = {.path = ".", .scope = RUNLOOP_WATCH_TREE, .changed = trace_changes};
    EXPECT_EQ(runloop_watch_create(&config, &watch), 0);
    REQUIRE(watch && runloop_add_source(runloop_current(), watch, MODE) == 0);
    RUN_UNTIL(MODE, trace_contains("failed./bad/"));
    write_file("good/new", "");
    RUN_UNTIL(MODE, trace_contains("+./good/new"));
    end_source(watch);
    umount("bad");
}

TEST("a directory of a tree that can't be listed is reported, and everything else in the tree is watched") {
    enter_folder();
    EXPECT_EQ(status_of_child(watch_a_tree_with_a_bad_directory), 0);
}
