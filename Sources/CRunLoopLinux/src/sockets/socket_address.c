// socket_address.c — addresses from texts, and texts from addresses.

#ifdef __linux__
#include "sockets/socket_address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "runloop_listener.h"

int runloop__open_socket(int family, int type) {
    int descriptor = socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (descriptor >= 0)
        return descriptor;
    return errno == ENOBUFS ? -ENOMEM : -errno;
}

/// The number of an interface, after the sign % of an address; 0 without one.
static uint32_t scope_of(const char *name) {
    uint32_t scope = if_nametoindex(name);
    for (const char *digit = name; scope == 0 && *digit >= '0' && *digit <= '9'; digit++)
        if (digit[1] == 0)
            sscanf(name, "%9u", &scope);
    return scope;
}

int runloop__ip_address(struct socket_address *address, const char *text, uint16_t port) {
    *address = (struct socket_address){.ip4 = {.sin_family = AF_INET, .sin_port = htons(port)}};
    address->size = sizeof address->ip4;
    if (inet_pton(AF_INET, text, &address->ip4.sin_addr) == 1)
        return 0;
    char number[INET6_ADDRSTRLEN];
    size_t length = strcspn(text, "%");
    if (length >= sizeof number)
        return -EINVAL;
    memcpy(number, text, length);
    number[length] = 0;
    *address = (struct socket_address){.ip6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)}};
    address->size = sizeof address->ip6;
    if (inet_pton(AF_INET6, number, &address->ip6.sin6_addr) != 1)
        return -EINVAL;
    if (text[length] == 0)
        return 0;
    address->ip6.sin6_scope_id = scope_of(text + length + 1);
    return address->ip6.sin6_scope_id ? 0 : -EINVAL;
}

int runloop__local_address(struct socket_address *address, const char *path, bool is_abstract) {
    *address = (struct socket_address){.local = {.sun_family = AF_UNIX}};
    size_t length = strlen(path);
    if (length == 0)
        return -EINVAL;
    if (length >= sizeof address->local.sun_path)
        return -ENAMETOOLONG;
    // An abstract name begins with a zero and ends with the address; a path ends with a zero.
    memcpy(address->local.sun_path + is_abstract, path, length);
    address->size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + 1);
    return 0;
}

int runloop__address_of(struct socket_address *address, int descriptor, bool of_peer) {
    *address = (struct socket_address){.any.sa_family = AF_UNSPEC};
    socklen_t size = offsetof(struct socket_address, size);
    int result =
        of_peer ? getpeername(descriptor, &address->any, &size) : getsockname(descriptor, &address->any, &size);
    address->size = size;
    return result < 0 ? -errno : 0;
}

int runloop_socket_get_port(int descriptor, bool of_peer) {
    struct socket_address address;
    int result = runloop__address_of(&address, descriptor, of_peer);
    if (result < 0)
        return result;
    if (address.any.sa_family != AF_INET && address.any.sa_family != AF_INET6)
        return -EAFNOSUPPORT;
    return ntohs(address.any.sa_family == AF_INET ? address.ip4.sin_port : address.ip6.sin6_port);
}

/// The length of the text, as snprintf has it.
static int write_ip6(const struct sockaddr_in6 *ip6, char *text, size_t capacity) {
    char number[INET6_ADDRSTRLEN], interface[IF_NAMESIZE] = "";
    inet_ntop(AF_INET6, &ip6->sin6_addr, number, sizeof number);
    bool has_scope = ip6->sin6_scope_id && if_indextoname(ip6->sin6_scope_id, interface);
    return snprintf(text, capacity, "[%s%s%s]:%d", number, has_scope ? "%" : "", interface, ntohs(ip6->sin6_port));
}

static int write_local(const struct socket_address *address, char *text, size_t capacity) {
    size_t start = offsetof(struct sockaddr_un, sun_path);
    size_t length = address->size > start ? address->size - start : 0;
    const char *path = address->local.sun_path;
    if (length > 0 && path[0] == 0)
        return snprintf(text, capacity, "@%.*s", (int)length - 1, path + 1);
    return snprintf(text, capacity, "%.*s", (int)length, path);
}

int runloop__address_text(const struct socket_address *address, char *text, size_t capacity) {
    char number[INET_ADDRSTRLEN];
    int result;
    switch (address->any.sa_family) {
    case AF_INET:
        inet_ntop(AF_INET, &address->ip4.sin_addr, number, sizeof number);
        result = snprintf(text, capacity, "%s:%d", number, ntohs(address->ip4.sin_port));
        break;
    case AF_INET6: result = write_ip6(&address->ip6, text, capacity); break;
    case AF_UNIX: result = write_local(address, text, capacity); break;
    default: return -EAFNOSUPPORT;
    }
    return (size_t)result < capacity ? result : -ENOBUFS;
}

int runloop_socket_get_address(int descriptor, bool of_peer, char *text, size_t capacity) {
    if (!text)
        return -EINVAL;
    struct socket_address address;
    int result = runloop__address_of(&address, descriptor, of_peer);
    return result < 0 ? result : runloop__address_text(&address, text, capacity);
}
#endif // __linux__
