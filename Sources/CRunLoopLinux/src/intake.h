// intake.h — a descriptor that is read without waiting, and the buffer for what was read: the bytes in one piece, up to a limit.
#ifndef RUNLOOP_INTAKE_H
#define RUNLOOP_INTAKE_H

#include <stdbool.h>
#include <stddef.h>

struct intake {
    int descriptor; ///< -1: closed
    bool is_socket;
    bool may_block; ///< it is not non-blocking, so the kernel is asked first
    bool
        is_always_ready; ///< a file, or a device like /dev/null: the kernel can't watch it, and a read never waits for long
    bool was_filled;     ///< there was no space left after the last read
    char *bytes;
    size_t capacity, start, count;
    size_t limit; ///< of the capacity
};

/// Finds out what a descriptor is, and makes a first buffer. -EBADF: not open for reading; -ENOMEM.
int runloop__intake_open(struct intake *intake, int descriptor, size_t limit);

/// Reads once: the number of bytes, 0 if there are none now. The end of the input sets `is_end`. A negative errno value; -EMSGSIZE: the
/// buffer has as many bytes as the limit.
ptrdiff_t runloop__intake_read(struct intake *intake, bool *is_end);

/// Drops the first bytes. An empty buffer that was not needed by the last read shrinks.
void runloop__intake_drop(struct intake *intake, size_t count);

#endif // RUNLOOP_INTAKE_H
