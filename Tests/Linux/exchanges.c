// exchanges.c — the deadline of an exchange as a whole, which neither a byte now and then nor a pause puts off, and connections that are reset.
#include "shown_clock.h"

/// Both directions of a connection, and what they told.
struct exchange {
    runloop_input *input;
    runloop_output *output;
    int ends[2]; ///< ours, and the peer's
    size_t received, lines;
    int ended, drains, error; ///< ended: 1 until it has
    struct exchange *other;   ///< has its deadline put off when this one is notified
};

static void put_off(const struct exchange *exchange) {
    if (!exchange->other)
        return;
    runloop_input_set_deadline(exchange->other->input, 60 * LIMIT);
    runloop_output_set_deadline(exchange->other->output, 60 * LIMIT);
}

static void take_line(runloop_input *input, const char *line, size_t count, int error, void *info) {
    (void)input, (void)line, (void)error;
    struct exchange *exchange = info;
    exchange->received += count;
    exchange->lines++;
}

static void note_end(runloop_input *input, int error, const char *rest, size_t count, void *info) {
    (void)input, (void)rest, (void)count;
    struct exchange *exchange = info;
    exchange->ended = error;
    put_off(exchange);
}

static void note_drain(runloop_output *output, int error, void *info) {
    (void)output;
    struct exchange *exchange = info;
    exchange->drains++;
    exchange->error = error;
    put_off(exchange);
}

static void add_both(struct exchange *exchange, int64_t idle_ns, bool resets) {
    const runloop_output_config output = {.context.info = exchange,
                                          .descriptor = exchange->ends[0],
                                          .limit = 10,
                                          .loop = runloop_current(),
                                          .drained = note_drain,
                                          .idle_ns = idle_ns,
                                          .resets = resets};
    const runloop_input_config input = {.context.info = exchange,
                                        .descriptor = exchange->ends[0],
                                        .limit = 100,
                                        .loop = runloop_current(),
                                        .received_line = take_line,
                                        .ended = note_end,
                                        .idle_ns = idle_ns};
    exchange->ended = 1;
    REQUIRE(runloop_output_create(&output, &exchange->output) == 0);
    REQUIRE(runloop_input_create(&input, &exchange->input) == 0);
    REQUIRE(runloop_add_source(runloop_current(), exchange->output, MODE) == 0);
    REQUIRE(runloop_add_source(runloop_current(), exchange->input, MODE) == 0);
}

static void begin_another(struct exchange *exchange, int64_t idle_ns) {
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, exchange->ends) == 0);
    add_both(exchange, idle_ns, false);
}

static void begin(struct exchange *exchange, int64_t idle_ns) {
    keep_mode(MODE);
    use_shown_clock();
    begin_another(exchange, idle_ns);
}

static void end_both(struct exchange *exchange) {
    end_source(exchange->input);
    end_source(exchange->output);
    close(exchange->ends[0]);
}

static void finish(struct exchange *exchange) {
    end_both(exchange);
    close(exchange->ends[1]);
}

/// Writes until output waits.
static void fill(struct exchange *exchange) {
    static const char bytes[65536];
    while (runloop_output_get_waiting(exchange->output) < 10)
        REQUIRE(runloop_output_write(exchange->output, bytes, sizeof bytes) > 0);
}

/// Whether the deadline has ended the output. Only output that waits can be late, and TCP may take more of it at any time, so this writes more.
static bool is_late(struct exchange *exchange) {
    if (exchange->error != -ETIMEDOUT)
        fill(exchange);
    return exchange->error == -ETIMEDOUT;
}

static ssize_t read_some(const struct exchange *exchange) {
    static char bytes[65536];
    return read(exchange->ends[1], bytes, sizeof bytes);
}

