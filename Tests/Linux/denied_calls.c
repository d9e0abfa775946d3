// denied_calls.c — each call of the system is refused once to each function that makes or starts something: what it answers is the refusal itself,
// or an error that its comment lists.
#include "children.h"

// A sanitizer makes calls of its own, which are refused as well.
#if defined(__LP64__) && !UNDER_ADDRESS_SANITIZER && !UNDER_THREAD_SANITIZER
#include <sys/mman.h>

#include "../Proof/Faults/documented.h"
#include "runloop_diagnostics.h"

//===-- the functions ------------------------------------------------------------------------------------------------===//

static char path[64];
static int stream[2], packets[2], listening = -1, plain = -1;

static void take_arrival(runloop_signal *signal, const runloop_signal_arrival *arrival, void *info) {
    (void)signal, (void)arrival, (void)info;
}

static void take_connection(runloop_listener *listener, int descriptor, void *info) {
    (void)listener, (void)info;
    close(descriptor);
}

static void take_connected(runloop_connect *connect, int descriptor, int error, void *info) {
    (void)connect, (void)descriptor, (void)error, (void)info;
}

static size_t take_bytes(runloop_input *input, const char *bytes, size_t count, void *info) {
    (void)input, (void)bytes, (void)info;
    return count;
}

static void take_reading(runloop_source *source, runloop_readiness reasons, void *info) {
    (void)source, (void)reasons, (void)info;
}

static runloop_source *made;

static int create_alarm(void) {
    return runloop_alarm_create(&(runloop_alarm_config){.date_ns = INT64_MAX / 2}, &made);
}
static int create_clock_watch(void) {
    return runloop_clock_watch_create(&(runloop_clock_watch_config){0}, &made);
}
static int create_counter(void) {
    return runloop_counter_create(&(runloop_counter_config){0}, &made);
}
static int create_signal(void) {
    return runloop_signal_create(&(runloop_signal_config){.number = SIGUSR1, .receive = take_arrival}, &made);
}
static int create_shutdown(void) {
    const runloop_shutdown_config config = {.numbers = &(int32_t){SIGTERM}, .count = 1, .limit_ns = SECOND};
    return runloop_shutdown_create(&config, &made);
}
static pid_t a_child;
static int create_child(void) {
    return runloop_child_create(&(runloop_child_config){.pid = a_child, .reaps = true}, &made);
}
static runloop_child_start_config program(void) {
    static int end;
    static const char *const words[] = {"true", NULL};
    static const runloop_child_descriptor pipe = {.number = 0, .kind = RUNLOOP_CHILD_INPUT_PIPE, .parent_end = &end};
    return (runloop_child_start_config){
        .arguments = words, .searches = true, .descriptors = &pipe, .descriptor_count = 1};
}
static int start_child(void) {
    const runloop_child_start_config config = program();
    return runloop_child_start(&config, &made);
}
static int create_command(void) {
    const runloop_command_config config = {.start = {.arguments = WORDS("true"), .searches = true}, .limit = 1};
    return runloop_command_create(&config, &made);
}
static int run_command(void) {
    const runloop_command_config config = {.start = {.arguments = WORDS("true"), .searches = true}, .limit = 1};
    runloop_command_result result;
    return runloop_command_run(&config, &result);
}
static int create_watch(void) {
    return runloop_watch_create(&(runloop_watch_config){.path = "/tmp/..", .scope = RUNLOOP_WATCH_DIRECTORY}, &made);
}
static int create_input(void) {
    return runloop_input_create(&(runloop_input_config){.descriptor = stream[0], .limit = 100, .received = take_bytes},
                                &made);
}
static int create_input_of_file(void) {
    return runloop_input_create(&(runloop_input_config){.descriptor = plain, .limit = 100, .received = take_bytes},
                                &made);
}
static int create_output(void) {
    return runloop_output_create(&(runloop_output_config){.descriptor = stream[1], .limit = 100}, &made);
}
static int listen_tcp(void) {
    return runloop_listen_tcp("127.0.0.1", 0, 0);
}
static int listen_unix(void) {
    return runloop_listen_unix(path, 0666, 0);
}
static int listen_abstract(void) {
    return runloop_listen_abstract(own_name(), 0);
}
static int listen_for_channels(void) {
    return runloop_channel_listen(path, 0, 0);
}
static int create_listener(void) {
    const runloop_listener_config config = {
        .descriptor = listening, .removes_path = true, .accepted = take_connection, .refused = take_connection};
    return runloop_listener_create(&config, &made);
}
static int create_connect(void) {
    return runloop_connect_create(
        &(runloop_connect_config){.host = "127.0.0.1", .port = 9, .connected = take_connected}, &made);
}
static int create_connect_by_name(void) {
    return runloop_connect_create(
        &(runloop_connect_config){.host = "localhost", .port = 9, .connected = take_connected}, &made);
}
static int create_channel(void) {
    return runloop_channel_create(packets[0], &(runloop_channel_config){0}, &made);
}
static int connect_channel(void) {
    return runloop_channel_connect(path, &(runloop_channel_config){0}, &made);
}
static runloop_channel *a_channel;
static int send_large(void) {
    static char bytes[100000];
    return runloop_channel_send(a_channel, bytes, sizeof bytes, NULL, 0);
}
static int add_stream(void) {
    const runloop_descriptor_config config = {
        .descriptor = stream[0], .events = RUNLOOP_READABLE, .ready = take_reading};
    int result = runloop_descriptor_source_create(&config, &made);
    return result < 0 ? 0 : runloop_add_source(runloop_current(), made, MODE);
}
static int begin_hosted(void) {
    add_timer(MODE, runloop_now_ns() + 1000 * SECOND, 0, trace_fire, "");
    return runloop_hosted_begin(MODE);
}
static int publish(void) {
    return runloop_publish(path);
}

