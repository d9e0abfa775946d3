// runloop_connect.h — sockets that are connected, without waiting. Part of runloop_linux.h, whose general rules hold.
//
// A name is looked up by getaddrinfo, on a thread that is made for it and then ends. If there are several addresses, they are tried as RFC 8305
// (Happy Eyeballs) says: IPv6 and IPv4 by turns, beginning with what getaddrinfo has put first; the next one 250 ms after the last, or at once
// when that has failed; and the first connection counts.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_CONNECT_H
#define RUNLOOP_CONNECT_H
#ifdef __linux__
#include "runloop.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A connection that is being made.
/// It goes on while a loop runs one of its modes, and keeps these from being empty. If it is in several loops, one of them reports the outcome.
/// Invalidating it closes its sockets at once. A look-up that is under way then goes on by itself, and its result is dropped.
typedef runloop_source runloop_connect;

/// The configuration of a connection, which is copied. Exactly one of `host`, `path` and `abstract_name` is not NULL. The options from
/// `local_address` on are for TCP, and each has no effect if it is 0.
typedef struct runloop_connect_config {
    runloop_context context;
    const char *host;          ///< TCP: "127.0.0.1", "::1", "fe80::1%eth0", or a name, which is looked up.
    uint16_t port;             ///< With `host`, and not 0.
    const char *path;          ///< A Unix socket with a path.
    const char *abstract_name; ///< One without.
    /// An instant, as of runloop_now_ns, for all of it, look-up and attempts. 0 or RUNLOOP_NEVER: as long as the system takes.
    int64_t deadline_ns;
    const char
        *local_address;    ///< From which address of this machine, as a number; names are looked up in its family only.
    const char *interface; ///< Through which interface alone (SO_BINDTODEVICE).
    int64_t keepalive_idle_ns; ///< The peer is asked for a sign of life after so much silence, at most 32,767 s,
    int64_t
        keepalive_interval_ns; ///< every so often, at most 32,767 s (0: as the system has it; in whole seconds, rounded up),
    uint32_t keepalive_count; ///< until so many, at most 127, were not answered (0: as the system has it).
    int64_t user_timeout_ns;  ///< How long what was sent may be unacknowledged (TCP_USER_TIMEOUT; in ms, rounded up).
    bool delays; ///< Small pieces are sent together (no TCP_NODELAY, which is otherwise set as listeners do).
    bool resets; ///< The connection is reset when it is closed (SO_LINGER of 0), and drops what was not sent.
    /// Once, on the loop's thread, in a mode of the source, which is invalid by then. `descriptor`: a connected socket, non-blocking, closed on
    /// exec, and the callee's; `error` is 0. Or -1, and `error` is negative. -ETIMEDOUT: the deadline, or the system's patience with the only
    /// address. Of a look-up: -ENOENT (there is no such name, or it has no address), -EAGAIN (no name server answers), -EIO (another failure),
    /// -EMFILE, -ENOMEM; runloop_connect_get_name_error says more. Otherwise that of the first address: -ECONNREFUSED, -ENETUNREACH, -EHOSTUNREACH,
    /// -ENOENT (no such path), -EACCES, -EMFILE, -ENODEV (no such interface), and what else socket, bind and connect give. A Unix socket whose
    /// queue is full is tried again until the deadline.
    void (*RUNLOOP_SENDABLE connected)(runloop_connect *connect, int descriptor, int error, void *info);
    /// After each removal from a mode, as of any source; at the end of its loop, too. May be NULL.
    void (*RUNLOOP_SENDABLE cancel)(runloop_connect *connect, runloop *loop, const char *mode, void *info);
} runloop_connect_config;

/// Begins to connect, in no loop yet: a look-up starts here, and the attempt of a target without one where the source is added to a loop.
/// Everything else is done when a loop runs the source. At most 16 names are looked up at
/// a time in a process, and others wait. It needs a descriptor, which is the connection's in the end; with a name, one for each attempt more.
/// O(1).
/// Errors: -EINVAL: no `connected`, not one target, no port, an empty text, an option out of range, or a `local_address` that is no number;
/// -EAFNOSUPPORT: that is of another family than `host`, or the system does not have that family; -ENAMETOOLONG: a path or an abstract name
/// above 107 bytes; -EMFILE, -ENFILE, -ENOMEM; -EAGAIN: no thread can be made.
RUNLOOP_EXPORT int runloop_connect_create(const runloop_connect_config *config, runloop_connect **out);

/// An attempt that has failed.
typedef struct runloop_connect_failure {
    char address[128]; ///< "127.0.0.1:80", "[::1]:80", "/run/x", "@abstract"
    /// Negative. -ETIMEDOUT: under way at the deadline, or the system's patience; -EAGAIN: the queue of a Unix socket was full until the deadline.
    int error;
} runloop_connect_failure;

/// The attempts that have failed, of which up to `capacity` are written to `failures`; that may be NULL if `capacity` is 0: in the order of
/// the attempts, so far; all of them from `connected` on, and as long as there is a reference. Any thread. O(addresses).
/// Returns: their number, which may be more than `capacity`.
RUNLOOP_EXPORT size_t runloop_connect_get_failures(runloop_connect *connect, runloop_connect_failure *failures,
                                                   size_t capacity);
/// Why the look-up has failed, in the words of the C library (gai_strerror). O(1).
/// Returns: a text that lives as long as the process; NULL if it has not.
RUNLOOP_EXPORT const char *runloop_connect_get_name_error(runloop_connect *connect);

#ifdef __cplusplus
}
#endif
#endif // __linux__
#endif // RUNLOOP_CONNECT_H
