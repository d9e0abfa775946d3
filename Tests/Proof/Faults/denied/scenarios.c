// scenarios.c — those that make the system calls which the scenarios of `make faults` do not make.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "denied.h"
#include "runloop_diagnostics.h"
#include "runloop_linux.h"

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

static _Atomic int calls;
static _Atomic int late_error;

//===-- children -----------------------------------------------------------------------------------------------------===//

static runloop_child_exit last_exit;

static void note_exit(runloop_child *child, const runloop_child_exit *exit, void *info) {
    (void)child, (void)info;
    last_exit = *exit;
    calls++;
}

static enum outcome outcome_of_program(int status) {
    if (last_exit.end == RUNLOOP_CHILD_UNKNOWN)
        return told_of("runloop_child_exit", -ECHILD);
    if (injector_starves_programs() && last_exit.status != status)
        return told_of("program", -ENOEXEC);
    return outcome_of(calls == 1 && last_exit.status == status, 0);
}

static enum outcome start_and_wait(const runloop_child_start_config *config, int status, int64_t end_after_ns) {
    SOURCE source = NULL;
    static const runloop_child_step steps[] = {{SIGTERM, 0}};
    calls = 0;
    GET_LOOP(loop);
    TRY(runloop_child_start(config, &source));
    const char *call = "runloop_add_source";
    int error = runloop_add_source(loop, source, MODE);
    if (!error && end_after_ns) {
        error = runloop_child_end_by(source, steps, 1, true);
        call = "runloop_child_end_by";
    }
    if (error) {
        OWN(kill(runloop_child_get_pid(source), SIGKILL));
        return told_of(call, error);
    }
    RUN_UNTIL(calls == 1);
    return outcome_of_program(status);
}

static enum outcome a_child_with_everything(void) {
    DESCRIPTOR terminal = -1;
    DESCRIPTOR from = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    static const char *const arguments[] = {"sh", "-c", "[ -t 0 ] && [ \"$PWD\" = /usr ] && [ \"$X\" = y ] && exit 3",
                                            NULL};
    static const char *const environment[] = {"X=y", "PATH=/usr/bin:/bin", NULL};
    const runloop_child_descriptor descriptors[] = {
        {.number = 0, .kind = RUNLOOP_CHILD_TERMINAL, .parent_end = &terminal},
        {.number = 1, .kind = RUNLOOP_CHILD_SAME, .from = 0},
        {.number = 2, .kind = RUNLOOP_CHILD_NULL},
        {.number = 5, .kind = RUNLOOP_CHILD_DESCRIPTOR, .from = from}};
    static const runloop_child_limit limits[] = {{.resource = 4 /* RLIMIT_CORE */, .soft = 0, .hard = 0}};
    const runloop_child_start_config config = {.child.exited = note_exit,
                                               .arguments = arguments,
                                               .environment = environment,
                                               .searches = true,
                                               .directory = "/usr",
                                               .group = RUNLOOP_CHILD_NEW_SESSION,
                                               .terminal_rows = 25,
                                               .terminal_columns = 80,
                                               .descriptors = descriptors,
                                               .descriptor_count = 4,
                                               .limits = limits,
                                               .limit_count = 1,
                                               .parent_death_signal = SIGTERM};
    begin_faults();
    return start_and_wait(&config, 3, 0);
}

static enum outcome a_child_in_its_group(void) {
    static const char *const arguments[] = {"/bin/sleep", "60", NULL};
    const runloop_child_start_config config = {
        .child.exited = note_exit, .arguments = arguments, .group = RUNLOOP_CHILD_NEW_GROUP};
    begin_faults();
    return start_and_wait(&config, SIGTERM, 1);
}

