// outputs_idle.c — the idle limit of an output: not before its time, postponed by what is sent, and only while output waits.
#include <sys/socket.h>

#include "shown_clock.h"

struct sending {
    runloop_output *output;
    int ends[2]; ///< the output's, and the peer's
    int drains, error;
};

static void note_drain(runloop_output *output, int error, void *info) {
    struct sending *sending = info;
    EXPECT_EQ(runloop_output_get_waiting(output), 0);
    sending->drains++;
    sending->error = error;
}

static runloop_output_config config_of(struct sending *sending) {
    return (runloop_output_config){.context.info = sending,
                                   .descriptor = sending->ends[0],
                                   .limit = 10,
                                   .loop = runloop_current(),
                                   .drained = note_drain,
                                   .idle_ns = LIMIT};
}

static void add(struct sending *sending) {
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, sending->ends) == 0);
    const runloop_output_config config = config_of(sending);
    REQUIRE(runloop_output_create(&config, &sending->output) == 0);
    REQUIRE(runloop_add_source(runloop_current(), sending->output, MODE) == 0);
}

static void begin(struct sending *sending) {
    keep_mode(MODE);
    use_shown_clock();
    add(sending);
}

static void finish(struct sending *sending) {
    end_source(sending->output);
    close(sending->ends[0]);
    close(sending->ends[1]);
}

/// Writes until output waits.
static void fill(struct sending *sending) {
    static const char bytes[65536];
    while (runloop_output_get_waiting(sending->output) < 10)
        REQUIRE(runloop_output_write(sending->output, bytes, sizeof bytes) > 0);
}

/// Somebody else fills the socket, so nothing more is taken.
static void fill_socket(struct sending *sending) {
    while (write(sending->ends[0], "y", 1) == 1)
        continue;
}

/// So much that all of the output can be sent.
static void read_all(struct sending *sending) {
    static char bytes[65536];
    while (read(sending->ends[1], bytes, sizeof bytes) > 0)
        continue;
}

/// What waits is given up then, and not before.
static void expect_end_at(struct sending *sending, int64_t end_ns) {
    shown_ns = end_ns - 1;
    look_a_while(MODE);
    EXPECT_EQ(sending->drains, 0);
    shown_ns = end_ns;
    LOOK_UNTIL(sending->drains == 1);
    EXPECT_EQ(sending->error, -ETIMEDOUT);
}

TEST("output that nobody reads is an error at the limit and not before, once, and is dropped") {
    struct sending sending = {0};
    begin(&sending);
    fill(&sending);
    expect_end_at(&sending, LIMIT);
    EXPECT_EQ(runloop_output_write(sending.output, "x", 1), -ETIMEDOUT);
    EXPECT_EQ(runloop_output_finish(sending.output), -ETIMEDOUT);
    look_a_while(MODE);
    EXPECT_EQ(sending.drains, 1);
    finish(&sending);
}

static int iterations;

TEST("by the machine's clock, too, output is not given up early, and the loop sleeps until then") {
    struct sending sending = {0};
    keep_mode(MODE);
    add(&sending);
    int64_t before = runloop_get_now_ns(NULL);
    fill(&sending);
    add_observer(MODE, RUNLOOP_ACTIVITY_BEFORE_TIMERS, count_activity, &iterations);
    while (sending.drains == 0)
        REQUIRE(runloop_run_in_mode(MODE, 60 * SECOND, true) == RUNLOOP_RESULT_HANDLED_SOURCE);
    // A wake-up for the timer, perhaps one for a timer that was set before something waited, and one for each run.
    EXPECT(iterations <= 5);
    EXPECT(runloop_get_now_ns(NULL) - before >= LIMIT);
    EXPECT_EQ(sending.error, -ETIMEDOUT);
    finish(&sending);
}

TEST("only output that waits has a limit, and all of it from when it began to wait") {
    struct sending sending = {0};
    begin(&sending);
    EXPECT_EQ(runloop_output_write(sending.output, "x", 1), 1);
    shown_ns = 3 * LIMIT;
    int64_t end = runloop_get_now_ns(NULL) + 3 * LIMIT;
    while (runloop_get_now_ns(NULL) < end)
        REQUIRE(runloop_run_in_mode(MODE, 0, true) != RUNLOOP_RESULT_HANDLED_SOURCE);
    fill_socket(&sending);
    REQUIRE(runloop_output_enqueue(sending.output, "z", 1) == 0);
    expect_end_at(&sending, 4 * LIMIT);
    finish(&sending);
}

