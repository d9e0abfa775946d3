// port_memory.c — what everybody who has the memory of a port may do with it, whether the port has ended or not.

#include <errno.h>
#include <stdlib.h>

#include "ports/port.h"

int runloop__port_check(runloop_port *port) {
    if (!port)
        return -EINVAL;
    return port->generation == runloop_fork_generation() ? 0 : -ECHILD;
}

void runloop__port_release_memory(runloop_port *port) {
    if (atomic_fetch_sub(&port->memory, 1) > 1)
        return;
    runloop__ports_release(port->ports);
    runloop_release(port->loop);
    free(port);
}

runloop_source *runloop__port_mark(runloop_port *port) {
    ASSERT_HOLDS(&port->lock);
    if (port->is_marked || !port->source)
        return NULL;
    port->is_marked = true;
    return runloop_source_retain(port->source);
}

void runloop__port_wake(runloop_port *port, runloop_source *source) {
    if (!source)
        return;
    runloop_source_signal(source);
    if (runloop_needs_wake_up(port->loop))
        runloop_wake_up(port->loop);
    runloop_source_release(source);
}