/// It writes more than a pipe has space for, and the loop reads it.
static enum outcome a_command_with_much_output(void) {
    static const char *const arguments[] = {"head", "-c", "150000", "/dev/zero", NULL};
    const runloop_command_config config = {.start = {.arguments = arguments, .searches = true}, .limit = 200000};
    runloop_command_result result;
    begin_faults();
    TRY(runloop_command_run(&config, &result));
    last_exit = result.exit;
    bool is_whole = result.output.count == 150000;
    bool says_so = result.output.end == RUNLOOP_COMMAND_COMPLETE;
    runloop_command_result_free(&result);
    if (says_so && !is_whole && !(injector_starves_programs() && last_exit.status != 0))
        return LOST;
    // It may have been ended by SIGPIPE then.
    if (!says_so)
        return told_of("end of output", -ENOMEM);
    calls = 1;
    return outcome_of_program(0);
}

//===-- processes of their own ---------------------------------------------------------------------------------------===//

#define CONTINUED "RUNLOOP_DENIED_PROGRAM"

void denied_continue_program(void) {
    if (getenv(CONTINUED))
        _exit(runloop_reap_orphans() == 0 ? 3 : 4);
}

/// What a forked child answers, in memory that it shares.
struct answer {
    const char *function;
    int error;
};

/// Waits until nobody has the other end of a pipe, by a call that does not fail here.
static void wait_for_end_of(int reading) {
    char byte;
    const struct iovec whole = {&byte, 1};
    while (readv(reading, &whole, 1) > 0)
        continue;
    close(reading);
}

/// Waits for the end of a forked child and of all that has its pipe.
static int wait_for(pid_t child, int reading) {
    wait_for_end_of(reading);
    int status = -1;
    OWN(MUST(waitpid(child, &status, 0) == child));
    return status;
}

static enum outcome in_a_process(void (*act)(struct answer *answer), int exit_status, int signal_number) {
    static struct answer *answer;
    int ends[2], go[2];
    if (!answer)
        answer = mmap(NULL, sizeof *answer, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    MUST(answer != MAP_FAILED && pipe2(ends, O_CLOEXEC) == 0 && pipe2(go, O_CLOEXEC) == 0);
    *answer = (struct answer){"", 0};
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]), close(go[1]);
        // This process decides which calls fail, and the child which limits it has.
        wait_for_end_of(go[0]);
        act(answer);
        _exit(99);
    }
    MUST(child > 0);
    close(ends[1]), close(go[0]);
    begin_faults();
    close(go[1]);
    int status = wait_for(child, ends[0]);
    if (answer->error)
        return WIFEXITED(status) && WEXITSTATUS(status) == 99 ? told_by_call(answer->function, answer->error) : LOST;
    if (injector_starves_programs() && WIFEXITED(status) && WEXITSTATUS(status) != exit_status)
        return told_of("program", -ENOEXEC);
    // Where a signal can't be sent, its end is reported as a shell does.
    bool is_as_signalled = signal_number && WIFSIGNALED(status) && WTERMSIG(status) == signal_number;
    return outcome_of(is_as_signalled || (WIFEXITED(status) && WEXITSTATUS(status) == exit_status), 0);
}

static void reap(struct answer *answer) {
    setenv(CONTINUED, "1", true);
    begin_faults();
    answer->function = "runloop_reap_orphans";
    answer->error = runloop_reap_orphans();
    // It is not returned from without an error: the program was executed anew.
    pause_faults();
}

static enum outcome a_reaper(void) {
    return in_a_process(reap, 3, 0);
}

static runloop_shutdown *held;

/// It never finishes, so the limit ends the process.
static void begin_work(void *info) {
    (void)info;
    runloop_shutdown_hold(held);
}