TEST("what begins to wait after a flush has the whole limit, too") {
    struct sending sending = {0};
    begin(&sending);
    fill(&sending);
    read_all(&sending);
    EXPECT_EQ(runloop_output_flush(sending.output), 0);
    shown_ns = LIMIT - 1;
    fill_socket(&sending);
    REQUIRE(runloop_output_enqueue(sending.output, "z", 1) == 0);
    expect_end_at(&sending, 2 * LIMIT - 1);
    finish(&sending);
}

TEST("what the other side takes postpones the end, however late that is looked at") {
    struct sending sending = {0};
    begin(&sending);
    fill(&sending);
    shown_ns = LIMIT - 1;
    read_all(&sending);
    LOOK_UNTIL(sending.drains == 1);
    EXPECT_EQ(sending.error, 0);
    fill(&sending);
    shown_ns = 2 * LIMIT - 2;
    look_a_while(MODE);
    EXPECT_EQ(sending.drains, 1);
    // The timer is due long since, and the limit reached, but the kernel takes bytes again.
    shown_ns = 9 * LIMIT;
    look_a_while(OTHER_MODE);
    read_all(&sending);
    LOOK_UNTIL(sending.drains == 2);
    EXPECT_EQ(sending.error, 0);
    finish(&sending);
}

static size_t keep_all(runloop_input *input, const char *bytes, size_t count, void *info) {
    (void)input, (void)bytes, (void)count, (void)info;
    return 0;
}

TEST("it goes on while the input of the same connection is paused, whose own limit does not count then") {
    struct sending sending = {0};
    begin(&sending);
    const runloop_input_config config = {.descriptor = sending.ends[0],
                                         .limit = 10,
                                         .loop = runloop_current(),
                                         .received = keep_all,
                                         .idle_ns = LIMIT,
                                         .output = sending.output};
    runloop_input *input;
    REQUIRE(runloop_input_create(&config, &input) == 0);
    REQUIRE(runloop_add_source(runloop_current(), input, MODE) == 0);
    EXPECT_EQ(runloop_input_pause(input), 0);
    fill(&sending);
    shown_ns = LIMIT;
    LOOK_UNTIL(sending.drains == 1);
    EXPECT_EQ(sending.error, -ETIMEDOUT);
    EXPECT(runloop_source_is_valid(input));
    end_source(input);
    finish(&sending);
}

TEST("the error comes in the modes of the source only, and a freed output takes its timer along") {
    struct sending sending = {0};
    keep_mode(MODE);
    use_shown_clock();
    int before = count_descriptors();
    add(&sending);
    EXPECT_EQ(runloop_remove_source(runloop_current(), sending.output, MODE), 0);
    EXPECT_EQ(runloop_add_source(runloop_current(), sending.output, OTHER_MODE), 0);
    fill(&sending);
    shown_ns = LIMIT;
    look_a_while(MODE);
    EXPECT_EQ(sending.drains, 0);
    finish(&sending);
    look_a_while(OTHER_MODE);
    EXPECT_EQ(sending.drains, 0);
    EXPECT_EQ(count_descriptors(), before);
}

TEST("in a file nothing waits, so a limit is of no account") {
    struct sending sending = {.ends = {open("/dev/null", O_WRONLY | O_CLOEXEC), -1}};
    const runloop_output_config config = config_of(&sending);
    REQUIRE(runloop_output_create(&config, &sending.output) == 0);
    EXPECT_EQ(runloop_output_write(sending.output, "a longer text", 13), 13);
    EXPECT_EQ(runloop_output_finish(sending.output), 0);
    finish(&sending);
}

static struct sending inherited;

static void use_inherited(void) {
    shown_ns = LIMIT;
    EXPECT_EQ(runloop_output_write(inherited.output, "x", 1), -ECHILD);
    runloop_source_release(inherited.output);
    EXPECT_EQ(inherited.drains, 0);
}

TEST("a forked child has no limit of its parent's, and takes it from nobody") {
    begin(&inherited);
    fill(&inherited);
    EXPECT_EQ(status_of_child(use_inherited), 0);
    look_a_while(MODE);
    EXPECT_EQ(inherited.drains, 0);
    shown_ns = LIMIT;
    LOOK_UNTIL(inherited.drains == 1);
    finish(&inherited);
}

TEST("bad limits are refused, and limits need no descriptors") {
    struct sending sending = {0};
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, sending.ends) == 0);
    runloop_output_config config = config_of(&sending);
    config.idle_ns = -1;
    EXPECT_EQ(runloop_output_create(&config, &sending.output), -EINVAL);
    config.idle_ns = INT64_MAX;
    use_up_descriptors(0);
    EXPECT_EQ(runloop_output_create(&config, &sending.output), 0);
    give_back_descriptors();
    finish(&sending);
}
