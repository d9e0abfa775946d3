// linux.c — what CRunLoopLinux serves, beside N of its kind: a signal, a number that was added, a message of a channel, a
// line that came, and one that is sent. Each is made to happen and served by one iteration.

#define _GNU_SOURCE // pipe2
#include "growth.h"

#include <fcntl.h>
#include <runloop_inspect.h>
#include <runloop_linux.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

static size_t served; ///< call-outs

static void add(runloop_source *source) {
    growth_check(runloop_add_source(growth_loop, source, growth_mode) == 0, "add source");
}

/// Makes N of a kind; the last is the one that is used.
static void repeat(size_t count, void (*make)(void)) {
    for (size_t i = 0; i < count; i++)
        make();
    growth_iterate();
}

static void expect_more(void) {
    static size_t before;
    growth_check(served > before, "nothing was served");
    before = served;
}

static void open_pipe(int ends[2]) {
    growth_check(pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0, "pipe");
}

//===-- signals ------------------------------------------------------------------------------------------------------===//

static void receive_signal(runloop_signal *signal, const runloop_signal_arrival *arrival, void *info) {
    (void)signal, (void)arrival, (void)info;
    served++;
}

static void make_signal(void) {
    runloop_signal_config config = {.number = SIGUSR1, .receive = receive_signal};
    runloop_signal *signal = NULL;
    growth_check(runloop_signal_create(&config, &signal) == 0, "signal");
    add(signal);
}

static runloop_timer *some_timer;

static void take_timer(void *context, runloop_item_kind kind, void *item) {
    (void)context;
    if (kind == RUNLOOP_ITEM_TIMER)
        some_timer = item;
}

/// In its first minutes a source for a signal has a timer, which would be counted as often as the machine's load has it due.
static void end_timers(void) {
    do {
        some_timer = NULL;
        growth_check(runloop_visit_items(growth_loop, growth_mode, take_timer, NULL) >= 0, "visit");
        runloop_timer_invalidate(some_timer);
    } while (some_timer);
}

static void prepare_signals(size_t count) {
    repeat(count, make_signal);
    end_timers();
}

static void signal_and_serve(void) {
    raise(SIGUSR1);
    growth_iterate();
}

//===-- counters -----------------------------------------------------------------------------------------------------===//

static runloop_counter *last_counter;

static void take_sum(runloop_counter *counter, uint64_t sum, void *info) {
    (void)counter, (void)sum, (void)info;
    served++;
}

static void make_counter(void) {
    runloop_counter_config config = {.counted = take_sum};
    growth_check(runloop_counter_create(&config, &last_counter) == 0, "counter");
    add(last_counter);
}

static void prepare_counters(size_t count) {
    repeat(count, make_counter);
}

static void count_and_serve(void) {
    runloop_counter_add(last_counter, 1);
    growth_iterate();
}

//===-- channels -----------------------------------------------------------------------------------------------------===//

static runloop_channel *last_channel;

static void receive_packet(runloop_channel *channel, runloop_channel_message *message, void *info) {
    (void)channel, (void)message, (void)info;
    served++;
}

static void make_channels(void) {
    runloop_channel_config config = {.receive = receive_packet};
    int ends[2];
    growth_check(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0, "sockets");
    for (int i = 0; i < 2; i++) {
        growth_check(runloop_channel_create(ends[i], &config, &last_channel) == 0, "channel");
        add(last_channel);
    }
}

static void prepare_channels(size_t count) {
    repeat(count, make_channels);
}

static void send_through_channel_and_serve(void) {
    runloop_channel_send(last_channel, "message", 7, NULL, 0);
    growth_iterate();
}

//===-- lines --------------------------------------------------------------------------------------------------------===//

static int last_end; ///< the other end of the last pipe
static runloop_output *last_output;

static void receive_line(runloop_input *input, const char *line, size_t count, int error, void *info) {
    (void)input, (void)line, (void)count, (void)error, (void)info;
    served++;
}

static void make_input(void) {
    int ends[2];
    open_pipe(ends);
    runloop_input_config config = {.descriptor = ends[0], .owns = true, .limit = 4096, .received_line = receive_line};
    runloop_input *input = NULL;
    growth_check(runloop_input_create(&config, &input) == 0, "input");
    add(input);
    last_end = ends[1];
}

static void prepare_inputs(size_t count) {
    repeat(count, make_input);
}

static void write_line_and_serve(void) {
    growth_check(write(last_end, "a line of text\n", 15) == 15, "write");
    growth_iterate();
}

static void make_output(void) {
    int ends[2];
    open_pipe(ends);
    runloop_output_config config = {.descriptor = ends[1], .owns = true, .limit = 4096};
    growth_check(runloop_output_create(&config, &last_output) == 0, "output");
    add(last_output);
    last_end = ends[0];
}

static void prepare_outputs(size_t count) {
    repeat(count, make_output);
}

static void send_line(void) {
    served += runloop_output_write(last_output, "a line of text\n", 15) == 15;
}

static void take_line(void) {
    char line[64];
    growth_check(read(last_end, line, sizeof line) == 15, "read");
    expect_more();
}

const struct growth growth_of_linux[] = {
    {"signal", prepare_signals, NULL, signal_and_serve, expect_more},
    {"counter", prepare_counters, NULL, count_and_serve, expect_more},
    {"channel message", prepare_channels, NULL, send_through_channel_and_serve, expect_more},
    {"line received", prepare_inputs, NULL, write_line_and_serve, expect_more},
    {"line sent", prepare_outputs, NULL, send_line, take_line},
    {0},
};
