// ports_of_loop.c — the ports of a loop, which end with it.

#ifdef __linux__
#include <errno.h>
#include <stdlib.h>

#include "ports/port.h"

struct ports_of_loop {
    _Atomic uint32_t references;    ///< of the ports, and of the loop until its end
    void (*end)(struct port *port); ///< constant
    struct process_lock lock;
    bool has_ended; ///< lock
    struct list ports;
};

/// By its address.
static const char key;

static void *retain(void *info) {
    struct ports_of_loop *ports = info;
    atomic_fetch_add_explicit(&ports->references, 1, memory_order_relaxed);
    return ports;
}

void runloop__ports_release(struct ports_of_loop *ports) {
    if (atomic_fetch_sub(&ports->references, 1) == 1)
        free(ports);
}

/// A port that is still there, with its memory.
static struct port *next_port(struct ports_of_loop *ports) {
    lock_take(&ports->lock);
    ports->has_ended = true;
    struct port *port = NULL;
    if (!list_is_empty(&ports->ports)) {
        port = port_keep_memory(LIST_ENTRY(ports->ports.next, struct port, in_loop));
        list_remove(&port->in_loop);
    }
    lock_give(&ports->lock);
    return port;
}

/// On the ending thread.
static void loop_has_ended(void *info) {
    struct ports_of_loop *ports = info;
    struct port *port;
    while ((port = next_port(ports)))
        ports->end(port);
    runloop__ports_release(ports);
}

int runloop__ports_of_loop(runloop *loop, void (*end)(struct port *port), struct ports_of_loop **out) {
    for (;;) {
        *out = runloop_copy_associated(loop, &key);
        if (*out)
            return 0;
        struct ports_of_loop *ports = calloc(1, sizeof *ports);
        if (!ports)
            return -ENOMEM;
        ports->references = 2;
        ports->end = end;
        list_init(&ports->ports);
        int result = runloop_set_associated(loop, &key, ports, retain, loop_has_ended);
        if (result == 0) {
            *out = ports;
            return 0;
        }
        free(ports);
        // Another thread was faster.
        if (result != -EEXIST)
            return result;
    }
}

int runloop__ports_add(struct ports_of_loop *ports, struct port *port) {
    lock_take(&ports->lock);
    int result = ports->has_ended ? -ESHUTDOWN : 0;
    if (result == 0)
        list_insert_before(&ports->ports, &port->in_loop);
    lock_give(&ports->lock);
    return result;
}

void runloop__ports_remove(struct ports_of_loop *ports, struct port *port) {
    lock_take(&ports->lock);
    list_remove(&port->in_loop);
    lock_give(&ports->lock);
}
#endif // __linux__