/// The limit is longer than the time in which a second signal counts as a copy of the first: if the handler may not ask whether the kernel says
/// more of a signal than its number, it can't tell the limit's.
static void shut_down(struct answer *answer) {
    runloop_shutdown *shutdown = NULL;
    signal(SIGUSR2, SIG_DFL);
    begin_faults();
    answer->function = "runloop_current";
    answer->error = runloop_current() ? 0 : -ENOMEM;
    if (answer->error)
        return;
    answer->function = "runloop_shutdown_create";
    answer->error = runloop_shutdown_create(&(runloop_shutdown_config){&(int32_t){SIGUSR2}, 1, 300 * MS}, &shutdown);
    held = shutdown;
    if (!answer->error) {
        answer->function = "runloop_shutdown_add_work";
        answer->error = runloop_shutdown_add_work(shutdown, 1, begin_work, NULL, NULL);
    }
    if (!answer->error) {
        answer->function = "runloop_add_source";
        answer->error = runloop_add_source(runloop_current(), shutdown, MODE);
    }
    if (answer->error)
        return;
    // The limit begins in the handler.
    if (sigqueue(getpid(), SIGUSR2, (union sigval){0}) != 0)
        raise(SIGUSR2);
    int64_t end_ns = runloop_now_ns() + 5 * SECOND;
    while (runloop_now_ns() < end_ns) {
        answer->function = "runloop_run_in_mode";
        answer->error = runloop_run_in_mode(MODE, 100 * MS, true);
        if (answer->error < 0)
            return;
        answer->error = 0;
    }
}

static enum outcome a_shutdown_that_ends(void) {
    return in_a_process(shut_down, 128 + SIGUSR2, SIGUSR2);
}

//===-- signals ------------------------------------------------------------------------------------------------------===//

static void take_arrival(runloop_signal *signal, const runloop_signal_arrival *arrival, void *info) {
    (void)signal, (void)arrival, (void)info;
}

static bool has_arrived;

static void note_usual(int number) {
    has_arrived = number == SIGHUP;
}

/// All threads have blocked it, and another handler comes.
static enum outcome a_signal_that_is_taken(void) {
    SOURCE source = NULL;
    begin_faults();
    GET_LOOP(loop);
    TRY(runloop_signal_create(&(runloop_signal_config){.number = SIGHUP, .receive = take_arrival}, &source));
    TRY(runloop_add_source(loop, source, MODE));
    pause_faults();
    void (*former)(int) = signal(SIGHUP, note_usual);
    begin_faults();
    for (int i = 0; i < 3; i++)
        TRY(runloop_run_in_mode(MODE, 15 * MS, true));
    OWN(raise(SIGHUP));
    pause_faults();
    signal(SIGHUP, former);
    begin_faults();
    return outcome_of(has_arrived, 0);
}

//===-- sockets ------------------------------------------------------------------------------------------------------===//

static int pause_error;

static void take_connection(runloop_listener *listener, int descriptor, void *info) {
    (void)listener, (void)info;
    runloop_peer peer = {.pidfd = -1};
    int error = runloop_socket_get_peer(descriptor, &peer);
    late_error = error ? error : late_error;
    if (peer.pidfd >= 0)
        close(peer.pidfd);
    close(descriptor);
    calls++;
}

static void note_paused(runloop_listener *listener, int error, void *info) {
    (void)listener, (void)info;
    pause_error = error ? error : pause_error;
}

static void note_connected(runloop_connect *connect, int descriptor, int error, void *info) {
    (void)connect;
    *(int *)info = error;
    if (descriptor >= 0)
        close(descriptor);
    calls += 100;
}

