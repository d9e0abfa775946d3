// connect_socket.h — the socket of one attempt to connect, with its options.
#ifndef RUNLOOP_CONNECT_SOCKET_H
#define RUNLOOP_CONNECT_SOCKET_H

#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>

#include "runloop_connect.h"
#include "runloop_listener.h"
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

/// Begins to connect a socket, which is opened if it is -1, and remains the caller's in any case: 0 if it is connected, -EINPROGRESS if it is being
/// connected.
int runloop__connect_begin(int *descriptor, const struct socket_address *address,
                           const struct connect_options *options);

/// How a socket stands that is being connected: 0, a negative errno value, or -EALREADY. Whether it has a peer is asked, and not by connect(2) again,
/// which the thread sanitizer takes for the making of a new descriptor.
static inline int connect_ask(int descriptor) {
    struct socket_address peer;
    int error = 0, result = runloop__address_of(&peer, descriptor, true);
    socklen_t size = sizeof error;
    if (result != -ENOTCONN)
        return result;
    result = getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) < 0 ? -errno : -error;
    return result ? result : -EALREADY;
}

/// The kernel may have chosen the very port that nobody listens on, and connected the socket to itself. Mostly the port says that it has not.
static inline bool connect_is_to_itself(int descriptor, uint16_t port) {
    struct socket_address own, peer;
    return runloop_socket_get_port(descriptor, false) == port && runloop__address_of(&own, descriptor, false) == 0 &&
           runloop__address_of(&peer, descriptor, true) == 0 && own.size == peer.size &&
           memcmp(&own.any, &peer.any, own.size) == 0;
}

#endif // RUNLOOP_CONNECT_SOCKET_H
