// inputs.c — input in lines and bytes: cut anywhere, too long, kept, paused, ended, of every kind of descriptor; threads, forks.
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>

#include "linux_items.h"

/// Of the pipe or the sockets of a test: the input's, and the peer's.
static int ends[2];

struct taking {
    _Atomic int calls, ends;
    int error;
    size_t consumes; ///< at most so many bytes of each call
    int pauses_at;   ///< the number of a call, from 1
    int releases_at, exits_at, nests_at;
    bool others_pause, exits_at_end;
    int descriptor;
    char text[200000]; ///< lines with '|' after each, '!' after a beginning; or the bytes that were consumed
    size_t count;
    char rest[64];
};

/// A test needs no more than two at a time.
static struct taking *taking(void) {
    static struct taking all[2];
    static int next;
    struct taking *result = &all[next++ % 2];
    memset(result, 0, sizeof *result);
    result->consumes = SIZE_MAX;
    return result;
}

static void append(struct taking *taking, const char *bytes, size_t count) {
    REQUIRE(taking->count + count < sizeof taking->text);
    memcpy(taking->text + taking->count, bytes, count);
    taking->count += count;
}

static void act(runloop_input *input, struct taking *taking) {
    int call = ++taking->calls;
    EXPECT_EQ(taking->ends, 0);
    EXPECT(taking->others_pause || !runloop_input_is_paused(input));
    if (call == taking->pauses_at)
        EXPECT_EQ(runloop_input_pause(input), 0);
    if (call == taking->nests_at) {
        EXPECT_EQ(run_for(MODE, 5 * MS), RUNLOOP_RESULT_TIMED_OUT);
        EXPECT_EQ(taking->calls, call);
    }
    if (call == taking->releases_at) {
        end_source(input);
    }
    if (call == taking->exits_at)
        pthread_exit(NULL);
}

static void take_line(runloop_input *input, const char *line, size_t count, int error, void *info) {
    struct taking *taking = info;
    EXPECT(error == 0 || error == -EMSGSIZE);
    append(taking, line, count);
    append(taking, error ? "!" : "|", 1);
    act(input, taking);
}

static size_t take_bytes(runloop_input *input, const char *bytes, size_t count, void *info) {
    struct taking *taking = info;
    EXPECT(count > 0);
    size_t consumed = count < taking->consumes ? count : taking->consumes;
    append(taking, bytes, consumed);
    act(input, taking);
    return consumed;
}

static void note_end(runloop_input *input, int error, const char *rest, size_t count, void *info) {
    struct taking *taking = info;
    EXPECT(!runloop_source_is_valid(input));
    EXPECT(fcntl(taking->descriptor, F_GETFD) >= 0);
    EXPECT_EQ(taking->ends++, 0);
    taking->error = error;
    memcpy(taking->rest, rest, count < sizeof taking->rest ? count : sizeof taking->rest - 1);
    if (taking->exits_at_end)
        pthread_exit(NULL);
}

static runloop_input *make_input(int descriptor, bool lines, size_t limit, struct taking *taking) {
    runloop_input_config config = {
        .context.info = taking, .descriptor = descriptor, .limit = limit, .owns = true, .ended = note_end};
    if (lines)
        config.received_line = take_line;
    else
        config.received = take_bytes;
    runloop_input *input = NULL;
    taking->descriptor = descriptor;
    REQUIRE(runloop_input_create(&config, &input) == 0 && input);
    return input;
}

static runloop_input *add_input(int descriptor, bool lines, size_t limit, struct taking *taking) {
    runloop_input *input = make_input(descriptor, lines, limit, taking);
    REQUIRE(runloop_add_source(runloop_current(), input, MODE) == 0);
    return input;
}

static void put(int descriptor, const char *text) {
    REQUIRE(write(descriptor, text, strlen(text)) == (ssize_t)strlen(text));
}

