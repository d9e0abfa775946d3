// connect_socket.h — the socket of one attempt to connect, with its options.
#ifndef RUNLOOP_CONNECT_SOCKET_H
#define RUNLOOP_CONNECT_SOCKET_H

#include <errno.h>
#include <net/if.h>
#include <sys/socket.h>

#include "runloop_connect.h"
#include "sockets/socket_address.h"

/// Of TCP sockets, as the kernel has them. 0: not set.
struct connect_options {
    struct socket_address local; ///< AF_UNSPEC: the kernel chooses
    char interface[IFNAMSIZ];
    int idle_s, interval_s, count, user_timeout_ms;
    bool delays, resets;
};

/// -EINVAL: one is out of range.
int runloop__connect_options(struct connect_options *options, const runloop_connect_config *config);

/// A socket for that address, or a negative errno value.
static inline int connect_open(const struct socket_address *address) {
    int descriptor = socket(address->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    return descriptor < 0 ? -errno : descriptor;
}

/// Begins to connect a socket, which is opened if it is -1, and remains the caller's in any case: 0 if it is connected, -EINPROGRESS if it is being
/// connected.
int runloop__connect_begin(int *descriptor, const struct socket_address *address,
                           const struct connect_options *options);

#endif // RUNLOOP_CONNECT_SOCKET_H
