// channel_queue.c — what a channel sends, or keeps until the other end has read; and what its socket is watched for.

#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "channels/channel.h"

/// So many more answers may wait, and messages may be held, if this end awaits a reply: they come before it. The kernel keeps fewer
/// packets for a socket, and the other end may have a few hundred in its queue.
enum { MOST_BEFORE_A_REPLY = 1024 };

//===-- what is watched ----------------------------------------------------------------------------------------------===//

/// By how much a number exceeds its allowance.
static size_t beyond(size_t number, size_t allowed) {
    return number > allowed ? number - allowed : 0;
}

/// An end that asks and does not read answers is not read from either, or its answers would pile up. But two ends that ask
/// each other must not wait for one another: behind the requests that one of them has sent come its answers, for which the other reads on, even
/// if it awaits none of them any more. So must a client that holds messages, and waits for a reply before it goes on with them.
HOLDS_LOCK static bool may_receive(const struct channel *channel) {
    size_t most = channel->config.max_calls;
    bool is_asker = channel->unanswered > 0;
    size_t allowed = is_asker ? MOST_BEFORE_A_REPLY : 0;
    size_t answers = beyond(channel->answers, allowed), held = beyond(channel->held, allowed);
    return channel->calls < most && held < most - channel->calls && answers < most - channel->calls - held;
}

void runloop__channel_watch(struct channel *channel) {
    ASSERT_HOLDS(&channel->lock.lock);
    runloop_source *source = channel->object.source;
    // The end of the other side is reported in any case.
    runloop_readiness wanted = RUNLOOP_ERROR;
    if (may_receive(channel))
        wanted |= RUNLOOP_READABLE;
    if (channel->first)
        wanted |= RUNLOOP_WRITABLE;
    // What waits would wait for ever otherwise.
    if (runloop_source_get_events(source) != wanted && runloop_source_set_events(source, wanted) < 0)
        runloop_source_wake(source);
}

//===-- the queue ----------------------------------------------------------------------------------------------------===//

struct outgoing {
    struct outgoing *next;
    struct packet packet; ///< with descriptors of its own
    unsigned char bytes[];
};

static void free_outgoing(struct outgoing *outgoing) {
    for (size_t i = 0; i < outgoing->packet.count; i++)
        close(outgoing->packet.descriptors[i]);
    free(outgoing);
}

static bool is_answer(const struct packet *packet) {
    return packet->header.kind == PACKET_REPLY || packet->header.kind == PACKET_DROPPED;
}

static int copy(const struct packet *packet, struct outgoing **out) {
    struct outgoing *outgoing = malloc(sizeof *outgoing + packet->length);
    if (!outgoing)
        return -ENOMEM;
    outgoing->next = NULL;
    outgoing->packet = *packet;
    outgoing->packet.bytes = outgoing->bytes;
    outgoing->packet.memfd = -1;
    if (packet->length > 0)
        memcpy(outgoing->bytes, packet->bytes, packet->length);
    for (outgoing->packet.count = 0; outgoing->packet.count < packet->count; outgoing->packet.count++) {
        int duplicate = fcntl(packet->descriptors[outgoing->packet.count], F_DUPFD_CLOEXEC, 0);
        if (duplicate < 0) {
            int result = -errno;
            free_outgoing(outgoing);
            return result;
        }
        outgoing->packet.descriptors[outgoing->packet.count] = duplicate;
    }
    *out = outgoing;
    return 0;
}

int runloop__channel_transmit(struct channel *channel, const struct packet *packet, bool is_limited) {
    ASSERT_HOLDS(&channel->lock.lock);
    if (channel->has_ended)
        return -EPIPE;
    if (!channel->first) {
        int result = runloop__packet_send(channel->socket, packet);
        if (result != -EAGAIN)
            return result;
    }
    const runloop_channel_config *config = &channel->config;
    if (is_limited && (channel->count >= config->max_messages || channel->bytes + packet->counted > config->max_bytes))
        return -EAGAIN;
    struct outgoing *outgoing = NULL;
    int result = copy(packet, &outgoing);
    if (result < 0)
        return result;
    *channel->last = outgoing;
    channel->last = &outgoing->next;
    channel->count++;
    channel->bytes += packet->counted;
    channel->answers += is_answer(packet);
    runloop__channel_watch(channel);
    return 0;
}

HOLDS_LOCK static void drop_first(struct channel *channel) {
    ASSERT_HOLDS(&channel->lock.lock);
    struct outgoing *outgoing = channel->first;
    channel->first = outgoing->next;
    if (!channel->first)
        channel->last = &channel->first;
    channel->count--;
    channel->bytes -= outgoing->packet.counted;
    channel->answers -= is_answer(&outgoing->packet);
    free_outgoing(outgoing);
}

ptrdiff_t runloop__channel_flush(struct channel *channel) {
    ASSERT_HOLDS(&channel->lock.lock);
    int result = 0;
    while (result == 0 && channel->first) {
        result = runloop__packet_send(channel->socket, &channel->first->packet);
        if (result == 0)
            drop_first(channel);
    }
    // Nobody will read, but what the other end has sent before is still received.
    if (result == -EPIPE)
        runloop__channel_drop_queue(channel);
    runloop__channel_watch(channel);
    return result == 0 || result == -EAGAIN ? (ptrdiff_t)channel->count : result;
}

void runloop__channel_drop_queue(struct channel *channel) {
    while (channel->first)
        drop_first(channel);
}

//===-- sending ------------------------------------------------------------------------------------------------------===//

int runloop__channel_check_message(struct channel *channel, const void *bytes, size_t length, const int *descriptors,
                                   size_t count) {
    int result = object_check(channel);
    if (result < 0)
        return result;
    if ((!bytes && length > 0) || (!descriptors && count > 0))
        return -EINVAL;
    return length <= channel->config.max_bytes && count <= channel->config.max_descriptors ? 0 : -EMSGSIZE;
}

int runloop_channel_send(runloop_channel *source, const void *bytes, size_t length, const int *descriptors,
                         size_t descriptor_count) {
    struct channel *channel = channel_of(source);
    int result = runloop__channel_check_message(channel, bytes, length, descriptors, descriptor_count);
    if (result < 0)
        return result;
    struct packet packet;
    result = runloop__packet_prepare(&packet, channel->most_bytes, PACKET_MESSAGE, 0, bytes, length, descriptors,
                                     descriptor_count);
    if (result < 0)
        return result;
    steady_take(&channel->lock);
    result = runloop__channel_transmit(channel, &packet, true);
    steady_give(&channel->lock);
    runloop__packet_finish(&packet);
    return result;
}
#endif // __linux__
