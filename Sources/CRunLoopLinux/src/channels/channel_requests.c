// channel_requests.c — requests over a channel: those that were sent, by number and deadline, and those that were received.

#ifdef __linux__
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "channels/channel.h"

//===-- sent ---------------------------------------------------------------------------------------------------------===//

struct question {
    struct awaited awaited;
    runloop_channel_request_config config;
};

static struct question *question_of(struct awaited *awaited) {
    return awaited ? LIST_ENTRY(awaited, struct question, awaited) : NULL;
}

/// 0, or the error of runloop_channel_request. The packet gets the number of the request.
HOLDS_LOCK static int ask(struct channel *channel, struct question *question, struct packet *packet) {
    ASSERT_HOLDS(&channel->lock.lock);
    if (channel->has_ended)
        return -EPIPE;
    int result = runloop__requests_enter(&channel->requests, &question->awaited, question->config.deadline_ns,
                                         channel->object.source);
    if (result < 0)
        return result;
    packet->header.id = question->awaited.id;
    result = runloop__channel_transmit(channel, packet, true);
    if (result < 0) {
        // The other end has not seen the number, and must not answer to it.
        runloop__requests_withdraw(&channel->requests, &question->awaited);
        return result;
    }
    channel->unanswered++;
    runloop__channel_watch(channel);
    return 0;
}

int runloop_channel_request(runloop_channel *source, const void *bytes, size_t length, const int *descriptors,
                            size_t descriptor_count, const runloop_channel_request_config *config, uint64_t *id) {
    struct channel *channel = channel_of(source);
    if (!config)
        return -EINVAL;
    int result = runloop__channel_check_message(channel, bytes, length, descriptors, descriptor_count);
    if (result < 0)
        return result;
    struct question *question = atomic_exchange(&channel->spare_question, NULL);
    if (!question)
        question = malloc(sizeof *question);
    if (!question)
        return -ENOMEM;
    *question = (struct question){.config = *config};
    struct packet packet;
    result = runloop__packet_prepare(&packet, channel->most_bytes, PACKET_REQUEST, 0, bytes, length, descriptors,
                                     descriptor_count);
    if (result < 0) {
        free(question);
        return result;
    }
    steady_take(&channel->lock);
    result = ask(channel, question, &packet);
    steady_give(&channel->lock);
    runloop__packet_finish(&packet);
    if (result < 0)
        free(question);
    else if (id)
        *id = packet.header.id;
    return result;
}

/// Gives up the memory of one that is over for the channel.
static runloop_channel_request_config end(struct channel *channel, struct question *question) {
    const runloop_channel_request_config config = question->config;
    free(atomic_exchange(&channel->spare_question, question));
    return config;
}

/// On the loop's thread, of one that is over for the channel.
static void call_out(struct channel *channel, struct question *question, const runloop_reply *reply,
                     runloop_channel_message *message) {
    const runloop_channel_request_config config = end(channel, question);
    if (config.replied)
        config.replied(reply, message ? message->descriptors : NULL, message ? message->descriptor_count : 0,
                       config.info);
}

int runloop__channel_answer(struct channel *channel, struct incoming *incoming) {
    steady_take(&channel->lock);
    struct question *question =
        question_of(runloop__requests_take(runloop__requests_find(&channel->requests, incoming->header.id)));
    bool was_sent = incoming->header.id <= channel->requests.last_id;
    channel->unanswered -= was_sent && channel->unanswered > 0;
    runloop__channel_watch(channel);
    steady_give(&channel->lock);
    // It may have timed out, or been cancelled.
    if (!question)
        return was_sent ? 0 : -EPROTO;
    runloop_channel_message *message = &incoming->message;
    const runloop_reply reply = {
        .result = incoming->header.kind == PACKET_DROPPED ? -ENOMSG : 0,
        .bytes = message->length > 0 ? message->bytes : NULL,
        .length = message->length,
    };
    call_out(channel, question, &reply, message);
    return 0;
}

void runloop__channel_time_out(struct channel *channel) {
    const runloop_reply reply = {.result = -ETIMEDOUT};
    steady_take(&channel->lock);
    struct question *due = question_of(runloop__requests_take_due(&channel->requests, channel->object.source));
    steady_give(&channel->lock);
    if (due)
        call_out(channel, due, &reply, NULL);
}

