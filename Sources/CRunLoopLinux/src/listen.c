// listen.c — sockets that listen, of TCP and of Unix.

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runloop_listener.h"
#include "socket_address.h"

enum { OWNER_ONLY = 0600, ALL_PERMISSIONS = 07777 };

static int fail(int descriptor, int error) {
    close(descriptor);
    return error;
}

static int open_socket(int family, int type) {
    int descriptor = socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    return descriptor < 0 ? -errno : descriptor;
}

static int start(int descriptor, int backlog) {
    // The kernel lowers what is more than it allows.
    return listen(descriptor, backlog > 0 ? backlog : INT32_MAX) < 0 ? -errno : 0;
}

int runloop_listen_tcp(const char *address, uint16_t port, int backlog) {
    struct socket_address ip;
    int result = address ? runloop__ip_address(&ip, address, port) : -EINVAL;
    if (result < 0)
        return result;
    int descriptor = open_socket(ip.any.sa_family, SOCK_STREAM), yes = 1, no = 0;
    if (descriptor < 0)
        return descriptor;
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    // What is accepted inherits it.
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (ip.any.sa_family == AF_INET6)
        setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
    if (bind(descriptor, &ip.any, ip.size) < 0)
        return fail(descriptor, -errno);
    result = start(descriptor, backlog);
    return result < 0 ? fail(descriptor, result) : descriptor;
}

int runloop_listen_abstract(const char *name, int backlog) {
    struct socket_address local;
    int result = name ? runloop__local_address(&local, name, true) : -EINVAL;
    if (result < 0)
        return result;
    int descriptor = open_socket(AF_UNIX, SOCK_STREAM);
    if (descriptor < 0)
        return descriptor;
    if (bind(descriptor, &local.any, local.size) < 0)
        return fail(descriptor, -errno);
    result = start(descriptor, backlog);
    return result < 0 ? fail(descriptor, result) : descriptor;
}

//===-- paths --------------------------------------------------------------------------------------------------------===//

/// The directory of a path, locked against others who replace a path in it. A negative errno value.
static int lock_directory(const char *path) {
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
    if (!folder)
        return -ENOMEM;
    int directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int error = errno;
    free(folder);
    if (directory < 0)
        return -error;
    while (flock(directory, LOCK_EX) < 0)
        if (errno != EINTR)
            return fail(directory, -errno);
    return directory;
}

/// A path whose socket no process has any more, as a program leaves it behind that has been killed. A datagram socket finds that out without
/// a connection: of a stream socket it learns that its type is another one, of a datagram socket nothing, and that there is none.
static bool is_left_behind(const struct socket_address *local) {
    struct stat status;
    if (lstat(local->local.sun_path, &status) < 0 || !S_ISSOCK(status.st_mode))
        return false;
    int descriptor = open_socket(AF_UNIX, SOCK_DGRAM);
    if (descriptor < 0)
        return false;
    bool is_refused = connect(descriptor, &local->any, local->size) < 0 && errno == ECONNREFUSED;
    close(descriptor);
    return is_refused;
}

/// HOLDS: the directory's lock, since of two programs that find the same path left behind one would remove the other's socket.
static int bind_path(int descriptor, const struct socket_address *local, uint32_t mode, int backlog) {
    const char *path = local->local.sun_path;
    // The path begins with the permissions that the socket has, less the umask, and gets the rest afterwards: it never has more.
    if (fchmod(descriptor, mode) < 0)
        return -errno;
    int result = bind(descriptor, &local->any, local->size) < 0 ? -errno : 0;
    if (result == -EADDRINUSE && is_left_behind(local))
        result = unlink(path) < 0 || bind(descriptor, &local->any, local->size) < 0 ? -errno : 0;
    if (result < 0)
        return result;
    result = start(descriptor, backlog);
    if (result == 0 && chmod(path, mode) < 0)
        result = -errno;
    if (result < 0)
        unlink(path);
    return result;
}

int runloop__listen_local(const char *path, int type, uint32_t mode, int backlog) {
    struct socket_address local;
    int result = path && mode <= ALL_PERMISSIONS ? runloop__local_address(&local, path, false) : -EINVAL;
    if (result < 0)
        return result;
    int directory = lock_directory(path);
    if (directory < 0)
        return directory;
    int descriptor = open_socket(AF_UNIX, type);
    if (descriptor >= 0) {
        result = bind_path(descriptor, &local, mode ? mode : OWNER_ONLY, backlog);
        if (result < 0)
            descriptor = fail(descriptor, result);
    }
    close(directory); // and gives the lock back
    return descriptor;
}

int runloop_listen_unix(const char *path, uint32_t mode, int backlog) {
    return runloop__listen_local(path, SOCK_STREAM, mode, backlog);
}
