// inputs_idle.c — the limits of time of an input, for silence and for a message: not before their time, postponed by what moves, not in a
// pause; call-outs, threads, forks.
#include <sys/socket.h>

#include "shown_clock.h"

struct listening {
    runloop_input *input;
    int ends[2]; ///< the input's, and the peer's
    int lines, ended, error;
    size_t consumes;  ///< of each call with bytes; else lines are received
    int64_t lasts_ns; ///< a call with a line
    bool releases, exits;
    char rest[16];
};

static void note_line(runloop_input *input, const char *line, size_t count, int error, void *info) {
    (void)input, (void)line, (void)count, (void)error;
    struct listening *listening = info;
    EXPECT_EQ(listening->ended, 0);
    listening->lines++;
    shown_ns += listening->lasts_ns;
}

static size_t note_bytes(runloop_input *input, const char *bytes, size_t count, void *info) {
    (void)input, (void)bytes;
    struct listening *listening = info;
    return count >= listening->consumes ? listening->consumes : 0;
}

static void note_end(runloop_input *input, int error, const char *rest, size_t count, void *info) {
    struct listening *listening = info;
    EXPECT(!runloop_source_is_valid(input));
    listening->ended++;
    listening->error = error;
    memcpy(listening->rest, rest, count);
    if (listening->releases) {
        end_source(input);
    }
    if (listening->exits)
        pthread_exit(NULL);
}

static void make_input(struct listening *listening, runloop_output *output, int64_t idle_ns, int64_t message_ns) {
    runloop_input_config config = {.context.info = listening,
                                   .descriptor = listening->ends[0],
                                   .owns = true,
                                   .limit = 10,
                                   .loop = runloop_current(),
                                   .received_line = listening->consumes ? NULL : note_line,
                                   .received = listening->consumes ? note_bytes : NULL,
                                   .ended = note_end,
                                   .idle_ns = idle_ns,
                                   .output = output,
                                   .message_ns = message_ns};
    REQUIRE(runloop_input_create(&config, &listening->input) == 0);
}

/// A connection whose input is in MODE.
static void add(struct listening *listening, int64_t idle_ns, int64_t message_ns) {
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, listening->ends) == 0);
    make_input(listening, NULL, idle_ns, message_ns);
    REQUIRE(runloop_add_source(runloop_current(), listening->input, MODE) == 0);
}

static void begin_with(struct listening *listening, int64_t idle_ns, int64_t message_ns) {
    keep_mode(MODE);
    use_shown_clock();
    add(listening, idle_ns, message_ns);
}

static void begin(struct listening *listening) {
    begin_with(listening, LIMIT, 0);
}

/// Writes as the peer at that time, and has it read.
static void put_at(struct listening *listening, int64_t time_ns, const char *text) {
    shown_ns = time_ns;
    REQUIRE(write(listening->ends[1], text, strlen(text)) == (ssize_t)strlen(text));
    LOOK_UNTIL(runloop_input_get_moved_ns(listening->input) == time_ns || listening->ended);
}

static void finish(struct listening *listening) {
    end_source(listening->input);
    close(listening->ends[1]);
}

/// It ends then, and not before.
static void expect_end_at(struct listening *listening, int64_t end_ns) {
    shown_ns = end_ns - 1;
    look_a_while(MODE);
    EXPECT_EQ(listening->ended, 0);
    shown_ns = end_ns;
    LOOK_UNTIL(listening->ended == 1);
    EXPECT_EQ(listening->error, -ETIMEDOUT);
}

TEST("silence ends an input at its limit and not before, once, with what was kept") {
    struct listening listening = {0};
    begin(&listening);
    REQUIRE(write(listening.ends[1], "a\nbc", 4) == 4);
    LOOK_UNTIL(listening.lines == 1);
    expect_end_at(&listening, LIMIT);
    EXPECT_TEXT(listening.rest, "bc");
    look_a_while(MODE);
    EXPECT_EQ(listening.ended, 1);
    finish(&listening);
}

