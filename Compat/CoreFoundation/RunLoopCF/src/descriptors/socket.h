// socket.h — what the files about sockets use from each other.
//
// From the bottom to the top: socket.c has the table of sockets, socket_callout.c calls back, socket_transfer.c connects and sends,
// socket_create.c makes sockets and their sources.
#ifndef RUNLOOP_CF_SOCKET_H
#define RUNLOOP_CF_SOCKET_H

#include "descriptors/callouts.h"
#include "loop/loop.h"

/// The kind of input is one of three values, so it is compared and not tested for bits.
enum {
    CF_SOCKET_INPUT = 3,
    CF_SOCKET_CONNECT = kCFSocketConnectCallBack,
    CF_SOCKET_WRITE = kCFSocketWriteCallBack,
    CF_SOCKET_OUTPUT = CF_SOCKET_CONNECT | CF_SOCKET_WRITE,
};

/// One lock for all sockets and the table of descriptors. No user code runs under it, and nothing that waits.
extern struct process_lock cf__sockets_lock;

struct __CFSocket {
    struct cf_object object;
    CFOptionFlags types; ///< constant, as the next three
    CFSocketCallBack callout;
    CFSocketContext context;
    bool is_connection; ///< a stream, whose data ends; not datagrams

    int native GUARDED_BY(cf__sockets_lock); ///< -1 when invalid
    CFOptionFlags flags GUARDED_BY(cf__sockets_lock);
    CFOptionFlags enabled GUARDED_BY(cf__sockets_lock);  ///< of the types: called when the descriptor is ready
    CFOptionFlags disabled GUARDED_BY(cf__sockets_lock); ///< by the program, so that they are not enabled automatically
    bool connect_was_reported GUARDED_BY(cf__sockets_lock); ///< and is not reported again
    CFRunLoopSourceRef source GUARDED_BY(cf__sockets_lock); ///< retained; NULL, or the last one that was made
    struct cf_callouts callouts GUARDED_BY(cf__sockets_lock);
};

//===-- socket.c -----------------------------------------------------------------------------------------------------===//

/// The valid socket of a descriptor, or NULL.
CFSocketRef cf__socket_of_native(int native) HOLDS(cf__sockets_lock);
/// From now on it is the socket of its descriptor, which has none. False when memory ran out.
bool cf__socket_enter(CFSocketRef s) HOLDS(cf__sockets_lock);
/// The caller releases the table's reference.
void cf__socket_forget(int native) HOLDS(cf__sockets_lock);
/// NULL if there is none or when memory ran out.
CFDataRef cf__socket_peer_address(int native);

//===-- socket_callout.c ---------------------------------------------------------------------------------------------===//

/// Enables those of the types that are not disabled by the program, since the descriptor can now do more.
void cf__socket_enable_again(CFSocketRef s, CFOptionFlags types) WITHOUT(cf__sockets_lock);
/// Its source watches for what is enabled; called after each change of that.
void cf__socket_watch(CFSocketRef s) HOLDS(cf__sockets_lock);
/// Calls back for what holds of the socket, a cf_ready_callback.
void cf__socket_serve(void *s, runloop_readiness conditions) WITHOUT(cf__sockets_lock);

#endif // RUNLOOP_CF_SOCKET_H
