// channel_requests.c — requests over a channel: those that were sent, by number and deadline, and those that were received.

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "channel.h"

//===-- sent ---------------------------------------------------------------------------------------------------------===//

/// A request whose answer is awaited.
struct awaited {
    struct link in_channel;
    uint64_t id;
    runloop_channel_request_config config;
};

/// For the earliest deadline.
HOLDS_LOCK static void arm(runloop_channel *channel) {
    if (channel->timer < 0)
        return;
    struct itimerspec date = {0};
    if (!link_is_alone(&channel->timed)) {
        int64_t deadline_ns = LINK_OWNER(channel->timed.next, struct awaited, in_channel)->config.deadline_ns;
        date.it_value = (struct timespec){deadline_ns / 1000000000, deadline_ns % 1000000000};
    }
    timerfd_settime(channel->timer, TFD_TIMER_ABSTIME, &date, NULL);
}

HOLDS_LOCK static int make_timer(runloop_channel *channel) {
    if (channel->timer >= 0)
        return 0;
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = -1};
    if (timer < 0 || epoll_ctl(channel->set, EPOLL_CTL_ADD, timer, &event) < 0) {
        int result = -errno;
        if (timer >= 0)
            close(timer);
        return result;
    }
    channel->timer = timer;
    return 0;
}

HOLDS_LOCK static int enter(runloop_channel *channel, struct awaited *awaited) {
    struct link *position = &channel->untimed;
    if (awaited->config.deadline_ns != RUNLOOP_NEVER) {
        int result = make_timer(channel);
        if (result < 0)
            return result;
        for (position = &channel->timed; position->previous != &channel->timed; position = position->previous) {
            const struct awaited *earlier = LINK_OWNER(position->previous, struct awaited, in_channel);
            if (earlier->config.deadline_ns <= awaited->config.deadline_ns)
                break;
        }
    }
    link_insert_before(position, &awaited->in_channel);
    if (channel->timed.next == &awaited->in_channel)
        arm(channel);
    return 0;
}

int runloop_channel_request(runloop_channel *channel, const void *bytes, size_t length, const int *descriptors,
                            size_t descriptor_count, const runloop_channel_request_config *config, uint64_t *id) {
    if (!config)
        return -EINVAL;
    int result = runloop__channel_check_message(channel, bytes, length, descriptors, descriptor_count);
    if (result < 0)
        return result;
    struct awaited *awaited = malloc(sizeof *awaited);
    if (!awaited)
        return -ENOMEM;
    awaited->config = *config;
    if (config->deadline_ns <= 0)
        awaited->config.deadline_ns = RUNLOOP_NEVER;
    struct packet packet;
    result = runloop__wire_prepare(&packet, WIRE_REQUEST, 0, bytes, length, descriptors, descriptor_count);
    if (result < 0) {
        free(awaited);
        return result;
    }
    steady_take(&channel->lock);
    awaited->id = packet.header.id = channel->last_id + 1;
    result = channel->socket < 0 ? -EPIPE : enter(channel, awaited);
    if (result == 0) {
        result = runloop__channel_transmit(channel, &packet, true);
        if (result == 0) {
            channel->last_id++;
            if (id)
                *id = channel->last_id;
            channel->unanswered++;
            runloop__channel_watch(channel);
        } else {
            link_remove(&awaited->in_channel);
        }
    }
    steady_give(&channel->lock);
    runloop__wire_finish(&packet);
    if (result < 0)
        free(awaited);
    return result;
}

static struct awaited *find(struct link *ring, uint64_t id) {
    for (struct link *node = ring->next; node != ring; node = node->next) {
        struct awaited *awaited = LINK_OWNER(node, struct awaited, in_channel);
        if (awaited->id == id)
            return awaited;
    }
    return NULL;
}

static struct awaited *find_any(runloop_channel *channel, uint64_t id) {
    struct awaited *awaited = find(&channel->untimed, id);
    return awaited ? awaited : find(&channel->timed, id);
}

/// On the loop's thread: what was awaited is not in the channel any more.
static void call_out(struct awaited *awaited, const runloop_reply *reply, runloop_channel_message *message) {
    const runloop_channel_request_config config = awaited->config;
    free(awaited);
    if (config.replied)
        config.replied(reply, message ? message->descriptors : NULL, message ? message->descriptor_count : 0,
                       config.info);
}

