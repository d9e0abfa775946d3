// peer.c — the process at the other end of a Unix socket.

#ifdef __linux__
#include <errno.h>
#include <sys/socket.h>

#include "runloop_listener.h"

// Not every libc has the name.
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

static int option(int descriptor, int name, void *value, socklen_t size) {
    return getsockopt(descriptor, SOL_SOCKET, name, value, &size) < 0 ? -errno : 0;
}

int runloop_socket_get_peer(int descriptor, runloop_peer *out) {
    int domain = 0;
    struct ucred credentials;
    if (!out)
        return -EINVAL;
    int result = option(descriptor, SO_DOMAIN, &domain, sizeof domain);
    if (result < 0)
        return result;
    if (domain != AF_UNIX)
        return -EAFNOSUPPORT;
    struct sockaddr address;
    socklen_t size = sizeof address;
    if (getpeername(descriptor, &address, &size) < 0)
        return -errno;
    result = option(descriptor, SO_PEERCRED, &credentials, sizeof credentials);
    if (result < 0)
        return result;
    *out = (runloop_peer){.pid = credentials.pid, .uid = credentials.uid, .gid = credentials.gid, .pidfd = -1};
    result = option(descriptor, SO_PEERPIDFD, &out->pidfd, sizeof out->pidfd);
    if (result == -EMFILE || result == -ENFILE)
        return result;
    // Before Linux 6.5, or its process was reaped.
    if (result < 0)
        out->pidfd = -1;
    return 0;
}
#endif // __linux__
