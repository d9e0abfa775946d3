// input_lines.c — the lines in what an input has read.

#ifdef __linux__
#include <errno.h>
#include <string.h>

#include "streams/input.h"

/// Delivers a line, and drops it with the bytes after it that belong to it.
static void tell_line(struct input *input, size_t count, size_t dropped) {
    const char *line = input->intake.bytes + input->intake.start;
    bool is_long = count > input->line_limit;
    input->received_line(input->object.source, line, is_long ? input->line_limit : count, is_long ? -EMSGSIZE : 0,
                         input->object.context.info);
    runloop__intake_drop(&input->intake, dropped);
    input->scanned = 0;
}

/// Delivers a line that has an end, or drops what is left of a long one. False: no line is complete.
static bool tell_next_line(struct input *input) {
    struct intake *intake = &input->intake;
    const char *bytes = intake->bytes + intake->start;
    const char *feed = memchr(bytes + input->scanned, '\n', intake->count - input->scanned);
    if (!feed) {
        input->scanned = intake->count;
        return false;
    }
    size_t count = (size_t)(feed - bytes), whole = count + 1;
    if (input->is_skipping) {
        runloop__intake_drop(intake, whole);
        input->is_skipping = false;
        input->scanned = 0;
        input->has_taken = true;
        return true;
    }
    input->has_taken = true;
    tell_line(input, count > 0 && bytes[count - 1] == '\r' ? count - 1 : count, whole);
    return true;
}

/// The bytes have no line feed: a line that has begun, or is too long already, or the last one.
static void tell_begun_line(struct input *input) {
    struct intake *intake = &input->intake;
    bool is_last = input->has_verdict && input->verdict == 0;
    size_t count = intake->count;
    // The byte after the limit may be a carriage return before the line feed.
    bool may_fit = count <= input->line_limit ||
                   (count - 1 == input->line_limit && intake->bytes[intake->start + count - 1] == '\r' && !is_last);
    if (input->is_skipping) {
        runloop__intake_drop(intake, count);
        input->scanned = 0;
    } else if (!may_fit) {
        input->is_skipping = true;
        tell_line(input, count, count);
    } else if (is_last) {
        tell_line(input, count, count);
    }
}

void runloop__input_tell_lines(struct input *input) {
    while (input_goes_on(input) && input->intake.count > 0)
        if (!tell_next_line(input)) {
            tell_begun_line(input);
            return;
        }
}
#endif // __linux__
