// input.h — an input, for the file that reads and the one that finds lines.
#ifndef RUNLOOP_INPUT_PRIVATE_H
#define RUNLOOP_INPUT_PRIVATE_H

#include <stdatomic.h>

#include "base/lock.h"
#include "base/object.h"
#include "runloop_input.h"
#include "streams/idle.h"
#include "streams/intake.h"

struct input {
    struct object object;
    runloop *loop;
    size_t (*received)(runloop_input *input, const char *bytes, size_t count, void *info);
    void (*received_line)(runloop_input *input, const char *line, size_t count, int error, void *info);
    void (*ended)(runloop_input *input, int error, const char *rest, size_t count, void *info);
    size_t line_limit;
    runloop_output *output; ///< constant, retained, may be NULL: what it moves counts for the idle limit as well
    _Atomic int64_t moved_ns;
    _Atomic bool is_paused; ///< written under the lock
    _Atomic bool has_read;  ///< at least once, or has tried to
    bool owns;
    struct steady_lock lock;
    bool is_calling GUARDED;     ///< a call-out runs
    bool is_telling_end GUARDED; ///< it is the last one, after which the descriptor is closed
    bool is_due GUARDED;         ///< what was kept is to come again
    struct idle idle GUARDED;
    int64_t late_ns GUARDED; ///< the last limit or deadline that was found to have passed; RUNLOOP_NEVER: none was
    int64_t left GUARDED;    ///< so many bytes of those that had arrived by then are not read yet
    // Guarded by the lock, and while a call-out runs its thread's.
    struct intake intake;
    bool has_returned; ///< the call-out has; its thread may have ended in it
    bool has_taken;    ///< the call-out took a whole message, or as much as was a whole for it
    bool has_verdict;  ///< nothing more is read, and `verdict` is why
    int verdict;
    size_t scanned;   ///< so many bytes have no line feed
    bool is_skipping; ///< the rest of a line that was too long
};

/// Between the parts of a call-out: whether there may be another one.
static inline bool input_goes_on(struct input *input) {
    return !input->is_paused && runloop_source_is_valid(input->object.source) && !object_is_inherited(&input->object);
}

/// During a call-out: delivers each line that has an end, the beginning of one that is too long, and the last one.
void runloop__input_tell_lines(struct input *input);

#endif // RUNLOOP_INPUT_PRIVATE_H
