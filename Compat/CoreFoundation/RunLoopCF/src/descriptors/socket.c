// socket.c — the table of sockets, by descriptor, and what can be asked of one.
//
// The table owns a reference to each valid socket, so a program that gets a descriptor from somewhere always finds the socket that
// it belongs to.

#include "descriptors/socket.h"

#include <sys/socket.h>

struct process_lock cf__sockets_lock;

static CFSocketRef *table GUARDED_BY(cf__sockets_lock); ///< by descriptor
static int table_size GUARDED_BY(cf__sockets_lock);

CFTypeID CFSocketGetTypeID(void) {
    return CF_TYPE_SOCKET;
}

//===-- the table ----------------------------------------------------------------------------------------------------===//

CFSocketRef cf__socket_of_native(int native) {
    ASSERT_HOLDS(&cf__sockets_lock);
    return native >= 0 && native < table_size ? table[native] : NULL;
}

static bool reserve_entry(int native) HOLDS(cf__sockets_lock) {
    if (native < table_size)
        return true;
    int size = native < table_size * 2 ? table_size * 2 : native + 64;
    CFSocketRef *larger = calloc((size_t)size, sizeof(CFSocketRef)), *former = table;
    if (!larger)
        return false;
    if (former)
        memcpy(larger, former, (size_t)table_size * sizeof(CFSocketRef));
    // A child that another thread forks meanwhile has one of the two.
    table = larger;
    table_size = size;
    free(former);
    return true;
}

bool cf__socket_enter(CFSocketRef s) {
    ASSERT(!cf__socket_of_native(s->native), "A descriptor has two sockets.");
    if (!reserve_entry(s->native))
        return false;
    table[s->native] = (CFSocketRef)(uintptr_t)CFRetain(s);
    return true;
}

void cf__socket_forget(int native) {
    ASSERT(cf__socket_of_native(native), "A descriptor has no socket to forget.");
    table[native] = NULL;
}

//===-- getters ------------------------------------------------------------------------------------------------------===//

CFOptionFlags CFSocketGetSocketFlags(CFSocketRef s) {
    if (!CF_IS(s, CF_TYPE_SOCKET))
        return 0;
    process_lock(&cf__sockets_lock);
    CFOptionFlags flags = s->flags;
    process_unlock(&cf__sockets_lock);
    return flags;
}

void CFSocketSetSocketFlags(CFSocketRef s, CFOptionFlags flags) {
    if (!CF_IS(s, CF_TYPE_SOCKET))
        return;
    process_lock(&cf__sockets_lock);
    s->flags = flags & 0xff;
    process_unlock(&cf__sockets_lock);
}

CFSocketNativeHandle CFSocketGetNative(CFSocketRef s) {
    if (!CF_IS(s, CF_TYPE_SOCKET))
        return -1;
    process_lock(&cf__sockets_lock);
    int native = s->native;
    process_unlock(&cf__sockets_lock);
    return native;
}

Boolean CFSocketIsValid(CFSocketRef s) {
    return CFSocketGetNative(s) >= 0;
}

void CFSocketGetContext(CFSocketRef s, CFSocketContext *context) {
    if (!CF_IS(s, CF_TYPE_SOCKET) || !context)
        return;
    *context = s->context;
    process_lock(&cf__sockets_lock);
    if (s->callouts.context_is_released)
        context->info = NULL;
    process_unlock(&cf__sockets_lock);
}

//===-- addresses ----------------------------------------------------------------------------------------------------===//

static CFDataRef copy_address(int native, int (*get)(int, struct sockaddr *, socklen_t *)) {
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    if (native < 0 || get(native, (struct sockaddr *)&address, &size) < 0)
        return NULL;
    return CFDataCreate(NULL, (const UInt8 *)&address, (CFIndex)size);
}

static int get_name(int native, struct sockaddr *address, socklen_t *size) {
    return getsockname(native, address, size);
}

static int get_peer(int native, struct sockaddr *address, socklen_t *size) {
    return getpeername(native, address, size);
}

CFDataRef cf__socket_peer_address(int native) {
    return copy_address(native, get_peer);
}

CFDataRef CFSocketCopyAddress(CFSocketRef s) {
    return copy_address(CFSocketGetNative(s), get_name);
}

CFDataRef CFSocketCopyPeerAddress(CFSocketRef s) {
    return copy_address(CFSocketGetNative(s), get_peer);
}
