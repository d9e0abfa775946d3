// inputs_no_memory.c — each allocation of an input that runs fails once: nothing is lost before the end, and the end says why.
#include "failing_memory.h"

/// More than an input has space for without a buffer.
enum { LENGTH = 12000 };

struct reading {
    size_t count;
    int ends, error;
    bool keeps; ///< consumes nothing until all has come
    bool is_wrong;
};

static char byte_at(size_t place) {
    return (char)('a' + place % 23);
}

static void check(struct reading *reading, const char *bytes, size_t count) {
    for (size_t i = 0; i < count; i++)
        reading->is_wrong |= bytes[i] != byte_at(reading->count + i);
}

static size_t take_bytes(runloop_input *input, const char *bytes, size_t count, void *info) {
    (void)input;
    struct reading *reading = info;
    check(reading, bytes, count);
    if (reading->keeps && count < LENGTH) {
        failing = 1; // the next one, too
        return 0;
    }
    reading->count += count;
    return count;
}

static void note_end(runloop_input *input, int error, const char *rest, size_t count, void *info) {
    (void)input;
    struct reading *reading = info;
    check(reading, rest, count);
    reading->count += count;
    reading->ends++;
    reading->error = error;
}

static void write_all(int descriptor) {
    char bytes[LENGTH];
    for (size_t i = 0; i < LENGTH; i++)
        bytes[i] = byte_at(i);
    REQUIRE(write(descriptor, bytes, LENGTH) == LENGTH);
}

static runloop_input *add_limited_input(int descriptor, size_t limit, struct reading *reading) {
    runloop_input *input = NULL;
    const runloop_input_config config = {.context.info = reading,
                                         .descriptor = descriptor,
                                         .owns = true,
                                         .limit = limit,
                                         .received = take_bytes,
                                         .ended = note_end};
    REQUIRE(runloop_input_create(&config, &input) == 0);
    REQUIRE(runloop_add_source(runloop_current(), input, MODE) == 0);
    return input;
}

static runloop_input *add_input(int descriptor, struct reading *reading) {
    return add_limited_input(descriptor, LENGTH, reading);
}

/// Makes the loop have the memory that it needs to serve an input, with one that needs none itself.
static void warm_up(void) {
    int ends[2];
    struct reading reading = {0};
    make_pipe(ends);
    runloop_input *input = add_limited_input(ends[0], 8, &reading);
    REQUIRE(write(ends[1], "abcdefgh", 8) == 8);
    RUN_UNTIL(MODE, reading.count == 8);
    runloop_source_invalidate(input);
    runloop_source_release(input);
    close(ends[1]);
}

/// Reads all with a failing allocation. Whether that one was asked for.
static bool read_with_failure(long allocation, struct reading *reading) {
    int ends[2];
    make_pipe(ends);
    runloop_input *input = add_input(ends[0], reading);
    write_all(ends[1]);
    close(ends[1]);
    failing = allocation;
    RUN_UNTIL(MODE, reading->ends == 1);
    bool has_failed = failing == 0;
    failing = 0;
    runloop_source_invalidate(input);
    runloop_source_release(input);
    return has_failed;
}

TEST("a buffer that can't grow will do as it is, while it is consumed") {
    keep_mode(MODE);
    warm_up();
    int before = count_descriptors();
    bool has_failed = true;
    long allocation = 1;
    for (; has_failed; allocation++) {
        struct reading reading = {0};
        has_failed = read_with_failure(allocation, &reading);
        EXPECT(reading.count == LENGTH && reading.error == 0 && !reading.is_wrong);
        EXPECT_EQ(count_descriptors(), before);
    }
    EXPECT(allocation > 2);
}

TEST("a full buffer that can't grow ends the input, which gives what it has") {
    keep_mode(MODE);
    int ends[2];
    struct reading reading = {.keeps = true};
    warm_up();
    make_pipe(ends);
    runloop_input *input = add_input(ends[0], &reading);
    write_all(ends[1]);
    failing = 1;
    RUN_UNTIL(MODE, reading.ends == 1);
    failing = 0;
    EXPECT_EQ(reading.error, -ENOMEM);
    EXPECT_EQ(reading.ends, 1);
    EXPECT(!reading.is_wrong && reading.count > 0 && reading.count < LENGTH);
    runloop_source_invalidate(input);
    runloop_source_release(input);
    close(ends[1]);
}

TEST("inputs that keep nothing have one buffer together, and no message needs memory") {
    enum { COUNT = 8 };
    runloop_input *inputs[COUNT];
    struct reading readings[COUNT] = {0};
    int ends[COUNT][2];
    long before = 0;
    for (int i = 0; i < COUNT; i++) {
        make_pipe(ends[i]);
        inputs[i] = add_input(ends[i][0], &readings[i]);
    }
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < COUNT; i++) {
            write_all(ends[i][1]);
            readings[i].count = 0;
            RUN_UNTIL(MODE, readings[i].count == LENGTH);
        }
        if (round == 0)
            before = allocations;
    }
    EXPECT_EQ(allocations, before);
    for (int i = 0; i < COUNT; i++) {
        EXPECT(!readings[i].is_wrong);
        runloop_source_invalidate(inputs[i]);
        runloop_source_release(inputs[i]);
        close(ends[i][1]);
    }
}

static size_t keep_bytes(runloop_input *input, const char *bytes, size_t count, void *info) {
    (void)input, (void)bytes;
    *(size_t *)info = count;
    return 0;
}

TEST("what inputs keep takes no more memory than their limit") {
    enum { COUNT = 8, LIMIT = 1000, KEPT = LIMIT - 1 };
    runloop_input *inputs[COUNT];
    int ends[COUNT][2];
    size_t kept[COUNT] = {0}, before = 0;
    for (int i = 0; i < COUNT; i++) {
        make_pipe(ends[i]);
        const runloop_input_config config = {
            .context.info = &kept[i], .descriptor = ends[i][0], .owns = true, .limit = LIMIT, .received = keep_bytes};
        REQUIRE(runloop_input_create(&config, &inputs[i]) == 0);
        REQUIRE(runloop_add_source(runloop_current(), inputs[i], MODE) == 0);
        REQUIRE(write(ends[i][1], (char[KEPT]){0}, KEPT) == KEPT);
        RUN_UNTIL(MODE, kept[i] == KEPT);
        // The first needs the buffer for reading as well, and the loop has its memory by then.
        if (i == 0)
            before = allocated;
    }
    // The objects have some, too.
    EXPECT(allocated - before <= COUNT * 4 * LIMIT);
    for (int i = 0; i < COUNT; i++) {
        runloop_source_invalidate(inputs[i]);
        runloop_source_release(inputs[i]);
        close(ends[i][1]);
    }
}

TEST("a paused input needs no descriptor to be resumed, and loses nothing") {
    int ends[2];
    struct reading reading = {0};
    make_pipe(ends);
    runloop_input *input = add_input(ends[0], &reading);
    EXPECT_EQ(runloop_input_pause(input), 0);
    write_all(ends[1]);
    EXPECT_EQ(poll_mode(MODE), RUNLOOP_RESULT_TIMED_OUT);
    EXPECT_EQ(reading.count, 0);
    use_up_descriptors(0);
    EXPECT_EQ(runloop_input_resume(input), 0);
    give_back_descriptors();
    RUN_UNTIL(MODE, reading.count == LENGTH);
    EXPECT(!reading.is_wrong);
    runloop_source_invalidate(input);
    runloop_source_release(input);
    close(ends[1]);
}
