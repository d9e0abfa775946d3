// port.h — what ports and requests share.
//
// A port is a source, and ends when that is invalidated or freed, or with its loop. Its memory is also kept by the requests that name it: by
// these a thread finds a port that may have ended, and sees that under its lock. Before a source is freed its port ends; so under the lock a
// port that has not ended has its source, of which the thread need not have a reference.
//
// A request is answered with the asking side's lock, by whoever finds it awaited (requests.h), and no two locks are held together but the
// core's inside of one.
#ifndef RUNLOOP_PORT_PRIVATE_H
#define RUNLOOP_PORT_PRIVATE_H

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/object.h"
#include "base/requests.h"
#include "runloop_list.h"
#include "runloop_port.h"

/// A message in the queue of a port; the bytes are in the same allocation, behind this or behind the request that it is part of.
struct queued {
    struct queued *next;
    runloop_message message;
};

struct ports_of_loop;

struct port {
    struct object object;
    runloop *loop;       ///< constant, retained
    size_t max_messages; ///< constant
    size_t max_bytes;    ///< constant
    void (*receive)(runloop_port *port, const runloop_message *message, void *info);
    _Atomic uint32_t memory; ///< references to it: of the source, and of requests

    struct ports_of_loop *ports; ///< constant, retained
    struct list in_loop;         ///< lock of `ports`

    struct process_lock lock;
    bool has_ended GUARDED;
    bool is_marked GUARDED; ///< The source is signalled, and the loop was woken, for what there is to be called out.
    struct queued *first GUARDED, **last GUARDED;
    size_t count GUARDED, bytes GUARDED;
    uint32_t waiting GUARDED;         ///< threads that wait for space
    _Atomic uint32_t space;           ///< changes when they should look again
    struct list received GUARDED;     ///< requests to this port to which the receiving side has references
    struct requests requests GUARDED; ///< by this port
};

struct runloop_request {
    struct queued queued;
    _Atomic uint32_t holders; ///< references of the receiving side, the queue's included, which are one of
    _Atomic uint32_t memory;  ///< these; the asking side has another
    struct awaited awaited;
    void *reply;           ///< constant since it was answered
    size_t reply_length;   ///< likewise
    struct port *receiver; ///< constant: its memory
    struct port *asker;    ///< constant: its memory. NULL: a thread waits
    runloop_request_config config;
    struct list to_receiver; ///< in `received`, with the receiver's lock
    _Alignas(max_align_t) unsigned char bytes[];
};

//===-- ports --------------------------------------------------------------------------------------------------------===//

/// NULL: it is none.
static inline struct port *port_of(runloop_port *source) {
    return runloop__object_of(source, OBJECT_PORT);
}
static inline struct port *port_keep_memory(struct port *port) {
    atomic_fetch_add_explicit(&port->memory, 1, memory_order_relaxed);
    return port;
}
void runloop__port_release_memory(struct port *port);

/// Puts a message into the queue, or gives the error of runloop_port_send.
int runloop__port_enqueue(struct port *port, struct queued *queued, int64_t deadline_ns);

/// There is something to be called out. Whether the loop is to be woken for it, after the unlock, or its thread would wait for the lock.
HOLDS_LOCK bool runloop__port_mark(struct port *port);
/// Needs no reference to the source.
void runloop__port_wake(struct port *port);

//===-- requests -----------------------------------------------------------------------------------------------------===//

/// With a reference of each side. `asker` is NULL for a thread that waits. -EINVAL, -EMSGSIZE, -ENOMEM.
int runloop__request_make(struct port *receiver, struct port *asker, const void *bytes, size_t length,
                          runloop_request **out);
/// If nobody else has seen it.
void runloop__request_unmake(runloop_request *request);
void runloop__request_release_memory(runloop_request *request);

/// False if it is not awaited any more. Otherwise the reply, which may be NULL, is the request's. The caller has a reference.
bool runloop__request_answer(runloop_request *request, int32_t result, void *reply, size_t length);
/// Nothing of it will be called out; or its answer is. It was taken from the asker's table. Both release the asking side's reference.
void runloop__request_discard(runloop_request *request);
void runloop__request_call_out(runloop_request *request);

/// What a port that has ended was asked, and what it has asked.
void runloop__requests_to_port_end(struct port *port);
void runloop__requests_by_port_end(struct port *port);

//===-- the ports of a loop ------------------------------------------------------------------------------------------===//

/// The ports of a loop, with one reference. At its end it calls `end` for each that is left, which gets a reference to its memory. -ENOMEM,
/// -ESHUTDOWN, -ECHILD.
int runloop__ports_of_loop(runloop *loop, void (*end)(struct port *port), struct ports_of_loop **out);
void runloop__ports_release(struct ports_of_loop *ports);
/// -ESHUTDOWN if the loop has ended. Otherwise the port ends with it.
int runloop__ports_add(struct ports_of_loop *ports, struct port *port);
void runloop__ports_remove(struct ports_of_loop *ports, struct port *port);

#endif // RUNLOOP_PORT_PRIVATE_H
