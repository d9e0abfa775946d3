// stream_works.c — bytes from outputs to inputs, connections, counters.
#include <inttypes.h>
#include <sys/socket.h>

#include "soak.h"

//===-- bytes --------------------------------------------------------------------------------------------------------===//

// From each place to the next one, in lines with a number that goes up.
enum { LINE = 17, LINES = 64 };

static runloop_output *outputs[PLACES];
static runloop_input *inputs[PLACES];
static uint64_t written[PLACES], read_[PLACES]; ///< lines; each by its place's thread
static struct count bytes = {.name = "bytes of streams", .kind = BYTES}, lines = {.name = "lines of streams"};

static void write_lines(struct place *place) {
    for (int n = 0; n < 16 && !is_over; n++) {
        char block[LINE * LINES + 1];
        for (int i = 0; i < LINES; i++)
            snprintf(block + i * LINE, LINE + 1, "%016" PRIx64 "\n", written[place->index] + (uint64_t)i);
        give(&bytes, LINE * LINES);
        give(&lines, LINES);
        int error = runloop_output_enqueue(outputs[place->index], block, LINE * LINES);
        if (error) {
            take(&bytes, LINE * LINES);
            take(&lines, LINES);
            if (error != -EAGAIN)
                complain("an output", error);
            return;
        }
        written[place->index] += LINES;
    }
}

static void note_drained(runloop_output *output, int error, void *info) {
    (void)output;
    if (error)
        complain("an output", error);
    write_lines(info);
}

static void receive_line(runloop_input *input, const char *line, size_t count, int error, void *info) {
    (void)input;
    uint64_t *expected = info;
    if (error || count != LINE - 1 || strtoull(line, NULL, 16) != *expected)
        complain("a line out of order", (long)*expected);
    ++*expected;
    take(&bytes, count + 1);
    take(&lines, 1);
}

static void note_end(runloop_input *input, int error, const char *rest, size_t count, void *info) {
    (void)input, (void)rest, (void)count, (void)info;
    complain("an input ended", error);
}

static void begin_bytes(void) {
    for (int p = 0; p < PLACES; p++) {
        int ends[2];
        MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
        written[p] = read_[p] = 0;
        runloop_output_config out = {.context.info = &places[p],
                                     .descriptor = ends[0],
                                     .owns = true,
                                     .limit = 1 << 16,
                                     .loop = places[p].loop,
                                     .drained = note_drained,
                                     .idle_ns = 3600 * SECOND};
        MUST(runloop_output_create(&out, &outputs[p]) == 0);
        MUST(runloop_add_source(places[p].loop, outputs[p], MODE) == 0);
        runloop *loop = place_after(&places[p])->loop;
        runloop_input_config in = {.context.info = &read_[p],
                                   .descriptor = ends[1],
                                   .owns = true,
                                   .limit = 100,
                                   .loop = loop,
                                   .received_line = receive_line,
                                   .ended = note_end,
                                   .idle_ns = 3600 * SECOND};
        MUST(runloop_input_create(&in, &inputs[p]) == 0);
        MUST(runloop_add_source(loop, inputs[p], MODE) == 0);
    }
}

static void end_bytes(void) {
    for (int p = 0; p < PLACES; p++) {
        end_source(&inputs[p]);
        end_source(&outputs[p]);
    }
}

//===-- connections --------------------------------------------------------------------------------------------------===//

enum { CONNECTS = 4 };

static runloop_listener *listener;
static uint16_t port;
static runloop_connect *connects[CONNECTS]; ///< by the thread of the plain place
static struct count connections = {.name = "connections"}, accepted = {.name = "accepted connections"};

static void accept_one(runloop_listener *own, int descriptor, void *info) {
    (void)own, (void)info;
    close(descriptor);
    take(&accepted, 1);
}

static void note_connected(runloop_connect *connect, int descriptor, int error, void *info) {
    (void)connect;
    if (error)
        complain("a connection", error);
    else
        close(descriptor);
    take(&connections, 1);
    runloop_connect **slot = info;
    runloop_source_release(*slot);
    *slot = NULL;
}

static void begin_connections(void) {
    int listening = runloop_listen_tcp("127.0.0.1", 0, 0);
    MUST(listening >= 0);
    port = (uint16_t)runloop_socket_get_port(listening, false);
    runloop_listener_config config = {.descriptor = listening, .owns = true, .accepted = accept_one};
    MUST(runloop_listener_create(&config, &listener) == 0);
    MUST(runloop_add_source(places[POLL_HOST].loop, listener, MODE) == 0);
}

static void connect_some(struct place *place) {
    for (int i = 0; place->index == PLAIN_PLACE && i < CONNECTS; i++) {
        if (connects[i])
            continue;
        // A reset leaves no address in use for a minute.
        runloop_connect_config config = {.context.info = &connects[i],
                                         .host = "127.0.0.1",
                                         .port = port,
                                         .resets = true,
                                         .connected = note_connected};
        give(&connections, 1);
        give(&accepted, 1);
        MUST(runloop_connect_create(&config, &connects[i]) == 0);
        MUST(runloop_add_source(place->loop, connects[i], MODE) == 0);
    }
}

static void end_connections(void) {
    end_source(&listener);
}

//===-- counters -----------------------------------------------------------------------------------------------------===//

static runloop_counter *counters[PLACES];
static struct count additions = {.name = "additions to counters"};

// One is added at a time, so that the sum is their number.
static void take_sum(runloop_counter *counter, uint64_t sum, void *info) {
    (void)counter, (void)info;
    take(&additions, sum);
}

static void begin_counters(void) {
    for (int p = 0; p < PLACES; p++) {
        MUST(runloop_counter_create(&(runloop_counter_config){.counted = take_sum}, &counters[p]) == 0);
        MUST(runloop_add_source(places[p].loop, counters[p], MODE) == 0);
    }
}

static void add_to_counters(unsigned *seed) {
    for (int i = 0; i < 4; i++) {
        give(&additions, 1);
        MUST(runloop_counter_add(counters[dice(seed, PLACES)], 1) == 0);
    }
}

static void end_counters(void) {
    for (int p = 0; p < PLACES; p++)
        end_source(&counters[p]);
}

const struct work stream_works[] = {
    {"streams", begin_bytes, NULL, write_lines, end_bytes, {&bytes, &lines}},
    {"connections", begin_connections, NULL, connect_some, end_connections, {&connections, &accepted}},
    {"counters", begin_counters, add_to_counters, NULL, end_counters, {&additions}},
    {0},
};