TEST("a message that has arrived comes in one piece, again and again") {
    static char message[16384];
    struct taking *bytes = taking();
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
    runloop_input *input = add_input(ends[0], false, 65536, bytes);
    for (int i = 1; i <= 6; i++) {
        REQUIRE(write(ends[1], message, sizeof message) == sizeof message);
        RUN_UNTIL(MODE, bytes->count == sizeof message * (size_t)i);
        EXPECT_EQ(bytes->calls, i);
    }
    end_source(input);
}

TEST("lines are whole, however they are cut, and the last one needs no end") {
    const char *text = "one\ntwo\r\n\n\rthree\r\n0123456\r\ntoo long by far\n01234567\n0123456\r\nlast";
    const char *expected = "one|two||\rthree|0123456|too lon!0123456!0123456|last|";
    unsigned seed = 1;
    for (int round = 0; round < 60; round++) {
        struct taking *lines = taking();
        make_pipe(ends);
        runloop_input *input = add_input(ends[0], true, 7, lines);
        for (size_t at = 0; at < strlen(text);) {
            size_t count = round == 0 ? 1 : 1 + (size_t)rand_r(&seed) % 12;
            if (count > strlen(text) - at)
                count = strlen(text) - at;
            REQUIRE(write(ends[1], text + at, count) == (ssize_t)count);
            at += count;
            if (rand_r(&seed) % 2)
                poll_mode(MODE);
        }
        close(ends[1]);
        RUN_UNTIL(MODE, lines->ends == 1);
        EXPECT_TEXT(lines->text, expected);
        EXPECT_EQ(lines->error, 0);
        EXPECT(runloop_mode_is_empty(runloop_current(), MODE));
        end_source(input);
        EXPECT_EQ(fcntl(ends[0], F_GETFD), -1);
    }
}

