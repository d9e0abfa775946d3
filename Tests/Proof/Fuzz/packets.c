// packets.c — a channel whose other end sends any packets, with descriptors: it receives, or ends with a reason, and keeps no descriptor.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "channels/packet.h"
#include "fuzz.h"

enum { MOST_BYTES = 300, MOST_DESCRIPTORS = 4, MOST_CALLS = 3 };

static struct {
    runloop_call *calls[MOST_CALLS];
    int kept, ends;
    bool is_over;
} peer;

static void receive(runloop_channel *channel, runloop_channel_message *message, void *info) {
    (void)channel, (void)info;
    CHECK(peer.ends == 0);
    CHECK(message->length <= MOST_BYTES && message->descriptor_count <= MOST_DESCRIPTORS);
    for (size_t i = 0; i < message->descriptor_count; i++)
        CHECK(fcntl(message->descriptors[i], F_GETFD) == FD_CLOEXEC);
    unsigned sum = 0;
    for (size_t i = 0; i < message->length; i++)
        sum += ((const uint8_t *)message->bytes)[i];
    if (!message->call)
        return;
    if (peer.kept < MOST_CALLS && sum % 2)
        peer.calls[peer.kept++] = runloop_call_retain(message->call);
    else if (sum % 3)
        CHECK(runloop_call_reply(message->call, message->bytes, message->length, NULL, 0) <= 0);
}

static void ended(runloop_channel *channel, int32_t reason, void *info) {
    (void)channel, (void)info;
    CHECK(reason == -EPIPE || reason == -EPROTO || reason == -EMFILE);
    CHECK(++peer.ends == 1);
}

/// Each request is answered once, by a reply or by its end.
static void replied(const runloop_reply *reply, int *descriptors, size_t count, void *info) {
    (void)reply, (void)descriptors;
    CHECK(count <= MOST_DESCRIPTORS && ++*(int *)info == 1);
}

static void discard(void *info) {
    CHECK(++*(int *)info == 1);
}

/// What is sent stays open for further inputs, since to make it costs as much as to send it, and a receiver only reads it: a memfd of each size,
/// sealed or not, and /dev/null.
static int memories[2][256], nothing, kept_open;

static int memory_of(unsigned size, bool is_sealed) {
    int *memory = &memories[is_sealed][size];
    if (*memory > 0)
        return *memory;
    *memory = memfd_create("hostile", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    CHECK(*memory > 0 && ftruncate(*memory, size) == 0);
    if (is_sealed)
        CHECK(fcntl(*memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SEAL) == 0);
    kept_open++;
    return *memory;
}

static int a_descriptor(struct bytes *bytes) {
    if (bytes_take(bytes, 2)) {
        unsigned size = bytes_take(bytes, 256);
        return memory_of(size, bytes_take(bytes, 2));
    }
    if (nothing <= 0) {
        CHECK((nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)) > 0);
        kept_open++;
    }
    return nothing;
}

/// The kernel takes what is in the header as it is; the descriptors are those of /dev/null, or of a memfd whose size is another than said.
static void send_packet(int socket, struct bytes *bytes) {
    struct packet_header header = {.version = bytes_take(bytes, 8) ? PACKET_VERSION : (uint8_t)bytes_take(bytes, 256),
                                   .kind = (uint8_t)bytes_take(bytes, 6),
                                   .is_large = (uint8_t)(bytes_take(bytes, 4) == 1),
                                   .zero = (uint8_t)(bytes_take(bytes, 16) == 1),
                                   .id = bytes_take(bytes, 6)};
    unsigned count = bytes_take(bytes, MOST_DESCRIPTORS + 2);
    header.descriptors = bytes_take(bytes, 8) == 1 ? bytes_take(bytes, 256) : count;
    uint64_t large = bytes_take(bytes, 2) ? bytes_take(bytes, 256) : UINT64_MAX - bytes_take(bytes, 256);
    size_t length = bytes_take(bytes, 256), left = (size_t)(bytes->end - bytes->next);
    length = length < left ? length : left;
    struct iovec parts[] = {{&header, sizeof header}, {(void *)bytes->next, length}};
    if (header.is_large)
        parts[1] = (struct iovec){&large, sizeof large};
    else
        bytes->next += length;
    // One in a while is shorter than a header.
    if (bytes_take(bytes, 16) == 1)
        parts[0].iov_len = bytes_take(bytes, sizeof header);
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    union {
        char bytes[CMSG_SPACE((MOST_DESCRIPTORS + 1) * sizeof(int))];
        struct cmsghdr alignment;
    } control = {0};
    int descriptors[MOST_DESCRIPTORS + 1];
    for (unsigned i = 0; i < count; i++)
        descriptors[i] = a_descriptor(bytes);
    if (count > 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(count * sizeof(int));
        struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
        *rights = (struct cmsghdr){CMSG_LEN(count * sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
        memcpy(CMSG_DATA(rights), descriptors, count * sizeof(int));
    }
    sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void answer_last(void) {
    runloop_call *call = peer.calls[--peer.kept];
    CHECK(runloop_call_reply(call, "!", 1, NULL, 0) <= 0);
    runloop_call_release(call);
}

static int request(runloop_channel *channel, int *answers) {
    runloop_channel_request_config config = {.replied = replied, .discard = discard, .info = answers};
    int result = runloop_channel_request(channel, "?", 1, NULL, 0, &config, NULL);
    CHECK(result == 0 || result == -EPIPE || result == -EINVAL || result == -EAGAIN);
    return result == 0;
}

static void *play(void *argument) {
    struct bytes *bytes = argument;
    int sockets[2], answers[64] = {0}, requests = 0, answered = 0;
    runloop_channel_config config = {.max_bytes = MOST_BYTES,
                                     .max_descriptors = MOST_DESCRIPTORS,
                                     .max_calls = MOST_CALLS + 1,
                                     .receive = receive,
                                     .ended = ended};
    runloop_channel *channel;
    memset(&peer, 0, sizeof peer);
    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) == 0);
    CHECK(runloop_channel_create(sockets[0], &config, &channel) == 0);
    CHECK(runloop_add_source(runloop_current(), channel, "packets") == 0);
    for (int turn = 0; turn < 64 && bytes_left(bytes); turn++) {
        switch (bytes_take(bytes, 6)) {
        case 0: requests += request(channel, &answers[turn]); break;
        case 1:
            if (peer.kept > 0)
                answer_last();
            break;
        default: send_packet(sockets[1], bytes);
        }
        runloop_run_in_mode("packets", 0, false);
    }
    close(sockets[1]);
    while (peer.kept > 0)
        runloop_call_release(peer.calls[--peer.kept]);
    for (int i = 0; i < 1000 && peer.ends == 0; i++)
        runloop_run_in_mode("packets", 0, false);
    CHECK(peer.ends == 1);
    CHECK(runloop_run_in_mode("packets", 0, false) == RUNLOOP_RESULT_FINISHED);
    runloop_source_release(channel);
    for (int i = 0; i < 64; i++)
        answered += answers[i];
    CHECK(answered == requests);
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes bytes = {data, data + size};
    int descriptors = fuzz_open_descriptors() - kept_open;
    fuzz_with_loop(play, &bytes, size);
    CHECK(fuzz_open_descriptors() - kept_open == descriptors);
    return 0;
}
