// packet.h — what channels send: a packet each, with a header, bytes, and descriptors. The other end may be hostile.
#ifndef RUNLOOP_PACKET_H
#define RUNLOOP_PACKET_H

#include "runloop_channel.h"

enum {
    PACKET_VERSION = 1,
    /// Bytes of a packet behind its header, at most. A longer message is in a memfd, of which the packet has the length.
    PACKET_MOST_BYTES = 64 << 10,
    /// As many as the kernel passes with a packet, one of them a memfd.
    PACKET_MOST_DESCRIPTORS = 253,
};

enum packet_kind { PACKET_MESSAGE = 1, PACKET_REQUEST = 2, PACKET_REPLY = 3, PACKET_DROPPED = 4 };

struct packet_header {
    uint8_t version, kind, is_large, zero;
    uint32_t descriptors; ///< with the packet
    uint64_t id;          ///< of a request and its answer, else 0
};

/// To be sent.
struct packet {
    struct packet_header header;
    const void *bytes;
    size_t length;
    size_t counted; ///< bytes of the message, which may be in a memfd
    size_t count;
    int descriptors[PACKET_MOST_DESCRIPTORS];
    int memfd; ///< the first of the descriptors, to be closed, or -1
    uint64_t large_length;
    int cancellation; ///< the state of the thread that has prepared it, before that
};

/// Received, with its descriptors: those that are not taken are closed with it.
struct incoming {
    struct packet_header header;
    bool is_packet; ///< has space for the longest packet, and is used for further ones
    runloop_channel_message message;
    int descriptors[PACKET_MOST_DESCRIPTORS];
    _Alignas(max_align_t) unsigned char bytes[];
};

/// Prepares a message, which keeps the caller's bytes and descriptors. If it has more bytes than `most`, they are in a memfd. 0, or the error of
/// that. The thread is not cancelled until it has finished the packet.
int runloop__packet_prepare(struct packet *packet, size_t most, enum packet_kind kind, uint64_t id, const void *bytes,
                            size_t length, const int *descriptors, size_t count);
void runloop__packet_finish(struct packet *packet);

/// 0, or why it was not sent: -EAGAIN if the other end has to read first.
int runloop__packet_send(int socket, const struct packet *packet);

/// 1; 0 if there is nothing; -EPIPE at the end, -EPROTO, -EMFILE or -ENOMEM. Then no descriptor is left.
int runloop__packet_receive(int socket, size_t max_bytes, size_t max_descriptors, struct incoming **out);
void runloop__packet_free(void *incoming);

#endif // RUNLOOP_PACKET_H