TEST("by the machine's clock, too, an input is not ended early, and sleeps until then") {
    struct listening listening = {0};
    keep_mode(MODE);
    int64_t before = runloop_get_now_ns(NULL);
    add(&listening, LIMIT, 0);
    RUN_UNTIL(MODE, listening.ended == 1);
    EXPECT(runloop_get_now_ns(NULL) - before >= LIMIT);
    EXPECT_EQ(listening.error, -ETIMEDOUT);
    finish(&listening);
}

TEST("reading postpones the end, and so does what has come before a late look") {
    struct listening listening = {0};
    begin(&listening);
    shown_ns = LIMIT - 1;
    REQUIRE(write(listening.ends[1], "a\n", 2) == 2);
    LOOK_UNTIL(listening.lines == 1);
    shown_ns = 2 * LIMIT - 2;
    look_a_while(MODE);
    EXPECT_EQ(listening.ended, 0);
    // The timer is due long since, and the limit reached, but there is something to read.
    shown_ns = 9 * LIMIT;
    REQUIRE(write(listening.ends[1], "b\n", 2) == 2);
    look_a_while(OTHER_MODE);
    LOOK_UNTIL(listening.lines == 2);
    EXPECT_EQ(listening.ended, 0);
    shown_ns = 10 * LIMIT;
    LOOK_UNTIL(listening.ended == 1);
    finish(&listening);
}

TEST("what the output of the connection moves postpones the end, and input and output are freed") {
    struct listening listening = {0};
    keep_mode(MODE);
    use_shown_clock();
    int before = count_descriptors();
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, listening.ends) == 0);
    const runloop_output_config config = {.descriptor = listening.ends[0], .limit = 10, .loop = runloop_current()};
    runloop_output *output;
    REQUIRE(runloop_output_create(&config, &output) == 0);
    make_input(&listening, output, LIMIT, 0);
    REQUIRE(runloop_add_source(runloop_current(), listening.input, MODE) == 0);
    shown_ns = LIMIT - 1;
    EXPECT_EQ(runloop_output_write(output, "x", 1), 1);
    runloop_source_release(output);
    expect_end_at(&listening, 2 * LIMIT - 1);
    finish(&listening);
    EXPECT_EQ(count_descriptors(), before);
}

TEST("a pause is not counted, and its end begins anew") {
    struct listening listening = {0};
    begin(&listening);
    EXPECT_EQ(runloop_input_pause(listening.input), 0);
    shown_ns = 3 * LIMIT;
    look_a_while(MODE);
    EXPECT_EQ(listening.ended, 0);
    EXPECT_EQ(runloop_input_resume(listening.input), 0);
    expect_end_at(&listening, 4 * LIMIT);
    finish(&listening);
}

TEST("the time in a call-out is not counted, since the other side may wait for what comes of it") {
    struct listening listening = {.lasts_ns = 3 * LIMIT};
    begin_with(&listening, LIMIT, 0);
    shown_ns = 1;
    REQUIRE(write(listening.ends[1], "a\n", 2) == 2);
    LOOK_UNTIL(listening.lines == 1);
    expect_end_at(&listening, 4 * LIMIT + 1);
    finish(&listening);
}

TEST("a line that has begun is complete within its limit, or ends the input, whatever drips in") {
    struct listening listening = {0};
    begin_with(&listening, 2 * LIMIT, 3 * LIMIT);
    put_at(&listening, LIMIT, "a\nb");
    for (int i = 2; i < 4; i++)
        put_at(&listening, i * LIMIT, "c");
    expect_end_at(&listening, 4 * LIMIT);
    EXPECT_TEXT(listening.rest, "bcc");
    EXPECT_EQ(listening.lines, 1);
    finish(&listening);
}

