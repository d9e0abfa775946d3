// packet.c — packets are sent and received; what is received is checked before anything is done with it.

#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/write.h"
#include "channels/packet.h"
#include "runloop_bionic.h"

// Not every libc has the names.
#ifndef F_GET_SEALS
#define F_ADD_SEALS 1033
#define F_GET_SEALS 1034
#define F_SEAL_SEAL 1
#define F_SEAL_SHRINK 2
#define F_SEAL_GROW 4
#define F_SEAL_WRITE 8
#endif
#ifndef SCM_PIDFD
#define SCM_PIDFD 4
#endif

enum { SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE };

//===-- sending ------------------------------------------------------------------------------------------------------===//

static int write_all(int descriptor, const unsigned char *bytes, size_t length) {
    while (length > 0) {
        const struct iovec rest = {(void *)bytes, length};
        // A limit of the size of files holds for a memory file, too.
        ssize_t written = runloop__write_quietly(descriptor, &rest, 1, SIGXFSZ, EFBIG);
        if (written < 0 && errno != EINTR)
            return -errno;
        if (written > 0) {
            bytes += written;
            length -= (size_t)written;
        }
    }
    return 0;
}

/// The bytes in a memory file that nobody can change any more.
static int make_sealed(const void *bytes, size_t length) {
    int descriptor = memfd_create("runloop-channel", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (descriptor < 0)
        return -errno;
    int result = write_all(descriptor, bytes, length);
    if (result == 0 && fcntl(descriptor, F_ADD_SEALS, SEALS | F_SEAL_SEAL) < 0)
        result = -errno;
    if (result < 0) {
        close(descriptor);
        return result;
    }
    return descriptor;
}

int runloop__packet_prepare(struct packet *packet, size_t most, enum packet_kind kind, uint64_t id, const void *bytes,
                            size_t length, const int *descriptors, size_t count) {
    packet->header = (struct packet_header){.version = PACKET_VERSION, .kind = (uint8_t)kind, .id = id};
    packet->bytes = bytes;
    packet->length = packet->counted = length;
    packet->count = 0;
    packet->memfd = -1;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &packet->cancellation);
    if (length > most) {
        packet->memfd = make_sealed(bytes, length);
        if (packet->memfd < 0) {
            pthread_setcancelstate(packet->cancellation, NULL);
            return packet->memfd;
        }
        packet->header.is_large = 1;
        packet->large_length = length;
        packet->bytes = &packet->large_length;
        packet->length = sizeof packet->large_length;
        packet->descriptors[packet->count++] = packet->memfd;
    }
    for (size_t i = 0; i < count; i++)
        packet->descriptors[packet->count++] = descriptors[i];
    packet->header.descriptors = (uint32_t)packet->count;
    return 0;
}

void runloop__packet_finish(struct packet *packet) {
    if (packet->memfd >= 0)
        close(packet->memfd);
    pthread_setcancelstate(packet->cancellation, NULL);
}

/// Space for the descriptors of a packet.
union control {
    char bytes[CMSG_SPACE(PACKET_MOST_DESCRIPTORS * sizeof(int))];
    struct cmsghdr alignment;
};

int runloop__packet_send(int socket, const struct packet *packet) {
    struct iovec parts[] = {{(void *)&packet->header, sizeof packet->header}, {(void *)packet->bytes, packet->length}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = packet->length > 0 ? 2 : 1};
    union control control;
    if (packet->count > 0) {
        size_t size = packet->count * sizeof(int);
        memset(&control, 0, sizeof control);
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(size);
        struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(size);
        memcpy(CMSG_DATA(rights), packet->descriptors, size);
    }
    ssize_t sent;
    do
        sent = sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent >= 0)
        return 0;
    return errno == ECONNRESET ? -EPIPE : errno == ENOBUFS ? -ENOMEM : -errno;
}

//===-- receiving ----------------------------------------------------------------------------------------------------===//

// Only receiving a packet shows its length, and a part that finds no space is lost. To ask first would be a system call for each packet. So
// it is received into space for the longest, which is kept: one for the process, which has the packet until its call-out returns. Whoever
// needs another one meanwhile, a nested run or another thread, makes it, and frees it if there is one again by then. A caller that takes it
// out by the exchange has it alone.
static _Atomic(struct incoming *) kept;

static struct incoming *make_incoming(size_t length) {
    struct incoming *incoming = malloc(sizeof *incoming + length);
    if (incoming) {
        incoming->is_packet = false;
        incoming->message =
            (runloop_channel_message){.bytes = incoming->bytes, .length = length, .descriptors = incoming->descriptors};
    }
    return incoming;
}

/// Space for the descriptors of a packet, and for what else the kernel adds where the socket's options ask for it: the sender's credentials,
/// its label, which has no more than a page, and a descriptor of its process. Behind the bytes of the longest packet, and not on the stack,
/// which may be small.
union received_control {
    char bytes[CMSG_SPACE(PACKET_MOST_DESCRIPTORS * sizeof(int)) + CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(4096) +
               CMSG_SPACE(sizeof(int))];
    struct cmsghdr alignment;
};

static struct incoming *make_packet(void) {
    struct incoming *packet = atomic_exchange(&kept, NULL);
    if (!packet)
        packet = malloc(sizeof *packet + PACKET_MOST_BYTES + sizeof(union received_control));
    if (packet) {
        packet->is_packet = true;
        packet->message = (runloop_channel_message){.bytes = packet->bytes, .descriptors = packet->descriptors};
    }
    return packet;
}

