// sink.h — a descriptor that is written to without waiting and without SIGPIPE, whatever it is.
#ifndef RUNLOOP_SINK_H
#define RUNLOOP_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

struct sink {
    int descriptor;
    bool may_raise_limit; ///< a file, in a process with a limit of their size
    bool is_socket;
    bool is_pipe;   ///< which raises SIGPIPE
    bool may_block; ///< it is not non-blocking, so the kernel is asked first, and given little at a time
    bool
        is_always_ready; ///< a file, or a device like /dev/null: the kernel can't watch it, and never makes a writer wait for long
};

/// Finds out what a descriptor is. -EBADF: not open for writing; -EMFILE, -ENFILE, -ENOMEM.
int runloop__sink_open(struct sink *sink, int descriptor);

/// Writes once: the number of bytes, 0 if the kernel takes none now, or a negative errno value.
ptrdiff_t runloop__sink_write(const struct sink *sink, struct iovec *pieces, int count);

#endif // RUNLOOP_SINK_H
