// dice.c — the random numbers of a thread of a simulation are the world's, whichever way it asks for them.

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "runloop_simulation.h"
#include "test.h"

// Newer ones have them; the program has those of this library in any case.
void arc4random_buf(void *bytes, size_t count);
uint32_t arc4random(void);
uint32_t arc4random_uniform(uint32_t limit);

static uint64_t first_random(void *simulation) {
    (void)simulation;
    return 7;
}

static struct runloop_simulated_world world = {.first_random = first_random};

enum { COUNT = 24 };
struct ways {
    int descriptor;
    FILE *stream;
};

static bool ask_function(const struct ways *ways, unsigned char *bytes) {
    (void)ways;
    return getrandom(bytes, COUNT, 0) == COUNT;
}

static bool ask_for_entropy(const struct ways *ways, unsigned char *bytes) {
    (void)ways;
    return getentropy(bytes, COUNT) == 0;
}

static bool ask_arc4(const struct ways *ways, unsigned char *bytes) {
    (void)ways;
    arc4random_buf(bytes, COUNT);
    return true;
}

static bool read_descriptor(const struct ways *ways, unsigned char *bytes) {
    return read(ways->descriptor, bytes, COUNT) == COUNT;
}

static bool read_new_descriptor(const struct ways *ways, unsigned char *bytes) {
    (void)ways;
    int descriptor = open("/dev/random", O_RDONLY | O_CLOEXEC);
    bool is_read = read(descriptor, bytes, COUNT) == COUNT;
    close(descriptor);
    return is_read;
}

static bool read_copy(const struct ways *ways, unsigned char *bytes) {
    int descriptor = dup(ways->descriptor);
    bool is_read = syscall(SYS_read, descriptor, bytes, COUNT) == COUNT;
    close(descriptor);
    return is_read;
}

static bool read_at_position(const struct ways *ways, unsigned char *bytes) {
    return pread(ways->descriptor, bytes, COUNT, 0) == COUNT;
}

static bool read_pieces(const struct ways *ways, unsigned char *bytes) {
    const struct iovec pieces[] = {{bytes, 8}, {bytes + 8, COUNT - 8}};
    return readv(ways->descriptor, pieces, 2) == COUNT;
}

static bool read_stream(const struct ways *ways, unsigned char *bytes) {
    return fread(bytes, 1, COUNT, ways->stream) == COUNT;
}

static bool (*const all[])(const struct ways *, unsigned char *) = {
    ask_function, ask_for_entropy,  ask_arc4,    read_descriptor, read_new_descriptor,
    read_copy,    read_at_position, read_pieces, read_stream,
};
enum { ALL = sizeof all / sizeof *all };

TEST("each way to random numbers has those of the world, also by descriptors and streams that were opened before") {
    struct ways ways = {open("/dev/urandom", O_RDONLY | O_CLOEXEC), fopen("/dev/urandom", "re")};
    unsigned char first[COUNT], bytes[COUNT];
    REQUIRE(ways.descriptor >= 0 && ways.stream);
    // What it has in its buffer is the kernel's.
    EXPECT(fgetc(ways.stream) != EOF);
    for (size_t i = 0; i < ALL; i++) {
        runloop_simulation_join(&world, &world, 3);
        world.has_dice = false;
        EXPECT(all[i](&ways, i == 0 ? first : bytes));
        runloop_simulation_join(NULL, NULL, 0);
        EXPECT(i == 0 || memcmp(first, bytes, COUNT) == 0);
        EXPECT(all[i](&ways, bytes));
        EXPECT(memcmp(first, bytes, COUNT) != 0);
    }
    fclose(ways.stream);
    close(ways.descriptor);
    uint64_t state = 7, number = runloop_simulation_next_random(&state);
    EXPECT(memcmp(first, &number, sizeof number) == 0);
}

TEST("numbers below a limit, and single bytes, are the world's as well, and another file is read as ever") {
    uint32_t numbers[2][8];
    FILE *stream = fopen("/dev/urandom", "re");
    REQUIRE(stream);
    for (int i = 0; i < 2; i++) {
        runloop_simulation_join(&world, &world, 3);
        world.has_dice = false;
        for (int j = 0; j < 6; j++)
            numbers[i][j] = arc4random_uniform(1000);
        numbers[i][6] = arc4random();
        numbers[i][7] = (uint32_t)getc(stream);
        runloop_simulation_join(NULL, NULL, 0);
        for (int j = 0; j < 6; j++)
            EXPECT(numbers[i][j] < 1000);
    }
    EXPECT(memcmp(numbers[0], numbers[1], sizeof numbers[0]) == 0);
    EXPECT_EQ(arc4random_uniform(1), 0);
    runloop_simulation_join(&world, &world, 3);
    char bytes[257] = "abc";
    int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    EXPECT_EQ(read(zero, bytes, 4), 4);
    EXPECT_TEXT(bytes, "");
    EXPECT_EQ(getentropy(bytes, 257), -1);
    EXPECT_EQ(errno, EIO);
    runloop_simulation_join(NULL, NULL, 0);
    close(zero);
    fclose(stream);
}
