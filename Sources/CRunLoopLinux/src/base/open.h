// open.h — files are opened although a signal comes. A file system whose server is another process or machine (FUSE, NFS) interrupts the call,
// with a handler that restarts others as well.
#ifndef RUNLOOP_LINUX_OPEN_H
#define RUNLOOP_LINUX_OPEN_H

#include <errno.h>
#include <fcntl.h>

/// As openat of what exists.
static inline int openat_whole(int directory, const char *path, int flags) {
    int descriptor;
    do
        descriptor = openat(directory, path, flags | O_CLOEXEC);
    while (descriptor < 0 && errno == EINTR);
    return descriptor;
}

static inline int open_whole(const char *path, int flags) {
    return openat_whole(AT_FDCWD, path, flags);
}

#endif // RUNLOOP_LINUX_OPEN_H