TEST("each line has the whole limit of a message, a line that is skipped too, and silence has none") {
    struct listening listening = {0};
    begin_with(&listening, 0, LIMIT);
    shown_ns = 9 * LIMIT;
    look_a_while(MODE);
    put_at(&listening, 10 * LIMIT, "a");
    put_at(&listening, 11 * LIMIT - 1, "\nb");
    put_at(&listening, 12 * LIMIT - 2, "\n");
    shown_ns = 20 * LIMIT;
    look_a_while(MODE);
    EXPECT_EQ(listening.ended, 0);
    EXPECT_EQ(listening.lines, 2);
    put_at(&listening, 30 * LIMIT, "a line that is too long");
    put_at(&listening, 31 * LIMIT - 1, "by far");
    EXPECT_EQ(listening.lines, 3);
    EXPECT_EQ(listening.ended, 0);
    shown_ns = 31 * LIMIT;
    LOOK_UNTIL(listening.ended == 1);
    finish(&listening);
}

TEST("a loop that is late ends nobody whose message has arrived") {
    struct listening listening = {0};
    begin_with(&listening, 0, LIMIT);
    put_at(&listening, 0, "a");
    shown_ns = 9 * LIMIT;
    REQUIRE(write(listening.ends[1], "b\n", 2) == 2);
    look_a_while(OTHER_MODE);
    LOOK_UNTIL(listening.lines == 1);
    look_a_while(MODE);
    EXPECT_EQ(listening.ended, 0);
    // One that has begun and does not arrive has the limit.
    put_at(&listening, 10 * LIMIT, "c");
    shown_ns = 11 * LIMIT;
    LOOK_UNTIL(listening.ended == 1);
    finish(&listening);
}

/// The peer sends before each look. Whether the input has ended.
static bool flood(const struct listening *listening, const char *text) {
    send(listening->ends[1], text, strlen(text), MSG_NOSIGNAL);
    return listening->ended;
}

TEST("a peer that sends without a pause is ended when its line takes too long, and not while lines end") {
    struct listening listening = {0};
    begin_with(&listening, 0, LIMIT);
    put_at(&listening, 0, "a");
    for (shown_ns = LIMIT; shown_ns < 9 * LIMIT; shown_ns += LIMIT - 1) {
        REQUIRE(!flood(&listening, "b\na"));
        look_a_while(MODE);
    }
    EXPECT_EQ(listening.ended, 0);
    shown_ns = 11 * LIMIT;
    LOOK_UNTIL(flood(&listening, "abc"));
    EXPECT_EQ(listening.error, -ETIMEDOUT);
    finish(&listening);
}

TEST("a message is what is consumed at once, and a pause begins its limit anew") {
    struct listening listening = {.consumes = 3};
    begin_with(&listening, 0, LIMIT);
    put_at(&listening, 0, "abc");
    put_at(&listening, LIMIT, "de");
    put_at(&listening, 2 * LIMIT - 1, "fg");
    EXPECT_EQ(runloop_input_pause(listening.input), 0);
    shown_ns = 9 * LIMIT;
    look_a_while(MODE);
    EXPECT_EQ(runloop_input_resume(listening.input), 0);
    expect_end_at(&listening, 10 * LIMIT);
    EXPECT_TEXT(listening.rest, "g");
    finish(&listening);
}

TEST("the end comes in the modes of the source only") {
    struct listening listening = {0};
    begin(&listening);
    EXPECT_EQ(runloop_remove_source(runloop_current(), listening.input, MODE), 0);
    EXPECT_EQ(runloop_add_source(runloop_current(), listening.input, OTHER_MODE), 0);
    shown_ns = LIMIT;
    look_a_while(MODE);
    EXPECT_EQ(listening.ended, 0);
    EXPECT_EQ(runloop_add_source(runloop_current(), listening.input, MODE), 0);
    LOOK_UNTIL(listening.ended == 1);
    finish(&listening);
}

