// channel.h — what the parts of a channel share.
#ifndef RUNLOOP_CHANNEL_PRIVATE_H
#define RUNLOOP_CHANNEL_PRIVATE_H

#include <errno.h>

#include "base/object.h"
#include "channels/packet.h"
#include "channels/requests.h"
#include "runloop_list.h"

/// A packet that waits for the other end to read.
struct outgoing;
/// A request whose answer is awaited.
struct question;

struct channel {
    struct object object;
    runloop_channel_config config; ///< constant
    runloop_peer peer;             ///< constant
    size_t most_bytes;             ///< constant: of a message, in a packet

    struct steady_lock lock;
    int socket GUARDED;     ///< the source's descriptor; -1 when it is closed
    bool has_ended GUARDED; ///< nothing is sent or received any more
    struct outgoing *first GUARDED, **last GUARDED;
    size_t count GUARDED, bytes GUARDED;
    size_t calls GUARDED;      ///< received and not answered
    size_t held GUARDED;       ///< messages that the client holds
    size_t answers GUARDED;    ///< of the packets that wait
    size_t unanswered GUARDED; ///< requests that the other end has not answered, those that have timed out included
    struct requests requests GUARDED; ///< that were sent
    /// The memory of the last request that is over, for the next one: a client that waits for each answer before it asks again allocates it
    /// once. Only sequentially consistent exchanges take it and put it back, so that one thread has it.
    _Atomic(struct question *) spare_question;
};

/// NULL: it is not a channel.
static inline struct channel *channel_of(runloop_source *source) {
    return runloop__object_of(source, OBJECT_CHANNEL);
}
/// Has the socket watched for what can be done. The loop comes and tries again if that fails.
HOLDS_LOCK void runloop__channel_watch(struct channel *channel);
/// -EMSGSIZE, -EINVAL.
int runloop__channel_check_message(struct channel *channel, const void *bytes, size_t length, const int *descriptors,
                                   size_t count);

/// Sends a packet now, or puts a copy into the queue.
HOLDS_LOCK int runloop__channel_transmit(struct channel *channel, const struct packet *packet, bool is_limited);
/// Sends what waits: how many packets are left, or an error; -EPIPE has dropped them.
HOLDS_LOCK ptrdiff_t runloop__channel_flush(struct channel *channel);
HOLDS_LOCK void runloop__channel_drop_queue(struct channel *channel);

/// Calls out a reply to the request that has the number. -EPROTO if there never was one.
int runloop__channel_answer(struct channel *channel, struct incoming *incoming);
/// Calls out the first request whose deadline has passed, if any has. For the next one the loop comes again.
void runloop__channel_time_out(struct channel *channel);
/// Answers each request that was sent with -EPIPE, or, without `calls_out`, discards it.
void runloop__channel_end_requests(struct channel *channel, bool calls_out);

/// The handle of a request that was received. NULL: no memory.
runloop_call *runloop__call_make(struct channel *channel, uint64_t id);

#endif // RUNLOOP_CHANNEL_PRIVATE_H
