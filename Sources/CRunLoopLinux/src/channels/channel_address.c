// channel_address.c — where channels are listened for, and connected to.

#ifdef __linux__
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runloop_bionic.h"
#include "runloop_channel.h"
#include "sockets/socket_address.h"

enum { MOST_BYTES = sizeof((struct sockaddr_un *)0)->sun_path };

/// The path itself, or in $XDG_RUNTIME_DIR, which a setuid program must not believe. -EINVAL, -ENAMETOOLONG; -ENOENT: there is no such
/// variable, or it is no path.
static int resolve(const char *path, char out[MOST_BYTES]) {
    // An abstract name belongs to the process that binds it first.
    if (!path || !*path || *path == '@')
        return -EINVAL;
    const char *directory = *path == '/' ? "" : secure_getenv("XDG_RUNTIME_DIR");
    if (!directory || (*path != '/' && *directory != '/'))
        return -ENOENT;
    int length = snprintf(out, MOST_BYTES, "%s%s%s", directory, *path == '/' ? "" : "/", path);
    return length < 0 || length >= MOST_BYTES ? -ENAMETOOLONG : 0;
}

int runloop_channel_listen(const char *path, uint32_t mode, int backlog) {
    char resolved[MOST_BYTES];
    int result = resolve(path, resolved);
    return result < 0 ? result : runloop__listen_local(resolved, SOCK_SEQPACKET, mode, backlog);
}

/// A connected socket, or a negative errno value.
static int connect_to(const char *path) {
    struct socket_address address;
    int result = runloop__local_address(&address, path, false);
    if (result < 0)
        return result;
    int descriptor = runloop__open_socket(AF_UNIX, SOCK_SEQPACKET);
    if (descriptor < 0)
        return descriptor;
    if (connect(descriptor, &address.any, address.size) < 0) {
        result = -errno;
        close(descriptor);
        return result;
    }
    return descriptor;
}

int runloop_channel_connect(const char *path, const runloop_channel_config *config, runloop_channel **out) {
    char resolved[MOST_BYTES];
    int result = resolve(path, resolved);
    int descriptor = result < 0 ? result : connect_to(resolved);
    if (descriptor < 0)
        return descriptor;
    result = runloop_channel_create(descriptor, config, out);
    if (result < 0)
        close(descriptor);
    return result;
}
#endif // __linux__
