// collected.c — the output of a program is read as it comes; the first bytes are kept, and the rest is dropped.

#ifdef __linux__
#include "commands/collected.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

/// Without memory the rest is read in smaller pieces.
enum { FIRST_CAPACITY = 4096, LEAST_CAPACITY = 256, MOST_READS = 16 };

/// Whether there is space for more that is to be kept.
static bool make_room(struct collected *output) {
    if (output->count < output->capacity)
        return true;
    if (output->count == output->limit)
        return false;
    size_t capacity = output->capacity ? output->capacity : FIRST_CAPACITY / 2;
    capacity = capacity < output->limit / 2 ? capacity * 2 : output->limit;
    char *bytes = realloc(output->bytes, capacity + 1);
    // What memory does not suffice for is dropped.
    if (!bytes)
        return false;
    output->bytes = bytes;
    output->capacity = capacity;
    return true;
}

static ptrdiff_t read_once(int descriptor, char *bytes, size_t count) {
    ptrdiff_t result;
    do
        result = read(descriptor, bytes, count);
    while (result < 0 && errno == EINTR);
    return result;
}

/// Once: the number of bytes, 0 at the end, -1 if there is nothing now.
static ptrdiff_t read_piece(struct collected *output, size_t most) {
    if (make_room(output)) {
        size_t space = output->capacity - output->count;
        ptrdiff_t result = read_once(output->descriptor, output->bytes + output->count, space < most ? space : most);
        output->count += result > 0 ? (size_t)result : 0;
        return result;
    }
    char least[LEAST_CAPACITY];
    if (!output->scratch)
        output->scratch = malloc(FIRST_CAPACITY);
    size_t space = output->scratch ? FIRST_CAPACITY : LEAST_CAPACITY;
    ptrdiff_t result =
        read_once(output->descriptor, output->scratch ? output->scratch : least, space < most ? space : most);
    if (result > 0) {
        output->dropped += (uint64_t)result;
        output->end = RUNLOOP_COMMAND_OVER_LIMIT;
    }
    return result;
}

bool runloop__collected_read(struct collected *output) {
    for (int i = 0; i < MOST_READS; i++) {
        ptrdiff_t result = read_piece(output, SIZE_MAX / 2);
        if (result < 0 && errno == EAGAIN)
            return false;
        // A pipe has no other error, but a sandbox may refuse to read it.
        if (result < 0 && output->end == RUNLOOP_COMMAND_COMPLETE)
            output->end = RUNLOOP_COMMAND_CUT_OFF;
        if (result <= 0 || (output->closes_at_limit && output->dropped > 0))
            return true;
    }
    return false;
}

void runloop__collected_cut_off(struct collected *output) {
    int left = 0;
    ptrdiff_t result = -1;
    ioctl(output->descriptor, FIONREAD, &left);
    while (left > 0 && (result = read_piece(output, (size_t)left)) > 0)
        left -= (int)result;
    // The end comes after the last byte.
    char next;
    if (left == 0)
        result = read_once(output->descriptor, &next, 1);
    output->dropped += result > 0;
    if (result != 0 && output->end == RUNLOOP_COMMAND_COMPLETE)
        output->end = RUNLOOP_COMMAND_CUT_OFF;
}

runloop_command_output runloop__collected_get(const struct collected *output) {
    if (output->count > 0)
        output->bytes[output->count] = 0;
    return (runloop_command_output){.bytes = output->count > 0 ? output->bytes : "",
                                    .count = output->count,
                                    .dropped = output->dropped,
                                    .end = output->end};
}
#endif // __linux__
