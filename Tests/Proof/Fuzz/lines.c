// lines.c — an input of lines is given bytes in pieces, and tells the lines that a plain splitter finds in the whole.
#include <fcntl.h>

#include "fuzz.h"
#include "runloop_linux.h"

// After so many pieces the rest is one: each is a write, a run and a read, and none does what sixteen have not done.
enum { MOST = 4096, MOST_PIECES = 16 };

struct telling {
    char text[4 * MOST];
    size_t length;
    size_t limit;
    bool has_ended;
};

static void tell(struct telling *telling, const char *line, size_t count, int error) {
    CHECK(count <= telling->limit);
    CHECK(telling->length + count + 2 < sizeof telling->text);
    telling->text[telling->length++] = error ? '!' : '.';
    memcpy(telling->text + telling->length, line, count);
    telling->length += count;
    telling->text[telling->length++] = '|';
}

static void received_line(runloop_input *input, const char *line, size_t count, int error, void *info) {
    (void)input;
    CHECK(error == 0 || error == -EMSGSIZE);
    tell(info, line, count, error);
}

static void ended(runloop_input *input, int error, const char *rest, size_t count, void *info) {
    struct telling *telling = info;
    (void)rest;
    CHECK(error == 0 && count == 0 && !telling->has_ended && !runloop_source_is_valid(input));
    telling->has_ended = true;
}

/// What the lines of the whole are. Of one that is too long the beginning is delivered, and not its end.
static void split(struct telling *expected, const uint8_t *bytes, size_t size) {
    while (size > 0) {
        const uint8_t *feed = memchr(bytes, '\n', size);
        size_t length = feed ? (size_t)(feed - bytes) : size, used = length + (feed != NULL);
        if (feed && length > 0 && bytes[length - 1] == '\r')
            length--;
        bool is_long = length > expected->limit;
        tell(expected, (const char *)bytes, is_long ? expected->limit : length, is_long);
        bytes += used;
        size -= used;
    }
}

static void *play(void *argument) {
    struct bytes *bytes = argument;
    static struct telling told, expected;
    int ends[2];
    size_t limit = 1 + bytes_take(bytes, 24), piece = 1 + bytes_take(bytes, 64);
    unsigned pauses = bytes_take(bytes, 8);
    size_t size = (size_t)(bytes->end - bytes->next);
    told = expected = (struct telling){.limit = limit};
    split(&expected, bytes->next, size);
    CHECK(pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
    runloop_input *input;
    runloop_input_config config = {.context = {.info = &told},
                                   .descriptor = ends[0],
                                   .owns = true,
                                   .limit = limit,
                                   .received_line = received_line,
                                   .ended = ended};
    CHECK(runloop_input_create(&config, &input) == 0);
    CHECK(runloop_add_source(runloop_current(), input, "lines") == 0);
    for (size_t sent = 0, turn = 0; sent < size; turn++) {
        size_t count = size - sent < piece || turn == MOST_PIECES ? size - sent : piece;
        CHECK(write(ends[1], bytes->next + sent, count) == (ssize_t)count);
        sent += count;
        if (pauses && turn % pauses == 0) {
            CHECK(runloop_input_pause(input) == 0);
            size_t length = told.length;
            runloop_run_in_mode("lines", 0, false);
            CHECK(told.length == length);
            CHECK(runloop_input_resume(input) == 0);
        }
        CHECK(runloop_run_in_mode("lines", 0, false) == RUNLOOP_RESULT_TIMED_OUT);
    }
    close(ends[1]);
    // With a limit that small, the kernel gives a whole pipe in many reads.
    for (int i = 0; i < 2 * MOST && !told.has_ended; i++)
        runloop_run_in_mode("lines", 0, false);
    CHECK(told.has_ended);
    CHECK(told.length == expected.length && memcmp(told.text, expected.text, told.length) == 0);
    runloop_source_release(input);
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes bytes = {data, data + (size < MOST ? size : MOST)};
    int descriptors = fuzz_open_descriptors();
    fuzz_with_loop(play, &bytes, size);
    CHECK(fuzz_open_descriptors() == descriptors);
    return 0;
}