static enum outcome connect_both(int listening, const runloop_connect_config *target) {
    SOURCE listener = NULL;
    SOURCE connect = NULL;
    static int connect_error;
    runloop_listener_config listens = {.descriptor = listening,
                                       .owns = true,
                                       .removes_path = target->path,
                                       .accepted = take_connection,
                                       .paused = note_paused};
    int error = runloop_listener_create(&listens, &listener);
    if (error) {
        MUST(close(listening) == 0);
        if (target->path)
            unlink(target->path);
        return told_by_call("runloop_listener_create", error);
    }
    TRY(runloop_add_source(runloop_current(), listener, MODE));
    runloop_connect_config config = *target;
    config.context.info = &connect_error;
    config.connected = note_connected;
    config.deadline_ns = runloop_now_ns() + 2 * SECOND;
    calls = late_error = connect_error = pause_error = 0;
    TRY(runloop_connect_create(&config, &connect));
    TRY(runloop_add_source(runloop_current(), connect, MODE));
    RUN_UNTIL(calls == 101 || connect_error || pause_error);
    if (connect_error)
        return told_of("runloop_connect_config", connect_error);
    if (calls != 101 && pause_error)
        return told_of("runloop_listener_config", pause_error);
    return outcome_or(calls == 101 && !late_error, "runloop_socket_get_peer", late_error);
}

static enum outcome a_socket_without_a_path(void) {
    char name[64];
    snprintf(name, sizeof name, "runloop-denied-%d", (int)getpid());
    begin_faults();
    TRY(runloop_current() ? 0 : -ENOMEM);
    int listening = runloop_listen_abstract(name, 0);
    TRY_OF("runloop_listen_abstract", listening);
    char address[128];
    int length = runloop_socket_get_address(listening, false, address, sizeof address);
    if (length < 0) {
        close(listening);
        return told_by_call("runloop_socket_get_address", length);
    }
    return connect_both(listening, &(runloop_connect_config){.abstract_name = name});
}

/// Of a program that has ended without removing it, above the umask.
static enum outcome a_path_that_was_left(void) {
    char path[64];
    snprintf(path, sizeof path, "/tmp/runloop-denied-%d", (int)getpid());
    unlink(path);
    int left = runloop_listen_unix(path, 0600, 0);
    MUST(left >= 0 && close(left) == 0);
    begin_faults();
    TRY(runloop_current() ? 0 : -ENOMEM);
    int listening = runloop_listen_unix(path, 0666, 0);
    if (listening < 0) {
        OWN(unlink(path));
        return told_by_call("runloop_listen_unix", listening);
    }
    enum outcome outcome = connect_both(listening, &(runloop_connect_config){.path = path});
    OWN(unlink(path));
    return outcome;
}

static enum outcome a_connection_with_options(void) {
    begin_faults();
    TRY(runloop_current() ? 0 : -ENOMEM);
    int listening = runloop_listen_tcp("127.0.0.1", 0, 0);
    TRY_OF("runloop_listen_tcp", listening);
    int port = runloop_socket_get_port(listening, false);
    if (port < 0) {
        close(listening);
        return told_by_call("runloop_socket_get_port", port);
    }
    enum outcome outcome = connect_both(listening, &(runloop_connect_config){.host = "127.0.0.1",
                                                                             .port = (uint16_t)port,
                                                                             .local_address = "127.0.0.1",
                                                                             .keepalive_idle_ns = SECOND,
                                                                             .user_timeout_ns = SECOND,
                                                                             .resets = true});
    // It is a Unix socket that has a peer with a pid.
    bool is_right =
        injector_told_error() == -EAFNOSUPPORT && strcmp(injector_told_function(), "runloop_socket_get_peer") == 0;
    return outcome == TOLD && is_right ? AS_EXPECTED : outcome;
}

static enum outcome inherited_sockets(void) {
    enum { FIRST = 3 };
    runloop_inherited_socket sockets[2];
    char pid[16];
    // The descriptor is one that is open: the driver's.
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    MUST(setenv("LISTEN_PID", pid, true) == 0 && setenv("LISTEN_FDS", "1", true) == 0);
    bool is_open = fcntl(FIRST, F_GETFD) >= 0;
    int flags = is_open ? fcntl(FIRST, F_GETFD) : 0;
    begin_faults();
    int count = runloop_take_inherited_sockets(sockets, 2);
    pause_faults();
    unsetenv("LISTEN_PID"), unsetenv("LISTEN_FDS");
    if (is_open)
        fcntl(FIRST, F_SETFD, flags);
    begin_faults();
    if (!is_open && count == -EBADF)
        return AS_EXPECTED;
    TRY_OF("runloop_take_inherited_sockets", count);
    return outcome_of(count == 1 && sockets[0].descriptor == FIRST, 0);
}

