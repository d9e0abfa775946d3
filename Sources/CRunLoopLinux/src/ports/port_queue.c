// port_queue.c — messages on their way into a port: sent, refused, or waiting for space.

#ifdef __linux__
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ports/port.h"
#include "ports/wait_word.h"

/// 0, or why the message is not taken now.
HOLDS_LOCK static int admit(struct port *port, size_t length) {
    ASSERT_HOLDS(&port->lock);
    if (port->has_ended)
        return -EPIPE;
    bool has_space = port->count < port->max_messages && length <= port->max_bytes - port->bytes;
    return has_space ? 0 : -EAGAIN;
}

/// There may be space now.
HOLDS_LOCK static void wait_for_space(struct port *port, int64_t deadline_ns) {
    uint32_t seen = atomic_load(&port->space);
    port->waiting++;
    lock_give(&port->lock);
    wait_word_wait(&port->space, seen, deadline_ns);
    lock_take(&port->lock);
    port->waiting--;
}

HOLDS_LOCK static int admit_until(struct port *port, size_t length, int64_t deadline_ns) {
    for (;;) {
        int result = admit(port, length);
        if (result != -EAGAIN || deadline_ns <= 0)
            return result;
        if (runloop_is_current(port->loop))
            return -EDEADLK;
        if (runloop_get_now_ns(NULL) >= deadline_ns)
            return -ETIMEDOUT;
        wait_for_space(port, deadline_ns);
    }
}

int runloop__port_enqueue(struct port *port, struct queued *queued, int64_t deadline_ns) {
    lock_take(&port->lock);
    bool wakes = false;
    int result = admit_until(port, queued->message.length, deadline_ns);
    if (result == 0) {
        queued->next = NULL;
        *port->last = queued;
        port->last = &queued->next;
        port->count++;
        port->bytes += queued->message.length;
        if (queued->message.request)
            list_insert_before(&port->received, &queued->message.request->to_receiver);
        wakes = runloop__port_mark(port);
    }
    lock_give(&port->lock);
    if (wakes)
        runloop__port_wake(port);
    return result;
}

struct sent {
    struct queued queued;
    _Alignas(max_align_t) unsigned char bytes[];
};

int runloop_port_send(runloop_port *source, const void *bytes, size_t length, int64_t deadline_ns) {
    struct port *port = port_of(source);
    int result = object_check(port);
    if (result < 0)
        return result;
    if (!bytes && length > 0)
        return -EINVAL;
    if (length > port->max_bytes)
        return -EMSGSIZE;
    struct sent *sent = length <= SIZE_MAX - sizeof *sent ? malloc(sizeof *sent + length) : NULL;
    if (!sent)
        return -ENOMEM;
    if (length > 0)
        memcpy(sent->bytes, bytes, length);
    sent->queued.message = (runloop_message){.bytes = sent->bytes, .length = length};
    result = runloop__port_enqueue(port, &sent->queued, deadline_ns);
    if (result < 0)
        free(sent);
    return result;
}
#endif // __linux__
