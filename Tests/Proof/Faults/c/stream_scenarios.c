// stream_scenarios.c — inputs, outputs, listeners, connections.
#include "faults.h"

#include <arpa/inet.h>
#include <sys/uio.h>

#include "runloop_linux.h"

static _Atomic int calls;
static _Atomic int late_error;

//===-- inputs -------------------------------------------------------------------------------------------------------===//

static void count_line(runloop_input *input, const char *line, size_t count, int error, void *info) {
    (void)input, (void)info;
    calls += error == 0 && count == 5 && memcmp(line, "hello", 5) == 0;
}

static void note_end(runloop_input *input, int error, const char *rest, size_t count, void *info) {
    (void)input, (void)rest, (void)count, (void)info;
    late_error = error;
    calls += 100;
}

static enum outcome lines(int reading, int writing, int64_t limit_ns) {
    DESCRIPTOR end = writing;
    SOURCE input = NULL;
    calls = late_error = 0;
    begin_faults();
    runloop_input_config config = {.descriptor = reading,
                                   .owns = true,
                                   .limit = 1000,
                                   .loop = runloop_current(),
                                   .received_line = count_line,
                                   .ended = note_end,
                                   .idle_ns = limit_ns,
                                   .message_ns = limit_ns};
    int error = config.loop ? runloop_input_create(&config, &input) : -ENOMEM;
    if (error) {
        // It is still the caller's.
        MUST(close(reading) == 0);
        return told_by_call("runloop_input_create", error);
    }
    TRY(runloop_add_source(config.loop, input, MODE));
    OWN(MUST(writing < 0 || write(writing, "hello\nhello\n", 12) == 12));
    RUN_UNTIL(calls >= 2);
    if (writing >= 0) {
        TRY(runloop_input_pause(input));
        OWN(MUST(write(writing, "hello", 5) == 5));
        TRY(runloop_run_in_mode(MODE, MS, true));
        close(end);
        end = -1;
        TRY(runloop_input_resume(input));
    }
    RUN_UNTIL(calls >= 100);
    return outcome_or(calls == (writing < 0 ? 102 : 103) && !late_error, "runloop_input_config", late_error);
}

static enum outcome lines_of_a_socket(void) {
    int ends[2];
    MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    return lines(ends[0], ends[1], 60 * SECOND);
}

static enum outcome lines_of_a_pipe(void) {
    int ends[2];
    MUST(pipe2(ends, O_CLOEXEC) == 0);
    return lines(ends[0], ends[1], 0);
}

static enum outcome lines_of_a_file(void) {
    char path[] = "/tmp/runloop-faults-XXXXXX";
    int file = mkostemp(path, O_CLOEXEC);
    MUST(file >= 0 && unlink(path) == 0 && write(file, "hello\nhello\n", 12) == 12 && lseek(file, 0, SEEK_SET) == 0);
    return lines(file, -1, 0);
}

//===-- an output ----------------------------------------------------------------------------------------------------===//

enum { MUCH = 1 << 20 };

static void note_drained(runloop_output *output, int error, void *info) {
    (void)output, (void)info;
    late_error = error;
    calls++;
}

/// Takes what has come, by a call that does not fail here: how much.
static size_t take(int descriptor) {
    static char bytes[1 << 16];
    const struct iovec whole = {bytes, sizeof bytes};
    size_t sum = 0;
    for (ssize_t count; (count = readv(descriptor, &whole, 1)) > 0;)
        sum += (size_t)count;
    return sum;
}

static enum outcome an_output(void) {
    static char much[MUCH];
    int ends[2];
    MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
    DESCRIPTOR near = ends[0];
    DESCRIPTOR far = ends[1];
    SOURCE output = NULL;
    calls = late_error = 0;
    begin_faults();
    runloop_output_config config = {
        .descriptor = near, .limit = MUCH, .loop = runloop_current(), .drained = note_drained, .idle_ns = 60 * SECOND};
    TRY(config.loop ? runloop_output_create(&config, &output) : -ENOMEM);
    TRY(runloop_add_source(config.loop, output, MODE));
    ptrdiff_t written = runloop_output_write(output, much, MUCH);
    TRY_OF("runloop_output_write", written);
    size_t sum = take(far);
    int64_t end_ns = runloop_now_ns() + 3 * SECOND;
    while (runloop_output_get_waiting(output) > 0 && !late_error && runloop_now_ns() < end_ns) {
        TRY(runloop_run_in_mode(MODE, MS, true));
        sum += take(far);
    }
    return outcome_or((ptrdiff_t)(sum + take(far)) == written && written > 0, "runloop_output_config", late_error);
}

