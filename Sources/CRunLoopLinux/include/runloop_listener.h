// runloop_listener.h — sockets that listen, and the connections that they get. Part of runloop_linux.h, whose general rules hold.
//
// A socket is made by one of the functions below, or comes from elsewhere: from systemd, from a parent process. A listener accepts its
// connections on a loop. Names are not looked up: an address is the text of a number.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_LISTENER_H
#define RUNLOOP_LISTENER_H
#ifdef __linux__
#include "runloop.h"

#ifdef __cplusplus
extern "C" {
#endif

//===-- Sockets ------------------------------------------------------------------------------------------------------===//
// Each of these gives a listening socket, non-blocking and closed on exec, which is the caller's. `backlog`: how many connections may wait to
// be accepted; 0 or less is as many as the system allows (net.core.somaxconn). Any thread. What else bind(2) gives is an error, too.

/// Makes a TCP socket that listens. `address` is that of an interface as a number, "127.0.0.1", "::1" or "fe80::1%eth0"; "0.0.0.0" is all
/// of IPv4, "::" all of IPv6 and IPv4. `port` 0 lets the kernel choose one, which runloop_socket_get_port returns. The address may be used
/// again at once after the program's end (SO_REUSEADDR), and connections send small pieces without delay (TCP_NODELAY). "localhost" is a
/// name, which is not looked up. O(1).
/// Returns: the socket.
/// Errors: -EINVAL: `address` is no such number, names no interface after the %, or none where it needs one; -EADDRINUSE: the address is in
/// use; -EADDRNOTAVAIL: no interface has the address; -EACCES: the port is below those that this user may use; -EMFILE, -ENFILE, -ENOMEM.
RUNLOOP_EXPORT int runloop_listen_tcp(const char *address, uint16_t port, int backlog);

/// Makes a Unix socket with a path that listens, in a directory that this user may write to, even if it can't be read. `mode` has the
/// permissions of the path: it never has more, and exactly these before this returns, whatever the umask is (above it, that needs Linux 6.6
/// or /proc); 0 is 0600: nobody but its owner may connect. A path that a program has left behind, whose socket nobody has any more, is
/// replaced. Any other file there is neither changed nor removed, and the owner of a socket notices nothing. Does not wait, except to
/// replace a path: at most half a second for the lock (flock) of the directory by which programs that do so at the same time exclude one
/// another, and then without it. O(1).
/// Returns: the socket.
/// Errors: -EINVAL: an empty path; -EADDRINUSE: somebody has the socket of that path, it is no socket, or somebody else has replaced it
/// meanwhile; -EACCES, -ENOENT, -ENOTDIR: the directory may not be written to, or is not one; -ENAMETOOLONG: the path has more than 107 bytes;
/// -ENOSPC: the disk has no space for the path; -EMFILE, -ENFILE, -ENOMEM.
RUNLOOP_EXPORT int runloop_listen_unix(const char *path, uint32_t mode, int backlog);

/// Makes an abstract Unix socket that listens, which has no path and no permissions: any process in the network namespace may connect.
/// O(1).
/// Returns: the socket.
/// Errors: -EINVAL: an empty name; -EADDRINUSE: somebody has the name; -ENAMETOOLONG: it has more than 107 bytes; -EMFILE, -ENFILE,
/// -ENOMEM.
RUNLOOP_EXPORT int runloop_listen_abstract(const char *name, int backlog);

/// A socket that a service manager has opened for this program: see sd_listen_fds(3).
typedef struct runloop_inherited_socket {
    int descriptor; ///< The caller's; closed on exec, and otherwise as it was handed over: a listener makes it non-blocking.
    char name[256]; ///< As FileDescriptorName= has it; "unknown" if there are no names.
} runloop_inherited_socket;

/// Takes the sockets that were handed over to this process (LISTEN_FDS, LISTEN_PID, LISTEN_FDNAMES) into `sockets`, in their order, and
/// removes the variables from the environment, so that neither a second call nor a child process takes them again. Call it early: other
/// threads must not use the environment meanwhile. O(descriptors).
/// Returns: the number of the sockets, which may be 0.
/// Errors: -E2BIG: there are more than `capacity`, and nothing has changed; -EINVAL: the variables make no sense; -EBADF: one of the
/// descriptors is not open.
RUNLOOP_EXPORT int runloop_take_inherited_sockets(runloop_inherited_socket *sockets, size_t capacity);

/// The port of a TCP socket: its own, or its peer's. O(1).
/// Returns: the port.
/// Errors: -EAFNOSUPPORT: not an IP socket; -ENOTCONN: it has no peer; -EBADF; -ENOTSOCK: not a socket.
RUNLOOP_EXPORT int runloop_socket_get_port(int descriptor, bool of_peer);
/// Writes the address of a socket, its own or its peer's, as a text that ends with a zero: "127.0.0.1:80", "[::1]:80", "/run/x",
/// "@abstract", or "" for a Unix socket without an address. O(1).
/// Returns: the length of the text.
/// Errors: -ENOBUFS: `capacity` is too small, which 128 never is; -EAFNOSUPPORT: neither an IP nor a Unix socket; -ENOTCONN: it has no
/// peer; -EINVAL; -EBADF; -ENOTSOCK: not a socket.
RUNLOOP_EXPORT int runloop_socket_get_address(int descriptor, bool of_peer, char *text, size_t capacity);

/// The process at the other end of a connected Unix socket.
typedef struct runloop_peer {
    int32_t
        pid; ///< When it connected or listened, or, of a socketpair, when that was made: then it may be this process. 0: unknown.
    uint32_t uid; ///< Its effective user at that time,
    uint32_t gid; ///< and group.
    /// The process that had the pid: by it runloop_child_create learns of its end. -1: the kernel is older than Linux 6.5, or the process was
    /// reaped.
    int pidfd;
} runloop_peer;

/// The process at the other end of a connected Unix socket, of any type: what to decide by is `uid`, since a pid may be another process's
/// by now. The pidfd is the caller's to close, and closed on exec. Any thread. O(1).
/// Errors: -EAFNOSUPPORT: not a Unix socket; -ENOTCONN: it has no peer; -EBADF; -ENOTSOCK: not a socket; -EMFILE, -ENFILE: the pidfd needs a
/// descriptor; -EINVAL.
RUNLOOP_EXPORT int runloop_socket_get_peer(int descriptor, runloop_peer *out);

//===-- Listeners ----------------------------------------------------------------------------------------------------===//
/// A socket whose connections are accepted.
/// If it is in several loops, each connection goes to one of them. While it is in no mode that runs, connections wait in the kernel's queue.
/// When it is invalidated, no connection is accepted any more, a socket that it owns is closed, and the kernel resets the connections that
/// wait, unless another process has the socket as well.
typedef runloop_source runloop_listener;

/// The configuration of a listener, which is copied. Whichever way the socket was made, connections of TCP send small pieces without delay
/// (TCP_NODELAY).
typedef struct runloop_listener_config {
    runloop_context context;
    int descriptor; ///< A listening socket, which becomes non-blocking.
    bool owns;      ///< true: from its creation on the object alone closes the socket. false: it remains the caller's.
    /// Removes the path of a Unix socket at the object's end, if it is still the socket's. Not for sockets that were handed over. A relative
    /// path is that of the working directory at the creation, which may change after it.
    bool removes_path;
    uint32_t budget; ///< How many connections are accepted before something else gets its turn; 0 is 16.
    /// On the loop's thread, in the modes of the source, for each connection: a socket that is non-blocking, closed on exec, and the callee's.
    /// It may fork: the child has a copy of the connection, and is called for no other one.
    void (*RUNLOOP_SENDABLE accepted)(runloop_listener *listener, int descriptor, void *info);
    /// What to do when there is no descriptor left for a connection. NULL: it waits in the kernel's queue. Otherwise it is accepted with a
    /// descriptor that the listener keeps for that, lent to this function for a last word, which must not wait, and closed.
    void (*RUNLOOP_SENDABLE refused)(runloop_listener *listener, int descriptor, void *info);
    /// Descriptors or memory have run out (`error` is -EMFILE, -ENFILE, -ENOBUFS or -ENOMEM), or a sandbox refuses to accept (-EPERM, many times
    /// in a row): reported once, and then 0 when a connection was accepted again. Meanwhile connections are refused, or wait while the listener
    /// tries again ten times a second. Any other error is the socket's, and final: it was shut down, for instance. May be NULL.
    void (*RUNLOOP_SENDABLE paused)(runloop_listener *listener, int error, void *info);
    /// After each removal from a mode, as of any source; at the end of its loop, too. May be NULL.
    void (*RUNLOOP_SENDABLE cancel)(runloop_listener *listener, runloop *loop, const char *mode, void *info);
    /// Each connection is reset when it is closed, in whatever way (SO_LINGER of 0): it drops what was not sent, and the peer may not be able to
    /// read what was. To reset only those that end before their output is finished, see runloop_output_config.
    bool resets;
} runloop_listener_config;

/// Makes a listener, in no loop yet. It needs a descriptor with `refused`. After an error the socket remains the caller's in any case.
/// O(1).
/// Errors: -EINVAL: no `accepted`, not a listening socket, or `removes_path` of a socket without a path; -ENOENT, -EACCES, -ENOTDIR: the path that
/// is to be removed can't be found from the root, which has the working directory of another time, or can't be reached; -EBADF; -ENOTSOCK: not
/// a socket; -EMFILE, -ENFILE, -ENOMEM.
RUNLOOP_EXPORT int runloop_listener_create(const runloop_listener_config *config, runloop_listener **out);

#ifdef __cplusplus
}
#endif
#endif // __linux__
#endif // RUNLOOP_LISTENER_H