struct function {
    const char *name;
    int (*use)(void);
    void (*prepare)(void);
};

static void need_listener(void) {
    listening = runloop_listen_unix(path, 0, 0);
    REQUIRE(listening >= 0);
}
static void need_file(void) {
    plain = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    REQUIRE(plain >= 0);
}
static void need_channels(void) {
    int descriptor = runloop_channel_listen(path, 0, 0);
    REQUIRE(descriptor >= 0);
}
static void need_left_behind(void) {
    close(runloop_listen_unix(path, 0, 0));
}
static void need_channel(void) {
    REQUIRE(runloop_channel_create(packets[1], &(runloop_channel_config){0}, &a_channel) == 0);
}
static void need_child(void) {
    a_child = fork_child();
}

static const struct function functions[] = {
    {"runloop_alarm_create", create_alarm, NULL},
    {"runloop_clock_watch_create", create_clock_watch, NULL},
    {"runloop_counter_create", create_counter, NULL},
    {"runloop_signal_create", create_signal, NULL},
    {"runloop_shutdown_create", create_shutdown, NULL},
    {"runloop_child_create", create_child, need_child},
    {"runloop_child_start", start_child, NULL},
    {"runloop_command_create", create_command, NULL},
    {"runloop_command_run", run_command, NULL},
    {"runloop_watch_create", create_watch, NULL},
    {"runloop_input_create", create_input, NULL},
    {"runloop_input_create", create_input_of_file, need_file},
    {"runloop_output_create", create_output, NULL},
    {"runloop_listen_tcp", listen_tcp, NULL},
    {"runloop_listen_unix", listen_unix, NULL},
    {"runloop_listen_unix", listen_unix, need_left_behind},
    {"runloop_listen_abstract", listen_abstract, NULL},
    {"runloop_channel_listen", listen_for_channels, NULL},
    {"runloop_listener_create", create_listener, need_listener},
    {"runloop_connect_create", create_connect, NULL},
    {"runloop_connect_create", create_connect_by_name, NULL},
    {"runloop_channel_create", create_channel, NULL},
    {"runloop_channel_connect", connect_channel, need_channels},
    {"runloop_channel_send", send_large, need_channel},
    {"runloop_add_source", add_stream, NULL},
    {"runloop_hosted_begin", begin_hosted, NULL},
    {"runloop_publish", publish, NULL},
};

//===-- the calls that are refused -----------------------------------------------------------------------------------===//

struct denial {
    int call;
    int error;          ///< that the kernel may have for it; 0: none but EPERM, with which each call is refused as well
    const char *of_one; ///< only of this function, or NULL
};

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

