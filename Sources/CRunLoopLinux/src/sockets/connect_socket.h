// connect_socket.h — the socket of one attempt to connect, with its options.
#ifndef RUNLOOP_CONNECT_SOCKET_H
#define RUNLOOP_CONNECT_SOCKET_H

#include <net/if.h>

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

/// A socket that is connected (`result` is 0) or being connected (-EINPROGRESS), or -1 and why.
int runloop__connect_open(const struct socket_address *address, const struct connect_options *options, int *result);

#endif // RUNLOOP_CONNECT_SOCKET_H
