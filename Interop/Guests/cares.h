// cares.h — host names by c-ares in a run loop. Copy it into a program.
#ifndef GUESTS_CARES_H
#define GUESTS_CARES_H

#include <ares.h>
#include <errno.h>
#include <runloop_foreign.h>
#include <stdlib.h>

struct cares_guest {
    ares_channel channel;
    struct pollfd checked[ARES_GETSOCK_MAXNUM]; ///< From `check` to `dispatch`.
    int count;
};

static inline int cares_guest_prepare(runloop_foreign_source *source, struct pollfd *descriptors, int capacity,
                                      int64_t *deadline_ns, void *info) {
    (void)source;
    struct cares_guest *guest = info;
    ares_socket_t sockets[ARES_GETSOCK_MAXNUM];
    int wanted = ares_getsock(guest->channel, sockets, ARES_GETSOCK_MAXNUM), count = 0;
    for (int i = 0; i < ARES_GETSOCK_MAXNUM; i++) {
        bool reads = ARES_GETSOCK_READABLE(wanted, i), writes = ARES_GETSOCK_WRITABLE(wanted, i);
        if ((reads || writes) && count++ < capacity)
            descriptors[count - 1] =
                (struct pollfd){.fd = sockets[i], .events = (short)((reads ? POLLIN : 0) | (writes ? POLLOUT : 0))};
    }
    struct timeval left;
    if (ares_timeout(guest->channel, NULL, &left))
        *deadline_ns = runloop_get_now_ns(NULL) + left.tv_sec * INT64_C(1000000000) + left.tv_usec * INT64_C(1000);
    return count;
}

static inline bool cares_guest_check(runloop_foreign_source *source, struct pollfd *descriptors, int count,
                                     void *info) {
    (void)source;
    struct cares_guest *guest = info;
    guest->count = count;
    for (int i = 0; i < count; i++)
        guest->checked[i] = descriptors[i];
    return true;
}

static inline void cares_guest_dispatch(runloop_foreign_source *source, void *info) {
    (void)source;
    struct cares_guest *guest = info;
    for (int i = 0; i < guest->count; i++) {
        struct pollfd of = guest->checked[i];
        if (of.revents)
            ares_process_fd(guest->channel, of.revents & ~POLLOUT ? of.fd : ARES_SOCKET_BAD,
                            of.revents & POLLOUT ? of.fd : ARES_SOCKET_BAD);
    }
    ares_process_fd(guest->channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD); // what has timed out
}

/// Serves the channel in `mode` of the calling thread's loop: 0 or a negative errno. The source belongs to the caller; invalidate it
/// before ares_destroy.
static inline int cares_guest_attach(ares_channel channel, const char *mode, runloop_foreign_source **out) {
    struct cares_guest *guest = calloc(1, sizeof *guest);
    if (!guest)
        return -ENOMEM;
    guest->channel = channel;
    runloop_foreign_source_config config = {.context = {.info = guest, .release = free},
                                            .prepare = cares_guest_prepare,
                                            .check = cares_guest_check,
                                            .dispatch = cares_guest_dispatch};
    int error = runloop_foreign_source_create(&config, out);
    if (error) {
        free(guest);
        return error;
    }
    if ((error = runloop_add_foreign_source(runloop_current(), *out, mode)))
        runloop_foreign_source_release(*out);
    return error;
}

#endif // GUESTS_CARES_H