TEST("what is not consumed comes again with more, and with the end") {
    struct taking *bytes = taking();
    make_pipe(ends);
    bytes->consumes = 2;
    runloop_input *input = add_input(ends[0], false, 10, bytes);
    put(ends[1], "abcde");
    RUN_UNTIL(MODE, bytes->calls == 1);
    EXPECT_EQ(run_for(MODE, 5 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(bytes->calls, 1);
    put(ends[1], "f");
    RUN_UNTIL(MODE, bytes->calls == 2);
    EXPECT_EQ(runloop_input_resume(input), 0);
    RUN_UNTIL(MODE, bytes->calls == 3);
    put(ends[1], "g");
    RUN_UNTIL(MODE, bytes->calls == 4);
    EXPECT_TEXT(bytes->text, "abcdefg");
    bytes->consumes = 0;
    put(ends[1], "rest");
    close(ends[1]);
    RUN_UNTIL(MODE, bytes->ends == 1);
    EXPECT_EQ(bytes->error, 0);
    EXPECT_TEXT(bytes->rest, "rest");
    EXPECT_EQ(runloop_input_pause(input), -EINVAL);
    EXPECT_EQ(runloop_input_resume(input), -EINVAL);
    end_source(input);
}

TEST("a full buffer of which nothing is consumed ends the input, once, though no more comes") {
    const char *const texts[] = {"abcd", "abcdef"};
    for (int i = 0; i < 2; i++) {
        struct taking *bytes = taking();
        make_pipe(ends);
        bytes->consumes = 0;
        runloop_input *input = add_input(ends[0], false, 4, bytes);
        put(ends[1], texts[i]);
        RUN_UNTIL(MODE, bytes->ends == 1);
        EXPECT_EQ(bytes->error, -EMSGSIZE);
        EXPECT_TEXT(bytes->rest, "abcd");
        EXPECT_EQ(bytes->calls, 1);
        end_source(input);
    }
}

TEST("a paused input reads nothing, and goes on with the lines that it has, and the end") {
    struct taking *lines = taking();
    make_pipe(ends);
    lines->pauses_at = 1;
    runloop_input *input = add_input(ends[0], true, 10, lines);
    put(ends[1], "a\nb\nc");
    RUN_UNTIL(MODE, lines->calls == 1);
    EXPECT(runloop_input_is_paused(input));
    EXPECT_EQ(runloop_input_resume(input), 0);
    RUN_UNTIL(MODE, lines->calls == 2);
    EXPECT_EQ(runloop_input_pause(input), 0);
    put(ends[1], "d\n");
    EXPECT_EQ(run_for(MODE, 5 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_TEXT(lines->text, "a|b|");
    EXPECT_EQ(runloop_input_resume(input), 0);
    RUN_UNTIL(MODE, lines->calls == 3);
    EXPECT_TEXT(lines->text, "a|b|cd|");
    lines->pauses_at = 4;
    put(ends[1], "last");
    close(ends[1]);
    RUN_UNTIL(MODE, lines->calls == 4);
    EXPECT_EQ(run_for(MODE, 5 * MS), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(lines->ends, 0);
    EXPECT_EQ(runloop_input_resume(input), 0);
    RUN_UNTIL(MODE, lines->ends == 1);
    EXPECT_TEXT(lines->text, "a|b|cd|last|");
    end_source(input);
}

static void *pause_and_resume(void *info) {
    for (int i = 0; i < 3000; i++) {
        REQUIRE(runloop_input_pause(info) == 0);
        REQUIRE(runloop_input_resume(info) == 0);
    }
    return NULL;
}

TEST("pausing on another thread loses nothing") {
    struct taking *lines = taking();
    make_pipe(ends);
    runloop_input *input = add_input(ends[0], true, 100, lines);
    pthread_t thread;
    lines->others_pause = true;
    REQUIRE(pthread_create(&thread, NULL, pause_and_resume, input) == 0);
    for (int i = 0; i < 5000; i++) {
        put(ends[1], "x\ny\n");
        poll_mode(MODE);
    }
    pthread_join(thread, NULL);
    RUN_UNTIL(MODE, lines->count == 20000);
    end_source(input);
}

TEST("a file is read once per iteration, so that others have their turn; /dev/null ends at once") {
    char path[] = "/tmp/runloop-input-XXXXXX", block[4096];
    int file = mkstemp(path), ticks = 0;
    struct taking *bytes = taking(), *nothing = taking();
    memset(block, 'x', sizeof block);
    REQUIRE(file >= 0 && unlink(path) == 0);
    for (int i = 0; i < 40; i++)
        REQUIRE(write(file, block, sizeof block) == sizeof block);
    REQUIRE(lseek(file, 0, SEEK_SET) == 0);
    runloop_timer *timer = add_timer(MODE, runloop_now_ns(), 1, count_firing, &ticks);
    runloop_input *input = add_input(file, false, 4096, bytes);
    RUN_UNTIL(MODE, bytes->ends == 1);
    EXPECT_EQ(bytes->count, 40 * sizeof block);
    EXPECT_EQ(bytes->calls, 40);
    EXPECT(ticks >= 40);
    EXPECT_EQ(bytes->error, 0);
    end_source(input);
    input = add_input(open("/dev/null", O_RDONLY | O_CLOEXEC), true, 10, nothing);
    RUN_UNTIL(MODE, nothing->ends == 1);
    EXPECT_EQ(nothing->error, 0);
    EXPECT_EQ(nothing->calls, 0);
    end_source(input);
    runloop_timer_invalidate(timer);
}

TEST("an error is reported once, of a directory") {
    struct taking *directory = taking();
    runloop_input *input = add_input(open("/", O_RDONLY | O_CLOEXEC), false, 10, directory);
    RUN_UNTIL(MODE, directory->ends == 1);
    EXPECT_EQ(directory->error, -EISDIR);
    EXPECT_EQ(run_for(MODE, 5 * MS), RUNLOOP_RESULT_FINISHED);
    end_source(input);
}

TEST("a terminal gives lines") {
    int control = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    REQUIRE(control >= 0 && grantpt(control) == 0 && unlockpt(control) == 0);
    int terminal = open(ptsname(control), O_RDWR | O_NOCTTY | O_CLOEXEC);
    REQUIRE(terminal >= 0);
    struct taking *lines = taking();
    runloop_input *input = add_input(terminal, true, 100, lines);
    put(control, "first\nsecond\n");
    RUN_UNTIL(MODE, lines->calls == 2);
    EXPECT_TEXT(lines->text, "first|second|");
    put(control, "\x04");
    RUN_UNTIL(MODE, lines->ends == 1);
    EXPECT_EQ(lines->error, 0);
    end_source(input);
}

TEST("an input may be released in its own call-out, between lines") {
    struct taking *lines = taking();
    make_pipe(ends);
    lines->releases_at = 2;
    add_input(ends[0], true, 10, lines);
    put(ends[1], "a\nb\nc\n");
    RUN_UNTIL(MODE, lines->calls == 2);
    EXPECT(runloop_mode_is_empty(runloop_current(), MODE));
    EXPECT_TEXT(lines->text, "a|b|");
    EXPECT_EQ(lines->ends, 0);
    EXPECT_EQ(fcntl(ends[0], F_GETFD), -1);
}

TEST("a nested run in a call-out calls nothing, sleeps, and the input goes on after it") {
    struct taking *bytes = taking();
    make_pipe(ends);
    bytes->nests_at = 1;
    runloop_input *input = add_input(ends[0], false, 1, bytes);
    put(ends[1], "ab");
    RUN_UNTIL(MODE, bytes->calls == 2);
    EXPECT_TEXT(bytes->text, "ab");
    end_source(input);
}

TEST("when a thread ends in a call-out, the next loop gets what was not consumed") {
    struct taking *lines = taking();
    make_pipe(ends);
    lines->exits_at = 2;
    runloop_input *input = make_input(ends[0], true, 10, lines);
    put(ends[1], "a\nb\nc\n");
    on_new_thread(run_source, input);
    EXPECT_EQ(lines->calls, 2);
    REQUIRE(runloop_add_source(runloop_current(), input, MODE) == 0);
    RUN_UNTIL(MODE, lines->calls == 4);
    EXPECT_TEXT(lines->text, "a|b|b|c|");
    end_source(input);
}

TEST("a descriptor that an input owns is closed after its end was reported, and when the thread ends in that call") {
    for (int exits = 0; exits < 2; exits++) {
        struct taking *lines = taking();
        lines->exits_at_end = exits;
        make_pipe(ends);
        close(ends[1]);
        runloop_input *input = make_input(ends[0], true, 10, lines);
        on_new_thread(run_source, input);
        EXPECT_EQ(lines->ends, 1);
        EXPECT_EQ(fcntl(ends[0], F_GETFD), -1);
        end_source(input);
    }
}

static runloop_input *inherited;

static void use_inherited(void) {
    EXPECT_EQ(runloop_input_pause(inherited), -ECHILD);
    EXPECT_EQ(runloop_input_resume(inherited), -ECHILD);
    end_source(inherited);
}

TEST("a forked child takes nothing of its parent's input") {
    struct taking *lines = taking();
    make_pipe(ends);
    inherited = add_input(ends[0], true, 10, lines);
    put(ends[1], "parent\n");
    EXPECT_EQ(status_of_child(use_inherited), 0);
    RUN_UNTIL(MODE, lines->calls == 1);
    EXPECT_TEXT(lines->text, "parent|");
    end_source(inherited);
}

TEST("bad arguments and a lack of descriptors are refused, and nothing is leaked") {
    struct taking *lines = taking();
    make_pipe(ends);
    runloop_input *input = NULL;
    runloop_input_config config = {.context.info = lines, .descriptor = ends[0], .received_line = take_line};
    EXPECT_EQ(runloop_input_create(&config, &input), -EINVAL);
    config.limit = 10, config.received = take_bytes;
    EXPECT_EQ(runloop_input_create(&config, &input), -EINVAL);
    config.received_line = NULL, config.received = NULL;
    EXPECT_EQ(runloop_input_create(&config, &input), -EINVAL);
    config.received = take_bytes, config.descriptor = -1;
    EXPECT_EQ(runloop_input_create(&config, &input), -EBADF);
    config.descriptor = ends[1];
    EXPECT_EQ(runloop_input_create(&config, &input), -EBADF);
    config.descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC);
    use_up_descriptors(0);
    EXPECT_EQ(runloop_input_create(&config, &input), -EMFILE);
    EXPECT(!input);
    give_back_descriptors();
}
