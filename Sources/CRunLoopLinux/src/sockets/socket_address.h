// socket_address.h — a socket and its address, of any family that this library knows.
#ifndef RUNLOOP_SOCKET_ADDRESS_H
#define RUNLOOP_SOCKET_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

struct socket_address {
    union {
        struct sockaddr any;
        struct sockaddr_in ip4;
        struct sockaddr_in6 ip6;
        struct sockaddr_un local;
    };
    socklen_t size;
};

/// A socket that is non-blocking and closed on exec, or a negative errno value: -ENOMEM also where the kernel has no buffer.
int runloop__open_socket(int family, int type);

/// From the text of a number and a port. -EINVAL: no number.
int runloop__ip_address(struct socket_address *address, const char *text, uint16_t port);
/// Of a path, or of an abstract name. -EINVAL, -ENAMETOOLONG.
int runloop__local_address(struct socket_address *address, const char *path, bool is_abstract);
/// A socket's own, or its peer's. A negative errno value.
int runloop__address_of(struct socket_address *address, int descriptor, bool of_peer);

/// As runloop_socket_get_address.
int runloop__address_text(const struct socket_address *address, char *text, size_t capacity);

/// As runloop_listen_unix, with a socket of that type.
int runloop__listen_local(const char *path, int type, uint32_t mode, int backlog);

#endif // RUNLOOP_SOCKET_ADDRESS_H