int runloop__channel_answer(runloop_channel *channel, struct incoming *incoming) {
    steady_take(&channel->lock);
    struct awaited *awaited = find_any(channel, incoming->header.id);
    if (awaited)
        link_remove(&awaited->in_channel);
    bool was_sent = incoming->header.id <= channel->last_id;
    channel->unanswered -= was_sent && channel->unanswered > 0;
    runloop__channel_watch(channel);
    steady_give(&channel->lock);
    // It may have timed out, or been cancelled.
    if (!awaited)
        return was_sent ? 0 : -EPROTO;
    runloop_channel_message *message = &incoming->message;
    const runloop_reply reply = {
        .result = incoming->header.kind == WIRE_DROPPED ? -ENOMSG : 0,
        .bytes = message->length > 0 ? message->bytes : NULL,
        .length = message->length,
    };
    call_out(awaited, &reply, message);
    return 0;
}

static struct awaited *take_due(runloop_channel *channel) {
    steady_take(&channel->lock);
    struct awaited *due = NULL;
    if (!link_is_alone(&channel->timed)) {
        due = LINK_OWNER(channel->timed.next, struct awaited, in_channel);
        if (due->config.deadline_ns <= runloop_get_now_ns(NULL))
            link_remove(&due->in_channel);
        else
            due = NULL;
    }
    // Setting it makes it unreadable.
    if (!due)
        arm(channel);
    steady_give(&channel->lock);
    return due;
}

void runloop__channel_time_out(runloop_channel *channel) {
    const runloop_reply reply = {.result = -ETIMEDOUT};
    struct awaited *due;
    while (!object_is_inherited(&channel->object) && (due = take_due(channel)))
        call_out(due, &reply, NULL);
}

static struct awaited *take_any(runloop_channel *channel) {
    steady_take(&channel->lock);
    struct link *ring = link_is_alone(&channel->timed) ? &channel->untimed : &channel->timed;
    struct awaited *awaited = NULL;
    if (!link_is_alone(ring)) {
        awaited = LINK_OWNER(ring->next, struct awaited, in_channel);
        link_remove(&awaited->in_channel);
    }
    steady_give(&channel->lock);
    return awaited;
}

static void discard(struct awaited *awaited) {
    const runloop_channel_request_config config = awaited->config;
    free(awaited);
    if (config.discard)
        config.discard(config.info);
}

int runloop_channel_cancel(runloop_channel *channel, uint64_t id) {
    int result = runloop__channel_check(channel);
    if (result < 0)
        return result;
    steady_take(&channel->lock);
    struct awaited *awaited = find_any(channel, id);
    if (awaited) {
        link_remove(&awaited->in_channel);
        arm(channel);
    }
    steady_give(&channel->lock);
    if (!awaited)
        return -ENOENT;
    discard(awaited);
    return 0;
}

void runloop__channel_end_requests(runloop_channel *channel, bool calls_out) {
    const runloop_reply reply = {.result = -EPIPE};
    struct awaited *awaited;
    while (!object_is_inherited(&channel->object) && (awaited = take_any(channel))) {
        if (calls_out)
            call_out(awaited, &reply, NULL);
        else
            discard(awaited);
    }
}

//===-- received -----------------------------------------------------------------------------------------------------===//

struct runloop_call {
    runloop_channel *channel; ///< constant, retained
    uint64_t id;              ///< constant
    _Atomic uint32_t references;
    bool is_answered; ///< lock of the channel
};

runloop_call *runloop__call_make(runloop_channel *channel, uint64_t id) {
    runloop_call *call = malloc(sizeof *call);
    if (!call)
        return NULL;
    *call = (runloop_call){.channel = runloop_channel_retain(channel), .id = id, .references = 1};
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
    result = runloop__wire_prepare(&packet, WIRE_REPLY, call->id, bytes, length, descriptors, descriptor_count);
    if (result < 0)
        return result;
    steady_take(&call->channel->lock);
    result = answer(call, &packet);
    steady_give(&call->channel->lock);
    runloop__wire_finish(&packet);
    return result;
}

/// Tells the other end. If there is no memory to do so, the connection is broken off, which tells it too.
static void drop(runloop_call *call) {
    runloop_channel *channel = call->channel;
    struct packet packet;
    runloop__wire_prepare(&packet, WIRE_DROPPED, call->id, NULL, 0, NULL, 0);
    steady_take(&channel->lock);
    int result = answer(call, &packet);
    if (result < 0 && result != -EALREADY && channel->socket >= 0)
        shutdown(channel->socket, SHUT_RDWR);
    steady_give(&channel->lock);
    runloop__wire_finish(&packet);
}

void runloop_call_release(runloop_call *call) {
    if (!call || atomic_fetch_sub(&call->references, 1) > 1)
        return;
    if (runloop__channel_check(call->channel) == 0)
        drop(call);
    runloop_channel_release(call->channel);
    free(call);
}
