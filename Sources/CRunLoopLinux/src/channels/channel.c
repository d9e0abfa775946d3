// channel.c — a channel: made, received from, ended. Its source has the socket, and the earliest deadline of its requests.

#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "channels/channel.h"

enum {
    DEFAULT_MESSAGES = 64,
    DEFAULT_BYTES = 1 << 20,
    DEFAULT_DESCRIPTORS = 16,
    DEFAULT_CALLS = 64,
    MOST_DESCRIPTORS = 250
};

//===-- its end ------------------------------------------------------------------------------------------------------===//

/// Whether it had not ended before.
HOLDS_LOCK static bool break_off(struct channel *channel) {
    ASSERT_HOLDS(&channel->lock.lock);
    if (channel->has_ended)
        return false;
    channel->has_ended = true;
    // The other end learns it even if a forked child has the socket, too.
    shutdown(channel->socket, SHUT_RDWR);
    runloop__channel_drop_queue(channel);
    return true;
}

/// On the loop's thread. The socket is closed when its source is in no loop any more.
static void end(struct channel *channel, int32_t reason) {
    steady_take(&channel->lock);
    bool is_first = break_off(channel);
    steady_give(&channel->lock);
    if (!is_first)
        return;
    runloop_source_invalidate(channel->object.source);
    runloop__channel_end_requests(channel, true);
    if (channel->config.ended && !object_is_inherited(&channel->object))
        channel->config.ended(channel->object.source, reason, channel->object.context.info);
}

UNCHECKED static void free_channel(void *info) {
    struct channel *channel = info;
    if (channel->socket >= 0)
        close(channel->socket);
    if (channel->peer.pidfd >= 0)
        close(channel->peer.pidfd);
    steady_take(&channel->lock);
    runloop__channel_drop_queue(channel);
    steady_give(&channel->lock);
    // In a forked child they are the parent's.
    if (!object_is_inherited(&channel->object))
        runloop__channel_end_requests(channel, false);
    free(atomic_load(&channel->spare_question));
    runloop__object_end(&channel->object);
    free(channel);
}

//===-- receiving ----------------------------------------------------------------------------------------------------===//

/// -ENOMEM, or 0.
static int receive_message(struct channel *channel, struct incoming *incoming) {
    if (incoming->header.kind == PACKET_REQUEST) {
        incoming->message.call = runloop__call_make(channel, incoming->header.id);
        if (!incoming->message.call)
            return -ENOMEM;
    }
    if (channel->config.receive)
        channel->config.receive(channel->object.source, &incoming->message, channel->object.context.info);
    return 0;
}

static void finish_incoming(void *info) {
    struct incoming *incoming = info;
    runloop_call_release(incoming->message.call);
    runloop__packet_free(incoming);
}

/// One packet. 0, or why the channel ends.
static int receive(struct channel *channel) {
    struct incoming *incoming = NULL;
    steady_take(&channel->lock);
    int result = channel->has_ended ? 0
                                    : runloop__packet_receive(channel->socket, channel->config.max_bytes,
                                                              channel->config.max_descriptors, &incoming);
    steady_give(&channel->lock);
    if (result <= 0)
        return result;
    // The call-out may end the thread.
    pthread_cleanup_push(finish_incoming, incoming);
    if (incoming->header.kind == PACKET_MESSAGE || incoming->header.kind == PACKET_REQUEST)
        result = receive_message(channel, incoming);
    else
        result = runloop__channel_answer(channel, incoming);
    pthread_cleanup_pop(1);
    return result;
}

/// 0, or why the channel ends.
static int flush(struct channel *channel) {
    steady_take(&channel->lock);
    bool has_waited = channel->first;
    ptrdiff_t result = channel->has_ended ? 0 : runloop__channel_flush(channel);
    steady_give(&channel->lock);
    bool is_gone = result == -EPIPE;
    if (has_waited && (result == 0 || is_gone) && channel->config.drained)
        channel->config.drained(channel->object.source, (int)result, channel->object.context.info);
    // What the other end had sent before it went is still received.
    return result < 0 && !is_gone ? (int)result : 0;
}

/// Tries again what could not be done for want of memory. The source is signalled for that alone; a signal from elsewhere does no harm.
static void retry(struct channel *channel) {
    steady_take(&channel->lock);
    runloop__channel_watch(channel);
    steady_give(&channel->lock);
}

static void ready(runloop_source *source, runloop_readiness reasons, void *info) {
    (void)source;
    struct channel *channel = info;
    int result = 0;
    if (reasons & RUNLOOP_SIGNALLED)
        retry(channel);
    // A call-out that ends the thread keeps nothing from other loops: the socket is reported again, and the deadline of the next request is set.
    if (reasons & (RUNLOOP_DUE | RUNLOOP_SIGNALLED))
        runloop__channel_time_out(channel);
    // Each call-out may fork: what comes from the socket is the parent's.
    if (reasons & RUNLOOP_WRITABLE && object_check(channel) == 0)
        result = flush(channel);
    // When the other end is gone, the calls that wait can't become more than it has sent.
    if (result == 0 && reasons & (RUNLOOP_READABLE | RUNLOOP_HANG_UP | RUNLOOP_ERROR) && object_check(channel) == 0)
        result = receive(channel);
    if (result < 0 && object_check(channel) == 0)
        end(channel, result);
}