//===-- output to files ----------------------------------------------------------------------------------------------===//

static enum outcome output_to(int file, size_t size, int expected_error) {
    static char bytes[100000];
    SOURCE output = NULL;
    DESCRIPTOR descriptor = file;
    begin_faults();
    GET_LOOP(loop);
    TRY(runloop_output_create(&(runloop_output_config){.descriptor = descriptor, .limit = sizeof bytes}, &output));
    TRY(runloop_add_source(loop, output, MODE));
    ptrdiff_t written = runloop_output_write(output, bytes, size);
    if (written < 0 && written == expected_error)
        return AS_EXPECTED;
    TRY_OF("runloop_output_write", written);
    if ((size_t)written < size) {
        ptrdiff_t rest = runloop_output_write(output, bytes, size - (size_t)written);
        TRY_OF("runloop_output_write", rest);
        written += rest;
    }
    TRY_OF("runloop_output_finish", runloop_output_finish(output));
    struct stat status;
    OWN(MUST(fstat(descriptor, &status) == 0));
    return outcome_of(!expected_error && written == (ptrdiff_t)size && status.st_size == (off_t)size, 0);
}

static enum outcome output_to_a_file(void) {
    char path[] = "/tmp/runloop-faults-XXXXXX";
    int file = mkostemp(path, O_CLOEXEC);
    MUST(file >= 0 && unlink(path) == 0);
    return output_to(file, 50000, 0);
}

static enum outcome output_to_a_full_device(void) {
    int file = open("/dev/full", O_WRONLY | O_CLOEXEC);
    MUST(file >= 0);
    return output_to(file, 100, -ENOSPC);
}

/// As kernels before Linux 6.18 and 6.6 have it. For the rest of this process, which is there for that scenario alone.
static void refuse_for_good(int call) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    static bool is_refused;
    if (!is_refused)
        MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &(struct sock_fprog){4, code}) == 0);
    is_refused = true;
}

static void note_output_error(runloop_output *output, int error, void *info) {
    (void)output, (void)info;
    late_error = error;
}

static enum outcome output_to_a_pipe(void) {
    int ends[2];
    MUST(pipe2(ends, O_CLOEXEC) == 0);
    DESCRIPTOR reading = ends[0];
    DESCRIPTOR writing = ends[1];
    SOURCE output = NULL;
    late_error = 0;
    begin_faults();
    GET_LOOP(loop);
    const runloop_output_config config = {
        .descriptor = writing, .limit = 100, .loop = loop, .drained = note_output_error};
    TRY(runloop_output_create(&config, &output));
    TRY(runloop_add_source(loop, output, MODE));
    ptrdiff_t written = runloop_output_write(output, "hello", 5);
    TRY_OF("runloop_output_write", written);
    TRY_OF("runloop_output_flush", runloop_output_flush(output));
    close(reading);
    reading = -1;
    written = runloop_output_write(output, "hello", 5);
    if (written == -EPIPE)
        return AS_EXPECTED;
    TRY_OF("runloop_output_write", written);
    // If the pipe seemed to be full, the bytes wait, and the loop finds that nobody reads them.
    RUN_UNTIL(late_error);
    return late_error == -EPIPE ? AS_EXPECTED : outcome_or(false, "runloop_output_config", late_error);
}

static enum outcome output_to_a_pipe_of_an_older_kernel(void) {
    sigset_t pipes;
    sigemptyset(&pipes);
    sigaddset(&pipes, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipes, NULL);
    refuse_for_good(SYS_pwritev2);
    enum outcome outcome = output_to_a_pipe();
    pause_faults();
    pthread_sigmask(SIG_UNBLOCK, &pipes, NULL);
    begin_faults();
    return outcome;
}

