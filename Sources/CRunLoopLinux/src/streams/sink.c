// sink.c — a descriptor that is written to without waiting and without SIGPIPE.

#ifdef __linux__
#include "streams/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/object.h"
#include "base/write.h"

/// No SIGPIPE, since Linux 6.18. Not every libc has it yet.
#ifndef RWF_NOSIGNAL
#define RWF_NOSIGNAL 0x100
#endif

/// The thread sanitizer sees what a writev orders, and not what that flag's system call does.
#if defined(__SANITIZE_THREAD__)
#define SANITIZES_THREADS 1
#elif defined(__has_feature)
#define SANITIZES_THREADS __has_feature(thread_sanitizer)
#else
#define SANITIZES_THREADS 0
#endif

/// A pipe that is reported as writable takes so much without waiting. PIPE_BUF of Linux, which not every limits.h has.
enum { TAKEN_AT_ONCE = 4096 };

int runloop__sink_open(struct sink *sink, int descriptor) {
    int flags = fcntl(descriptor, F_GETFL);
    struct stat status;
    if (flags < 0 || fstat(descriptor, &status) < 0)
        return -errno;
    if ((flags & O_ACCMODE) == O_RDONLY)
        return -EBADF;
    *sink = (struct sink){.descriptor = descriptor,
                          .is_socket = S_ISSOCK(status.st_mode),
                          .is_pipe = S_ISFIFO(status.st_mode),
                          .may_block = !(flags & O_NONBLOCK)};
    int type;
    socklen_t size = sizeof type;
    // What is joined for sending would be one message.
    if (sink->is_socket && getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type != SOCK_STREAM)
        return -EPROTOTYPE;
    struct rlimit limit;
    sink->may_raise_limit =
        S_ISREG(status.st_mode) && getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    int refused = runloop__is_refused_by_epoll(descriptor);
    sink->is_always_ready = refused == 1;
    return refused < 0 ? refused : 0;
}

static ptrdiff_t write_to_pipe(int descriptor, const struct iovec *pieces, int count) {
    static _Atomic bool is_flag_refused = SANITIZES_THREADS;
    if (atomic_load_explicit(&is_flag_refused, memory_order_relaxed))
        return runloop__write_quietly(descriptor, pieces, count, SIGPIPE, EPIPE);
    // A pipe has no position, which is -1 in two halves.
    ptrdiff_t written = syscall(SYS_pwritev2, descriptor, pieces, (long)count, -1L, -1L, RWF_NOSIGNAL);
    // A kernel that doesn't know the flag or the call, or a sandbox that forbids what it doesn't know.
    if (written >= 0 || (errno != EOPNOTSUPP && errno != EINVAL && errno != ENOSYS && errno != EPERM))
        return written;
    atomic_store_explicit(&is_flag_refused, true, memory_order_relaxed);
    return runloop__write_quietly(descriptor, pieces, count, SIGPIPE, EPIPE);
}

/// At most `limit` bytes of the pieces. The number of pieces that are left.
static int shorten(struct iovec *pieces, int count, size_t limit) {
    for (int i = 0; i < count; i++) {
        if (pieces[i].iov_len >= limit) {
            pieces[i].iov_len = limit;
            return i + 1;
        }
        limit -= pieces[i].iov_len;
    }
    return count;
}

static ptrdiff_t write_once(const struct sink *sink, struct iovec *pieces, int count) {
    if (sink->is_socket) {
        // One piece costs the kernel less in this form.
        if (count == 1)
            return send(sink->descriptor, pieces->iov_base, pieces->iov_len, MSG_NOSIGNAL | MSG_DONTWAIT);
        const struct msghdr message = {.msg_iov = pieces, .msg_iovlen = (size_t)count};
        return sendmsg(sink->descriptor, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    if (sink->may_block && !sink->is_always_ready) {
        struct pollfd query = {.fd = sink->descriptor, .events = POLLOUT};
        int ready = poll(&query, 1, 0);
        if (ready <= 0) {
            // Where the limit of descriptors is 0 nothing may be polled.
            errno = ready == 0 || errno == EINTR ? EAGAIN : errno == EINVAL ? EMFILE : errno;
            return -1;
        }
        count = shorten(pieces, count, TAKEN_AT_ONCE);
    }
    if (sink->may_raise_limit)
        return runloop__write_quietly(sink->descriptor, pieces, count, SIGXFSZ, EFBIG);
    return sink->is_pipe ? write_to_pipe(sink->descriptor, pieces, count) : writev(sink->descriptor, pieces, count);
}

ptrdiff_t runloop__sink_write(const struct sink *sink, struct iovec *pieces, int count) {
    ptrdiff_t written;
    do
        written = write_once(sink, pieces, count);
    while (written < 0 && errno == EINTR);
    if (written >= 0)
        return written;
    if (errno != EAGAIN)
        return -errno;
    // For a descriptor that the kernel can't watch, nothing would report when it takes more.
    return sink->is_always_ready ? -EIO : 0;
}
#endif // __linux__
