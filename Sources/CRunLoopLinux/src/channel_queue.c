// channel_queue.c — packets that are sent, or wait until the other end has read.

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "channel.h"

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
    return packet->header.kind == WIRE_REPLY || packet->header.kind == WIRE_DROPPED;
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

int runloop__channel_transmit(runloop_channel *channel, const struct packet *packet, bool is_limited) {
    if (channel->socket < 0)
        return -EPIPE;
    if (!channel->first) {
        int result = runloop__wire_send(channel->socket, packet);
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

HOLDS_LOCK static void drop_first(runloop_channel *channel) {
    struct outgoing *outgoing = channel->first;
    channel->first = outgoing->next;
    if (!channel->first)
        channel->last = &channel->first;
    channel->count--;
    channel->bytes -= outgoing->packet.counted;
    channel->answers -= is_answer(&outgoing->packet);
    free_outgoing(outgoing);
}

ptrdiff_t runloop__channel_flush(runloop_channel *channel) {
    int result = 0;
    while (result == 0 && channel->first) {
        result = runloop__wire_send(channel->socket, &channel->first->packet);
        if (result == 0)
            drop_first(channel);
    }
    // Nobody will read, but what the other end has sent before is still received.
    if (result == -EPIPE)
        runloop__channel_drop_queue(channel);
    runloop__channel_watch(channel);
    return result == 0 || result == -EAGAIN ? (ptrdiff_t)channel->count : result;
}

void runloop__channel_drop_queue(runloop_channel *channel) {
    while (channel->first)
        drop_first(channel);
}