TEST("a request that comes a line now and then ends at its deadline and not before, though no other limit is reached") {
    struct exchange exchange = {0};
    begin(&exchange, LIMIT);
    EXPECT_EQ(runloop_input_set_deadline(exchange.input, 5 * LIMIT), 0);
    for (int i = 1; i <= 10; i++) {
        shown_ns = i * LIMIT / 2 - 1;
        REQUIRE(write(exchange.ends[1], "x\n", 2) == 2);
        LOOK_UNTIL(exchange.lines == (size_t)i);
    }
    look_a_while(MODE);
    EXPECT_EQ(exchange.ended, 1);
    shown_ns = 5 * LIMIT;
    // What has arrived by then is read first.
    REQUIRE(write(exchange.ends[1], "last\n", 5) == 5);
    LOOK_UNTIL(exchange.ended != 1);
    EXPECT_EQ(exchange.ended, -ETIMEDOUT);
    EXPECT_EQ(exchange.lines, 11);
    EXPECT_EQ(runloop_input_set_deadline(exchange.input, RUNLOOP_NEVER), -EINVAL);
    finish(&exchange);
}

/// The peer sends before each look. Whether the input has ended.
static bool flood(const struct exchange *exchange) {
    send(exchange->ends[1], "x\n", 2, MSG_NOSIGNAL);
    return exchange->ended != 1;
}

TEST("a peer that sends without a pause is ended at the deadline, and what it has sent by then is read") {
    enum { SENT = 1000, IN_A_READ = 50 };
    struct exchange exchange = {0};
    begin(&exchange, 0);
    EXPECT_EQ(runloop_input_set_deadline(exchange.input, 5 * LIMIT), 0);
    shown_ns = 5 * LIMIT - 1;
    for (int i = 0; i < 100; i++, poll_mode(MODE))
        REQUIRE(!flood(&exchange));
    LOOK_UNTIL(exchange.lines == 100);
    shown_ns = 5 * LIMIT;
    char text[2 * SENT];
    for (int i = 0; i < SENT; i++)
        memcpy(text + 2 * i, "x\n", 2);
    REQUIRE(write(exchange.ends[1], text, sizeof text) == sizeof text);
    LOOK_UNTIL(flood(&exchange));
    EXPECT_EQ(exchange.ended, -ETIMEDOUT);
    EXPECT(exchange.lines >= 100 + SENT && exchange.lines <= 100 + SENT + 2 * IN_A_READ);
    finish(&exchange);
}

TEST("a deadline is put off, brought forward and taken back") {
    struct exchange exchange = {0};
    begin(&exchange, 0);
    EXPECT_EQ(runloop_input_set_deadline(exchange.input, LIMIT), 0);
    EXPECT_EQ(runloop_input_set_deadline(exchange.input, 3 * LIMIT), 0);
    shown_ns = 2 * LIMIT;
    look_a_while(MODE);
    EXPECT_EQ(runloop_input_set_deadline(exchange.input, RUNLOOP_NEVER), 0);
    shown_ns = 4 * LIMIT;
    look_a_while(MODE);
    EXPECT_EQ(exchange.ended, 1);
    EXPECT_EQ(runloop_input_set_deadline(exchange.input, 90 * LIMIT), 0);
    EXPECT_EQ(runloop_input_set_deadline(exchange.input, 3 * LIMIT), 0); // has passed
    LOOK_UNTIL(exchange.ended == -ETIMEDOUT);
    finish(&exchange);
}

TEST("a deadline passes in a pause, too, and is reported when the input is resumed") {
    struct exchange exchange = {0};
    begin(&exchange, 0);
    EXPECT_EQ(runloop_input_set_deadline(exchange.input, LIMIT), 0);
    EXPECT_EQ(runloop_input_pause(exchange.input), 0);
    shown_ns = 2 * LIMIT;
    look_a_while(MODE);
    EXPECT_EQ(exchange.ended, 1);
    EXPECT_EQ(runloop_input_resume(exchange.input), 0);
    LOOK_UNTIL(exchange.ended == -ETIMEDOUT);
    finish(&exchange);
}

