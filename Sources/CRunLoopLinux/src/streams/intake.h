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
    bool is_for_reading; ///< the buffer is as large as those that are shared
    char *bytes;         ///< `first`, or from malloc
    size_t capacity, start, count;
    size_t limit;          ///< of the capacity
    size_t first_capacity; ///< of `first`; less than its size if the limit is
    char first[256];       ///< all that an idle input has, and what it reads into without memory
};

/// Finds out what a descriptor is. The intake is zeroed. -EBADF: not open for reading.
int runloop__intake_open(struct intake *intake, int descriptor, size_t limit);

/// Reads once: the number of bytes, 0 if nothing is there now. The end of the input sets `is_end`. A negative errno value; -EMSGSIZE: the
/// buffer has as many bytes as the limit; -EAGAIN: nothing is there now, and the kernel can't watch for more.
ptrdiff_t runloop__intake_read(struct intake *intake, bool *is_end);

/// Drops the first bytes.
void runloop__intake_drop(struct intake *intake, size_t count);
/// Until the next read, the bytes take little more memory than they need. They move.
void runloop__intake_settle(struct intake *intake);
/// Frees the buffer.
void runloop__intake_close(struct intake *intake);

#endif // RUNLOOP_INTAKE_H