static const struct denial denials[] = {
    {SYS_accept4, EMFILE, NULL},
    {SYS_bind, EADDRINUSE, NULL},
    {SYS_clone, EAGAIN, NULL},
    {SYS_close_range, EINVAL, NULL},
    {SYS_close_range, ENOSYS, NULL},
    {SYS_connect, EAGAIN, NULL},
    {SYS_dup3, EMFILE, NULL},
    {SYS_epoll_create1, EMFILE, NULL},
    {SYS_epoll_create1, ENOSYS, NULL},
    {SYS_epoll_ctl, ENOSPC, NULL},
    {SYS_epoll_ctl, ELOOP, "runloop_hosted_begin"},
    {SYS_eventfd2, ENFILE, NULL},
    {SYS_fchmod, 0, NULL},
    {SYS_fchmodat2, ENOSYS, NULL},
    {SYS_fcntl, 0, NULL},
    {SYS_fstat, 0, NULL},
    {SYS_newfstatat, 0, NULL},
    {SYS_flock, EINTR, NULL},
    {SYS_getcwd, ENOENT, NULL},
    {SYS_getdents64, ENOENT, NULL},
    {SYS_getpeername, 0, NULL},
    {SYS_getsockname, 0, NULL},
    {SYS_getsockopt, 0, NULL},
    {SYS_inotify_add_watch, ENOSPC, NULL},
    {SYS_inotify_init1, EMFILE, NULL},
    {SYS_inotify_init1, ENOSYS, NULL},
    {SYS_ioctl, 0, NULL},
    {SYS_listen, EADDRINUSE, NULL},
    {SYS_memfd_create, ENFILE, NULL},
    {SYS_memfd_create, ENOSYS, NULL},
    {SYS_openat, ENOENT, NULL}, // as without /proc
    {SYS_openat, EMFILE, NULL},
    {SYS_pidfd_open, EMFILE, NULL},
    {SYS_pidfd_open, ENOSYS, NULL},
    {SYS_pidfd_send_signal, 0, NULL},
    {SYS_pipe2, EMFILE, NULL},
    {SYS_prlimit64, 0, NULL},
    {SYS_pwrite64, EFBIG, NULL},
    {SYS_readlinkat, ENOENT, NULL},
    {SYS_rt_sigaction, 0, NULL},
    {SYS_setsockopt, 0, NULL},
    {SYS_socket, EMFILE, NULL},
    {SYS_socket, ENOBUFS, NULL},
    {SYS_timerfd_create, EMFILE, NULL},
    {SYS_timerfd_create, ENOSYS, NULL},
    {SYS_timerfd_settime, 0, NULL},
    {SYS_unlinkat, 0, NULL},
    {SYS_waitid, ECHILD, NULL},
    {SYS_waitid, ENOSYS, NULL},
#ifdef SYS_unlink
    {SYS_unlink, EACCES, NULL},
#endif
};
enum { FUNCTIONS = sizeof functions / sizeof *functions, DENIALS = sizeof denials / sizeof *denials };

/// A refusal goes through as it is, or it is absorbed, or it becomes an error that is listed.
static bool is_expected(const char *function, int result, int error) {
    bool is_of_sandbox = error == ENOSYS || error == EPERM;
    return result >= 0 || (is_of_sandbox && result == -error) || documented_lists(function, -result);
}

static int *shared_result;

static void make_fixtures(void) {
    make_pipe(stream);
    REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, packets) == 0);
}

/// In a child, which has no other threads.
static void deny(const struct function *function, int call, int error) {
    *shared_result = 1;
    pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, STDERR_FILENO);
        make_fixtures();
        runloop_current();
        if (function->prepare)
            function->prepare();
        refuse(call, error);
        *shared_result = function->use();
        if (a_child > 0)
            kill(a_child, SIGKILL);
        _exit(0);
    }
    int status;
    EXPECT(waitpid(pid, &status, 0) == pid);
    unlink(path);
    bool has_ended = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!has_ended || !is_expected(function->name, *shared_result, error))
        fprintf(stderr, "    %s answers %d (%s) where call %d gives %s\n", function->name, *shared_result,
                has_ended ? strerror(-*shared_result) : "crash", call, strerror(error));
    EXPECT(has_ended && is_expected(function->name, *shared_result, error));
}

TEST("what a refused call of the system becomes is listed in the comment of the function") {
    need_starts();
    need_proc();
    documented_read_all();
    EXPECT(documented_lists("runloop_channel_listen", EADDRINUSE));
    EXPECT(!documented_lists("runloop_counter_create", ENOENT));
    snprintf(path, sizeof path, "/tmp/runloop-denied-%d", (int)getpid());
    shared_result = mmap(NULL, sizeof *shared_result, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(shared_result != MAP_FAILED);
    for (int i = 0; i < FUNCTIONS; i++)
        for (int j = 0; j < DENIALS; j++) {
            const struct denial *denial = &denials[j];
            if (denial->error && (!denial->of_one || strcmp(denial->of_one, functions[i].name) == 0))
                deny(&functions[i], denial->call, denial->error);
            // Once for each call.
            if (j > 0 && denials[j - 1].call == denial->call)
                continue;
            deny(&functions[i], denial->call, EPERM);
        }
}
#endif
