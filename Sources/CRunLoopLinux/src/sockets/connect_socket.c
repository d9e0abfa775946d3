// connect_socket.c — the socket of one attempt to connect, with its options.

#ifdef __linux__
#include "sockets/connect_socket.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

/// Rounded up, for the kernel; -1: out of range.
static int in_units(int64_t duration_ns, int64_t unit_ns, int most) {
    int64_t units = duration_ns / unit_ns + (duration_ns % unit_ns > 0);
    return duration_ns < 0 || units > most ? -1 : (int)units;
}

int runloop__connect_options(struct connect_options *options, const runloop_connect_config *config) {
    const int64_t second_ns = 1000000000, ms_ns = 1000000;
    *options = (struct connect_options){
        .idle_s = in_units(config->keepalive_idle_ns, second_ns, 32767),
        .interval_s = in_units(config->keepalive_interval_ns, second_ns, 32767),
        .count = config->keepalive_count > 127 ? -1 : (int)config->keepalive_count,
        .user_timeout_ms = in_units(config->user_timeout_ns, ms_ns, INT32_MAX),
        .delays = config->delays,
        .resets = config->resets,
    };
    if (options->idle_s < 0 || options->interval_s < 0 || options->count < 0 || options->user_timeout_ms < 0)
        return -EINVAL;
    if (config->interface) {
        size_t length = strlen(config->interface);
        if (length == 0 || length >= sizeof options->interface)
            return -EINVAL;
        memcpy(options->interface, config->interface, length);
    }
    return config->local_address ? runloop__ip_address(&options->local, config->local_address, 0) : 0;
}

static int set_options(int descriptor, const struct connect_options *options) {
    const struct {
        int level, name, value;
    } numbers[] = {
        {IPPROTO_TCP, TCP_NODELAY, !options->delays}, {SOL_SOCKET, SO_KEEPALIVE, options->idle_s > 0},
        {IPPROTO_TCP, TCP_KEEPIDLE, options->idle_s}, {IPPROTO_TCP, TCP_KEEPINTVL, options->interval_s},
        {IPPROTO_TCP, TCP_KEEPCNT, options->count},   {IPPROTO_TCP, TCP_USER_TIMEOUT, options->user_timeout_ms},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        int value = numbers[i].value;
        if (value && setsockopt(descriptor, numbers[i].level, numbers[i].name, &value, sizeof value) < 0)
            return -errno;
    }
    const struct linger none = {.l_onoff = 1, .l_linger = 0};
    if (options->resets && setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &none, sizeof none) < 0)
        return -errno;
    size_t length = strlen(options->interface);
    if (length && setsockopt(descriptor, SOL_SOCKET, SO_BINDTODEVICE, options->interface, (socklen_t)length) < 0)
        return -errno;
    bool has_local = options->local.any.sa_family != AF_UNSPEC;
    // If the kernel can do that, the port is chosen by connect, so that many connections from one address can share it.
    if (has_local)
        setsockopt(descriptor, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &(int){1}, sizeof(int));
    return has_local && bind(descriptor, &options->local.any, options->local.size) < 0 ? -errno : 0;
}

int runloop__connect_begin(int *descriptor, const struct socket_address *address,
                           const struct connect_options *options) {
    if (*descriptor < 0) {
        int opened = runloop__open_socket(address->any.sa_family, SOCK_STREAM);
        if (opened < 0)
            return opened;
        *descriptor = opened;
    }
    int result = address->any.sa_family == AF_UNIX ? 0 : set_options(*descriptor, options);
    if (result == 0 && connect(*descriptor, &address->any, address->size) < 0)
        result = -errno;
    return result;
}
#endif // __linux__
