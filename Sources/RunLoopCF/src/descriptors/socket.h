// socket.h — what the files about sockets use from each other.
//
// From the bottom to the top: socket.c has the table of sockets, socket_set.c waits for them, socket_callout.c calls back,
// socket_transfer.c connects and sends, socket_create.c makes sockets and their sources.
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

/// One lock for all sockets, their sets and the table of descriptors, since a socket may be in sets of several loops and a set
/// reports sockets by the numbers of their descriptors. No user code runs under it, and nothing that waits.
extern struct process_lock cf__sockets_lock;

/// A socket in one mode of one loop.
struct cf_socket_member {
    CFSocketRef socket; ///< constant
    struct cf_socket_set *set GUARDED_BY(cf__sockets_lock);
    struct cf_socket_member *next GUARDED_BY(cf__sockets_lock); ///< of the same socket
    struct cf_socket_member *before_me GUARDED_BY(cf__sockets_lock),
        *behind_me GUARDED_BY(cf__sockets_lock); ///< in the set's queue
    bool is_queued GUARDED_BY(cf__sockets_lock);
    int32_t order GUARDED_BY(cf__sockets_lock);
    uint32_t watched
        GUARDED_BY(cf__sockets_lock); ///< EPOLLIN, EPOLLOUT: what epoll was asked for; 0 if this socket is not watched
    uint32_t reported GUARDED_BY(cf__sockets_lock); ///< of these, what epoll reported and was not served yet
};

struct __CFSocket {
    struct cf_object object;
    CFOptionFlags types; ///< constant, as the next four
    CFSocketCallBack callout;
    void (*serve)(CFSocketRef s, uint32_t events); ///< calls back for what its set was told (socket_callout.c)
    CFSocketContext context;
    bool is_connection; ///< a stream, whose data ends; not datagrams

    int native GUARDED_BY(cf__sockets_lock);      ///< -1 when invalid
    uint32_t serial GUARDED_BY(cf__sockets_lock); ///< of this use of the descriptor's number
    CFOptionFlags flags GUARDED_BY(cf__sockets_lock);
    CFOptionFlags enabled GUARDED_BY(cf__sockets_lock);  ///< of the types: called when the descriptor is ready
    CFOptionFlags disabled GUARDED_BY(cf__sockets_lock); ///< by the program, so that they are not enabled automatically
    bool connect_was_told GUARDED_BY(cf__sockets_lock);  ///< and is not told again
    bool is_always_ready GUARDED_BY(cf__sockets_lock);   ///< a regular file, which can't be waited for
    CFRunLoopSourceRef source GUARDED_BY(cf__sockets_lock); ///< retained; NULL, or the last one that was made
    struct cf_socket_member *members GUARDED_BY(cf__sockets_lock);
    struct cf_callouts callouts GUARDED_BY(cf__sockets_lock);
};

//===-- socket.c -----------------------------------------------------------------------------------------------------===//

/// The valid socket of a descriptor, if that has the serial number or that is 0.
CFSocketRef cf__socket_of_native(int native, uint32_t serial) HOLDS(cf__sockets_lock);
/// From now on it is the socket of its descriptor, which has none. False when memory ran out.
bool cf__socket_enter(CFSocketRef s) HOLDS(cf__sockets_lock);
/// The caller releases the table's reference.
void cf__socket_forget(int native) HOLDS(cf__sockets_lock);
/// NULL if there is none or when memory ran out.
CFDataRef cf__socket_peer_address(int native);

//===-- socket_set.c -------------------------------------------------------------------------------------------------===//

/// The socket joins or leaves the set of a mode. Without descriptors or memory it joins when there are some.
void cf__socket_join(CFSocketRef s, runloop *loop, const char *mode, int32_t order) HOLDS(cf__sockets_lock);
void cf__socket_leave(CFSocketRef s, runloop *loop, const char *mode) HOLDS(cf__sockets_lock);
/// Ends a member in any case.
void cf__socket_end_member(struct cf_socket_member *member) HOLDS(cf__sockets_lock);
/// Makes every set wait for what is enabled; called after each change of that.
void cf__socket_watch(CFSocketRef s) HOLDS(cf__sockets_lock);
/// The socket joins a set that it could not join before, or is watched there, if its source is still in the mode.
void cf__socket_try_again(CFTypeRef s, CFRunLoopRef loop, CFRunLoopMode mode) WITHOUT(cf__sockets_lock);

//===-- socket_callout.c ---------------------------------------------------------------------------------------------===//

/// Enables those of the types that are not disabled by the program, since the descriptor can now do more.
void cf__socket_enable_again(CFSocketRef s, CFOptionFlags types) WITHOUT(cf__sockets_lock);
/// Calls back for EPOLLIN, EPOLLOUT or both, where that is enabled.
void cf__socket_serve(CFSocketRef s, uint32_t events) WITHOUT(cf__sockets_lock);

#endif // RUNLOOP_CF_SOCKET_H