static void free_incoming(struct incoming *incoming) {
    struct incoming *none = NULL;
    if (!incoming->is_packet || !atomic_compare_exchange_strong(&kept, &none, incoming))
        free(incoming);
}

void runloop__packet_free(void *pointer) {
    struct incoming *incoming = pointer;
    int cancellation;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellation);
    for (size_t i = 0; i < incoming->message.descriptor_count; i++)
        if (incoming->message.descriptors[i] >= 0)
            close(incoming->message.descriptors[i]);
    free_incoming(incoming);
    pthread_setcancelstate(cancellation, NULL);
}

/// Keeps the descriptors that were sent, and closes those that the kernel has added. In place of one that finds no number there is an error.
static void take_descriptors(struct incoming *incoming, struct msghdr *message) {
    for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR(message, part)) {
        bool are_sent = part->cmsg_type == SCM_RIGHTS;
        if (part->cmsg_level != SOL_SOCKET || (!are_sent && part->cmsg_type != SCM_PIDFD))
            continue;
        size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; i++) {
            int descriptor;
            memcpy(&descriptor, CMSG_DATA(part) + i * sizeof descriptor, sizeof descriptor);
            if (are_sent && incoming->message.descriptor_count < PACKET_MOST_DESCRIPTORS)
                incoming->descriptors[incoming->message.descriptor_count++] = descriptor;
            else if (descriptor >= 0)
                close(descriptor);
        }
    }
}

static int receive_packet(int socket, struct incoming *incoming) {
    struct iovec parts[] = {{&incoming->header, sizeof incoming->header}, {incoming->bytes, PACKET_MOST_BYTES}};
    union received_control *control = (void *)(incoming->bytes + PACKET_MOST_BYTES);
    struct msghdr message = {
        .msg_iov = parts, .msg_iovlen = 2, .msg_control = control->bytes, .msg_controllen = sizeof control->bytes};
    ssize_t size = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (size < 0)
        return -errno;
    take_descriptors(incoming, &message);
    // An empty packet, which no channel sends, looks the same.
    if (size == 0)
        return -EPIPE;
    if ((message.msg_flags & MSG_TRUNC) || (size_t)size < sizeof incoming->header)
        return -EPROTO;
    // There is space for all that the kernel passes, so it was the process that has no more numbers.
    if (message.msg_flags & MSG_CTRUNC)
        return -EMFILE;
    incoming->message.length = (size_t)size - sizeof incoming->header;
    return 0;
}

static bool is_sound(const struct incoming *incoming) {
    const struct packet_header *header = &incoming->header;
    bool is_answer = header->kind == PACKET_REPLY || header->kind == PACKET_DROPPED;
    if (header->version != PACKET_VERSION || header->zero != 0 || header->is_large > 1)
        return false;
    if (header->kind != PACKET_MESSAGE && header->kind != PACKET_REQUEST && !is_answer)
        return false;
    if ((header->kind == PACKET_MESSAGE) != (header->id == 0))
        return false;
    if (header->kind == PACKET_DROPPED && (incoming->message.length > 0 || header->descriptors > 0))
        return false;
    return header->descriptors == incoming->message.descriptor_count;
}

/// Its bytes are read and not mapped. The seals say that it is a file in memory, so that reading can't be held up, and that it stays as it is.
static int read_large(struct incoming **packet, size_t max_bytes) {
    struct incoming *small = *packet;
    uint64_t length;
    if (small->message.length != sizeof length || small->message.descriptor_count == 0)
        return -EPROTO;
    memcpy(&length, small->bytes, sizeof length);
    int memfd = small->descriptors[0];
    int seals = fcntl(memfd, F_GET_SEALS);
    struct stat status;
    if (seals < 0 || (seals & SEALS) != SEALS || fstat(memfd, &status) < 0)
        return -EPROTO;
    if (length == 0 || length > max_bytes || (uint64_t)status.st_size != length)
        return -EPROTO;
    struct incoming *large = make_incoming((size_t)length);
    if (!large)
        return -ENOMEM;
    for (size_t done = 0; done < length;) {
        ssize_t got = pread(memfd, large->bytes + done, (size_t)length - done, (off_t)done);
        if (got <= 0 && !(got < 0 && errno == EINTR)) {
            free_incoming(large);
            return -EPROTO;
        }
        done += got > 0 ? (size_t)got : 0;
    }
    large->header = small->header;
    large->message.descriptor_count = small->message.descriptor_count - 1;
    memcpy(large->descriptors, small->descriptors + 1, large->message.descriptor_count * sizeof(int));
    close(memfd);
    free_incoming(small);
    *packet = large;
    return 0;
}

static int check(struct incoming **packet, size_t max_bytes, size_t max_descriptors) {
    if (!is_sound(*packet))
        return -EPROTO;
    int result = (*packet)->header.is_large ? read_large(packet, max_bytes) : 0;
    if (result < 0)
        return result;
    const runloop_channel_message *message = &(*packet)->message;
    return message->length <= max_bytes && message->descriptor_count <= max_descriptors ? 0 : -EPROTO;
}

int runloop__packet_receive(int socket, size_t max_bytes, size_t max_descriptors, struct incoming **out) {
    struct incoming *packet = make_packet();
    if (!packet)
        return -ENOMEM;
    int result = receive_packet(socket, packet);
    if (result == 0)
        result = check(&packet, max_bytes, max_descriptors);
    if (result < 0) {
        runloop__packet_free(packet);
        // The kernel reports a reset once, and what was sent before it can still be received.
        return result == -EAGAIN || result == -EINTR || result == -ECONNRESET ? 0 : result;
    }
    *out = packet;
    return 1;
}
#endif // __linux__