static void invalidated(void *info) {
    struct channel *channel = info;
    steady_take(&channel->lock);
    bool is_first = break_off(channel);
    close(channel->socket);
    channel->socket = -1;
    steady_give(&channel->lock);
    if (is_first)
        runloop__channel_end_requests(channel, false);
}

static const struct object_class channel_class = {
    .kind = OBJECT_CHANNEL, .ready = ready, .invalidated = invalidated, .free = free_channel};

int runloop_channel_hold_message(runloop_channel *source) {
    struct channel *channel = channel_of(source);
    int result = object_check(channel);
    if (result < 0)
        return result;
    steady_take(&channel->lock);
    result = channel->has_ended ? -EPIPE : 0;
    if (result == 0) {
        channel->held++;
        runloop__channel_watch(channel);
    }
    steady_give(&channel->lock);
    return result;
}

int runloop_channel_release_message(runloop_channel *source) {
    struct channel *channel = channel_of(source);
    int result = object_check(channel);
    if (result < 0)
        return result;
    steady_take(&channel->lock);
    result = channel->held == 0 ? -EINVAL : 0;
    if (result == 0) {
        channel->held--;
        runloop__channel_watch(channel);
    }
    steady_give(&channel->lock);
    return result;
}

//===-- its life -----------------------------------------------------------------------------------------------------===//

static int option(int descriptor, int domain, int name, void *value, socklen_t size) {
    return getsockopt(descriptor, domain, name, value, &size) < 0 ? -errno : 0;
}

/// Which process is at the other end of the socket, and whether that is allowed.
static int find_peer(int descriptor, bool allows_any_user, runloop_peer *peer) {
    int type = 0;
    int result = option(descriptor, SOL_SOCKET, SO_TYPE, &type, sizeof type);
    if (result < 0 || type != SOCK_SEQPACKET)
        return result == 0 || result == -ENOTSOCK ? -EINVAL : result;
    result = runloop_socket_get_peer(descriptor, peer);
    if (result < 0)
        return result == -EAFNOSUPPORT ? -EINVAL : result;
    if (peer->uid == geteuid() || allows_any_user)
        return 0;
    if (peer->pidfd >= 0)
        close(peer->pidfd);
    peer->pidfd = -1;
    return -EPERM;
}

static size_t or_default(size_t limit, size_t number) {
    return limit ? limit : number;
}

UNCHECKED static struct channel *make(const runloop_channel_config *config) {
    struct channel *channel = calloc(1, sizeof *channel);
    if (!channel)
        return NULL;
    channel->config = *config;
    channel->config.max_messages = or_default(config->max_messages, DEFAULT_MESSAGES);
    channel->config.max_bytes = or_default(config->max_bytes, DEFAULT_BYTES);
    channel->config.max_descriptors = or_default(config->max_descriptors, DEFAULT_DESCRIPTORS);
    channel->config.max_calls = or_default(config->max_calls, DEFAULT_CALLS);
    channel->last = &channel->first;
    channel->socket = channel->peer.pidfd = -1;
    runloop__requests_init(&channel->requests);
    return channel;
}

/// How many bytes of a message go through a socket with such a buffer: the kernel refuses a packet that is larger, however long that waits.
static size_t most_bytes(int buffer) {
    enum { KEPT_BY_KERNEL = 32 }; // of the buffer, when it is asked for a packet
    int most = buffer - KEPT_BY_KERNEL - (int)sizeof(struct packet_header);
    return most < 0 ? 0 : most < PACKET_MOST_BYTES ? (size_t)most : PACKET_MOST_BYTES;
}

/// The source of a channel that has a peer.
UNCHECKED static int begin(struct channel *channel, int descriptor) {
    const struct object_config object = {.context = channel->config.context,
                                         .cancel = channel->config.cancel,
                                         .descriptor = descriptor,
                                         .events = RUNLOOP_READABLE | RUNLOOP_ERROR,
                                         .class = &channel_class};
    int buffer, result = option(descriptor, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
    if (result == 0)
        result = runloop__object_begin(&channel->object, &object);
    if (result < 0)
        return result;
    // Nothing fails from here on. Every call says MSG_DONTWAIT, but others may have the socket, too.
    fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
    channel->most_bytes = most_bytes(buffer);
    channel->socket = descriptor;
    return 0;
}

int runloop_channel_create(int descriptor, const runloop_channel_config *config, runloop_channel **out) {
    if (!config || !out || config->max_descriptors > MOST_DESCRIPTORS)
        return -EINVAL;
    struct channel *channel = make(config);
    if (!channel)
        return -ENOMEM;
    int result = find_peer(descriptor, config->allows_any_user, &channel->peer);
    if (result == 0)
        result = begin(channel, descriptor);
    if (result < 0) {
        if (channel->peer.pidfd >= 0)
            close(channel->peer.pidfd);
        free(channel);
        return result;
    }
    *out = channel->object.source;
    return 0;
}

int runloop_channel_get_peer(runloop_channel *source, runloop_peer *out) {
    struct channel *channel = channel_of(source);
    if (!channel || !out)
        return -EINVAL;
    *out = channel->peer;
    return 0;
}
#endif // __linux__
