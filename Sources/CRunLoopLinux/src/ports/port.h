// port.h — what ports and requests share.
//
// A port is referenced in two ways. Its *uses* are the clients' references and one for being in modes: the last of them ends it. Its *memory*
// is also kept by its source, its timer, and the requests that name it: by these a thread finds a port that may have ended, and sees that
// under its lock.
//
// A request is answered with the asking side's lock, by whoever finds it awaited (requests.h), and no two locks are held together.
#ifndef RUNLOOP_PORT_PRIVATE_H
#define RUNLOOP_PORT_PRIVATE_H

#include <stdatomic.h>
#include <stddef.h>

#include "base/link.h"
#include "base/requests.h"
#include "runloop_port.h"

/// A message in the queue of a port; the bytes are in the same allocation, behind this or behind the request that it is part of.
struct queued {
    struct queued *next;
    runloop_message message;
};

struct ports_of_loop;

struct runloop_port {
    runloop *loop;       ///< constant, retained
    uint32_t generation; ///< constant: of forks, in which it was made
    size_t max_messages; ///< constant
    size_t max_bytes;    ///< constant
    runloop_context context;
    void (*receive)(runloop_port *port, const runloop_message *message, void *info);

    _Atomic uint32_t uses, memory;
    /// How many concrete modes it is in. Threads that add and remove at once may report in another order, so it may be below 0 for a while.
    _Atomic int32_t memberships;

    struct ports_of_loop *ports; ///< constant, retained
    struct link in_loop;         ///< lock of `ports`

    struct process_lock lock;
    runloop_source *source GUARDED; ///< NULL when the port has ended
    runloop_timer *timer GUARDED;   ///< for the deadlines of the requests that it has sent
    bool is_marked GUARDED; ///< The source is signalled, and the loop was woken, for what there is to be called out.
    struct queued *first GUARDED, **last GUARDED;
    size_t count GUARDED, bytes GUARDED;
    uint32_t waiting GUARDED;         ///< threads that wait for space
    _Atomic uint32_t space;           ///< changes when they should look again
    struct link received GUARDED;     ///< requests to this port to which the receiving side has references
    struct requests requests GUARDED; ///< by this port
};

struct runloop_request {
    struct queued queued;
    _Atomic uint32_t holders; ///< references of the receiving side, the queue's included, which are one of
    _Atomic uint32_t memory;  ///< these; the asking side has another
    struct awaited awaited;
    void *reply;            ///< constant since it was answered
    size_t reply_length;    ///< likewise
    runloop_port *receiver; ///< constant: its memory
    runloop_port *asker;    ///< constant: its memory. NULL: a thread waits
    runloop_request_config config;
    struct link to_receiver; ///< in `received`, with the receiver's lock
    _Alignas(max_align_t) unsigned char bytes[];
};

//===-- ports --------------------------------------------------------------------------------------------------------===//

/// 0, -EINVAL or -ECHILD.
int runloop__port_check(runloop_port *port);
static inline runloop_port *port_keep_memory(runloop_port *port) {
    atomic_fetch_add_explicit(&port->memory, 1, memory_order_relaxed);
    return port;
}
void runloop__port_release_memory(runloop_port *port);

/// Puts a message into the queue, or gives the error of runloop_port_send.
int runloop__port_enqueue(runloop_port *port, struct queued *queued, int64_t deadline_ns);

/// There is something to be called out. The result, which may be NULL, is for runloop__port_wake after the unlock.
HOLDS_LOCK runloop_source *runloop__port_mark(runloop_port *port);
void runloop__port_wake(runloop_port *port, runloop_source *source);

//===-- requests -----------------------------------------------------------------------------------------------------===//

/// With a reference of each side. `asker` is NULL for a thread that waits. -EINVAL, -EMSGSIZE, -ENOMEM.
int runloop__request_make(runloop_port *receiver, runloop_port *asker, const void *bytes, size_t length,
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
void runloop__requests_to_port_end(runloop_port *port);
void runloop__requests_by_port_end(runloop_port *port);
/// The deadlines of what the port has asked: on its thread.
void runloop__port_time_out(runloop_port *port);

//===-- the ports of a loop ------------------------------------------------------------------------------------------===//

/// The ports of a loop, with one reference. At its end it calls `end` for each that is left, which gets a reference to its memory. -ENOMEM,
/// -ESHUTDOWN, -ECHILD.
int runloop__ports_of_loop(runloop *loop, void (*end)(runloop_port *port), struct ports_of_loop **out);
void runloop__ports_release(struct ports_of_loop *ports);
/// -ESHUTDOWN if the loop has ended. Otherwise the port ends with it.
int runloop__ports_add(struct ports_of_loop *ports, runloop_port *port);
void runloop__ports_remove(struct ports_of_loop *ports, runloop_port *port);

#endif // RUNLOOP_PORT_PRIVATE_H
