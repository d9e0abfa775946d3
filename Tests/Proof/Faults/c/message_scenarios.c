// message_scenarios.c — channels between processes.
#include "faults.h"
#include "runloop_linux.h"

static _Atomic int calls;
static _Atomic int late_error;

//===-- channels -----------------------------------------------------------------------------------------------------===//

static void receive_packet(runloop_channel *channel, runloop_channel_message *message, void *info) {
    (void)channel, (void)info;
    calls += 1;
    for (size_t i = 0; i < message->descriptor_count; i++) {
        close(message->descriptors[i]);
        message->descriptors[i] = -1;
        calls += 1000;
    }
    if (!message->call)
        return;
    int error = runloop_call_reply(message->call, "hello", 5, NULL, 0);
    late_error = error ? error : late_error;
}

static void note_channel_end(runloop_channel *channel, int32_t reason, void *info) {
    (void)channel, (void)info;
    late_error = reason ? reason : late_error;
}

static void count_channel_reply(const runloop_reply *reply, int *descriptors, size_t count, void *info) {
    (void)descriptors, (void)count, (void)info;
    if (reply->result)
        late_error = reply->result;
    else
        calls += 10;
}

static const runloop_channel_config channel_config = {.receive = receive_packet, .ended = note_channel_end};

/// Two ends in one loop; closes the descriptors.
static int make_channels(int ends[2], runloop_channel **channels, const char **function) {
    runloop *loop = runloop_current();
    int error = loop ? 0 : -ENOMEM;
    for (int i = 0; i < 2; i++) {
        if (!error) {
            error = runloop_channel_create(ends[i], &channel_config, &channels[i]);
            *function = "runloop_channel_create";
        }
        if (!channels[i])
            MUST(close(ends[i]) == 0);
        if (!error) {
            error = runloop_add_source(loop, channels[i], MODE);
            *function = "runloop_add_source";
        }
    }
    return error;
}

/// Both ends are notified of what the reading one can't read.
static enum outcome with_channels(int (*send)(runloop_channel *channel, const char **function), int expected) {
    int ends[2];
    MUST(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    runloop_channel *channels[2] = {NULL, NULL};
    calls = late_error = 0;
    begin_faults();
    const char *function = "runloop_current";
    int error = make_channels(ends, channels, &function);
    if (!error)
        error = send(channels[0], &function);
    int64_t end_ns = runloop_now_ns() + 3 * SECOND;
    while (!error && calls < expected && !late_error && runloop_now_ns() < end_ns) {
        int result = runloop_run_in_mode(MODE, 20 * MS, true);
        error = result < 0 ? result : 0;
        function = "runloop_run_in_mode";
    }
    end_source(&channels[0]);
    end_source(&channels[1]);
    return error ? told_by_call(function, error) : outcome_or(calls == expected, "runloop_channel_config", late_error);
}

static int send_three(runloop_channel *channel, const char **function) {
    *function = "runloop_channel_send";
    int error = 0;
    for (int i = 0; i < 3 && !error; i++)
        error = runloop_channel_send(channel, "hello", 5, NULL, 0);
    return error;
}

static int send_much(runloop_channel *channel, const char **function) {
    *function = "runloop_channel_send";
    static char much[200000];
    return runloop_channel_send(channel, much, sizeof much, NULL, 0);
}

static int send_descriptors(runloop_channel *channel, const char **function) {
    *function = "runloop_channel_send";
    return runloop_channel_send(channel, "hello", 5, (int[]){0, 1}, 2);
}

static int request(runloop_channel *channel, const char **function) {
    *function = "runloop_channel_request";
    runloop_channel_request_config config = {.deadline_ns = runloop_now_ns() + 2 * SECOND,
                                             .replied = count_channel_reply};
    uint64_t id;
    return runloop_channel_request(channel, "hello", 5, NULL, 0, &config, &id);
}

static enum outcome messages_of_a_channel(void) {
    return with_channels(send_three, 3);
}
static enum outcome a_large_message(void) {
    return with_channels(send_much, 1);
}
static enum outcome descriptors_of_a_channel(void) {
    return with_channels(send_descriptors, 2001);
}
static enum outcome a_request_of_a_channel(void) {
    return with_channels(request, 11);
}

static enum outcome a_channel_that_connects(void) {
    char path[64];
    snprintf(path, sizeof path, "/tmp/runloop-faults-%d", (int)getpid());
    unlink(path);
    SOURCE channel = NULL;
    calls = late_error = 0;
    begin_faults();
    GET_LOOP(loop);
    DESCRIPTOR listening = runloop_channel_listen(path, 0600, 0);
    int error = listening < 0 ? 0 : runloop_channel_connect(path, &channel_config, &channel);
    OWN(unlink(path));
    if (listening < 0)
        return told_by_call("runloop_channel_listen", listening);
    if (error)
        return told_by_call("runloop_channel_connect", error);
    TRY(runloop_add_source(loop, channel, MODE));
    pause_faults();
    DESCRIPTOR other = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
    begin_faults();
    if (other < 0)
        return outcome_or(false, "runloop_channel_config", late_error);
    TRY(runloop_channel_send(channel, "hello", 5, NULL, 0));
    TRY(runloop_run_in_mode(MODE, MS, true));
    char bytes[100];
    pause_faults();
    ssize_t count = recv(other, bytes, sizeof bytes, MSG_DONTWAIT);
    begin_faults();
    return outcome_or(count > 5, "runloop_channel_config", late_error);
}

const struct scenario message_scenarios[] = {
    {"messages of a channel", messages_of_a_channel},       {"a large message", a_large_message},
    {"descriptors of a channel", descriptors_of_a_channel}, {"a request of a channel", a_request_of_a_channel},
    {"a channel that connects", a_channel_that_connects},   {0},
};