//===-- paths --------------------------------------------------------------------------------------------------------===//

static void note_changes(runloop_watch *watch, const runloop_change *changes, size_t count, void *info) {
    (void)watch, (void)info;
    for (size_t i = 0; i < count; i++) {
        if (changes[i].kind == RUNLOOP_CHANGE_FAILED)
            late_error = changes[i].error;
        else
            calls++;
    }
}

static void remove_folder(char (*folder)[64]) {
    char path[80];
    pause_faults();
    snprintf(path, sizeof path, "%s/target/new", *folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/target", *folder);
    rmdir(path);
    snprintf(path, sizeof path, "%s/link", *folder);
    unlink(path);
    rmdir(*folder);
    MUST(chdir("/") == 0);
    begin_faults();
}

static enum outcome a_relative_link(void) {
    __attribute__((cleanup(remove_folder))) char folder[64] = "/tmp/runloop-faults-XXXXXX";
    MUST(mkdtemp(folder) && chdir(folder) == 0 && mkdir("target", 0700) == 0 && symlink("target", "link") == 0);
    SOURCE watch = NULL;
    calls = late_error = 0;
    begin_faults();
    GET_LOOP(loop);
    const runloop_watch_config config = {
        .path = "link", .follows_link = true, .scope = RUNLOOP_WATCH_TREE, .changed = note_changes};
    TRY(runloop_watch_create(&config, &watch));
    TRY(runloop_add_source(loop, watch, MODE));
    TRY(runloop_run_in_mode(MODE, MS, false));
    pause_faults();
    int file = open("target/new", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    bool is_there = file >= 0;
    if (is_there)
        close(file);
    begin_faults();
    if (!is_there)
        return outcome_of(false, 0);
    RUN_UNTIL(calls > 0 || late_error);
    return outcome_or(calls > 0, "runloop_change", late_error);
}

static enum outcome a_publication_without_a_path(void) {
    begin_faults();
    GET_LOOP(loop);
    (void)loop;
    TRY(runloop_publish(NULL));
    runloop_unpublish();
    return AS_EXPECTED;
}

static enum outcome a_listener_of_a_relative_path(void) {
    __attribute__((cleanup(remove_folder))) char folder[64] = "/tmp/runloop-faults-XXXXXX";
    MUST(mkdtemp(folder) && chdir(folder) == 0);
    begin_faults();
    TRY(runloop_current() ? 0 : -ENOMEM);
    int listening = runloop_listen_unix("link", 0600, 0);
    TRY_OF("runloop_listen_unix", listening);
    return connect_both(listening, &(runloop_connect_config){.path = "link"});
}

static enum outcome a_path_of_an_older_kernel(void) {
    refuse_for_good(SYS_fchmodat2);
    return a_path_that_was_left();
}

const struct scenario denied_scenarios[] = {
    {"a child with everything", a_child_with_everything},
    {"a child in its group", a_child_in_its_group},
    {"a command with much output", a_command_with_much_output},
    {"a reaper", a_reaper},
    {"a shutdown that ends", a_shutdown_that_ends},
    {"a signal that is taken", a_signal_that_is_taken},
    {"a socket without a path", a_socket_without_a_path},
    {"a path that was left", a_path_that_was_left},
    {"a connection with options", a_connection_with_options},
    {"inherited sockets", inherited_sockets},
    {"output to a file", output_to_a_file},
    {"output to a full device", output_to_a_full_device},
    {"output to a pipe", output_to_a_pipe},
    {"output, older kernel", output_to_a_pipe_of_an_older_kernel},
    {"a path, older kernel", a_path_of_an_older_kernel},
    {"a relative link", a_relative_link},
    {"a publication without a path", a_publication_without_a_path},
    {"a listener of a relative path", a_listener_of_a_relative_path},
    {0},
};