static void discard(struct channel *channel, struct question *question) {
    const runloop_channel_request_config config = end(channel, question);
    if (config.discard)
        config.discard(config.info);
}

int runloop_channel_cancel(runloop_channel *source, uint64_t id) {
    struct channel *channel = channel_of(source);
    int result = object_check(channel);
    if (result < 0)
        return result;
    steady_take(&channel->lock);
    struct question *question = question_of(runloop__requests_take(runloop__requests_find(&channel->requests, id)));
    steady_give(&channel->lock);
    if (!question)
        return -ENOENT;
    discard(channel, question);
    return 0;
}

static struct question *take_any(struct channel *channel) {
    steady_take(&channel->lock);
    struct question *question = question_of(runloop__requests_take_any(&channel->requests));
    steady_give(&channel->lock);
    return question;
}

void runloop__channel_end_requests(struct channel *channel, bool calls_out) {
    const runloop_reply reply = {.result = -EPIPE};
    struct question *question;
    while (!object_is_inherited(&channel->object) && (question = take_any(channel))) {
        if (calls_out)
            call_out(channel, question, &reply, NULL);
        else
            discard(channel, question);
    }
}

//===-- received -----------------------------------------------------------------------------------------------------===//

struct runloop_call {
    struct channel *channel; ///< constant, retained
    uint64_t id;             ///< constant
    _Atomic uint32_t references;
    bool is_answered; ///< lock of the channel
};

runloop_call *runloop__call_make(struct channel *channel, uint64_t id) {
    runloop_call *call = malloc(sizeof *call);
    if (!call)
        return NULL;
    runloop_source_retain(channel->object.source);
    *call = (runloop_call){.channel = channel, .id = id, .references = 1};
    steady_take(&channel->lock);
    channel->calls++;
    runloop__channel_watch(channel);
    steady_give(&channel->lock);
    return call;
}

runloop_call *runloop_call_retain(runloop_call *call) {
    if (call)
        atomic_fetch_add_explicit(&call->references, 1, memory_order_relaxed);
    return call;
}

HOLDS_LOCK static int answer(runloop_call *call, const struct packet *packet) {
    if (call->is_answered)
        return -EALREADY;
    int result = runloop__channel_transmit(call->channel, packet, false);
    if (result < 0)
        return result;
    call->is_answered = true;
    call->channel->calls--;
    runloop__channel_watch(call->channel);
    return 0;
}

int runloop_call_reply(runloop_call *call, const void *bytes, size_t length, const int *descriptors,
                       size_t descriptor_count) {
    if (!call)
        return -EINVAL;
    int result = runloop__channel_check_message(call->channel, bytes, length, descriptors, descriptor_count);
    if (result < 0)
        return result;
    struct packet packet;
    result = runloop__packet_prepare(&packet, call->channel->most_bytes, PACKET_REPLY, call->id, bytes, length,
                                     descriptors, descriptor_count);
    if (result < 0)
        return result;
    steady_take(&call->channel->lock);
    result = answer(call, &packet);
    steady_give(&call->channel->lock);
    runloop__packet_finish(&packet);
    return result;
}

/// Notifies the other end. If there is no memory to do so, the connection is broken off, which the other end notices, too.
static void drop(runloop_call *call) {
    struct channel *channel = call->channel;
    struct packet packet;
    runloop__packet_prepare(&packet, channel->most_bytes, PACKET_DROPPED, call->id, NULL, 0, NULL, 0);
    steady_take(&channel->lock);
    int result = answer(call, &packet);
    if (result < 0 && result != -EALREADY && !channel->has_ended)
        shutdown(channel->socket, SHUT_RDWR);
    steady_give(&channel->lock);
    runloop__packet_finish(&packet);
}

void runloop_call_release(runloop_call *call) {
    if (!call || atomic_fetch_sub(&call->references, 1) > 1)
        return;
    if (object_check(call->channel) == 0)
        drop(call);
    runloop_source_release(call->channel->object.source);
    free(call);
}
#endif // __linux__