TEST("bytes do not make the loop wake up again: the deadline is set on once per limit") {
    struct listening listening = {0};
    int lines = 0, calls = 0;
    begin(&listening);
    for (shown_ns = 0; shown_ns < 10 * LIMIT; shown_ns += LIMIT / 8) {
        REQUIRE(write(listening.ends[1], "a\n", 2) == 2);
        lines++;
        while (runloop_run_in_mode(MODE, 0, true) == RUNLOOP_RESULT_HANDLED_SOURCE)
            calls++;
        REQUIRE(calls <= lines + 1 + shown_ns / LIMIT);
    }
    EXPECT_EQ(listening.lines, lines);
    finish(&listening);
}

TEST("an input may be released when it has timed out, and its memory and descriptors are freed") {
    struct listening listening = {.releases = true};
    keep_mode(MODE);
    use_shown_clock();
    int before = count_descriptors();
    add(&listening, LIMIT, 0);
    shown_ns = LIMIT;
    LOOK_UNTIL(listening.ended == 1);
    close(listening.ends[1]);
    look_a_while(MODE);
    EXPECT_EQ(count_descriptors(), before);
    // One that is released before its limit is not kept by it.
    add(&listening, LIMIT, 0);
    finish(&listening);
    EXPECT_EQ(count_descriptors(), before);
    shown_ns = 3 * LIMIT;
    look_a_while(MODE);
    EXPECT_EQ(listening.ended, 1);
}

static void *run_until_end(void *info) {
    struct listening *listening = info;
    REQUIRE(runloop_add_source(runloop_current(), listening->input, MODE) == 0);
    run_for(MODE, 30 * SECOND);
    return NULL;
}

static void *run_shortly(void *info) {
    struct listening *listening = info;
    REQUIRE(runloop_add_source(runloop_current(), listening->input, MODE) == 0);
    poll_mode(MODE);
    return NULL;
}

TEST("the limit outlasts the thread whose loop looked at it, which may end in the call-out") {
    struct listening listening = {.exits = true};
    use_shown_clock();
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, listening.ends) == 0);
    make_input(&listening, NULL, LIMIT, 0);
    on_new_thread(run_shortly, &listening);
    EXPECT_EQ(listening.ended, 0);
    shown_ns = LIMIT;
    on_new_thread(run_until_end, &listening);
    EXPECT_EQ(listening.ended, 1);
    EXPECT_EQ(listening.error, -ETIMEDOUT);
    finish(&listening);
}

static struct listening inherited;

static void use_inherited(void) {
    shown_ns = LIMIT;
    runloop_source_release(inherited.input);
    EXPECT_EQ(inherited.ended, 0);
}

TEST("a forked child has no limit of its parent's, and takes it from nobody") {
    begin(&inherited);
    EXPECT_EQ(status_of_child(use_inherited), 0);
    look_a_while(MODE);
    EXPECT_EQ(inherited.ended, 0);
    shown_ns = LIMIT;
    LOOK_UNTIL(inherited.ended == 1);
    finish(&inherited);
}

TEST("bad limits are refused, and limits need no descriptors") {
    int ends[2];
    make_pipe(ends);
    runloop_output *output;
    REQUIRE(runloop_output_create(&(runloop_output_config){.descriptor = ends[1], .limit = 1}, &output) == 0);
    runloop_input *input = NULL;
    runloop_input_config config = {.descriptor = ends[0], .limit = 10, .received_line = note_line, .idle_ns = -1};
    EXPECT_EQ(runloop_input_create(&config, &input), -EINVAL);
    config.idle_ns = 0, config.message_ns = -1;
    EXPECT_EQ(runloop_input_create(&config, &input), -EINVAL);
    config.message_ns = 0, config.output = output;
    EXPECT_EQ(runloop_input_create(&config, &input), -EINVAL);
    config.idle_ns = INT64_MAX;
    use_up_descriptors(0);
    EXPECT_EQ(runloop_input_create(&config, &input), 0);
    give_back_descriptors();
    runloop_source_release(output);
    runloop_source_release(input);
}
