// message_works.c — channels: messages and requests between the loops, and from threads without one.
#include <sys/socket.h>

#include "soak.h"

enum { UNDER_WAY = 8 };

//===-- channels -----------------------------------------------------------------------------------------------------===//

// From each place to the next one: its near end is here, and its far end there.
static runloop_channel *near[PLACES], *far[PLACES];
static _Atomic int called[PLACES];
static struct count packets = {.name = "messages of channels"}, calls = {.name = "requests of channels"};

static void receive_packet(runloop_channel *channel, runloop_channel_message *message, void *info) {
    (void)channel, (void)info;
    if (message->call) {
        int error = runloop_call_reply(message->call, message->bytes, message->length, NULL, 0);
        if (error)
            complain("a reply of a channel", error);
    } else {
        take(&packets, 1);
    }
}

static void note_end(runloop_channel *channel, int32_t reason, void *info) {
    (void)channel, (void)info;
    complain("a channel ended", reason);
}

static void call(struct place *place);

static void take_answer(const runloop_reply *reply, int *descriptors, size_t count, void *info) {
    (void)descriptors, (void)count;
    struct place *place = info;
    if (reply->result)
        complain("a request of a channel", reply->result);
    take(&calls, 1);
    called[place->index]--;
    call(place);
}

static void call(struct place *place) {
    while (!is_over && called[place->index] < UNDER_WAY) {
        runloop_channel_request_config config = {.replied = take_answer, .info = place};
        char bytes[200] = {0};
        uint64_t id;
        called[place->index]++;
        give(&calls, 1);
        int error = runloop_channel_request(near[place->index], bytes, 1 + dice(&place->seed, sizeof bytes), NULL, 0,
                                            &config, &id);
        if (!error)
            continue;
        called[place->index]--;
        take(&calls, 1);
        if (error != -EAGAIN)
            complain("the sending of a request of a channel", error);
        return;
    }
}

static void begin_channels(void) {
    for (int p = 0; p < PLACES; p++) {
        int ends[2];
        runloop_channel_config config = {.receive = receive_packet, .ended = note_end};
        MUST(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
        MUST(runloop_channel_create(ends[0], &config, &near[p]) == 0);
        MUST(runloop_channel_create(ends[1], &config, &far[p]) == 0);
        MUST(runloop_add_source(places[p].loop, near[p], MODE) == 0);
        MUST(runloop_add_source(place_after(&places[p])->loop, far[p], MODE) == 0);
    }
}

static void send_packets(unsigned *seed) {
    runloop_channel *channel = dice(seed, 2) ? near[dice(seed, PLACES)] : far[dice(seed, PLACES)];
    give(&packets, 1);
    int error = runloop_channel_send(channel, seed, sizeof *seed, NULL, 0);
    if (error)
        take(&packets, 1);
    if (error && error != -EAGAIN)
        complain("the sending of a message of a channel", error);
}

static void end_channels(void) {
    for (int p = 0; p < PLACES; p++) {
        // Both at once would tell the other one of the end.
        MUST(runloop_remove_source(place_after(&places[p])->loop, far[p], MODE) == 0);
        end_source(&near[p]);
        end_source(&far[p]);
    }
}

const struct work message_works[] = {
    {"channels", begin_channels, send_packets, call, end_channels, {&packets, &calls}},
    {0},
};
