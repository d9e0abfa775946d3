// sd_bus.h — D-Bus by libsystemd in a run loop. Copy it into a program.
#ifndef GUESTS_SD_BUS_H
#define GUESTS_SD_BUS_H

#include <errno.h>
#include <runloop_foreign.h>
#include <systemd/sd-bus.h>

static inline int sd_bus_guest_prepare(runloop_foreign_source *source, struct pollfd *descriptors, int capacity,
                                       int64_t *deadline_ns, void *bus) {
    (void)source;
    uint64_t until_us = 0; // an instant on our clock; at once, if the bus has failed
    int events = sd_bus_get_events(bus);
    if (events < 0 || sd_bus_get_timeout(bus, &until_us) < 0)
        until_us = 0;
    if (until_us < UINT64_MAX)
        *deadline_ns = until_us < INT64_MAX / 1000 ? (int64_t)until_us * 1000 : RUNLOOP_NEVER;
    if (capacity > 0)
        *descriptors = (struct pollfd){.fd = events < 0 ? -1 : sd_bus_get_fd(bus), .events = (short)events};
    return 1;
}

static inline void sd_bus_guest_dispatch(runloop_foreign_source *source, void *bus) {
    // One message; while there are more, the bus has a timeout of 0. -ENOTCONN and others: the connection is gone.
    if (sd_bus_process(bus, NULL) < 0)
        runloop_foreign_source_invalidate(source);
}

static inline void *sd_bus_guest_retain(void *bus) {
    return sd_bus_ref(bus);
}

static inline void sd_bus_guest_release(void *bus) {
    sd_bus_unref(bus);
}

/// Serves the bus in `mode` of the calling thread's loop: 0 or a negative errno. The source, which belongs to the caller, becomes
/// invalid with the connection.
static inline int sd_bus_guest_attach(sd_bus *bus, const char *mode, runloop_foreign_source **out) {
    runloop_foreign_source_config config = {
        .context = {.info = bus, .retain = sd_bus_guest_retain, .release = sd_bus_guest_release},
        .prepare = sd_bus_guest_prepare,
        .dispatch = sd_bus_guest_dispatch};
    int error = runloop_foreign_source_create(&config, out);
    if (!error && (error = runloop_add_foreign_source(runloop_current(), *out, mode)))
        runloop_foreign_source_release(*out);
    return error;
}

#endif // GUESTS_SD_BUS_H
