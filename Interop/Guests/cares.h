// cares.h — host names by c-ares in a run loop. Copy it into a program.
#ifndef GUESTS_CARES_H
#define GUESTS_CARES_H

#include <ares.h>
#include <errno.h>
#include <runloop_foreign.h>
#include <stdlib.h>

struct cares_guest {
    ares_channel channel;
    struct pollfd *sockets; ///< What the channel waits for, as it reports it.
    struct pollfd *checked; ///< From `check` to `dispatch`, and as many.
    int count, checked_count, capacity;
};

/// The channel has come to wait for something of a socket, for something else, or for nothing. A socket for which there is no memory is not waited
/// for: then its query times out.
static inline void cares_guest_wait(void *info, ares_socket_t socket, int reads, int writes) {
    struct cares_guest *guest = info;
    int place = 0;
    while (place < guest->count && guest->sockets[place].fd != socket)
        place++;
    if (!reads && !writes) {
        if (place < guest->count)
            guest->sockets[place] = guest->sockets[--guest->count];
        return;
    }
    if (place == guest->capacity) {
        int capacity = place * 2 + 4;
        struct pollfd *larger = realloc(guest->sockets, sizeof *larger * (size_t)capacity);
        if (larger)
            guest->sockets = larger;
        struct pollfd *checked = larger ? realloc(guest->checked, sizeof *checked * (size_t)capacity) : NULL;
        if (!checked)
            return;
        guest->checked = checked;
        guest->capacity = capacity;
    }
    if (place == guest->count)
        guest->count++;
    guest->sockets[place] =
        (struct pollfd){.fd = socket, .events = (short)((reads ? POLLIN : 0) | (writes ? POLLOUT : 0))};
}

static inline int cares_guest_prepare(runloop_foreign_source *source, struct pollfd *descriptors, int capacity,
                                      int64_t *deadline_ns, void *info) {
    (void)source;
    struct cares_guest *guest = info;
    for (int i = 0; i < guest->count && i < capacity; i++)
        descriptors[i] = guest->sockets[i];
    struct timeval left;
    if (ares_timeout(guest->channel, NULL, &left))
        *deadline_ns = runloop_get_now_ns(NULL) + left.tv_sec * INT64_C(1000000000) + left.tv_usec * INT64_C(1000);
    return guest->count;
}

static inline bool cares_guest_check(runloop_foreign_source *source, struct pollfd *descriptors, int count,
                                     void *info) {
    (void)source;
    struct cares_guest *guest = info;
    guest->checked_count = count;
    for (int i = 0; i < count; i++)
        guest->checked[i] = descriptors[i];
    return true;
}

static inline void cares_guest_dispatch(runloop_foreign_source *source, void *info) {
    (void)source;
    struct cares_guest *guest = info;
    for (int i = 0; i < guest->checked_count; i++) {
        struct pollfd of = guest->checked[i];
        if (of.revents)
            ares_process_fd(guest->channel, of.revents & ~POLLOUT ? of.fd : ARES_SOCKET_BAD,
                            of.revents & POLLOUT ? of.fd : ARES_SOCKET_BAD);
    }
    ares_process_fd(guest->channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD); // what has timed out
}

/// The channel reports its sockets until it is destroyed, so it is destroyed here.
static inline void cares_guest_free(void *info) {
    struct cares_guest *guest = info;
    if (guest->channel)
        ares_destroy(guest->channel);
    free(guest->sockets);
    free(guest->checked);
    free(guest);
}

/// Makes a channel as ares_init_options does, with options, and serves it in `mode` of the calling thread's loop: 0 or a negative errno. The source belongs to the
/// caller, and the channel to the source: it is destroyed, and its queries end, when that is invalidated. Don't invalidate it in their callbacks.
static inline int cares_guest_attach(const struct ares_options *options, int mask, const char *mode,
                                     ares_channel *channel, runloop_foreign_source **out) {
    struct cares_guest *guest = calloc(1, sizeof *guest);
    if (!guest)
        return -ENOMEM;
    struct ares_options all = *options;
    all.sock_state_cb = cares_guest_wait;
    all.sock_state_cb_data = guest;
    runloop_foreign_source_config config = {.context = {.info = guest, .release = cares_guest_free},
                                            .prepare = cares_guest_prepare,
                                            .check = cares_guest_check,
                                            .dispatch = cares_guest_dispatch};
    int status = ares_init_options(&guest->channel, &all, mask | ARES_OPT_SOCK_STATE_CB);
    int error = status == ARES_SUCCESS ? runloop_foreign_source_create(&config, out)
                                       : (status == ARES_ENOMEM ? -ENOMEM : -EINVAL);
    if (error) {
        cares_guest_free(guest);
        return error;
    }
    if ((error = runloop_add_foreign_source(runloop_current(), *out, mode)))
        runloop_foreign_source_release(*out);
    else
        *channel = guest->channel;
    return error;
}

#endif // GUESTS_CARES_H
