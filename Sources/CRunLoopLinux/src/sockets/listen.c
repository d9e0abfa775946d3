// listen.c — sockets that listen, of TCP and of Unix.

#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/open.h"
#include "runloop_listener.h"
#include "sockets/socket_address.h"

// Not every libc has the names.
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif

enum { OWNER_ONLY = 0600, ALL_PERMISSIONS = 07777 };
/// Pauses of a millisecond for which the lock of a directory is awaited.
enum { MOST_TRIES = 500 };

static int fail(int descriptor, int error) {
    close(descriptor);
    return error;
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
    int descriptor = runloop__open_socket(ip.any.sa_family, SOCK_STREAM), yes = 1, no = 0;
    if (descriptor < 0)
        return descriptor;
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    // What is accepted without a listener inherits it.
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
    int descriptor = runloop__open_socket(AF_UNIX, SOCK_STREAM);
    if (descriptor < 0)
        return descriptor;
    if (bind(descriptor, &local.any, local.size) < 0)
        return fail(descriptor, -errno);
    result = start(descriptor, backlog);
    return result < 0 ? fail(descriptor, result) : descriptor;
}

//===-- paths --------------------------------------------------------------------------------------------------------===//

/// For as long as one of two programs that find the same path left behind replaces it, the other one waits for the lock of the directory.
/// -1: there is no lock, since the directory can't be read, or somebody holds it for longer than that takes. Whoever may read a directory
/// may lock it, so nothing depends on it. -EMFILE, -ENFILE, -ENOMEM: it could not be tried.
static int lock_directory(const char *path) {
    const struct timespec pause = {.tv_nsec = 1000000};
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
    if (!folder)
        return -ENOMEM;
    int directory = open_whole(folder, O_RDONLY | O_DIRECTORY);
    int error = directory < 0 ? errno : 0;
    free(folder);
    if (error == EMFILE || error == ENFILE || error == ENOMEM)
        return -error;
    for (int tries = 0; directory >= 0 && flock(directory, LOCK_EX | LOCK_NB) < 0; tries++) {
        if (tries == MOST_TRIES)
            return fail(directory, -1);
        nanosleep(&pause, NULL);
    }
    return directory;
}

static bool is_same_file(const struct stat *one, const struct stat *other) {
    return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

static int open_path(const char *path, struct stat *status) {
    int file = open_whole(path, O_PATH | O_NOFOLLOW);
    if (file < 0)
        return -errno;
    return fstat(file, status) < 0 ? fail(file, -errno) : file;
}

/// Whether no process has the socket any more, since a program that had it was killed. Connecting a datagram socket finds that out and
/// disturbs nobody: it fails for the type if the path is that of a stream socket, succeeds for a datagram socket, and is refused if nobody has it.
/// 1 or 0; a negative errno value if that can't be found out.
static int is_left_behind(const struct socket_address *local, const struct stat *status) {
    int descriptor = S_ISSOCK(status->st_mode) ? runloop__open_socket(AF_UNIX, SOCK_DGRAM) : 0;
    if (descriptor <= 0)
        return descriptor;
    bool is_refused = connect(descriptor, &local->any, local->size) < 0 && errno == ECONNREFUSED;
    close(descriptor);
    return is_refused;
}

/// 1 if the path was left behind and is removed, 0 if not; a negative errno value if that can't be found out. As long as the file is open
/// no other one has its number, so that what is removed is what was left behind, and not the socket of another program that has replaced it
/// in the meantime.
static int remove_left_behind(const struct socket_address *local) {
    const char *path = local->local.sun_path;
    int directory = lock_directory(path);
    if (directory < -1)
        return directory;
    struct stat found, now;
    int file = open_path(path, &found);
    int result = file >= 0 ? is_left_behind(local, &found) : file == -EMFILE || file == -ENFILE ? file : 0;
    if (result == 1)
        result = lstat(path, &now) == 0 && is_same_file(&now, &found) && unlink(path) == 0;
    if (file >= 0)
        close(file);
    if (directory >= 0)
        close(directory); // and gives the lock back
    return result;
}

/// What a new path names: a socket of this user's with no permissions but those of `mode`, or else something that was put in its place. As
/// long as the bound socket is open no other file has its number.
static int find_bound(const char *path, uint32_t mode, struct stat *bound) {
    if (lstat(path, bound) < 0)
        return -errno;
    bool is_ours = S_ISSOCK(bound->st_mode) && bound->st_uid == geteuid();
    return is_ours && !(bound->st_mode & ALL_PERMISSIONS & ~mode) ? 0 : -EADDRINUSE;
}

/// Gives the path what the umask has taken from its permissions. Whoever may write to the directory may have put something else there, whose
/// permissions must not change: so this is done to an open file, which is the one that was bound.
static int complete_permissions(const char *path, uint32_t mode, const struct stat *bound) {
    struct stat status;
    int file = open_path(path, &status);
    if (file < 0)
        return file;
    if (!is_same_file(&status, bound))
        return fail(file, -EADDRINUSE);
    int result = 0;
    if ((status.st_mode & ALL_PERMISSIONS) != mode && syscall(SYS_fchmodat2, file, "", mode, AT_EMPTY_PATH) < 0) {
        // Before Linux 6.6, or in a sandbox that does not know the call.
        char link[32];
        snprintf(link, sizeof link, "/proc/self/fd/%d", file);
        result = chmod(link, mode) < 0 ? -errno : 0;
    }
    close(file);
    return result;
}

static int bind_path(int descriptor, const struct socket_address *local, uint32_t mode, int backlog) {
    const char *path = local->local.sun_path;
    // The path begins with the permissions that the socket has, less the umask, and gets the rest afterwards: it never has more.
    if (fchmod(descriptor, mode) < 0)
        return -errno;
    struct stat bound, now;
    int result = bind(descriptor, &local->any, local->size) < 0 ? -errno : 0;
    int removed = result == -EADDRINUSE ? remove_left_behind(local) : 0;
    if (removed < 0)
        return removed;
    if (removed)
        result = bind(descriptor, &local->any, local->size) < 0 ? -errno : 0;
    if (result == 0)
        result = find_bound(path, mode, &bound);
    if (result < 0)
        return result;
    result = start(descriptor, backlog);
    if (result == 0)
        result = complete_permissions(path, mode, &bound);
    if (result < 0 && lstat(path, &now) == 0 && is_same_file(&now, &bound))
        unlink(path);
    return result;
}

int runloop__listen_local(const char *path, int type, uint32_t mode, int backlog) {
    struct socket_address local;
    int result = path && mode <= ALL_PERMISSIONS ? runloop__local_address(&local, path, false) : -EINVAL;
    if (result < 0)
        return result;
    int descriptor = runloop__open_socket(AF_UNIX, type);
    if (descriptor < 0)
        return descriptor;
    result = bind_path(descriptor, &local, mode ? mode : OWNER_ONLY, backlog);
    return result < 0 ? fail(descriptor, result) : descriptor;
}

int runloop_listen_unix(const char *path, uint32_t mode, int backlog) {
    return runloop__listen_local(path, SOCK_STREAM, mode, backlog);
}
#endif // __linux__
