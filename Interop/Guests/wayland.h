// wayland.h — a Wayland client in a run loop. Copy it into a program: libwayland-client.
#ifndef GUESTS_WAYLAND_H
#define GUESTS_WAYLAND_H

#include <errno.h>
#include <runloop_foreign.h>
#include <stdlib.h>
#include <wayland-client.h>

struct wayland_guest {
    struct wl_display *display;
    bool reads; ///< It has announced that it will read: then it must read or cancel.
};

static inline int wayland_guest_prepare(runloop_foreign_source *source, struct pollfd *descriptors, int capacity,
                                        int64_t *deadline_ns, void *info) {
    (void)source;
    struct wayland_guest *guest = info;
    guest->reads = wl_display_prepare_read(guest->display) == 0;
    if (!guest->reads) {
        *deadline_ns = 0; // events were read already, by another thread perhaps
        return 0;
    }
    bool is_full = wl_display_flush(guest->display) < 0 && errno == EAGAIN;
    if (capacity > 0)
        *descriptors =
            (struct pollfd){.fd = wl_display_get_fd(guest->display), .events = POLLIN | (is_full ? POLLOUT : 0)};
    return 1;
}

static inline void wayland_guest_cancel(runloop_foreign_source *source, void *info) {
    (void)source;
    struct wayland_guest *guest = info;
    if (guest->reads)
        wl_display_cancel_read(guest->display);
}

static inline bool wayland_guest_check(runloop_foreign_source *source, struct pollfd *descriptors, int count,
                                       void *info) {
    if (count > 0 && (descriptors->revents & ~POLLOUT))
        wl_display_read_events(((struct wayland_guest *)info)->display);
    else
        wayland_guest_cancel(source, info);
    return true;
}

static inline void wayland_guest_dispatch(runloop_foreign_source *source, void *info) {
    // The compositor is gone, or the client broke the protocol: wl_display_get_error says which.
    if (wl_display_dispatch_pending(((struct wayland_guest *)info)->display) < 0)
        runloop_foreign_source_invalidate(source);
}

/// Serves the display's default queue in `mode` of the calling thread's loop: 0 or a negative errno. The source, which belongs to the
/// caller, becomes invalid with the connection; invalidate it before wl_display_disconnect.
static inline int wayland_guest_attach(struct wl_display *display, const char *mode, runloop_foreign_source **out) {
    struct wayland_guest *guest = calloc(1, sizeof *guest);
    if (!guest)
        return -ENOMEM;
    guest->display = display;
    runloop_foreign_source_config config = {.context = {.info = guest, .release = free},
                                            .nests = true,
                                            .prepare = wayland_guest_prepare,
                                            .check = wayland_guest_check,
                                            .cancel = wayland_guest_cancel,
                                            .dispatch = wayland_guest_dispatch};
    int error = runloop_foreign_source_create(&config, out);
    if (error) {
        free(guest);
        return error;
    }
    if ((error = runloop_add_foreign_source(runloop_current(), *out, mode)))
        runloop_foreign_source_release(*out);
    return error;
}

#endif // GUESTS_WAYLAND_H
