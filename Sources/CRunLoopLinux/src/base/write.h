// write.h — writing without the signal that some errors send.
#ifndef RUNLOOP_WRITE_H
#define RUNLOOP_WRITE_H

#include <stddef.h>
#include <sys/uio.h>

/// As writev; with the error, the calling thread is not sent the signal, as SIGPIPE with EPIPE, and SIGXFSZ with EFBIG.
ptrdiff_t runloop__write_quietly(int descriptor, const struct iovec *pieces, int count, int signal, int error);

#endif // RUNLOOP_WRITE_H