/// An output of which much waits, a part of which is sent whenever the peer has read some.
static void begin_with_much(struct exchange *exchange) {
    static const char much[1 << 20];
    begin(exchange, LIMIT);
    keep_mode(OTHER_MODE);
    int size = 4096;
    setsockopt(exchange->ends[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    runloop_source_invalidate(exchange->input);
    end_source(exchange->output);
    const runloop_output_config config = {.context.info = exchange,
                                          .descriptor = exchange->ends[0],
                                          .limit = sizeof much,
                                          .loop = runloop_current(),
                                          .drained = note_drain,
                                          .idle_ns = LIMIT};
    REQUIRE(runloop_output_create(&config, &exchange->output) == 0);
    REQUIRE(runloop_add_source(runloop_current(), exchange->output, MODE) == 0);
    EXPECT_EQ(runloop_output_write(exchange->output, much, sizeof much), sizeof much);
}

/// The peer reads some, and the loop sends more.
static void send_a_piece(struct exchange *exchange) {
    size_t waiting = runloop_output_get_waiting(exchange->output);
    REQUIRE(read_some(exchange) > 0);
    LOOK_UNTIL(runloop_output_get_waiting(exchange->output) < waiting);
}

TEST("a response that is read a piece now and then ends at its deadline and not before, though the idle limit is not "
     "reached") {
    struct exchange exchange = {0};
    begin_with_much(&exchange);
    EXPECT_EQ(runloop_output_set_deadline(exchange.output, 5 * LIMIT), 0);
    for (int i = 1; i <= 10; i++) {
        shown_ns = i * LIMIT / 2 - 1;
        send_a_piece(&exchange);
    }
    look_a_while(MODE);
    EXPECT_EQ(exchange.drains, 0);
    shown_ns = 5 * LIMIT;
    LOOK_UNTIL(exchange.drains == 1);
    EXPECT_EQ(exchange.error, -ETIMEDOUT);
    EXPECT_EQ(runloop_output_set_deadline(exchange.output, RUNLOOP_NEVER), -ETIMEDOUT);
    finish(&exchange);
}

TEST("a deadline concerns output that waits, and one that has passed concerns what begins to") {
    struct exchange exchange = {0};
    begin(&exchange, 0);
    EXPECT_EQ(runloop_output_set_deadline(exchange.output, LIMIT), 0);
    EXPECT_EQ(runloop_output_write(exchange.output, "x", 1), 1);
    shown_ns = 2 * LIMIT;
    look_a_while(MODE);
    EXPECT_EQ(runloop_output_write(exchange.output, "x", 1), 1);
    EXPECT_EQ(exchange.drains, 0);
    fill(&exchange);
    LOOK_UNTIL(exchange.error == -ETIMEDOUT);
    finish(&exchange);
}

TEST("an idle limit still counts after its deadline has come together with space for output") {
    struct exchange exchange = {0};
    begin_with_much(&exchange);
    // Both at once: time passes and some is read, before anything is looked at.
    shown_ns = 2 * LIMIT;
    look_a_while(OTHER_MODE);
    send_a_piece(&exchange);
    look_a_while(MODE);
    EXPECT_EQ(exchange.drains, 0);
    shown_ns = 3 * LIMIT;
    LOOK_UNTIL(exchange.error == -ETIMEDOUT);
    finish(&exchange);
}

TEST("a limit that has passed holds though a later deadline is set before it is looked at") {
    struct exchange one = {0}, other = {.other = &one};
    one.other = &other;
    begin(&one, LIMIT);
    begin_another(&other, LIMIT);
    fill(&one);
    fill(&other);
    shown_ns = LIMIT;
    LOOK_UNTIL(one.ended != 1 && other.ended != 1 && one.drains == 1 && other.drains == 1);
    EXPECT(one.ended == -ETIMEDOUT && other.ended == -ETIMEDOUT);
    EXPECT(one.error == -ETIMEDOUT && other.error == -ETIMEDOUT);
    finish(&one);
    finish(&other);
}

TEST("deadlines of other objects are refused; in a file nothing waits") {
    struct exchange exchange = {.ends = {open("/dev/null", O_RDWR | O_CLOEXEC), -1}};
    add_both(&exchange, 0, true);
    EXPECT_EQ(runloop_input_set_deadline(exchange.output, 1), -EINVAL);
    EXPECT_EQ(runloop_output_set_deadline(exchange.input, 1), -EINVAL);
    EXPECT_EQ(runloop_output_set_deadline(exchange.output, 1), 0);
    EXPECT_EQ(runloop_output_write(exchange.output, "a longer text", 13), 13);
    end_both(&exchange);
}

//===-- resets -------------------------------------------------------------------------------------------------------===//

static int accepted = -1;

static void note_accepted(runloop_listener *listener, int descriptor, void *info) {
    (void)listener, (void)info;
    accepted = descriptor;
}

/// A connection of TCP, whose end 0 was accepted.
static void connect_both(struct exchange *exchange, bool listener_resets) {
    int socket_ = runloop_listen_tcp("127.0.0.1", 0, 0);
    REQUIRE(socket_ >= 0);
    const runloop_listener_config config = {
        .descriptor = socket_, .owns = true, .accepted = note_accepted, .resets = listener_resets};
    runloop_listener *listener = add_listener(&config);
    exchange->ends[1] = connect_to(socket_);
    LOOK_UNTIL(accepted >= 0);
    exchange->ends[0] = accepted;
    end_source(listener);
}

/// Whether our end is reset when it is closed.
static bool will_be_reset(const struct exchange *exchange) {
    struct linger linger = {0};
    socklen_t size = sizeof linger;
    REQUIRE(getsockopt(exchange->ends[0], SOL_SOCKET, SO_LINGER, &linger, &size) == 0);
    return linger.l_onoff && linger.l_linger == 0;
}

/// What the peer reads at last: 0, or a negative errno value.
static int end_of_peer(const struct exchange *exchange) {
    ssize_t count;
    do
        count = read_some(exchange);
    while (count > 0);
    return count < 0 ? -errno : 0;
}

TEST("a connection that reached a limit is reset with its end, and one that was finished ends as any other") {
    struct exchange stuck = {0}, done = {0};
    keep_mode(MODE);
    use_shown_clock();
    connect_both(&stuck, false);
    add_both(&stuck, 0, true);
    fill(&stuck);
    EXPECT_EQ(runloop_output_set_deadline(stuck.output, LIMIT), 0);
    shown_ns = LIMIT;
    LOOK_UNTIL(is_late(&stuck));
    end_both(&stuck);
    EXPECT_EQ(end_of_peer(&stuck), -ECONNRESET);
    close(stuck.ends[1]);

    accepted = -1;
    connect_both(&done, false);
    add_both(&done, 0, true);
    EXPECT_EQ(runloop_output_write(done.output, "x", 1), 1);
    EXPECT_EQ(runloop_output_finish(done.output), 0);
    runloop_source_invalidate(done.output);
    EXPECT(!will_be_reset(&done));
    end_both(&done);
    EXPECT_EQ(end_of_peer(&done), 0);
}

TEST("a connection whose output was not finished is reset with its last reference, which nobody had invalidated") {
    struct exchange exchange = {0};
    connect_both(&exchange, false);
    const runloop_output_config config = {.descriptor = exchange.ends[0], .owns = true, .limit = 10, .resets = true};
    REQUIRE(runloop_output_create(&config, &exchange.output) == 0);
    EXPECT_EQ(runloop_output_write(exchange.output, "x", 1), 1);
    runloop_source_release(exchange.output);
    EXPECT_EQ(end_of_peer(&exchange), -ECONNRESET);
}

TEST("without the option a connection that ends with output goes on to be sent") {
    struct exchange exchange = {0};
    connect_both(&exchange, false);
    add_both(&exchange, 0, false);
    EXPECT_EQ(runloop_output_write(exchange.output, "x", 1), 1);
    end_both(&exchange);
    EXPECT_EQ(end_of_peer(&exchange), 0);
}

TEST("a listener's connections are reset in any case if it says so") {
    struct exchange exchange = {0};
    connect_both(&exchange, true);
    REQUIRE(write(exchange.ends[0], "x", 1) == 1);
    close(exchange.ends[0]);
    EXPECT_EQ(end_of_peer(&exchange), -ECONNRESET);
}

static struct exchange inherited;

static void release_inherited(void) {
    EXPECT_EQ(runloop_output_set_deadline(inherited.output, 1), -ECHILD);
    EXPECT_EQ(runloop_input_set_deadline(inherited.input, 1), -ECHILD);
    end_source(inherited.output);
}

TEST("a forked child that releases an output resets nothing") {
    connect_both(&inherited, false);
    add_both(&inherited, 0, true);
    EXPECT_EQ(status_of_child(release_inherited), 0);
    EXPECT(!will_be_reset(&inherited));
    EXPECT_EQ(runloop_output_write(inherited.output, "x", 1), 1);
    EXPECT_EQ(runloop_output_finish(inherited.output), 0);
    end_both(&inherited);
    EXPECT_EQ(end_of_peer(&inherited), 0);
}
