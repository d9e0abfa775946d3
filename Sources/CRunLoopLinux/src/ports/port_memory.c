// port_memory.c — what everybody who has the memory of a port may do with it, whether the port has ended or not.

#ifdef __linux__
#include <stdlib.h>

#include "ports/port.h"

void runloop__port_release_memory(struct port *port) {
    if (atomic_fetch_sub(&port->memory, 1) > 1)
        return;
    runloop__ports_release(port->ports);
    runloop_release(port->loop);
    free(port);
}

bool runloop__port_mark(struct port *port) {
    ASSERT_HOLDS(&port->lock);
    if (port->is_marked || port->has_ended)
        return false;
    port->is_marked = true;
    runloop_source_signal(port->object.source);
    return true;
}

void runloop__port_wake(struct port *port) {
    if (runloop_needs_wake_up(port->loop))
        runloop_wake_up(port->loop);
}
#endif // __linux__