//===-- connections --------------------------------------------------------------------------------------------------===//

static _Atomic int accepted, connected = -1;
static const char *late_structure;

static void tell_late(const char *structure, int error) {
    late_structure = structure;
    late_error = error;
}

static void count_accepted(runloop_listener *listener, int descriptor, void *info) {
    (void)listener, (void)info;
    accepted++;
    close(descriptor);
}

static void note_refused(runloop_listener *listener, int descriptor, void *info) {
    (void)listener, (void)info;
    tell_late("runloop_listener_config", -EMFILE);
    close(descriptor);
}

static void note_paused(runloop_listener *listener, int error, void *info) {
    (void)listener, (void)info;
    if (error)
        tell_late("runloop_listener_config", error);
}

static void note_connected(runloop_connect *connect, int descriptor, int error, void *info) {
    (void)connect, (void)info;
    if (error)
        tell_late("runloop_connect_config", error);
    connected = descriptor;
    calls++;
}

static enum outcome connect_to(int listening, const runloop_connect_config *config) {
    SOURCE listener = NULL;
    SOURCE connect = NULL;
    TRY_OF("runloop_listen_unix", listening);
    runloop_listener_config listens = {.descriptor = listening,
                                       .owns = true,
                                       .removes_path = config->path != NULL,
                                       .accepted = count_accepted,
                                       .refused = config->path ? note_refused : NULL,
                                       .paused = note_paused};
    int error = runloop_listener_create(&listens, &listener);
    if (error) {
        MUST(close(listening) == 0);
        if (config->path)
            unlink(config->path);
        return told_by_call("runloop_listener_create", error);
    }
    TRY(runloop_add_source(runloop_current(), listener, MODE));
    runloop_connect_config tries = *config;
    tries.connected = note_connected;
    tries.deadline_ns = runloop_now_ns() + 2 * SECOND;
    accepted = calls = late_error = 0;
    connected = -1;
    TRY(runloop_connect_create(&tries, &connect));
    TRY(runloop_add_source(runloop_current(), connect, MODE));
    RUN_UNTIL(calls == 1 && (accepted == 1 || late_error));
    if (connected >= 0)
        close(connected);
    return outcome_or(calls == 1 && accepted == 1 && connected >= 0, late_structure, late_error);
}

static enum outcome connect_by_tcp(const char *host) {
    begin_faults();
    TRY(runloop_current() ? 0 : -ENOMEM);
    int listening = runloop_listen_tcp("127.0.0.1", 0, 0);
    TRY_OF("runloop_listen_tcp", listening);
    int port = runloop_socket_get_port(listening, false);
    if (port < 0) {
        close(listening);
        return told_of("runloop_socket_get_port", port);
    }
    return connect_to(listening, &(runloop_connect_config){.host = host, .port = (uint16_t)port});
}

static enum outcome a_connection(void) {
    return connect_by_tcp("127.0.0.1");
}

static enum outcome a_connection_by_name(void) {
    // A minimal machine has no /etc/hosts, and does not know the name.
    return connect_by_tcp(access("/etc/hosts", R_OK) == 0 ? "localhost" : "127.0.0.1");
}

static enum outcome a_unix_connection(void) {
    char path[64];
    snprintf(path, sizeof path, "/tmp/runloop-faults-%d", (int)getpid());
    unlink(path);
    begin_faults();
    TRY(runloop_current() ? 0 : -ENOMEM);
    enum outcome outcome = connect_to(runloop_listen_unix(path, 0600, 0), &(runloop_connect_config){.path = path});
    OWN(unlink(path));
    return outcome;
}

const struct scenario stream_scenarios[] = {
    {"lines of a socket", lines_of_a_socket},
    {"lines of a pipe", lines_of_a_pipe},
    {"lines of a file", lines_of_a_file},
    {"an output", an_output},
    {"a connection", a_connection},
    {"a connection by name", a_connection_by_name, .spares_allocations = true},
    {"a Unix connection", a_unix_connection},
    {0},
};
