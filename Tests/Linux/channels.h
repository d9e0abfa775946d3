// channels.h — what the tests of channels share.
#ifndef RUNLOOP_TEST_CHANNELS_H
#define RUNLOOP_TEST_CHANNELS_H

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "linux_items.h"

/// What a channel has received. Short texts are traced, and the latest first descriptor is taken.
static size_t received_bytes, received_count, received_descriptors;
static int taken = -1;
static runloop_call *kept_call;
static bool keeps_calls;
static _Atomic int ends;
static int end_reason;

static inline void note_received(runloop_channel *channel, runloop_channel_message *message, void *info) {
    (void)channel, (void)info;
    received_count++;
    received_bytes += message->length;
    received_descriptors += message->descriptor_count;
    char text[40];
    snprintf(text, sizeof text, "%.*s", (int)(message->length < 39 ? message->length : 39),
             (const char *)message->bytes);
    if (message->length < 39)
        trace(text);
    if (message->descriptor_count > 0) {
        if (taken >= 0)
            close(taken);
        taken = message->descriptors[0];
        message->descriptors[0] = -1;
    }
    if (message->call && keeps_calls)
        kept_call = runloop_call_retain(message->call);
    else if (message->call) {
        // The other end may be gone by now.
        int result = runloop_call_reply(message->call, message->bytes, message->length, NULL, 0);
        EXPECT(result == 0 || result == -EPIPE);
    }
}

static inline void note_end(runloop_channel *channel, int32_t reason, void *info) {
    (void)channel, (void)info;
    ends++;
    end_reason = reason;
}

/// A channel in MODE of the calling thread's loop. One reference.
static inline runloop_channel *add_channel(int descriptor, const runloop_channel_config *config) {
    runloop_channel *channel = NULL;
    REQUIRE(runloop_channel_create(descriptor, config, &channel) == 0 && channel);
    REQUIRE(runloop_add_source(runloop_current(), channel, MODE) == 0);
    return channel;
}

static inline runloop_channel *add_channel_with(int descriptor, runloop_channel_config config) {
    config.receive = note_received;
    config.ended = note_end;
    return add_channel(descriptor, &config);
}

static inline void make_sockets(int sockets[2]) {
    REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) == 0);
}

/// Two channels that are connected, both in MODE.
static inline void make_channels(runloop_channel *channels[2], runloop_channel_config config) {
    int sockets[2];
    make_sockets(sockets);
    for (int i = 0; i < 2; i++)
        channels[i] = add_channel_with(sockets[i], config);
}

static inline void end_channel(runloop_channel *channel) {
    end_source(channel);
}

static inline void end_channels(runloop_channel *channels[2]) {
    end_channel(channels[0]);
    end_channel(channels[1]);
}

static inline int tell(runloop_channel *channel, const char *text) {
    return runloop_channel_send(channel, text, strlen(text), NULL, 0);
}

struct outcome {
    int replies, discards, result;
    size_t length;
    char text[40];
};

static inline void note_answer(const runloop_reply *reply, int *descriptors, size_t count, void *info) {
    (void)descriptors, (void)count;
    struct outcome *outcome = info;
    outcome->replies++;
    outcome->result = reply->result;
    outcome->length = reply->length;
    snprintf(outcome->text, sizeof outcome->text, "%.*s", (int)reply->length,
             reply->bytes ? (const char *)reply->bytes : "");
}

static inline void note_discarded(void *info) {
    ((struct outcome *)info)->discards++;
}

static inline int request_with_id(runloop_channel *channel, const char *text, int64_t deadline_ns,
                                  struct outcome *outcome, uint64_t *id) {
    const runloop_channel_request_config config = {
        .deadline_ns = deadline_ns, .replied = note_answer, .discard = note_discarded, .info = outcome};
    return runloop_channel_request(channel, text, strlen(text), NULL, 0, &config, id);
}

static inline int request(runloop_channel *channel, const char *text, int64_t deadline_ns, struct outcome *outcome) {
    return request_with_id(channel, text, deadline_ns, outcome, NULL);
}

#endif // RUNLOOP_TEST_CHANNELS_H
